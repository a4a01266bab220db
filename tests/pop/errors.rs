//! Ledgers that are out of reach, and storage that fails.

use sluicegate::policy::OnError;
use sluicegate::pop::{PopEvent, PopReceipt};
use sluicegate::{DecidedBy, Refusal};

use crate::world::{SHARD, START, WINDOW, World, give, local, peek, quota, quota_name, shadow, take, window};

const UNAVAILABLE: Option<Refusal> = Some(Refusal::Unavailable);

fn world() -> World {
    World::new(1).with_window("w", 10, 0).with_quota("q", 1_000)
}

#[test]
fn open_lets_it_through_and_counts_nothing() {
    let mut world = world();
    let id = world.wait(&take([window("w", 10, 1, OnError::Open), local("l", 10, 1)]));
    world.fail();
    let reply = world.answer(id).unwrap();
    assert!(reply.allowed && reply.limits[0].receipt.is_none() && reply.limits[1].receipt.is_some());
    assert_eq!(reply.limits[0].decided_by, DecidedBy::OnError);
    assert_eq!(world.host().events, [PopEvent::LedgerOutOfReach(SHARD)]);
    // At once, while it is left alone.
    assert!(world.request(&take([window("w", 10, 1, OnError::Open)])).allowed);
    assert!(world.host().sent.is_empty());
}

#[test]
fn closed_refuses_and_gives_the_rest_back() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    let id = world.wait(&take([quota("q", 1), local("l", 1, 1), window("w", 10, 1, OnError::Closed)]));
    world.fail();
    let reply = world.answer(id).unwrap();
    assert!(!reply.allowed);
    assert_eq!(reply.limits[2].decision.refusal, UNAVAILABLE);
    assert_eq!(reply.limits.iter().filter(|said| said.decision.allowed()).count(), 2);
    let left = world.request(&peek([quota("q", 0), local("l", 1, 0)]));
    let left: Vec<u64> = left.limits.iter().map(|said| said.decision.remaining).collect();
    assert_eq!(left, [999, 1]);
}

#[test]
fn local_goes_on_with_its_part_also_after_a_restart() {
    let mut world = world();
    world.owner.pops = 4;
    let one = |cost| take([window("w", 10, cost, OnError::Local)]);
    assert!(world.decide(&one(1)).allowed);
    assert_eq!(world.host().stored.start.as_ref().map(|start| start.pops), Some(4));
    world.evict(0);
    let id = world.wait(&one(1));
    world.fail();
    let reply = world.answer(id).unwrap();
    assert!(reply.allowed);
    // A quarter of ten, rounded up.
    assert_eq!((reply.limits[0].decided_by, reply.limits[0].decision.limit), (DecidedBy::Local, 3));
    assert!(matches!(reply.limits[0].receipt, Some(PopReceipt::Pop { .. })));
    let limits = [window("w", 10, 2, OnError::Local)];
    let second = world.request(&take(limits.clone()));
    assert!(second.allowed);
    let third = world.request(&one(1));
    assert!(matches!(third.limits[0].decision.refusal, Some(Refusal::Limit { .. })), "{third:?}");
    // Nobody else is asked about a request that its part refuses.
    let both = world.request(&take([quota("q", 1), window("w", 10, 1, OnError::Local)]));
    assert!(!both.allowed && world.host().sent.is_empty());
    // It goes back to whoever counted it.
    assert_eq!(world.request(&give(&limits, &second)).limits[0].decision.remaining, 2);
    assert!(world.request(&one(2)).allowed);
    // More than its part, no more than the limit: that the Ledger can cure.
    let large = world.request(&one(5));
    assert_eq!(large.limits[0].decision.refusal, UNAVAILABLE);
    let policies = world.live(0).0.report().totals.policies;
    let windows = policies.get("w").unwrap();
    assert_eq!((windows.allowed, windows.refused), (3, 3), "of this life");
}

#[test]
fn one_that_was_never_told_takes_the_whole_limit() {
    let mut world = world();
    let id = world.wait(&take([window("w", 10, 10, OnError::Local)]));
    world.fail();
    let reply = world.answer(id).unwrap();
    assert_eq!((reply.allowed, reply.limits[0].decision.limit), (true, 10));
    assert!(!world.request(&take([window("w", 10, 1, OnError::Local)])).allowed);
    // What is known of the points of presence is not stored for policies that do not need it.
    assert_eq!(world.host().start_writes, 0);
}

