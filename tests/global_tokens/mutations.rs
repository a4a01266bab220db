//! Each rule broken in turn: the search finds the schedule that the rule is there for.

use sluicegate::fence::Fence;
use sluicegate::global::TokenAnswer;
use sluicegate::global::token_rules::{Spans, StandardTokens, TokenRules};

use super::model::World;
use super::search::{Found, search};
use super::setup::{Setup, Wrong, alone, plain};
use super::support::{LEDGER, Pop, Shard, bucket};

/// A rule that is broken: more is admitted than the bound allows, whatever the books say.
fn breaks<R: TokenRules>(name: &str, setup: Setup) {
    let setup = Setup { only_bound: true, ..setup };
    match search(World::<R>::new(setup), 60_000) {
        Found::Broken { actions, why } => {
            eprintln!("{name}, {} steps: {why}\n  {}", actions.len(), actions.join("\n  "));
            assert!(why.contains("admitted where the bucket has"), "{name} breaks something else: {why}");
        }
        Found::Sound { states, .. } => panic!("{name} breaks nothing in {states} states"),
    }
}

macro_rules! mutation {
    ($(#[$doc:meta])* $name:ident, $test:ident, $setup:expr, { $($rule:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct $name;

        impl TokenRules for $name {
            $($rule)*
        }

        #[test]
        fn $test() {
            breaks::<$name>(stringify!($test), $setup);
        }
    };
}

mutation!(
    /// What is left is enough, whatever the cost.
    AnyCost, a_cost_that_is_not_looked_at, Setup { costs: &[1, 2], ..alone(bucket(3, 0, 1), 3) },
    {
        fn fits(granted: u64, gone: u64, _: u64) -> bool { gone < granted }
        fn share(level: u64, _: u64, rate: u64, _: u64) -> u64 { rate.min(level) }
    }
);
mutation!(
    /// Any reply counts: one to an older ask confirms what only the newer one told.
    ObeysAll, replies_that_are_late, Setup { forgets: 1, ..alone(bucket(1, 0, 1), 3) },
    { fn obeys(_: Option<u64>, _: u64) -> bool { true } }
);
mutation!(
    /// Each reply adds to what is granted: a sum that is told again counts again.
    Adds, grants_that_add, alone(bucket(2, 0, 1), 3),
    { fn told_granted(held: u64, told: u64) -> u64 { held + told } }
);
mutation!(
    /// A lease that was forgotten starts anew.
    StartsAnew, a_lease_that_starts_anew, Setup { forgets: 1, ticks: 1, steps: 1, ..alone(bucket(1, 0, 1), 3) },
    { fn starts_with(_: u64) -> u64 { 0 } }
);
mutation!(
    /// A holder forgets what it has not reported.
    ForgetsAll, a_holder_that_forgets_too_much, Setup { forgets: 1, ..alone(bucket(1, 0, 1), 2) },
    { fn may_forget(_: u64, _: bool) -> bool { true } }
);
mutation!(
    /// A holder keeps its tokens as long as the Ledger does, by a clock that is slow.
    HoldsOn, a_holder_that_does_not_stop_first,
    Setup { clocks: &[500], steps: 4, step_ms: 39_000, abandons: 1, ..alone(bucket(1, 1, 60_000), 3) },
    { fn holds_ms(keep_ms: u64) -> u64 { keep_ms } }
);
mutation!(
    /// A receipt counts as often as it is handed in.
    EveryRefund, a_refund_that_counts_twice, Setup { refunds: 2, ..alone(bucket(2, 0, 1), 5) },
    { fn refunded(_: &mut Spans, spent: u64, from: u64, cost: u64) -> bool { from + cost <= spent } }
);
mutation!(
    /// The last report counts: a late one takes back what was given back, and the next gives it again.
    LastReport, reports_that_are_late, Setup { refunds: 1, ..alone(bucket(2, 0, 1), 5) },
    { fn reported(_: u64, told: u64) -> u64 { told } }
);
mutation!(
    /// The bucket refills, whatever is out.
    RefillsAll, a_refill_past_what_is_out,
    Setup { abandons: 1, steps: 1, ..plain(bucket(1, 1, 20_000)) },
    { fn room(capacity: u64, _: u64) -> u64 { capacity } }
);
mutation!(
    /// What is reported counts as spent since the last look at the bucket.
    ReportsFirst, a_refill_of_what_was_spent_just_now,
    Setup { abandons: 1, steps: 1, requests: 3, ..alone(bucket(1, 1, 20_000), 3) },
    { fn out_meanwhile(_: u64, after: u64) -> u64 { after } }
);
mutation!(
    /// Requests that wait are granted what they lack, whatever there is.
    GrantsAll, grants_past_the_level, plain(bucket(1, 0, 1)),
    { fn waiting_grant(_: u64, short: u64, _: u64) -> u64 { short } }
);
mutation!(
    /// A holder gets as much on top as it spent, whatever there is.
    AnyShare, a_share_without_a_bound, alone(bucket(2, 0, 1), 4),
    { fn share(_: u64, _: u64, rate: u64, _: u64) -> u64 { rate } }
);
mutation!(
    /// What a holder had that is silent goes back into the bucket.
    GivesBack, a_lease_that_returns_when_it_is_over,
    Setup { abandons: 1, steps: 3, step_ms: 45_000, ..alone(bucket(1, 1, 120_000), 3) },
    { fn back_from_silent(out: u64) -> u64 { out } }
);
mutation!(
    /// Nothing is stored.
    NotStored, a_ledger_that_stores_nothing, Setup { crashes: 1, ..alone(bucket(1, 0, 1), 3) },
    { fn must_store(_: bool) -> bool { false } }
);

#[test]
fn a_second_instance_with_the_same_name() {
    let setup = Setup { forks: 1, wrong: Wrong::SameId, ..alone(bucket(1, 0, 1), 2) };
    breaks::<StandardTokens>("same name", setup);
}

#[test]
fn a_reply_that_leaves_before_the_store() {
    let setup = Setup { crashes: 1, wrong: Wrong::ReplyFirst, ..plain(bucket(1, 0, 1)) };
    breaks::<StandardTokens>("reply first", setup);
}

/// The residual assumption: a holder's clock runs at half the speed of the Ledger's, or faster. Where it
/// stands still, tokens are spent that the Ledger has counted as spent before.
#[test]
fn a_clock_that_stands_still() {
    let setup =
        Setup { clocks: &[0, 1_000], steps: 2, step_ms: 70_000, abandons: 1, ..plain(bucket(1, 1, 60_000)) };
    breaks::<StandardTokens>("frozen", setup);
}

/// A report is taken for one about the lease that there is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AnyFence;

impl TokenRules for AnyFence {
    fn is_about(_: Fence, _: Fence) -> bool {
        true
    }
}

/// How many requests are admitted at once where a bucket holds one token, and a report about a lease that is
/// over comes late: too long a schedule for the search.
fn admitted_after_a_late_report<R: TokenRules>() -> usize {
    let mut shard: Shard<R> = Shard::new(bucket(1, 1, 60_000));
    let mut pop: Pop<R> = Pop::new(1);
    let TokenAnswer::Wait(ticket) = pop.request(shard.bucket, 1) else { panic!("it waits") };
    let ask = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    assert!(pop.holder.abandon(LEDGER, ticket));
    pop.holder.reply(LEDGER, &shard.answer(&ask).reply, pop.now);
    assert_eq!(pop.in_hand(), 1);
    let pass = |pop: &mut Pop<R>, shard: &mut Shard<R>| {
        pop.now = pop.now.plus(65_000);
        shard.pass(65_000);
    };
    pass(&mut pop, &mut shard);
    pop.request(shard.bucket, 1);
    let late = pop.holder.next_ask(LEDGER, pop.now).unwrap();
    assert_eq!(late.items[0].book.map(|book| book.returned), Some(1));
    pop.holder.failed(LEDGER, late.n);
    pass(&mut pop, &mut shard);
    let first = usize::from(pop.admits(&mut shard, 1));
    shard.answer(&late);
    first + (0..3).filter(|_| pop.admits(&mut shard, 1)).count()
}

#[test]
fn a_report_about_another_lease() {
    assert_eq!(admitted_after_a_late_report::<StandardTokens>(), 1);
    assert_eq!(admitted_after_a_late_report::<AnyFence>(), 2);
}
