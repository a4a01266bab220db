//! Several limits at once: all or nothing, whoever counts them.

use sluicegate::counter::Op;
use sluicegate::policy::OnError;
use sluicegate::pop::{PopLimit, PopReceipt, PopReply};
use sluicegate::{DecidedBy, Refusal};

use crate::world::{World, ask, give, local, peek, quota, shadow, take, window};

const OPEN: OnError = OnError::Open;

fn world() -> World {
    World::new(1).with_window("w", 10, 0).with_quota("q", 10)
}

/// One of each kind, with this limit and cost.
fn kind(index: usize, cost: u64) -> PopLimit {
    match index {
        0 => local("l", 10, cost),
        1 => window("w", 10, cost, OPEN),
        _ => quota("q", cost),
    }
}

/// What is left of each kind, by what it says itself.
fn left(world: &mut World) -> Vec<u64> {
    let reply = world.decide(&peek([kind(0, 0), kind(1, 0), kind(2, 0)]));
    reply.limits.iter().map(|said| said.decision.remaining).collect()
}

#[test]
fn a_batch_takes_all_of_its_limits() {
    let mut world = world();
    let reply = world.decide(&take([kind(0, 2), kind(1, 3), kind(2, 4)]));
    assert!(reply.allowed);
    let decisions = reply.limits.iter().map(|said| (said.decision.limit, said.decision.remaining));
    assert_eq!(decisions.collect::<Vec<_>>(), [(10, 8), (10, 7), (10, 6)]);
    assert!(matches!(reply.limits[0].receipt, Some(PopReceipt::Pop { .. })));
    assert!(matches!(reply.limits[1].receipt, Some(PopReceipt::Cap(_))));
    assert!(matches!(reply.limits[2].receipt, Some(PopReceipt::Lease { .. })));
    assert_eq!(reply.limits[1].epoch, Some((crate::world::START as u64) / crate::world::WINDOW));
    let period = reply.limits[2].period.as_ref().unwrap();
    assert_eq!((period.serial, period.slot.as_str()), (1, "2026-04"));
    assert!(reply.limits[2].decision.reset_ms > 0);
    assert_eq!(left(&mut world), [8, 7, 6]);
}

/// Every order of the three kinds, and each of them in turn the one that refuses: from what is in hand, and
/// when its Ledger has said so.
#[test]
fn whoever_refuses_the_others_are_given_back() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        for refuses in 0..3 {
            for is_fresh in [false, true] {
                let mut world = world();
                if !is_fresh {
                    assert!(world.decide(&take([kind(0, 1), kind(1, 1), kind(2, 1)])).allowed);
                }
                assert!(world.decide(&take([kind(refuses, if is_fresh { 9 } else { 8 })])).allowed);
                let before = left(&mut world);
                let limits = order.map(|index| kind(index, 5));
                let reply = world.decide(&take(limits));
                let context = format!("{order:?}, {refuses} refuses, {is_fresh}: {reply:?}");
                assert!(!reply.allowed, "{context}");
                for (index, said) in order.iter().zip(&reply.limits) {
                    assert!(said.receipt.is_none(), "{context}");
                    let limit = matches!(said.decision.refusal, Some(Refusal::Limit { .. }));
                    assert_eq!(limit, *index == refuses, "{context}");
                }
                assert_eq!(left(&mut world), before, "{context}");
                // And all that was there before can still be taken.
                for (index, left) in before.into_iter().enumerate() {
                    let reply = world.decide(&take([kind(index, left)]));
                    assert!(reply.allowed || left == 0, "{index} of {context}: {reply:?}");
                }
            }
        }
    }
}

#[test]
fn a_local_refusal_asks_nobody() {
    let mut world = world();
    assert!(world.request(&take([local("l", 10, 10)])).allowed);
    let reply = world.request(&take([quota("q", 1), window("w", 10, 1, OPEN), local("l", 10, 1)]));
    assert!(!reply.allowed && reply.limits[2].decision.refusal.is_some());
    assert!(world.host().sent.is_empty() && world.host().start_writes == 0);
}

