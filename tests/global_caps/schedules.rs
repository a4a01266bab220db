//! The schedules that broke an earlier draft of the protocol, each beside the simpler rule it broke.

use sluicegate::global::CapReply;

use super::support::{LEDGER, Pop, Shard, WINDOW, limit};

/// The draft: each PoP may admit `share` units more each time it is answered.
struct Refreshed {
    slack: u64,
    admitted: u64,
}

impl Refreshed {
    fn answered(&mut self, share: u64) {
        self.slack = share;
    }

    fn spend(&mut self) {
        self.admitted += std::mem::take(&mut self.slack);
    }
}

/// 20 PoPs ask, time out and ask again; the replies arrive one by one, each after the last was spent.
/// Slack that each reply refreshes: 3,480 of 1,100 were admitted.
#[test]
fn asks_that_time_out_and_are_answered_twice() {
    let limit = limit(1_000, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pops: Vec<Pop> = (0..20).map(Pop::new).collect();
    let mut naive: Vec<Refreshed> = (0..20).map(|_| Refreshed { slack: 0, admitted: 0 }).collect();
    let mut admitted = 0;
    for _ in 0..20 {
        let mut replies: Vec<Vec<CapReply>> = Vec::new();
        for pop in &mut pops {
            let mut answered = Vec::new();
            for _ in 0..2 {
                admitted += pop.spend_alone(limit);
                let Some(ask) = pop.holder.next_ask(LEDGER, pop.now) else { continue };
                answered.push(shard.answer(&ask).reply);
                pop.holder.failed(LEDGER, ask.n);
            }
            replies.push(answered);
        }
        for ((pop, replies), naive) in pops.iter_mut().zip(replies).zip(&mut naive) {
            for reply in replies.iter().chain(&replies) {
                let settled = pop.holder.reply(LEDGER, reply, pop.now);
                admitted += settled.iter().filter(|s| s.verdict.decision.allowed()).count() as u64;
                admitted += pop.spend_alone(limit);
                naive.answered(limit.slack() / 20);
                naive.spend();
            }
        }
    }
    assert!(admitted <= limit.ceiling(), "{admitted}");
    assert!(naive.iter().map(|pop| pop.admitted).sum::<u64>() > limit.ceiling());
}

/// The Ledger starts again before each of 20 asks. A pool of slack in memory: 1,999 of 1,100.
#[test]
fn a_ledger_that_restarts_before_each_ask() {
    let limit = limit(1_000, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let mut first: Pop = Pop::new(99);
    let mut admitted = first.spend(&mut shard, limit, 999).len() as u64;
    let mut naive = admitted;
    for number in 0..20 {
        shard.crash();
        let mut pop: Pop = Pop::new(number);
        admitted += pop.spend(&mut shard, limit, 100).len() as u64;
        admitted += pop.spend_alone(limit);
        // The pool is whole again: a share of it for whoever asks while the tally is below the limit.
        naive += limit.slack() / 2;
    }
    assert!(admitted <= limit.ceiling(), "{admitted}");
    assert!(naive > limit.ceiling());
}

/// A PoP that crashes and comes back: under the same name its new count hides behind the old one.
#[test]
fn a_crash_that_hides_what_was_admitted() {
    let limit = limit(1_000, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let (mut admitted, mut naive_tally, mut naive_admitted) = (0, 0u64, 0);
    for life in 0..200 {
        let mut pop: Pop = Pop::new(life);
        admitted += pop.spend(&mut shard, limit, 57).len() as u64;
        if naive_tally < limit.limit() {
            naive_admitted += 57;
            // One name: the largest count of any life.
            naive_tally = naive_tally.max(57);
        }
    }
    assert!((1_000 - 200..=limit.ceiling()).contains(&admitted), "{admitted}");
    assert_eq!(naive_admitted, 200 * 57);
}

/// Two instances of one object count under one name: max(500, 500) hides half.
#[test]
fn two_instances_of_one_object() {
    let limit = limit(1_000, 0);
    let mut shard: Shard = Shard::new(limit);
    let (mut old, mut new): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    let mut admitted = 0;
    for _ in 0..800 {
        admitted += u64::from(old.decide(&mut shard, limit, 1).decision.allowed());
        admitted += u64::from(new.decide(&mut shard, limit, 1).decision.allowed());
    }
    assert_eq!(admitted, 1_000);
    // One name: each instance admits while the largest of the two counts is below the limit.
    let mut counts = [0u64; 2];
    while counts.iter().max() < Some(&limit.limit()) {
        counts = counts.map(|count| count + 1);
    }
    assert_eq!(counts.iter().sum::<u64>(), 2_000);
}

/// Slack carried over a roll: S more in each epoch.
#[test]
fn slack_ends_with_its_epoch() {
    let limit = limit(100, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let (mut one, mut two): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    one.spend(&mut shard, limit, 20);
    let left = one.holder.pages(LEDGER, &super::support::key())[0];
    assert!(left.cap > left.taken, "slack in hand");
    shard.roll();
    let first = two.spend(&mut shard, limit, 200).len() as u64;
    one.now = one.now.plus(WINDOW);
    let second = one.spend(&mut shard, limit, 200).len() as u64;
    assert!(first + second <= limit.ceiling());
    assert!(first + (left.cap - left.taken) + second > limit.limit(), "it would have been more");
}

/// "At least 1" for each of 20 PoPs: 60 + 20 of 66, with no fault at all.
#[test]
fn no_pop_is_owed_a_unit() {
    let limit = limit(60, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pops: Vec<Pop> = (0..20).map(Pop::new).collect();
    let admitted =
        (0..400).filter(|i| pops[i % 20].decide(&mut shard, limit, 1).decision.allowed()).count() as u64;
    let naive = limit.limit() + 20;
    assert!((60..=66).contains(&admitted) && naive > limit.ceiling(), "{admitted}");
}

/// The Ledger's clock goes back an hour (its steady one does not), a PoP's is 0.9 windows ahead and syncs
/// once per window, at a bad phase. A PoP that computed epochs misfiled 90 % of the time.
#[test]
fn skew_misfiles_nothing() {
    let limit = limit(10, 0);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    let skew = WINDOW * 9 / 10;
    pop.now = shard.now.plus(skew);
    let (mut misfiled, mut naive_misfiled) = (0, 0);
    // "The least of the last differences" keeps 0 as long as one sync in three falls in the first tenth.
    let correction = 0;
    for step in 0..1_000 {
        shard.now = shard.now.plus(WINDOW / 100);
        pop.now = pop.now.plus(WINDOW / 100);
        let open = shard.now.0 / WINDOW;
        let verdict = pop.decide(&mut shard, limit, 1);
        misfiled += u32::from(verdict.decision.allowed() && verdict.epoch.map(|e| e.0) != Some(open));
        naive_misfiled += u32::from(pop.now.0 / WINDOW + correction != open);
        assert!(step < 200 || verdict.epoch.is_some());
    }
    assert_eq!(misfiled, 0);
    assert!((850..=950).contains(&naive_misfiled), "{naive_misfiled} of 1000");
}

/// Without the sum of caps as a bound, a refund lets two holders have the same unit.
#[test]
fn a_refund_does_not_hand_a_unit_out_twice() {
    use super::support::key;
    use sluicegate::global::rules::{Rules, Standard, Standing};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct NoCeiling;
    impl Rules for NoCeiling {
        fn waiting_grant(standing: &Standing, short: u64) -> u64 {
            short.min(standing.limit.limit().saturating_sub(standing.known))
        }
    }

    fn caps_after<R: Rules>() -> u64 {
        let limit = limit(2, 0);
        let mut shard: Shard<R> = Shard::new(limit);
        let (mut one, mut two): (Pop<R>, Pop<R>) = (Pop::new(1), Pop::new(2));
        let receipts = one.spend(&mut shard, limit, 2);
        assert!(one.holder.refund(LEDGER, &receipts[0]));
        assert!(!one.holder.refund(LEDGER, &receipts[0]), "once");
        // Refused for its cost, it asks, and reports the refund.
        one.decide(&mut shard, limit, 2);
        two.decide(&mut shard, limit, 1);
        shard.ledger.totals(&key())[0].caps
    }

    assert_eq!(caps_after::<Standard>(), 2);
    assert_eq!(caps_after::<NoCeiling>(), 3);
}

/// Two holders took 20 and 30, and the Ledger leaves memory. What one of them reports then is part of what was
/// known, and hides nothing of what the other took.
#[test]
fn what_was_known_before_a_restart_counts_once() {
    use super::support::key;
    use sluicegate::global::rules::{Rules, Standard};

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Twice;
    impl Rules for Twice {
        fn still_known(known: u64, _: u64) -> u64 {
            known
        }
    }
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Hidden;
    impl Rules for Hidden {
        fn still_known(_: u64, _: u64) -> u64 {
            0
        }
    }

    fn known_after<R: Rules>() -> [u64; 2] {
        let limit = limit(1_000, 10_000);
        let mut shard: Shard<R> = Shard::new(limit);
        let mut pops: [Pop<R>; 2] = [Pop::new(1), Pop::new(2)];
        let take = |shard: &mut Shard<R>, pop: &mut Pop<R>, units| {
            // More than any slack: each asks.
            assert!(pop.decide(shard, limit, units).decision.allowed());
            shard.ledger.totals(&key())[0].known
        };
        take(&mut shard, &mut pops[0], 20);
        assert_eq!(take(&mut shard, &mut pops[1], 30), 50);
        shard.evict();
        [take(&mut shard, &mut pops[0], 20), take(&mut shard, &mut pops[1], 20)]
    }

    assert_eq!(known_after::<Standard>(), [70, 90]);
    assert_eq!(known_after::<Twice>(), [90, 140]);
    assert_eq!(known_after::<Hidden>(), [40, 90]);
}

/// A request for more than is left takes nothing from the others: what is left stays within their reach.
#[test]
fn what_does_not_suffice_for_a_request_is_not_granted_to_its_holder() {
    let limit = limit(10, 0);
    let mut shard: Shard = Shard::new(limit);
    let (mut one, mut two): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    assert!(one.decide(&mut shard, limit, 4).decision.allowed());
    assert!(!one.decide(&mut shard, limit, 7).decision.allowed());
    assert!(two.decide(&mut shard, limit, 6).decision.allowed());
}
