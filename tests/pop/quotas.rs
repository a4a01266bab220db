//! Requests that wait for a quota: in order, no longer than two asks, and as many as there is room for.

use sluicegate::counter::Op;
use sluicegate::http::KeyHash;
use sluicegate::policy::OnError;
use sluicegate::pop::{PopLimit, PopSettings};
use sluicegate::{Cost, DecidedBy, Refusal};

use crate::world::{World, local, peek, quota, quota_name, settings, take, window};

#[test]
fn requests_of_a_quota_are_served_in_the_order_they_came() {
    let mut world = World::new(1).with_quota("q", 5);
    let ids: Vec<_> = (0..8).map(|_| world.wait(&take([quota("q", 1)]))).collect();
    assert_eq!(world.host().sent.len(), 1, "one ask in flight");
    world.deliver(0);
    let allowed: Vec<bool> = ids.iter().map(|id| world.answer(*id).unwrap().allowed).collect();
    assert_eq!(allowed, [true, true, true, true, true, false, false, false]);
}

#[test]
fn a_new_request_does_not_pass_those_that_wait() {
    let mut world = World::new(1).with_quota("q", 1_000);
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    let in_hand = world.live(0).0.report().units_in_hand;
    assert!(in_hand > 0);
    let large = world.wait(&take([quota("q", in_hand + 1)]));
    let small = world.wait(&take([quota("q", 1)]));
    world.reply();
    assert_eq!(world.host().answers.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [large, small]);
    assert!(world.host().answers.iter().all(|(_, reply)| reply.allowed));
}

#[test]
fn a_request_waits_for_two_asks_at_most() {
    let mut world = World::new(2).with_quota("q", 10);
    assert!(world.decide_at(1, &take([quota("q", 8)])).allowed);
    // More than is left, no more than the limit.
    let id = world.wait(&take([quota("q", 5)]));
    world.reply();
    assert!(world.answer(id).is_some_and(|reply| !reply.allowed), "the Ledger said that nothing is left");
    // One was granted to the other for its next request.
    let reply = world.decide(&take([quota("q", 1)]));
    assert!(reply.allowed && reply.limits[0].decision.remaining == 0, "{reply:?}");
}

#[test]
fn only_so_many_wait() {
    let mut world = World::new(1).with_quota("q", 100);
    world.settings = PopSettings { max_waiting: 3, ..settings() };
    let waiting: Vec<_> = (0..3).map(|_| world.wait(&take([quota("q", 1)]))).collect();
    let reply = world.request(&take([quota("q", 1)]));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    world.deliver(0);
    assert!(waiting.into_iter().all(|id| world.answer(id).unwrap().allowed));
    assert!(world.decide(&take([quota("q", 1)])).allowed);
}

#[test]
fn one_that_gave_up_is_not_answered_and_takes_nothing() {
    let mut world = World::new(1).with_quota("q", 10).with_window("w", 10, 0);
    let w = || crate::world::window("w", 10, 4, OnError::Closed);
    let on_window = world.wait(&take([w()]));
    let (pop, host) = world.live(0);
    pop.abandon(on_window, host);
    world.deliver(0);
    // It holds a cap when it gives up waiting for the quota.
    let on_quota = world.wait(&take([w(), quota("q", 4)]));
    world.deliver(0);
    assert!(world.answer(on_quota).unwrap().allowed);
    let on_quota = world.wait(&take([w(), quota("q", 6)]));
    world.reply();
    let (pop, host) = world.live(0);
    pop.abandon(on_quota, host);
    world.deliver(0);
    assert!(world.host().answers.is_empty());
    assert_eq!(world.live(0).0.report().requests_waiting, 0);
    let reply = world.decide(&take([w(), quota("q", 6)]));
    assert!(reply.allowed, "{reply:?}");
}

#[test]
fn each_turn_is_one_write_of_leases_and_the_start_is_first() {
    let mut world = World::new(1).with_quota("q", 1_000);
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    let host = world.host();
    // The start; the grant; the chunk that the first unit comes from.
    assert_eq!((host.start_writes, host.lease_writes), (1, 2));
    let start = host.stored.start.clone().unwrap();
    assert_eq!((start.start.boot, start.pop.as_str()), (1, "FRA/0"));
    // Chunks of 20 units, of leases of 10: each unit more costs nothing until then.
    let lease_writes = (2..=10).map(|_| {
        assert!(world.request(&take([quota("q", 1)])).allowed);
        world.host().lease_writes
    });
    assert!(lease_writes.collect::<Vec<_>>().iter().all(|writes| *writes == 2));
}

#[test]
fn quotas_of_one_identity_share_an_ask() {
    let mut world = World::new(1).with_quota("a", 100).with_quota("b", 100).with_window("w", 10, 0);
    world.settings.max_waiting = 10;
    let first = world.wait(&take([quota("a", 1)]));
    let second = world.wait(&take([quota("b", 1)]));
    world.reply();
    let (id, sent) = world.take_sent();
    let asked: Vec<_> = sent.leases.as_ref().unwrap().items.iter().map(|item| item.quota.as_str()).collect();
    assert_eq!(asked, [quota_name("b").to_string()], "the other ask was under way");
    let reply = world.owner.answer(&sent, crate::world::START);
    world.hear(0, id, Some(&reply));
    assert!(world.answer(first).unwrap().allowed && world.answer(second).unwrap().allowed);
}

