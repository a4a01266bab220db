//! A run follows from its scenario, and from nothing else.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sluicegate::sim::{LogEntry, Pace, Place, Scenario, SimReport, Simulation, Stream};

use super::support::*;

fn replayed(scenario: &Scenario, stops: &[u64]) -> (SimReport, Vec<LogEntry>) {
    let mut world = Simulation::new(scenario.clone());
    stops.iter().for_each(|stop| world.run_until(*stop));
    (world.report(), world.log().cloned().collect())
}

/// The same events in the same order, wherever the onlooker stops to look; and another seed gives others.
#[test]
fn a_run_replays_event_by_event() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..6 {
        let world = super::worlds::world(150, 4).new_tree(&mut runner).unwrap().current();
        for policy in [window(100, 100_000), quota(300, DAY)] {
            let scenario =
                Scenario { log: 1_000_000, naive: true, ..world.clone().scenario(&policy, 4 * WINDOW, 2) };
            let whole = replayed(&scenario, &[5 * WINDOW]);
            assert_eq!(replayed(&scenario, &[17, 4_321, 20_000, 20_000, 5 * WINDOW]), whole);
            assert!(whole.1.len() > 100);
            let other = Scenario { seed: scenario.seed ^ 1, ..scenario };
            assert_ne!(replayed(&other, &[5 * WINDOW]).1, whole.1);
        }
    }
}

/// The requests of a scenario are the same on every machine: how many come in this one is written down.
#[test]
fn requests_do_not_depend_on_the_machine() {
    let stream = Stream::new("api", 30_000, Pace::Random { gap_us: 30_000 }, Place::Anywhere);
    let tally = run(with(scenario(&window(100, 100_000), 5), [stream]), 31_000).tally;
    assert_eq!(tally.decisions, 941);
}

/// The log is bounded, and keeps the latest.
#[test]
fn the_log_keeps_the_latest_events() {
    let stream = Stream::new("api", 30_000, Pace::Steady { gap_us: 10_000 }, Place::Anywhere);
    let mut world = Simulation::new(with(Scenario { log: 50, ..scenario(&window(10, 0), 3) }, [stream]));
    world.run_until(31_000);
    assert_eq!(world.log().count(), 50);
    assert!(world.log().all(|entry| entry.at_ms > 25_000));
}