#[test]
fn a_shadow_limit_that_is_out_of_reach_refuses_nothing() {
    let mut world = world();
    for on_error in [OnError::Open, OnError::Closed, OnError::Local] {
        let both = take([shadow(window("w", 1, 2, on_error)), shadow(quota("q", 1)), local("l", 10, 1)]);
        let id = world.try_request(0, &both).unwrap();
        let reply = match id {
            Ok(reply) => reply,
            Err(id) => {
                while !world.host().sent.is_empty() {
                    world.fail();
                }
                world.answer(id).unwrap()
            }
        };
        assert!(reply.allowed, "{reply:?}");
        assert_eq!(reply.limits[1].decision.refusal, UNAVAILABLE);
    }
}

#[test]
fn leases_in_hand_are_spent_first() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    let in_hand = world.live(0).0.report().units_in_hand;
    let too_many = world.wait(&take([quota("q", in_hand + 1)]));
    let waits_its_turn = world.wait(&take([quota("q", 1)]));
    world.fail();
    assert_eq!(world.answer(too_many).unwrap().limits[0].decision.refusal, UNAVAILABLE);
    assert!(world.answer(waits_its_turn).unwrap().allowed);
    for _ in 1..in_hand {
        assert!(world.request(&take([quota("q", 1)])).allowed);
    }
    assert_eq!(world.request(&take([quota("q", 1)])).limits[0].decision.refusal, UNAVAILABLE);
}

#[test]
fn a_ledger_is_left_alone_and_then_probed_by_one_ask() {
    let mut world = world();
    let w = |cost| take([window("w", 10, cost, OnError::Closed)]);
    for round in 0..2 {
        let id = world.wait(&w(1));
        world.fail();
        assert!(!world.answer(id).unwrap().allowed);
        for _ in 0..20 {
            assert!(!world.request(&w(1)).allowed, "{round}");
        }
        assert!(world.host().sent.is_empty());
        let retry = world.settings.retry_ms as i64;
        world.host().wall += retry;
    }
    let probe = world.wait(&w(1));
    assert_eq!(world.host().sent.len(), 1);
    assert!(!world.request(&w(1)).allowed, "nobody else waits for a Ledger that may be dead");
    world.reply();
    assert!(world.answer(probe).unwrap().allowed);
    assert!(world.decide(&w(1)).allowed);
    assert_eq!(world.host().events.len(), 1, "reported once");
    assert_eq!(world.live(0).0.report().ledgers_out_of_reach, 0);
}

#[test]
fn the_same_holds_for_a_quota() {
    let mut world = world();
    let id = world.wait(&take([quota("q", 1)]));
    world.fail();
    assert_eq!(world.answer(id).unwrap().limits[0].decision.refusal, UNAVAILABLE);
    for _ in 0..20 {
        assert!(!world.request(&take([quota("q", 1)])).allowed);
    }
    assert!(world.host().sent.is_empty());
    let retry = world.settings.retry_ms as i64;
    world.host().wall += retry;
    let probe = world.wait(&take([quota("q", 1)]));
    assert!(!world.request(&take([quota("q", 1)])).allowed);
    world.reply();
    assert!(world.answer(probe).unwrap().allowed);
    assert!(world.request(&take([quota("q", 1)])).allowed);
}

#[test]
fn an_ask_that_takes_too_long_has_failed_and_its_late_reply_counts() {
    let mut world = world();
    let both = take([window("w", 10, 1, OnError::Closed), quota("q", 1)]);
    let id = world.wait(&both);
    let (ask_id, sent) = world.take_sent();
    let limit = world.settings.ask_limit_ms as i64;
    world.run_cut_off(limit - 1);
    assert!(world.answer(id).is_none());
    world.run_cut_off(1);
    assert!(!world.answer(id).unwrap().allowed);
    let reply = world.owner.answer(&sent, START);
    world.hear(0, ask_id, Some(&reply));
    world.hear(0, ask_id, Some(&reply));
    assert!(world.request(&take([window("w", 10, 1, OnError::Closed)])).allowed, "its cap is there");
    assert_eq!(world.live(0).0.report().ledgers_out_of_reach, 0);

    let id = world.wait(&take([quota("q", 3)]));
    let (ask_id, sent) = world.take_sent();
    world.run_cut_off(limit);
    assert!(!world.answer(id).unwrap().allowed);
    world.host().sent.clear();
    let reply = world.owner.answer(&sent, START);
    world.hear(0, ask_id, Some(&reply));
    assert!(world.request(&take([quota("q", 3)])).allowed, "its lease is there");
}

