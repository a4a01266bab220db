//! Token buckets over all points of presence: what goes on between a point of presence and the Ledger that
//! leases tokens to it.

use sluicegate::bucket::TokenBucket;
use sluicegate::global::{TokenKey, TokenTotals};
use sluicegate::policy::OnError;
use sluicegate::pop::{PopAsk, PopEvent, PopLimit, PopReceipt};
use sluicegate::{DecidedBy, Refusal, RetryAfterBasis};

use crate::world::{KEY, SHARD, World, bucket, give, hundred, local, peek, quota, shadow, take, window};

const HOUR: u64 = 3_600_000;

/// So slow that what comes back is what was given back.
fn slow() -> TokenBucket {
    hundred(HOUR)
}

fn b(cost: u64) -> PopLimit {
    bucket("b", slow(), cost, OnError::Closed)
}

fn world() -> World {
    World::new(1).with_bucket("b", slow()).with_window("w", 10, 0).with_quota("q", 1_000)
}

/// What the Ledger has of the bucket; `None` where it is full.
fn totals(world: &World) -> Option<TokenTotals> {
    world.owner.tokens.totals(&TokenKey { policy: "b".into(), key: KEY }, slow())
}

fn level_and_out(world: &World) -> (u64, u64) {
    totals(world).map_or((100, 0), |totals| (totals.level, totals.out))
}

fn remaining(world: &mut World, ask: &PopAsk) -> u64 {
    world.request(ask).limits[0].decision.remaining
}

/// A world in which there are tokens in hand: how many.
fn with_tokens_in_hand(world: &mut World) -> u64 {
    for _ in 0..3 {
        assert!(world.decide(&take([b(5)])).allowed);
    }
    world.run(6_000);
    assert!(world.decide(&take([b(5)])).allowed);
    let (_, out) = level_and_out(world);
    // The last five were spent since.
    out - 5
}

#[test]
fn a_request_waits_for_tokens_and_the_next_finds_them_in_hand() {
    let mut world = world();
    let id = world.wait(&take([b(5)]));
    assert!(world.answer(id).is_none());
    world.reply();
    let reply = world.answer(id).unwrap();
    assert!(reply.allowed && matches!(reply.limits[0].receipt, Some(PopReceipt::Token(_))));
    let said = &reply.limits[0];
    assert_eq!(
        (said.decided_by, said.decision.limit, said.decision.remaining),
        (DecidedBy::Counter, 100, 95)
    );
    let in_hand = with_tokens_in_hand(&mut world);
    assert!(in_hand > 0);
    for _ in 0..in_hand {
        assert!(world.request(&take([b(1)])).allowed, "at once");
    }
    world.wait(&take([b(1)]));
}

#[test]
fn an_empty_bucket_says_how_long_to_wait() {
    let mut world = world();
    assert!(world.decide(&take([b(100)])).allowed);
    let refused = world.decide(&take([b(1)])).limits.remove(0);
    let basis = RetryAfterBasis::MonotonicRefill;
    // It refills once the Ledger has heard that they are spent.
    assert!(matches!(refused.decision.refusal, Some(Refusal::Limit { basis: said, .. }) if said == basis));
    assert_eq!((refused.decision.remaining, refused.receipt), (0, None));
    world.run(HOUR as i64 + 10_000);
    assert!(world.decide(&take([b(1)])).allowed);
    assert!(!world.decide(&take([b(1)])).allowed);
    let too_large = world.request(&take([b(101)]));
    assert_eq!(too_large.limits[0].decision.refusal, Some(Refusal::CostExceedsLimit));
}

#[test]
fn a_peek_takes_nothing_and_asks_nobody() {
    let mut world = world();
    assert_eq!(remaining(&mut world, &peek([b(1)])), 100);
    assert!(world.decide(&take([b(60)])).allowed);
    assert_eq!(remaining(&mut world, &peek([b(1)])), 40);
    assert!(!world.request(&peek([b(41)])).allowed);
    assert!(world.host().sent.is_empty());
    assert_eq!(level_and_out(&world), (40, 60));
}

