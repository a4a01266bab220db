//! With a Ledger in reach nothing waits for ever, and no clock locks a key out.

use proptest::prelude::*;
use sluicegate::clock::SteadyMs;
use sluicegate::global::{CapAnswer, CapHolder, CapHolderSettings};
use sluicegate::{Refusal, RetryAfterBasis};

use super::support::{LEDGER, Pop, Shard, WINDOW, cost, key, key_number, limit};

#[test]
fn the_last_unit_is_reached_by_waiting_at_tolerance_0() {
    let limit = limit(100, 0);
    let mut shard: Shard = Shard::new(limit);
    let mut pops: Vec<Pop> = (0..20).map(Pop::new).collect();
    let mut admitted = 0;
    for i in 0..150 {
        admitted += u64::from(pops[i % 20].decide(&mut shard, limit, 1).decision.allowed());
    }
    assert_eq!(admitted, 100);
}

#[test]
fn slack_saves_asks_and_the_bound_holds() {
    let (exact, tolerant) = (limit(1_000, 0), limit(1_000, 100_000));
    let asks = [exact, tolerant].map(|limit| {
        let mut shard: Shard = Shard::new(limit);
        let mut pops: Vec<Pop> = (0..3).map(Pop::new).collect();
        let allowed =
            (0..2_000).filter(|i| pops[i % 3].decide(&mut shard, limit, 1).decision.allowed()).count() as u64;
        assert!((1_000..=limit.ceiling()).contains(&allowed), "{allowed}");
        println!("{limit:?}: {allowed} admitted, {} asks, {} rows", shard.asks, shard.rows);
        shard.asks
    });
    assert!(asks[1] * 5 < asks[0], "{asks:?}");
}

/// (E3) The clock of the holder stands still; its refusals lead it into the next epoch.
#[test]
fn a_clock_that_stands_still_delays_by_at_most_64_refusals() {
    let limit = limit(5, 0);
    for refused_before in 0..200 {
        let mut shard: Shard = Shard::new(limit);
        let mut pop: Pop = Pop::new(1);
        assert_eq!(pop.spend(&mut shard, limit, 6).len(), 5);
        for _ in 0..refused_before {
            assert!(!pop.decide(&mut shard, limit, 1).decision.allowed());
        }
        shard.roll();
        let refused = (0..99).take_while(|_| !pop.decide(&mut shard, limit, 1).decision.allowed()).count();
        assert!(refused <= 64, "{refused} refusals after {refused_before}");
    }
}