#[test]
fn a_local_limit_that_was_used_up_meanwhile_gives_the_rest_back() {
    let mut world = world();
    let both = take([local("l", 10, 6), window("w", 10, 1, OPEN), quota("q", 1)]);
    let (one, two) = (world.wait(&both), world.wait(&both));
    world.deliver(0);
    let replies = [one, two].map(|id| world.answer(id).unwrap());
    assert_eq!(replies.each_ref().map(|reply| reply.allowed), [true, false]);
    let refusals = |reply: &PopReply| reply.limits.iter().filter(|said| !said.decision.allowed()).count();
    assert_eq!(replies.each_ref().map(refusals), [0, 1]);
    assert_eq!(left(&mut world), [4, 9, 9]);
}

#[test]
fn shadow_limits_come_last_and_refuse_nothing() {
    let mut world = world();
    let full = take([shadow(window("w", 10, 11, OPEN)), shadow(quota("q", 11)), local("l", 10, 1)]);
    let reply = world.decide(&full);
    assert!(reply.allowed);
    let refusals = reply.limits.iter().map(|said| said.decision.refusal);
    let expected = [Some(Refusal::CostExceedsLimit), Some(Refusal::CostExceedsLimit), None];
    assert_eq!(refusals.collect::<Vec<_>>(), expected);
    assert_eq!(
        reply.limits.iter().map(|said| said.receipt.is_some()).collect::<Vec<_>>(),
        [false, false, true]
    );

    // Nothing is taken of them, nor counted, where an enforced one refuses.
    let reply =
        world.decide(&take([shadow(window("w", 10, 4, OPEN)), shadow(quota("q", 4)), local("l", 10, 10)]));
    assert!(!reply.allowed);
    let reply = world.decide(&take([shadow(window("w", 10, 4, OPEN)), quota("q", 11)]));
    assert!(!reply.allowed);
    assert_eq!(left(&mut world), [9, 10, 10]);
    let (pop, _) = world.live(0);
    let totals = pop.report().totals;
    let windows = totals.policies.get("w").unwrap();
    assert_eq!((windows.would_refuse, windows.allowed), (1, 0));

    // They count what gets through.
    assert!(world.decide(&take([shadow(window("w", 10, 4, OPEN)), shadow(quota("q", 4))])).allowed);
    assert_eq!(left(&mut world), [9, 6, 6]);
}

#[test]
fn a_peek_takes_nothing_and_asks_once_for_the_numbers_of_a_quota() {
    let mut world = world();
    let look = peek([local("l", 10, 3), window("w", 10, 3, OPEN), quota("q", 3)]);
    let id = world.wait(&look);
    let (ask_id, sent) = world.take_sent();
    let item = &sent.leases.as_ref().unwrap().items[0];
    assert_eq!((item.want, item.min, sent.caps.is_none()), (0, 0, true));
    let reply = world.owner.answer(&sent, crate::world::START);
    world.hear(0, ask_id, Some(&reply));
    let reply = world.answer(id).unwrap();
    assert!(reply.allowed && reply.limits.iter().all(|said| said.receipt.is_none()));
    assert_eq!(reply.limits.iter().map(|said| said.decision.remaining).collect::<Vec<_>>(), [10; 3]);
    assert!(reply.limits[2].period.is_some());
    // They are known now.
    let reply = world.request(&peek([quota("q", 11)]));
    assert_eq!(reply.limits[0].decision.refusal, Some(Refusal::CostExceedsLimit));
    assert!(world.decide(&take([quota("q", 8)])).allowed);
    let reply = world.request(&peek([quota("q", 3), local("l", 10, 10)]));
    assert!(!reply.allowed);
    assert!(matches!(reply.limits[0].decision.refusal, Some(Refusal::Limit { retry_after_ms: Some(_), .. })));
    assert!(reply.limits[1].decision.allowed());
    assert_eq!(left(&mut world), [10, 10, 2]);
}