/// Whatever refuses, the tokens go back, and so do caps and units where the bucket refuses.
#[test]
fn all_are_taken_or_none_with_a_window_and_a_quota() {
    let mut world = world();
    let all = |tokens, units| {
        take([b(tokens), quota("q", units), window("w", 10, 1, OnError::Closed), local("l", 3, 1)])
    };
    let reply = world.decide(&all(10, 10));
    assert!(reply.allowed && reply.limits.iter().all(|said| said.receipt.is_some()));
    // The quota refuses, which is taken last.
    let reply = world.decide(&all(10, 991));
    assert!(!reply.allowed && reply.limits.iter().all(|said| said.receipt.is_none()));
    assert_eq!(reply.limits[0].decision.refusal, None);
    // The window refuses.
    assert!(!world.decide(&take([b(10), window("w", 10, 10, OnError::Closed)])).allowed);
    // The bucket refuses.
    assert!(!world.decide(&all(100, 10)).allowed);
    // The point of presence itself refuses, after the others were taken.
    assert!(world.decide(&all(1, 1)).allowed);
    assert!(!world.decide(&all(90, 1)).allowed, "89 are left");
    world.run(30_000);
    assert_eq!(level_and_out(&world), (89, 0));
    let left = world.request(&peek([quota("q", 0), window("w", 10, 0, OnError::Closed)]));
    assert_eq!(left.limits.iter().map(|said| said.decision.remaining).collect::<Vec<_>>(), [989, 8]);
}

#[test]
fn a_limit_counted_here_gives_tokens_back_that_were_taken_for_nothing() {
    let mut world = world();
    let both = || take([b(10), local("l", 1, 1)]);
    // Both pass the look at the local limit, and wait.
    let ids = [world.wait(&both()), world.wait(&both())];
    world.deliver(0);
    assert_eq!(ids.map(|id| world.answer(id).unwrap().allowed), [true, false]);
    world.run(30_000);
    assert_eq!(level_and_out(&world), (90, 0));
}

#[test]
fn tokens_are_given_back_once_and_reach_the_bucket_by_the_timer() {
    let mut world = world();
    let limits = [b(60)];
    let taken = world.decide(&take(limits.clone()));
    assert!(world.decide(&take([b(30)])).allowed);
    let back = give(&limits, &taken);
    assert!(world.request(&back).allowed && world.request(&back).allowed);
    // Not into the hand: the bucket is the one that knows whether there is room.
    assert!(!world.decide(&take([b(11)])).allowed);
    world.run(20_000);
    assert_eq!(level_and_out(&world), (70, 0));
    assert!(world.request(&back).allowed);
    world.run(20_000);
    assert_eq!(level_and_out(&world), (70, 0));
    // Another limit's receipt is no good.
    let other = give(&[window("w", 10, 1, OnError::Closed)], &world.decide(&take([b(10)])));
    assert!(world.request(&other).allowed);
    world.run(20_000);
    assert_eq!(level_and_out(&world), (60, 0));
}

#[test]
fn out_of_reach_the_policy_decides() {
    let limits = |on_error| take([bucket("b", slow(), 3, on_error), local("l", 100, 1)]);
    for (on_error, allowed) in [(OnError::Open, true), (OnError::Closed, false), (OnError::Local, true)] {
        let mut world = world();
        let id = world.wait(&limits(on_error));
        world.fail();
        // The second one is decided at once: nobody waits for a Ledger that is out of reach.
        let replies = [world.answer(id).unwrap(), world.request(&limits(on_error))];
        for reply in &replies {
            assert_eq!(reply.allowed, allowed, "{on_error:?}");
            let by = if on_error == OnError::Local { DecidedBy::Local } else { DecidedBy::OnError };
            assert_eq!(reply.limits[0].decided_by, by);
            let is_refused = reply.limits[0].decision.refusal == Some(Refusal::Unavailable);
            assert_eq!(is_refused, on_error == OnError::Closed);
            let has_receipt = matches!(reply.limits[0].receipt, Some(PopReceipt::Pop { .. }));
            assert_eq!(has_receipt, on_error == OnError::Local);
        }
        assert_eq!(world.host().events, [PopEvent::LedgerOutOfReach(SHARD)]);
        assert!(world.host().sent.is_empty());
        // It is probed after a while, and answers.
        world.host().wall += 1_000;
        let reply = world.decide(&limits(on_error));
        assert!(reply.allowed && matches!(reply.limits[0].receipt, Some(PopReceipt::Token(_))));
        assert_eq!(level_and_out(&world), (97, 3));
    }
}