/// (E2) When its own clock says that the epoch is over, a holder waits for the Ledger to say so too.
#[test]
fn a_holder_whose_epoch_is_over_waits_for_the_answer() {
    let limit = limit(100, 50_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    pop.spend(&mut shard, limit, 4);
    assert!(pop.holder.pages(LEDGER, &key())[0].cap > 4, "some slack is in hand");
    // Its clock is fast: the Ledger's epoch is still open.
    pop.now = pop.now.plus(WINDOW);
    pop.wait(limit, 1);
    let settled = pop.sync(&mut shard);
    assert_eq!(settled[0].verdict.epoch.map(|epoch| epoch.0), Some(10));
    shard.roll();
    pop.now = pop.now.plus(WINDOW);
    assert_eq!(pop.decide(&mut shard, limit, 1).epoch.map(|epoch| epoch.0), Some(11));
}

#[test]
fn a_cap_ahead_lets_the_first_requests_of_an_epoch_through() {
    let limit = limit(1_000, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    pop.spend(&mut shard, limit, 400);
    let pages = pop.holder.pages(LEDGER, &key());
    assert!(pages.iter().any(|page| page.epoch.0 == 11 && (1..=12).contains(&page.cap)), "{pages:?}");
    pop.now = pop.now.plus(WINDOW);
    let CapAnswer::Decided(verdict) = pop.request(limit, 1) else { panic!("it waits") };
    assert_eq!(verdict.epoch.map(|epoch| epoch.0), Some(11));
    assert!(pop.holder.next_ask(LEDGER, pop.now).is_some(), "and asks what the epoch is");
}

#[test]
fn what_is_left_asks_once_more_and_is_refused() {
    let limit = limit(10, 0);
    let mut shard: Shard = Shard::new(limit);
    let (mut one, mut two): (Pop, Pop) = (Pop::new(1), Pop::new(2));
    one.spend(&mut shard, limit, 8);
    two.wait(limit, 5);
    two.wait(limit, 1);
    let settled = two.sync(&mut shard);
    let allowed: Vec<bool> = settled.iter().map(|s| s.verdict.decision.allowed()).collect();
    assert_eq!(allowed, [false, true], "the large one does not fit, the small one behind it does");
    let refusal = settled[0].verdict.decision.refusal;
    let Some(Refusal::Limit { retry_after_ms: Some(wait), basis }) = refusal else { panic!("{refusal:?}") };
    assert_eq!((wait, basis), (WINDOW, RetryAfterBasis::EpochWindow));
}

/// A late reply about one key opens the next epoch; the reply that another key waits for is of the last
/// one. It does not help, and the request asks once more.
#[test]
fn a_reply_for_an_epoch_that_is_over_is_not_the_last_word() {
    let limit = limit(10, 0);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    pop.holder.request(LEDGER, &key_number(8), limit, cost(1), pop.now);
    let slow = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    pop.holder.failed(LEDGER, slow.n);
    pop.wait(limit, 1);
    let ask = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    let last = shard.answer(&ask).reply;
    shard.roll();
    let late = shard.answer(&slow).reply;
    assert!(pop.holder.reply(LEDGER, &late, pop.now).is_empty());
    assert!(pop.holder.reply(LEDGER, &last, pop.now).is_empty());
    let settled = pop.sync(&mut shard);
    assert!(settled[0].verdict.decision.allowed());
    assert_eq!(settled[0].verdict.epoch.map(|epoch| epoch.0), Some(11));
}

/// (E5) Out of reach, the policy's `on_error` decides; what comes late still counts.
#[test]
fn an_ask_that_failed_leaves_the_decision_to_on_error() {
    let limit = limit(10, 0);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    let ticket = pop.wait(limit, 2);
    let ask = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    let later = pop.wait(limit, 1);
    let failed = pop.holder.failed(LEDGER, ask.n);
    assert_eq!((failed.len(), failed[0].ticket), (1, ticket));
    assert_eq!(failed[0].verdict.decision.refusal, Some(Refusal::Unavailable));
    let late = shard.answer(&ask).reply;
    let settled = pop.holder.reply(LEDGER, &late, pop.now);
    assert_eq!((settled.len(), settled[0].ticket), (1, later));
    assert!(settled[0].verdict.decision.allowed());
}

#[test]
fn costs_that_never_fit_and_queues_that_are_full() {
    let settings = CapHolderSettings { max_keys: 3, max_waiting: 2 };
    let mut holder: CapHolder = CapHolder::new(1, settings);
    let now = SteadyMs(0);
    let mut refusal =
        |limit, units, number| match holder.request(LEDGER, &key_number(number), limit, cost(units), now) {
            CapAnswer::Decided(verdict) => verdict.decision.refusal,
            CapAnswer::Wait(_) => None,
        };
    assert_eq!(refusal(limit(0, 0), 0, 1), Some(Refusal::CostExceedsLimit));
    assert_eq!(refusal(limit(5, 1_000_000), 6, 1), Some(Refusal::CostExceedsLimit));
    assert_eq!(refusal(limit(5, 0), 1, 1), None);
    assert_eq!(refusal(limit(5, 0), 1, 2), None);
    assert_eq!(refusal(limit(5, 0), 1, 3), Some(Refusal::Unavailable));
}

/// A flood of keys neither grows without bound nor passes the limit of any key.
#[test]
fn past_the_bound_new_keys_share_caps() {
    let (limit, now) = (limit(2, 0), SteadyMs(0));
    let mut holder: CapHolder = CapHolder::new(1, CapHolderSettings { max_keys: 10, max_waiting: 100 });
    let mut shard: Shard = Shard::new(limit);
    let mut admitted = 0;
    for number in 1_000..3_000 {
        let answer = holder.request(LEDGER, &key_number(number), limit, cost(1), now);
        admitted += u32::from(matches!(answer, CapAnswer::Decided(v) if v.decision.allowed()));
        while let Some(ask) = holder.next_ask(LEDGER, now) {
            let settled = holder.reply(LEDGER, &shard.answer(&ask).reply, now);
            admitted += settled.iter().filter(|s| s.verdict.decision.allowed()).count() as u32;
        }
    }
    assert!(holder.keys() <= 10 + 64, "{} keys", holder.keys());
    assert_eq!(admitted, 10 + 64 * 2);
}

proptest! {
    /// A Ledger that leaves memory whenever nobody asks refuses nothing that it would not refuse otherwise:
    /// what it knew does not count twice. Nor is anything hidden: when all have reported, it knows all of it.
    #[test]
    fn evictions_of_the_ledger_refuse_nothing_early(
        (size, ppm) in (1u64..60, prop::sample::select(vec![0u32, 10_000, 100_000, 500_000])),
        pops in 1usize..6,
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..120),
    ) {
        let limit = limit(size, ppm);
        let mut shard: Shard = Shard::new(limit);
        let mut pops: Vec<Pop> = (0..pops as u64).map(Pop::new).collect();
        let mut admitted = 0;
        for (pop, evict) in steps {
            let pop = pop.index(pops.len());
            let allowed = pops[pop].decide(&mut shard, limit, 1).decision.allowed();
            prop_assert!(allowed || admitted >= size, "refused at {} of {}", admitted, size);
            admitted += u64::from(allowed);
            if evict {
                shard.evict();
            }
        }
        shard.evict();
        for pop in &mut pops {
            // It is refused and asks, in which it reports.
            pop.spend(&mut shard, limit, 2 * size).iter().for_each(|receipt| admitted += receipt.cost.get());
            pop.decide(&mut shard, limit, size);
        }
        let known = shard.ledger.totals(&key()).iter().find(|total| total.epoch.0 == 10).map(|t| t.known);
        prop_assert!(known.is_some_and(|known| (size..=admitted).contains(&known)), "{:?} of {}", known, admitted);
    }
}

/// Units that were granted since it settled were not known then: after a crash all of them count as taken.
#[test]
fn after_a_crash_all_that_was_reserved_counts_as_taken() {
    let limit = limit(1_000, 100_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pop: Pop = Pop::new(1);
    pop.spend(&mut shard, limit, 5);
    let sums = |shard: &Shard| {
        let total = shard.ledger.totals(&key())[0];
        (total.known, total.caps)
    };
    let before = sums(&shard);
    shard.evict();
    assert!(sums(&shard) == before && before.0 < before.1, "{before:?}");
    pop.decide(&mut shard, limit, 50);
    let reserved = shard.ledger.totals(&key())[0].reserved;
    assert!(reserved > before.1 + 50);
    shard.crash();
    assert_eq!(sums(&shard), (reserved, reserved));
}

/// What was stored when it settled is not the newest: a report came since that needed no write. Then less is
/// known than was, and the caps stay within the ceiling all the same.
#[test]
fn an_old_figure_of_what_is_known_passes_no_limit() {
    let limit = limit(10, 500_000);
    let mut shard: Shard = Shard::new(limit);
    let mut pops: Vec<Pop> = (0..3).map(Pop::new).collect();
    pops[0].spend(&mut shard, limit, 5);
    let store = shard.ledger.settle();
    shard.stored.write(&store);
    let known = |shard: &Shard| shard.ledger.totals(&key())[0].known;
    let settled = known(&shard);
    let mut admitted = 5 + pops[0].spend_alone(limit);
    let ask = super::messages::report(0, 99, 0, 0);
    let taken = pops[0].holder.pages(LEDGER, &key())[0].taken;
    let mut item = ask.items[0].clone();
    item.books[0].taken = taken;
    let id = pops[0].holder.id(LEDGER).unwrap();
    let rows = shard.rows;
    shard.answer(&sluicegate::global::CapAsk { holder: id, items: vec![item], ..ask });
    assert!(shard.rows == rows && known(&shard) > settled, "a report without a write");
    shard.crash();
    assert_eq!(known(&shard), settled);
    for pop in [2, 1, 0, 2, 1, 0] {
        admitted += pops[pop].spend(&mut shard, limit, 20).len() as u64 + pops[pop].spend_alone(limit);
    }
    assert!((10..=15).contains(&admitted), "{admitted}");
}