/// The wall has gone back: timers stand still, and what reads the clock cheaply too.
#[test]
fn time_limits_hold_on_a_frozen_clock() {
    let mut world = world();
    let w = || take([window("w", 10, 1, OnError::Closed)]);
    let id = world.wait(&w());
    let limit = world.settings.ask_limit_ms as i64;
    world.host().cheap_stuck = Some(START);
    world.host().wall -= 3_600_000;
    let mut requests = 0;
    while world.host().events.is_empty() {
        world.request(&take([local("l", 1_000, 1)]));
        requests += 1;
        assert!(requests <= 64, "{requests}");
    }
    assert!(matches!(world.host().events[0], PopEvent::ClockStep(_)));
    // No timer comes; the requests that do will do. Of a gap between them a quarter of a second counts.
    for _ in 0..limit / 250 {
        assert!(world.host().answers.is_empty());
        world.host().wall += 250;
        world.request(&take([local("l", 1_000, 1)]));
    }
    assert!(!world.answer(id).unwrap().allowed);
}

/// Nothing moves at all: then the requests themselves are counted.
#[test]
fn time_limits_hold_on_a_clock_that_never_moves() {
    let mut world = world();
    world.host().exact_stuck = Some(START);
    world.host().cheap_stuck = Some(START);
    let w = || take([window("w", 10, 1, OnError::Closed)]);
    let id = world.wait(&w());
    for _ in 0..255 {
        world.request(&take([local("l", 1_000, 1)]));
        assert!(world.host().answers.is_empty(), "so many requests can come within a millisecond");
    }
    world.request(&take([local("l", 1_000, 1)]));
    assert!(!world.answer(id).unwrap().allowed);
    world.host().sent.clear();
    // The Ledger is probed the same way.
    let mut refused = 0;
    let probe = loop {
        match world.try_request(0, &w()).unwrap() {
            Ok(_) => refused += 1,
            Err(id) => break id,
        }
        assert!(refused <= 256);
    };
    world.reply();
    assert!(world.answer(probe).unwrap().allowed);
}

#[test]
fn when_storage_fails_leases_start_anew_from_what_is_stored() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    // Two wait, one of them with a unit of another limit in hand.
    assert!(world.decide(&take([window("w", 10, 1, OnError::Closed)])).allowed);
    let first = world.wait(&take([quota("q", 50)]));
    let second = world.wait(&take([quota("q", 1), local("l", 1, 1)]));
    let (ask_id, sent) = world.take_sent();
    let reply = world.owner.answer(&sent, START);
    world.host().leases_fail = true;
    world.hear(0, ask_id, Some(&reply));
    for id in [first, second] {
        let reply = world.answer(id).unwrap();
        assert_eq!(reply.limits[0].decision.refusal, UNAVAILABLE);
    }
    assert!(world.host().events.contains(&PopEvent::LeasesLost));
    // Others go on.
    assert!(world.request(&take([local("l", 1, 1)])).allowed);
    assert_eq!(world.request(&take([quota("q", 1)])).limits[0].decision.refusal, UNAVAILABLE);
    world.host().leases_fail = false;
    let boot = world.host().stored.start.as_ref().unwrap().start.boot;
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    assert_eq!(world.host().stored.start.as_ref().unwrap().start.boot, boot + 1);
    let (pop, _) = world.live(0);
    assert!(pop.report().leases_lost >= 2);
    // What the lost memory had written off is forfeited, and no more.
    world.run(30_000);
    let book = world.owner.quotas[&quota_name("q").to_string()].book().open_totals();
    assert_eq!((book.used(), book.outstanding), (11, 0), "2 spent, 9 of a chunk that was written off");
}