#[test]
fn local_is_a_part_of_the_bucket_rounded_up_also_after_a_restart() {
    let mut world = world();
    world.owner.pops = 3;
    let some = |cost| take([bucket("b", slow(), cost, OnError::Local)]);
    assert!(world.decide(&some(1)).allowed);
    assert_eq!(world.host().stored.start.as_ref().map(|start| start.pops), Some(3));
    world.evict(0);
    let id = world.wait(&some(34));
    world.fail();
    let reply = world.answer(id).unwrap();
    assert!(reply.allowed);
    assert_eq!((reply.limits[0].decision.limit, reply.limits[0].decision.remaining), (34, 0));
    assert!(!world.request(&some(1)).allowed);
    // A third of the rate as well.
    world.host().wall += 2 * HOUR as i64;
    let id = world.wait(&some(1));
    world.fail();
    assert!(!world.answer(id).unwrap().allowed);
    world.host().wall += HOUR as i64;
    let id = world.wait(&some(1));
    world.fail();
    assert!(world.answer(id).unwrap().allowed);
}

#[test]
fn shadow_buckets_never_refuse() {
    let mut world = world();
    assert!(world.decide(&take([b(100)])).allowed);
    assert!(world.decide(&take([shadow(b(1)), local("l", 5, 1)])).allowed);
    assert_eq!(world.live(0).0.report().totals.policies.get("b").unwrap().would_refuse, 1);
}

#[test]
fn what_is_idle_returns_by_the_timer_and_then_nothing_is_due() {
    let mut world = world();
    let in_hand = with_tokens_in_hand(&mut world);
    assert!(in_hand > 0);
    assert_eq!(level_and_out(&world), (80 - in_hand, in_hand + 5));
    assert_eq!(world.live(0).0.report().token_keys, 1);
    world.run(12_000);
    assert_eq!(level_and_out(&world), (80, 0));
    world.run(600_000);
    assert_eq!(world.live(0).0.report().token_keys, 0);
    assert!(world.host().wake.is_none(), "nothing is due any more");
    assert_eq!(world.host().stored.alarm, None);
}

/// The timer is for it: nobody comes to ask anything else.
#[test]
fn a_report_that_was_lost_is_made_again() {
    let mut world = world();
    assert!(world.decide(&take([b(40)])).allowed);
    assert_eq!(level_and_out(&world), (60, 40));
    world.run_cut_off(20_000);
    world.host().sent.clear();
    assert!(world.live(0).0.report().ledgers_out_of_reach > 0);
    assert_eq!(level_and_out(&world), (60, 40));
    world.run(10_000);
    assert_eq!(level_and_out(&world), (60, 0));
}

#[test]
fn the_late_reply_to_an_ask_that_failed_changes_nothing() {
    let mut world = world();
    let id = world.wait(&take([b(40)]));
    let (ask_id, sent) = world.take_sent();
    let wall = world.host().wall;
    let reply = world.owner.answer(&sent, wall);
    world.hear(0, ask_id, None);
    assert!(!world.answer(id).unwrap().allowed);
    world.hear(0, ask_id, Some(&reply));
    world.hear(0, ask_id, Some(&reply));
    assert!(world.host().answers.is_empty());
    // Its tokens are told of again, and used.
    assert!(world.decide(&take([b(100)])).allowed);
    assert_eq!(level_and_out(&world), (0, 100));
}

/// The two holders number their tickets alike: the first request at each has the same.
#[test]
fn a_request_that_gives_up_takes_no_other_with_it() {
    let mut world = world();
    let first = world.wait(&take([window("x", 10, 1, OnError::Closed)]));
    let cap = world.wait(&take([window("w", 10, 1, OnError::Closed)]));
    let dummy = world.wait(&take([b(1)]));
    let tokens = world.wait(&take([b(1)]));
    let (pop, host) = world.live(0);
    pop.abandon(tokens, host);
    world.deliver(0);
    assert!(world.answer(cap).unwrap().allowed && world.answer(dummy).unwrap().allowed);
    assert!(world.answer(tokens).is_none() && world.answer(first).is_some());
    assert_eq!(world.live(0).0.report().requests_waiting, 0);
    assert_eq!(level_and_out(&world), (99, 1), "it was asked for no more");
}

/// One that the Ledger does not count, and one for which there is no room to wait.
#[test]
fn what_cannot_be_asked_is_as_good_as_out_of_reach() {
    let mut world = world();
    let reply = world.decide(&take([bucket("nobody", slow(), 1, OnError::Closed)]));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::Unavailable));
    assert_eq!(reply.limits[0].decided_by, DecidedBy::OnError);
    world.settings.max_waiting = 1;
    world.evict(0);
    let first = world.wait(&take([b(1)]));
    let second = world.request(&take([b(1)]));
    assert_eq!(second.limits[0].decision.refusal, Some(Refusal::Unavailable));
    world.deliver(0);
    assert!(world.answer(first).unwrap().allowed);
    assert_eq!(level_and_out(&world), (99, 1));
}
