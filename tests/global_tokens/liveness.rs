//! With a Ledger in reach every token can be used, and no clock locks a key out.

use sluicegate::global::{TokenAnswer, TokenHolder, TokenHolderSettings};
use sluicegate::{Refusal, RetryAfterBasis};

use super::support::{LEDGER, Pop, Shard, bucket, cost, key, key_number};

#[test]
fn a_holder_alone_can_use_everything() {
    for units in [1, 7, 20] {
        let mut shard: Shard = Shard::new(bucket(140, 1, 100));
        let mut pop: Pop = Pop::new(1);
        let admitted = (0..200).filter(|_| pop.admits(&mut shard, units)).count() as u64;
        assert_eq!(admitted * units, 140);
    }
}

#[test]
fn the_refill_is_used_at_its_rate() {
    let mut shard: Shard = Shard::new(bucket(20, 1, 1_000));
    let mut pops: Vec<Pop> = (0..3).map(Pop::new).collect();
    let mut admitted = 0;
    for second in 0..200 {
        for pop in &mut pops {
            pop.now = pop.now.plus(1_000);
            pop.holder.tick(pop.now);
            pop.sync(&mut shard);
        }
        shard.pass(1_000);
        admitted += u64::from(pops[second % 3].admits(&mut shard, 1));
        admitted += u64::from(pops[(second + 1) % 3].admits(&mut shard, 1));
    }
    assert!((210..=220).contains(&admitted), "{admitted}");
}

#[test]
fn a_share_on_top_saves_asks() {
    let mut shard: Shard = Shard::new(bucket(1_000, 1, 1));
    let mut pop: Pop = Pop::new(1);
    assert_eq!((0..500).filter(|_| pop.admits(&mut shard, 1)).count(), 500);
    assert!(shard.asks <= 40 && shard.rows <= shard.asks, "{} asks, {} rows", shard.asks, shard.rows);
}

#[test]
fn idle_tokens_return_and_another_holder_can_use_them() {
    let mut shard: Shard = Shard::new(bucket(100, 0, 1));
    let (mut one, mut two): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    assert_eq!((0..40).filter(|_| one.admits(&mut shard, 1)).count(), 40);
    assert!(one.in_hand() > 0, "some are left in hand");
    assert!(!two.admits(&mut shard, 60), "they are not there for another");
    one.pass(&mut shard, 9_000);
    assert!(one.in_hand() > 0);
    one.pass(&mut shard, 2_000);
    two.now = two.now.plus(11_000);
    assert_eq!((one.in_hand(), shard.totals()), (0, (0, 60)));
    assert!(two.admits(&mut shard, 60));
}

#[test]
fn a_client_that_moves_takes_its_bucket_along() {
    let mut shard: Shard = Shard::new(bucket(50, 0, 1));
    let mut pops: Vec<Pop> = (0..10).map(Pop::new).collect();
    let mut admitted = 0;
    for place in 0..10 {
        admitted += (0..6).filter(|_| pops[place].admits(&mut shard, 1)).count();
        for pop in &mut pops {
            pop.now = pop.now.plus(11_000);
            pop.holder.tick(pop.now);
            pop.sync(&mut shard);
        }
        shard.pass(11_000);
    }
    assert_eq!(admitted, 50);
}

/// The tokens of a holder that died are spent from then on, and refill.
#[test]
fn a_dead_holder_keeps_its_tokens_for_a_while() {
    let mut shard: Shard = Shard::new(bucket(60, 1, 1_000));
    let mut pop: Pop = Pop::new(1);
    assert_eq!((0..30).filter(|_| pop.admits(&mut shard, 1)).count(), 30);
    let (out, level) = shard.totals();
    assert_eq!(pop.in_hand() + level, 30);
    assert!(out >= pop.in_hand() && out > 0);
    shard.pass(60_000);
    shard.collect();
    assert_eq!(shard.totals(), (out, 60 - out), "the refill stops at what is out");
    shard.pass(7_500);
    shard.collect();
    assert_eq!(shard.totals(), (0, 60 - out), "from here it goes on");
    shard.pass(3_000);
    shard.collect();
    assert_eq!(shard.totals(), (0, 60 - out.saturating_sub(3)));
    shard.pass(60_000);
    shard.collect();
    assert_eq!((shard.ledger.keys(), shard.stored.rows.len()), (0, 0));
}

#[test]
fn a_refused_holder_refuses_alone_until_its_wait_is_over() {
    let mut shard: Shard = Shard::new(bucket(10, 1, 1_000));
    let mut pop: Pop = Pop::new(1);
    assert!(pop.admits(&mut shard, 10));
    let refusal = pop.decide(&mut shard, 3).decision.refusal;
    let Some(Refusal::Limit { retry_after_ms: Some(3_000), basis }) = refusal else { panic!("{refusal:?}") };
    assert_eq!(basis, RetryAfterBasis::MonotonicRefill);
    let before = shard.asks;
    pop.now = pop.now.plus(1_000);
    shard.pass(1_000);
    for _ in 0..1_000 {
        assert_eq!(pop.decide(&mut shard, 3).decision.refusal.and_then(|r| r.retry_after_ms()), Some(2_000));
    }
    assert!(shard.asks - before <= 7 + 1_000 / 64, "{} asks", shard.asks - before);
    pop.now = pop.now.plus(2_000);
    shard.pass(2_000);
    assert!(pop.admits(&mut shard, 3));
}

