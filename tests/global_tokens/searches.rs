//! Every reachable state of small configurations is sound.

use sluicegate::global::token_rules::{StandardTokens, TokenRules};

use super::model::World;
use super::search::{Found, search};
use super::setup::{Setup, alone, plain};
use super::support::bucket;

const MOST: usize = 60_000;

fn sound<R: TokenRules>(name: &str, setup: Setup) {
    let start = std::time::Instant::now();
    match search(World::<R>::new(setup), MOST) {
        Found::Sound { states, steps } => {
            eprintln!("{name}: {states} states, {steps} steps, {:.1} s", start.elapsed().as_secs_f64());
        }
        Found::Broken { actions, why } => panic!("{name}: {why}\n{}", actions.join("\n")),
    }
}

/// Grants all on top that was spent, not a fraction of the level: so that a small bucket has some to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generous;

impl TokenRules for Generous {
    fn share(level: u64, _: u64, rate: u64, spare: u64) -> u64 {
        rate.min(level).saturating_sub(spare)
    }
}

#[test]
fn two_holders_race_for_the_last_token() {
    sound::<StandardTokens>("race", Setup { requests: 3, ..plain(bucket(2, 1, 30_000)) });
}

#[test]
fn three_holders() {
    sound::<StandardTokens>("three", Setup { clocks: &[1_000; 3], ..plain(bucket(2, 1, 30_000)) });
}

#[test]
fn tokens_on_top() {
    sound::<Generous>("on top", Setup { requests: 4, ..plain(bucket(4, 1, 30_000)) });
}

#[test]
fn costs_above_one() {
    sound::<Generous>("costs", Setup { costs: &[1, 2], ..plain(bucket(4, 1, 30_000)) });
}

#[test]
fn asks_and_requests_given_up() {
    let setup = Setup { fails: 1, abandons: 1, ..plain(bucket(2, 1, 30_000)) };
    sound::<StandardTokens>("given up", setup);
}

#[test]
fn time_passes_until_a_lease_is_over() {
    let setup = Setup { steps: 4, abandons: 1, ..alone(bucket(1, 1, 30_000), 2) };
    sound::<StandardTokens>("time", setup);
}

#[test]
fn time_passes_and_asks_fail() {
    let setup = Setup { steps: 2, step_ms: 40_000, fails: 1, ..alone(bucket(1, 1, 30_000), 2) };
    sound::<StandardTokens>("time, fails", setup);
}

#[test]
fn two_holders_and_time() {
    let setup = Setup { steps: 1, step_ms: 70_000, requests: 2, ..plain(bucket(1, 1, 30_000)) };
    sound::<StandardTokens>("two, time", setup);
}

#[test]
fn a_clock_at_half_speed() {
    let setup =
        Setup { clocks: &[500], steps: 3, step_ms: 39_000, abandons: 1, ..alone(bucket(1, 1, 60_000), 2) };
    sound::<StandardTokens>("half speed", setup);
}

#[test]
fn a_clock_that_is_fast() {
    let setup = Setup { clocks: &[3_000], steps: 3, abandons: 1, ..alone(bucket(1, 1, 30_000), 2) };
    sound::<StandardTokens>("fast", setup);
}

#[test]
fn idle_tokens_return() {
    let setup = Setup { steps: 1, ticks: 1, abandons: 1, requests: 2, ..plain(bucket(1, 1, 60_000)) };
    sound::<StandardTokens>("idle", setup);
}

#[test]
fn a_second_instance_of_an_object() {
    let setup = Setup { forks: 1, ..alone(bucket(1, 1, 30_000), 3) };
    sound::<StandardTokens>("fork", setup);
}

#[test]
fn a_holder_that_forgets() {
    let setup = Setup { forgets: 1, ticks: 1, steps: 1, ..alone(bucket(1, 1, 30_000), 2) };
    sound::<StandardTokens>("forget", setup);
}

#[test]
fn refunds_also_twice() {
    let setup = Setup { refunds: 2, ticks: 1, steps: 1, ..alone(bucket(1, 1, 40_000), 2) };
    sound::<StandardTokens>("refunds", setup);
}

#[test]
fn refunds_and_tokens_on_top() {
    let setup = Setup { refunds: 1, ..alone(bucket(3, 1, 40_000), 3) };
    sound::<Generous>("refunds, on top", setup);
}

#[test]
fn crashes_around_the_store() {
    let setup = Setup { crashes: 1, ..plain(bucket(2, 1, 30_000)) };
    sound::<StandardTokens>("crash", setup);
}

#[test]
fn crashes_and_time() {
    let setup = Setup { crashes: 1, steps: 2, step_ms: 40_000, ..alone(bucket(1, 1, 30_000), 2) };
    sound::<StandardTokens>("crash, time", setup);
}

#[test]
fn crashes_and_refunds() {
    let setup = Setup { crashes: 1, refunds: 1, ticks: 1, steps: 1, ..alone(bucket(1, 1, 20_000), 2) };
    sound::<StandardTokens>("crash, refund", setup);
}

#[test]
fn a_bucket_that_never_refills() {
    let setup = Setup { steps: 1, abandons: 1, requests: 2, ..plain(bucket(1, 0, 1)) };
    sound::<StandardTokens>("never", setup);
}