#[test]
fn a_quota_that_the_ledger_does_not_know_is_unavailable() {
    let mut world = World::new(1).with_quota("q", 10);
    let reply = world.decide(&take([quota("other", 1)]));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    assert_eq!(world.live(0).0.report().ledgers_out_of_reach, 0);
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    // Nor does each request for it ask again.
    let asks = world.owner.asks;
    for _ in 0..20 {
        assert!(!world.decide(&take([quota("other", 1)])).allowed);
    }
    assert!(world.owner.asks - asks <= 6, "{}", world.owner.asks - asks);
}

#[test]
fn a_forgotten_quota_is_heard_again() {
    let mut world = World::new(1).with_quota("q", 100);
    for _ in 0..3 {
        assert!(world.decide(&take([quota("q", 1)])).allowed);
        world.run(15_000);
        assert!(world.host().rows(&quota_name("q")).is_empty());
        assert_eq!(world.live(0).0.report().leases_open, 0);
        world.run(90_000);
        let idle = PopLimit { cost: Cost::ONE, ..quota("q", 1) };
        // Anything that makes it look.
        world.decide(&take([PopLimit { policy: "other".into(), ..idle }]));
        world.run(11_000);
    }
    assert_eq!(world.owner.quotas[&quota_name("q").to_string()].book().open_totals().used(), 3);
}

#[test]
fn memory_is_bounded_and_idle_quotas_make_room() {
    let mut world = World::new(1).with_quota("q", 100);
    let of = |key: u128| take([PopLimit { key: KeyHash::new(key), ..quota("q", 1) }]);
    for key in 0..10_000 {
        assert!(world.decide(&of(key)).allowed);
    }
    let reply = world.request(&of(10_000));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    assert!(world.decide(&of(5)).allowed);
    assert_eq!(world.live(0).0.report().quotas, 10_000);
    world.run(61_000);
    assert!(world.decide(&of(10_000)).allowed);
    let left = world.live(0).0.report().quotas;
    assert!(left < 100, "{left}");
    // One that was forgotten is heard under a start of its own.
    let starts = world.host().start_writes;
    assert!(world.decide(&of(5)).allowed && world.decide(&of(6)).allowed);
    assert!(world.host().start_writes <= starts + 1);
}

#[test]
fn a_quota_without_units_refuses_what_costs_nothing_too() {
    let mut world = World::new(1).with_quota("none", 0);
    for cost in [0, 1, 5, 0] {
        for ask in [take([quota("none", cost)]), peek([quota("none", cost)])] {
            if ask.op == Op::Peek && world.owner.asks == 0 {
                continue; // Nothing is known yet.
            }
            let said = world.decide(&ask).limits.remove(0);
            let (refusal, limit) = (said.decision.refusal, said.decision.limit);
            assert_eq!((refusal, limit), (Some(Refusal::CostExceedsLimit), 0), "{cost}");
            assert!(said.receipt.is_none());
        }
    }
    assert_eq!(world.owner.quotas[&quota_name("none").to_string()].book().open_totals().outstanding, 0);
}

/// Another limit refuses before it is its turn: then it is not called empty.
#[test]
fn a_quota_that_was_not_asked_was_decided_by_nobody() {
    let mut world = World::new(1).with_quota("q", 10).with_window("w", 10, 0);
    let w = || crate::world::window("w", 10, 11, OnError::Closed);
    for limits in [vec![quota("q", 1), w()], vec![quota("q", 1), local("l", 1, 2)]] {
        let reply = world.decide(&take(limits));
        let [said, other] = reply.limits.as_slice() else { panic!("{reply:?}") };
        assert!(!reply.allowed && !other.decision.allowed() && said.decision.allowed());
        let counted = (said.decided_by, other.decided_by);
        assert_eq!(counted, (DecidedBy::Nobody, DecidedBy::Counter));
        assert!(said.period.is_none() && said.receipt.is_none());
    }
    assert!(!world.owner.quotas.contains_key(&quota_name("q").to_string()), "it was not asked");
    // Of one that was asked before there are numbers.
    assert!(world.decide(&take([quota("q", 4)])).allowed);
    let said = world.decide(&take([quota("q", 1), local("l", 1, 2)])).limits.remove(0);
    assert_eq!((said.decided_by, said.decision.limit, said.decision.remaining), (DecidedBy::Counter, 10, 6));
}

/// A tenant's Ledger hears of the places that the tenant uses, not of all there are.
#[test]
fn how_many_places_there_are_is_what_the_ledgers_of_windows_say() {
    let mut world = World::new(1).with_quota("q", 100).with_window("w", 10, 0);
    world.owner.pops = 20;
    world.decide(&take([window("w", 10, 1, OnError::Closed)]));
    world.owner.pops = 1;
    world.decide(&take([quota("q", 1)]));
    assert_eq!(world.live(0).0.report().pops, 20);
}

/// A lease is in hand and idle for long enough to be written back; the request that comes needs more than that.
#[test]
fn a_request_is_answered_although_storage_fails_as_it_begins_to_wait() {
    let mut world = World::new(1).with_quota("q", 1_000);
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    world.host().wall += 3_000;
    world.host().leases_fail = true;
    let reply = world.request(&take([quota("q", 500)]));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    assert_eq!(world.live(0).0.report().requests_waiting, 0);
}