#[test]
fn a_clock_that_stands_still_delays_by_at_most_64_refusals() {
    // The first refusal reports what was spent: until then it does not refill.
    for refused_before in (1..200).step_by(3) {
        let mut shard: Shard = Shard::new(bucket(5, 1, 1_000));
        let mut pop: Pop = Pop::new(1);
        assert!(pop.admits(&mut shard, 5));
        assert!((0..refused_before).all(|_| !pop.admits(&mut shard, 1)));
        shard.pass(5_000);
        let refused = (0..99).take_while(|_| !pop.admits(&mut shard, 1)).count();
        assert!(refused <= 64, "{refused} refusals after {refused_before}");
    }
}

/// A small cost does not keep a large one from ever finding the bucket full.
#[test]
fn tokens_that_another_lacks_are_not_granted_on_top() {
    let mut shard: Shard = Shard::new(bucket(20, 1, 1_000));
    let (mut small, mut large): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    let mut admitted = false;
    for _ in 0..100 {
        small.admits(&mut shard, 1);
        small.pass(&mut shard, 4_000);
        large.now = large.now.plus(4_000);
        admitted |= large.admits(&mut shard, 19);
    }
    assert!(admitted);
}

#[test]
fn a_refund_goes_back_into_the_bucket_once() {
    let mut shard: Shard = Shard::new(bucket(10, 0, 1));
    let mut pop: Pop = Pop::new(1);
    let receipt = pop.decide(&mut shard, 10).receipt.unwrap();
    assert!(pop.holder.refund(LEDGER, &receipt));
    assert!(!pop.holder.refund(LEDGER, &receipt));
    assert_eq!(pop.in_hand(), 0);
    pop.pass(&mut shard, 12_000);
    assert_eq!(shard.totals(), (0, 10));
    let mut other: Pop = Pop::new(2);
    assert!(!other.holder.refund(LEDGER, &receipt));
    assert!(other.admits(&mut shard, 10));
}

/// Out of reach, the policy's `on_error` decides; what a lost reply granted is told again.
#[test]
fn an_ask_that_failed_leaves_the_decision_to_on_error() {
    let mut shard: Shard = Shard::new(bucket(10, 0, 1));
    let mut pop: Pop = Pop::new(1);
    let TokenAnswer::Wait(ticket) = pop.request(shard.bucket, 4) else { panic!() };
    let ask = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    let late = shard.answer(&ask).reply;
    let failed = pop.holder.failed(LEDGER, ask.n);
    assert_eq!((failed.len(), failed[0].ticket), (1, ticket));
    assert_eq!(failed[0].verdict.decision.refusal, Some(Refusal::Unavailable));
    assert!(pop.holder.reply(LEDGER, &late, pop.now).is_empty());
    assert_eq!(pop.in_hand(), 0, "a late reply does not count");
    pop.pass(&mut shard, 5_000);
    assert_eq!((pop.holder.lease(LEDGER, &key()).unwrap().granted, shard.totals().0), (4, 4));
    pop.pass(&mut shard, 6_000);
    assert_eq!(shard.totals(), (0, 10), "it comes back, nobody having used it");
}

#[test]
fn costs_that_never_fit_and_queues_that_are_full() {
    let settings = TokenHolderSettings { max_waiting: 2, ..TokenHolderSettings::default() };
    let mut holder: TokenHolder = TokenHolder::new(1, settings);
    let now = sluicegate::clock::SteadyMs(0);
    let mut refusal = |capacity, units, n| match holder.request(
        LEDGER,
        &key_number(n),
        bucket(capacity, 1, 1),
        cost(units),
        now,
    ) {
        TokenAnswer::Decided(verdict) => verdict.decision.refusal,
        TokenAnswer::Wait(_) => None,
    };
    assert_eq!(refusal(0, 0, 1), Some(Refusal::CostExceedsLimit));
    assert_eq!(refusal(5, 6, 1), Some(Refusal::CostExceedsLimit));
    assert_eq!(refusal(5, 1, 1), None);
    assert_eq!(refusal(5, 1, 2), None);
    assert_eq!(refusal(5, 1, 3), Some(Refusal::Unavailable));
    assert_eq!(refusal(5, 0, 4), None);
    assert_eq!(holder.waiting(), 2);
}

/// A flood of keys neither grows without bound nor passes the bound of any key.
#[test]
fn past_the_bound_keys_are_forgotten_or_shared() {
    let settings = TokenHolderSettings { max_keys: 10, ..TokenHolderSettings::default() };
    let mut holder: TokenHolder = TokenHolder::new(1, settings);
    let mut shard: Shard = Shard::new(bucket(2, 0, 1));
    let now = sluicegate::clock::SteadyMs(0);
    for number in 1_000..2_000 {
        holder.request(LEDGER, &key_number(number), shard.bucket, cost(1), now);
        while let Some(ask) = holder.next_ask(LEDGER, now) {
            holder.reply(LEDGER, &shard.answer(&ask).reply, now);
        }
        assert!(holder.keys() <= 10 + 64, "{} keys", holder.keys());
    }
    holder.tick(now.plus(5_000));
    while let Some(ask) = holder.next_ask(LEDGER, now.plus(5_000)) {
        holder.reply(LEDGER, &shard.answer(&ask).reply, now.plus(5_000));
    }
    holder.tick(now.plus(20_000));
    while let Some(ask) = holder.next_ask(LEDGER, now.plus(20_000)) {
        holder.reply(LEDGER, &shard.answer(&ask).reply, now.plus(20_000));
    }
    holder.tick(now.plus(40_000));
    assert_eq!((holder.keys(), holder.next_tick()), (0, None), "all is reported and forgotten");
}