#[test]
fn a_cost_of_zero_takes_nothing_but_tells_the_numbers() {
    let mut world = world();
    let reply = world.decide(&take([quota("q", 0), window("w", 10, 0, OPEN)]));
    assert!(reply.allowed && reply.limits[0].period.is_some());
    assert_eq!(reply.limits.iter().map(|said| said.decision.remaining).collect::<Vec<_>>(), [10, 10]);
    assert!(reply.limits.iter().all(|said| said.receipt.is_none()));
}

#[test]
fn each_take_is_given_back_once() {
    // A lease of ten units: one that is used up, and that the Ledger was told of, takes nothing back.
    let mut world = World::new(1).with_window("w", 10, 0).with_quota("q", 1_000);
    let limits = [kind(0, 3), kind(1, 3), kind(2, 3)];
    let first = world.decide(&take(limits.clone()));
    let second = world.decide(&take(limits.clone()));
    assert_eq!(left(&mut world), [4, 4, 994]);
    let back = give(&limits[1..], &PopReply { limits: first.limits[1..].to_vec(), ..first.clone() });
    for _ in 0..2 {
        let reply = world.request(&back);
        assert!(reply.allowed);
        assert_eq!(reply.limits.iter().map(|said| said.decision.remaining).collect::<Vec<_>>(), [7, 997]);
    }
    let local_back = give(&limits[..1], &PopReply { limits: first.limits[..1].to_vec(), ..first });
    assert_eq!(world.request(&local_back).limits[0].decision.remaining, 7);
    world.request(&give(&limits, &second));
    assert_eq!(left(&mut world), [10, 10, 1_000]);
}

#[test]
fn unknown_receipts_give_nothing_back() {
    let mut world = world();
    let limits = [kind(0, 3), kind(1, 3), kind(2, 3)];
    let reply = world.decide(&take(limits.clone()));
    let back = give(&limits, &reply);
    // A receipt that belongs to another kind, and a take that was never made.
    let mut crossed = back.clone();
    crossed.limits.iter_mut().zip([1, 2, 1]).for_each(|(limit, other)| {
        limit.receipt = reply.limits[other].receipt.clone();
    });
    world.request(&crossed);
    let mut forged = back.clone();
    for limit in &mut forged.limits {
        if let Some(PopReceipt::Lease { take, .. }) = &mut limit.receipt {
            *take += 1;
        }
    }
    world.request(&ask(Op::Give, vec![forged.limits[2].clone()]));
    assert_eq!(left(&mut world), [7, 7, 7]);
    // Another life of the object does not know them.
    world.run(2_500);
    world.evict(0);
    world.request(&back);
    assert_eq!(left(&mut world)[2], 7);
    world.deliver(0);
}

#[test]
fn a_batch_of_local_limits_is_what_the_counter_says() {
    let mut world = world();
    let reply = world.request(&take([local("a", 2, 1), local("b", 1, 1)]));
    assert!(reply.allowed && reply.limits.iter().all(|said| said.decided_by == DecidedBy::Counter));
    let reply = world.request(&take([local("a", 2, 1), local("b", 1, 1)]));
    assert!(!reply.allowed && reply.limits[1].decision.refusal.is_some());
    assert_eq!(world.request(&peek([local("a", 2, 0)])).limits[0].decision.remaining, 1);
    assert!(world.host().sent.is_empty());
    assert_eq!((world.host().start_writes, world.host().lease_writes), (0, 0));
}

#[test]
fn an_epoch_that_a_mixed_batch_opens_is_stored_at_once() {
    let mut world = world();
    assert!(world.decide(&take([local("l", 10, 3), quota("q", 1)])).allowed);
    assert_eq!(world.host().journal_writes, 1);
    world.evict(0);
    let reply = world.request(&take([local("l", 10, 1)]));
    assert_eq!(reply.limits[0].decision.remaining, 6);
}
