//! A run follows from its scenario, and from nothing else.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use siphasher::sip::SipHasher13;
use sluicegate::sim::{
    ClockSpec, Fault, LogEntry, Network, Pace, Place, Scenario, SimReport, Simulation, Stream,
};

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

/// A run is the same on every machine and in every build of the core, with the maps of the Worker and with the
/// smaller ones of the page. What is counted, logged or drawn in another way changes the number.
#[test]
fn a_run_does_not_depend_on_the_build() {
    let (everywhere, pace) = (Place::Anywhere, Pace::Random { gap_us: 40_000 });
    let streams = ["api", "bucket", "quota"].map(|name| Stream {
        clients: 3,
        cost: (1, 4),
        ..Stream::new(name, 4 * WINDOW, pace, everywhere)
    });
    let bucket = r#"{"name": "bucket", "algorithm": "token-bucket", "limit": 50, "window": "10s", "burst": 20,
        "identity": "ip", "scope": "global"}"#;
    let mut scenario = Scenario::new(config(&[window(60, 100_000), bucket.to_owned(), quota(300, DAY)]), 6);
    scenario.seed = 0x5eed;
    scenario.log = 1_000_000;
    scenario.pops = (0..6).map(|pop| ClockSpec { offset_ms: pop * 1_711 - 4_000, drift_ppm: 90 }).collect();
    scenario.network = Network { slow_ppm: 50_000, slow_ms: 700, twice_ppm: 50_000, ..scenario.network };
    scenario.faults = vec![
        (5_000, step(POP(1), -3_000)),
        (9_000, step(LEDGER, 7_000)),
        (12_000, Fault::Freeze { machine: POP(2), for_ms: 4_000 }),
        (15_000, Fault::Crash { machine: POP(0) }),
        (18_000, Fault::CutOff { machine: POP(3), for_ms: 6_000 }),
        (22_000, Fault::Crash { machine: LEDGER }),
        (27_000, Fault::Split { machine: LEDGER, for_ms: 3_000 }),
        (31_000, Fault::Split { machine: POP(4), for_ms: 3_000 }),
    ];
    let (report, log) = replayed(&with(scenario, streams), &[5 * WINDOW]);
    assert!(report.policies.iter().all(|policy| policy.tally.refused > 100), "{report:?}");
    let text = serde_json::to_string(&(report, log)).unwrap();
    assert_eq!(format!("{:016x}", SipHasher13::new().hash(text.as_bytes())), "fd16436858a461b9");
}
