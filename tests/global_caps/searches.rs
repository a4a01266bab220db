//! Every reachable state of small configurations is sound.

use sluicegate::global::rules::{Rules, Standard, Standing};

use super::model::World;
use super::search::{Found, search};
use super::setup::{Setup, plain};
use super::support::limit;

const MOST: usize = 60_000;

fn sound<R: Rules>(name: &str, setup: Setup) {
    let start = std::time::Instant::now();
    match search(World::<R>::new(setup), MOST) {
        Found::Sound { states, steps } => {
            eprintln!("{name}: {states} states, {steps} steps, {:.1} s", start.elapsed().as_secs_f64());
        }
        Found::Broken { actions, why } => panic!("{name}: {why}\n{}", actions.join("\n")),
    }
}

#[test]
fn two_holders_race_for_the_last_unit() {
    sound::<Standard>("tolerance 0", Setup { requests: 5, ..plain(limit(2, 0)) });
}

#[test]
fn slack_on_top() {
    sound::<Standard>("slack", Setup { requests: 4, ..plain(limit(3, 340_000)) });
}

#[test]
fn asks_given_up_and_repeated() {
    sound::<Standard>("fails", Setup { fails: 2, ..plain(limit(2, 0)) });
}

#[test]
fn three_holders() {
    sound::<Standard>("three holders", Setup { holders: 3, ..plain(limit(2, 0)) });
}

#[test]
fn costs_above_one() {
    sound::<Standard>("costs", Setup { costs: &[2], requests: 2, ..plain(limit(3, 340_000)) });
}

#[test]
fn a_second_instance_of_an_object() {
    sound::<Standard>("fork", Setup { holders: 1, forks: 1, requests: 4, ..plain(limit(2, 0)) });
}

#[test]
fn a_holder_that_forgets() {
    sound::<Standard>("forget", Setup { holders: 1, forgets: 2, requests: 4, ..plain(limit(2, 0)) });
}

#[test]
fn refunds_also_twice() {
    sound::<Standard>("refunds", Setup { refunds: 2, ..plain(limit(1, 0)) });
}

#[test]
fn refunds_from_the_slack() {
    sound::<Standard>(
        "refunds, slack",
        Setup { refunds: 1, holders: 1, requests: 4, ..plain(limit(3, 340_000)) },
    );
}

#[test]
fn crashes_around_the_store() {
    sound::<Standard>("crash", Setup { crashes: 1, ..plain(limit(1, 1_000_000)) });
}

#[test]
fn crashes_with_units_stored_ahead() {
    sound::<Standard>(
        "crash, ahead",
        Setup { crashes: 2, ahead_ppm: 500_000, requests: 2, holders: 1, ..plain(limit(2, 500_000)) },
    );
}

/// With slack out, so that what is known is less than what was granted.
#[test]
fn a_restart_after_settling() {
    sound::<Standard>("settle", Setup { settles: 1, crashes: 1, requests: 2, ..plain(limit(3, 340_000)) });
}

#[test]
fn restarts_after_settling_and_units_stored_ahead() {
    sound::<Standard>(
        "settle, ahead",
        Setup {
            settles: 2,
            crashes: 1,
            ahead_ppm: 500_000,
            requests: 2,
            holders: 1,
            ..plain(limit(3, 340_000))
        },
    );
}

#[test]
fn a_restart_after_settling_and_refunds() {
    sound::<Standard>(
        "settle, refund",
        Setup { settles: 1, crashes: 1, refunds: 1, holders: 1, requests: 3, ..plain(limit(2, 500_000)) },
    );
}

#[test]
fn crashes_and_refunds() {
    sound::<Standard>(
        "crash, refund",
        Setup { crashes: 1, refunds: 1, holders: 1, requests: 2, ..plain(limit(1, 0)) },
    );
}

#[test]
fn two_epochs() {
    sound::<Standard>("roll", Setup { rolls: 1, requests: 2, ..plain(limit(1, 0)) });
}

#[test]
fn two_epochs_and_a_hurried_clock() {
    sound::<Standard>(
        "roll, hurry",
        Setup { rolls: 1, hurries: 1, holders: 1, forks: 1, requests: 2, ..plain(limit(1, 0)) },
    );
}

#[test]
fn two_epochs_and_a_crash() {
    sound::<Standard>(
        "roll, crash",
        Setup { rolls: 1, crashes: 1, holders: 1, requests: 2, ..plain(limit(1, 0)) },
    );
}

#[test]
fn two_epochs_and_a_refund() {
    sound::<Standard>(
        "roll, refund",
        Setup { rolls: 1, refunds: 1, holders: 1, requests: 2, ..plain(limit(1, 0)) },
    );
}

/// Gives all of the slack ahead, not an eighth of it: so that a small limit has some to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead;

impl Rules for Ahead {
    fn next_cap(standing: &Standing, rate: u64, held: u64) -> u64 {
        held + Self::slack_grant(standing, rate, held)
    }
}

#[test]
fn caps_ahead_of_their_epoch() {
    sound::<Ahead>(
        "ahead",
        Setup { rolls: 1, hurries: 1, holders: 1, requests: 3, ..plain(limit(3, 1_000_000)) },
    );
}

#[test]
fn caps_ahead_and_a_crash() {
    sound::<Ahead>(
        "ahead, crash",
        Setup { rolls: 1, crashes: 1, holders: 1, requests: 2, ..plain(limit(3, 1_000_000)) },
    );
}

#[test]
fn caps_ahead_and_a_restart_after_settling() {
    sound::<Ahead>(
        "ahead, settle",
        Setup { rolls: 1, settles: 1, crashes: 1, holders: 1, requests: 2, ..plain(limit(3, 1_000_000)) },
    );
}

#[test]
fn caps_ahead_and_a_reset() {
    sound::<Ahead>(
        "ahead, reset",
        Setup { resets: 1, hurries: 1, holders: 1, requests: 3, ..plain(limit(3, 1_000_000)) },
    );
}

#[test]
fn resets() {
    sound::<Standard>("reset", Setup { resets: 2, holders: 1, requests: 2, ..plain(limit(1, 0)) });
}

#[test]
fn resets_and_a_crash() {
    sound::<Standard>(
        "reset, crash",
        Setup { resets: 1, crashes: 1, holders: 1, requests: 2, ..plain(limit(1, 0)) },
    );
}
