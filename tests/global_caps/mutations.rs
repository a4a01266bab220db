//! Each rule broken in turn: the search finds the schedule that the rule is there for.

use std::cmp::Ordering;

use sluicegate::global::CapLimit;
use sluicegate::global::rules::{Rules, Spans, Standard, Standing};
use sluicegate::window::Epoch;

use super::model::World;
use super::search::{Found, search};
use super::setup::{Setup, Wrong, plain};
use super::support::limit;

/// A rule that is broken, and the same configuration with the rule as it is.
fn breaks<R: Rules>(name: &str, setup: Setup, expected: &str) {
    match search(World::<R>::new(setup), 60_000) {
        Found::Broken { actions, why } => {
            eprintln!("{name}, {} steps: {why}\n  {}", actions.len(), actions.join("\n  "));
            assert!(why.contains(expected), "{name} breaks something else: {why}");
        }
        Found::Sound { states, .. } => panic!("{name} breaks nothing in {states} states"),
    }
}

fn alone(limit: CapLimit, requests: u8) -> Setup {
    Setup { holders: 1, requests, ..plain(limit) }
}

macro_rules! mutation {
    ($(#[$doc:meta])* $name:ident, $test:ident, $setup:expr, $why:expr, { $($rule:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct $name;

        impl Rules for $name {
            $($rule)*
        }

        #[test]
        fn $test() {
            breaks::<$name>(stringify!($test), $setup, $why);
        }
    };
}

mutation!(
    /// Each reply adds to the cap: a reply that comes twice counts twice.
    Adds, a_cap_that_adds, alone(limit(1, 0), 1), "in the books",
    { fn told_cap(held: u64, told: u64) -> u64 { held + told } }
);
mutation!(
    /// The last reply counts: one that is late lowers the cap below what was taken.
    LastCap, a_cap_that_follows_the_last_reply, alone(limit(2, 0), 2), "passed its cap",
    { fn told_cap(_: u64, told: u64) -> u64 { told } }
);
mutation!(
    /// What is left is enough, whatever the cost.
    AnyCost, a_cost_that_is_not_looked_at, Setup { costs: &[3], ..alone(limit(4, 250_000), 2) }, "admitted in",
    { fn fits(cap: u64, taken: u64, given: u64, _: u64) -> bool { taken - given < cap } }
);
mutation!(
    /// The last reply names the epoch: a late one leads back to an epoch whose page is gone.
    LastEpoch, an_epoch_that_goes_back, Setup { rolls: 1, ..alone(limit(1, 0), 3) }, "admitted in",
    { fn told_epoch(_: Epoch, told: Epoch) -> Epoch { told } }
);
mutation!(
    /// Any other generation is taken for the newest.
    LastGeneration, a_generation_that_goes_back, Setup { resets: 1, ..alone(limit(1, 0), 4) }, "admitted in",
    { fn told_generation(_: (Epoch, u64), _: (Epoch, u64)) -> Ordering { Ordering::Greater } }
);
mutation!(
    /// What is left of a cap goes on into the next epoch.
    CarriesOver, slack_that_is_carried_over, Setup { rolls: 1, refunds: 1, ..alone(limit(1, 0), 2) },
    "in the books",
    { fn carried_over(left: u64) -> u64 { left } }
);
mutation!(
    /// A holder that has forgotten what it took keeps its name.
    KeepsName, a_holder_that_forgets_and_keeps_its_name, Setup { forgets: 1, ..alone(limit(1, 0), 2) },
    "admitted in",
    { fn renamed(random: u64, _: u64) -> u64 { random } }
);
mutation!(
    /// A receipt counts as often as it is handed in.
    EveryRefund, a_refund_that_counts_twice, Setup { refunds: 2, ..alone(limit(1, 0), 3) }, "admitted in",
    { fn refunded(_: &mut Spans, taken: u64, from: u64, cost: u64) -> bool { from + cost <= taken } }
);
mutation!(
    /// A refund goes to the epoch in which it comes.
    RefundNow, a_refund_to_another_epoch, Setup { rolls: 1, refunds: 1, ..alone(limit(1, 0), 4) },
    "admitted in",
    { fn refund_page(_: Epoch, current: Epoch) -> Epoch { current } }
);
mutation!(
    /// Requests that wait are granted up to the ceiling, though the limit is known to be used up.
    PastLimit, waiting_grants_past_the_limit, Setup { requests: 2, ..plain(limit(1, 1_000_000)) },
    "granted although",
    { fn waiting_grant(standing: &Standing, short: u64) -> u64 { short.min(standing.room()) } }
);
mutation!(
    /// What is granted to a request that waits is not counted as taken.
    NotPresumed, a_waiting_grant_that_is_not_presumed_taken, alone(limit(1, 0), 1), "are out",
    { fn presumed(_: u64, _: u64, _: u64) -> u64 { 0 } }
);
mutation!(
    /// A holder gets as much on top as it took, whoever has slack already.
    AnySlack, slack_without_a_bound, alone(limit(4, 250_000), 4), "are out",
    { fn slack_grant(_: &Standing, rate: u64, _: u64) -> u64 { rate } }
);
mutation!(
    /// Caps are given ahead without a look at that epoch's slack.
    AnyAhead, caps_ahead_without_a_bound, alone(limit(2, 0), 2), "are out",
    { fn next_cap(_: &Standing, rate: u64, held: u64) -> u64 { held + rate } }
);
mutation!(
    /// Nothing is stored.
    NotStored, caps_that_are_not_stored, alone(limit(1, 0), 1), "0 stored",
    { fn must_store(_: u64, _: u64) -> bool { false } }
);
mutation!(
    /// After a crash the books are empty.
    Forgets, a_crash_that_forgets_what_was_reserved,
    Setup { crashes: 1, requests: 2, ..plain(limit(1, 0)) }, "in the books",
    { fn remembered(_: u64) -> u64 { 0 } }
);
mutation!(
    /// A holder that reports after a crash gets a row, and its units stay lost as well.
    CountsTwice, a_holder_found_again_and_still_lost, Setup { crashes: 1, ..alone(limit(1, 0), 2) },
    "granted although",
    { fn still_lost(lost: u64, _: u64) -> u64 { lost } }
);

mutation!(
    /// After a restart all that was granted counts as taken, also after the Ledger has settled.
    AllTaken, a_restart_after_which_slack_counts_as_taken,
    Setup { settles: 1, crashes: 1, ..alone(limit(3, 340_000), 2) }, "a restart made",
    { fn remembered_known(granted: u64, _: u64) -> u64 { granted } }
);
mutation!(
    /// After a restart nothing is known to be taken.
    NothingKnown, a_restart_after_which_nothing_is_known,
    Setup { settles: 1, crashes: 1, ..alone(limit(1, 0), 1) }, "a restart made",
    { fn remembered_known(_: u64, _: u64) -> u64 { 0 } }
);
mutation!(
    /// What a holder reports after a restart counts beside what was known of it.
    KnownTwice, known_units_that_count_twice,
    Setup { settles: 1, crashes: 1, ..alone(limit(2, 0), 2) }, "are known of caps",
    { fn still_known(known: u64, _: u64) -> u64 { known } }
);
#[test]
fn a_second_instance_with_the_same_name() {
    let setup = Setup { forks: 1, wrong: Wrong::SameId, ..alone(limit(1, 0), 2) };
    breaks::<Standard>("same name", setup, "admitted in");
}

#[test]
fn a_reply_that_leaves_before_the_store() {
    let setup = Setup { crashes: 1, requests: 2, wrong: Wrong::ReplyFirst, ..plain(limit(1, 0)) };
    breaks::<Standard>("reply first", setup, "0 stored");
}

#[test]
fn an_epoch_that_was_told_and_not_stored() {
    let setup = Setup { crashes: 1, rolls: 1, wrong: Wrong::EpochsNotStored, ..alone(limit(1, 0), 2) };
    breaks::<Standard>("epochs not stored", setup, "was told after");
}