/// The Ledger has granted what storage did not take. No request comes, but the object is still there.
#[test]
fn a_grant_that_was_lost_with_storage_returns_by_itself() {
    let mut world = world();
    let id = world.wait(&take([quota("q", 5)]));
    world.host().leases_fail = true;
    world.reply();
    assert_eq!(world.answer(id).unwrap().limits[0].decision.refusal, UNAVAILABLE);
    world.run(20_000);
    let outstanding =
        |world: &World| world.owner.quotas[&quota_name("q").to_string()].book().open_totals().outstanding;
    assert_eq!(outstanding(&world), 10);
    world.host().leases_fail = false;
    world.run(20_000);
    assert_eq!(outstanding(&world), 0);
}

#[test]
fn a_turn_in_which_rows_cannot_be_read_asks_nothing() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    world.host().reads_fail = true;
    let reply = world.request(&take([quota("q", 50)]));
    assert_eq!(reply.limits[0].decision.refusal, UNAVAILABLE, "answered in the same turn");
    assert!(world.host().sent.is_empty() && world.host().answers.is_empty());
}

#[test]
fn a_journal_that_cannot_be_written_gives_the_rest_back() {
    let mut world = world();
    let both = take([quota("q", 1), window("w", 10, 1, OnError::Closed), local("l", 10, 1)]);
    assert!(world.decide(&both).allowed);
    world.host().wall += WINDOW as i64; // another epoch, which is to be stored
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    world.host().journal_fails = true;
    let id = world.wait(&both);
    let (ask_id, sent) = world.take_sent();
    let reply = world.owner.answer(&sent, START + WINDOW as i64);
    let (pop, host) = world.live(0);
    assert!(pop.hear(ask_id, Some(&reply), host).is_err());
    let reply = world.answer(id).unwrap();
    assert!(!reply.allowed && reply.limits.iter().all(|said| said.decision.refusal == UNAVAILABLE));
    world.host().wall += 1_000; // the next flush is due
    assert!(world.try_request(0, &take([quota("q", 1), local("l", 10, 1)])).is_err(), "decided at once");
    world.host().journal_fails = false;
    let left = world.decide(&peek([quota("q", 0), window("w", 10, 0, OnError::Closed)]));
    assert_eq!(left.limits.iter().map(|said| said.decision.remaining).collect::<Vec<_>>(), [998, 10]);
}

/// Neither by the request that sees the step nor by the timer: the Ledger has had no time yet.
#[test]
fn a_step_ahead_fails_no_ask_in_flight() {
    for step in [1_500, 3_600_000] {
        let mut world = world().with_window("v", 10, 0);
        world.settings.ask_limit_ms = 800;
        let asked = |world: &mut World| {
            [
                world.wait(&take([window("w", 10, 1, OnError::Closed)])),
                world.wait(&take([window("v", 10, 1, OnError::Open)])),
                world.wait(&take([quota("q", 1)])),
            ]
        };
        let mut ids = asked(&mut world).to_vec();
        let (ask_id, sent) = world.take_sent();
        let reply = world.owner.answer(&sent, START);
        world.host().wall += step;
        ids.extend(asked(&mut world));
        world.fire();
        world.run_cut_off(400);
        assert!(world.host().answers.is_empty(), "{step}");
        // It gets through all the same; the others are asked for then.
        world.hear(0, ask_id, Some(&reply));
        world.deliver(0);
        for id in ids {
            let said = world.answer(id).unwrap().limits.remove(0);
            assert_eq!((said.decision.allowed(), said.decided_by), (true, DecidedBy::Counter), "{step}");
        }
        assert!(world.host().events.iter().all(|event| matches!(event, PopEvent::ClockStep(_))));
        assert_eq!(world.live(0).0.report().asks_failed, 0);
    }
}

#[test]
fn after_a_step_ahead_a_time_limit_still_ends() {
    let mut world = world();
    let id = world.wait(&take([window("w", 10, 1, OnError::Closed)]));
    world.host().wall += 3_600_000;
    world.fire();
    let limit = world.settings.ask_limit_ms as i64;
    world.run_cut_off(limit / 2);
    assert!(world.answer(id).is_none());
    world.run_cut_off(limit / 2);
    assert_eq!(world.answer(id).unwrap().limits[0].decision.refusal, UNAVAILABLE);
}
