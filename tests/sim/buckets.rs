//! Token buckets over many points of presence: in any T milliseconds of true time at most `burst + rate x T`.

use proptest::prelude::*;
use sluicegate::sim::{ClockSpec, Fault, Machine, Pace, Place, Scenario, Simulation, Stream};

use super::support::*;
use super::worlds::{config_with_cases, world};

/// Longer than a lease that nothing was heard of is kept.
const WINDOWS: u64 = 8;

/// `rate` tokens come in per window.
fn bucket(rate: u64, burst: u64) -> String {
    format!(
        r#"{{"name": "api", "algorithm": "token-bucket", "limit": {rate}, "window": "{}s", "burst": {burst},
            "identity": "ip", "scope": "global", "on_error": "closed"}}"#,
        WINDOW / 1_000
    )
}

proptest! {
    #![proptest_config(config_with_cases(80))]

    /// Whatever goes wrong but with the rate of the Ledger's clock, which the tokens come in by.
    #[test]
    fn no_bucket_is_passed(
        ((rate, burst), world) in (1u64..100, 1u64..100).prop_flat_map(|size| (Just(size), world(size.0 + size.1, WINDOWS))),
        clients in prop_oneof![3 => Just(1u64), 1 => 2u64..5],
    ) {
        let mut scenario = world.scenario(&bucket(rate, burst), WINDOWS * WINDOW, clients);
        scenario.ledgers = vec![ClockSpec::default()];
        scenario.faults.retain(|(_, fault)| !matches!(fault, Fault::Step { machine: Machine::Ledger(_), .. }));
        let mut world = Simulation::new(scenario);
        world.run_until((WINDOWS + 2) * WINDOW);
        let report = world.report();
        let tally = &report.policies[0].tally;
        prop_assert_eq!((tally.worst_excess, tally.by_on_error), (0, 0), "{:?}", tally);
    }
}

/// Twice as many requests as tokens, at 20 points of presence whose clocks are up to an hour off.
fn twice_the_rate(rate: u64, burst: u64, windows: u64) -> Scenario {
    let pace = Pace::Random { gap_us: WINDOW * 1_000 / (2 * rate) };
    let stream = Stream::new("api", windows * WINDOW, pace, Place::Anywhere);
    let mut scenario = with(scenario(&bucket(rate, burst), 20), [stream]);
    scenario.pops = (0..20).map(|pop| ahead((pop - 10) * 360_000)).collect();
    scenario
}

/// What comes in is let through, but for tokens that are out when the last request comes.
#[test]
fn what_comes_in_is_used() {
    for (rate, burst) in [(20, 20), (100, 200), (300, 30)] {
        let tally = run(twice_the_rate(rate, burst, 12), 13 * WINDOW).tally;
        let most = burst + 12 * rate;
        assert_eq!(tally.worst_excess, 0);
        assert!(tally.admitted_units * 100 >= most * 97, "{} of {most}: {tally:?}", tally.admitted_units);
    }
}

/// On the same traffic each of them alone lets through many times as much, and a stamp that all clocks write is
/// no limit.
#[test]
fn naive_buckets_are_passed() {
    let report = run(Scenario { naive: true, ..twice_the_rate(100, 100, 10) }, 11 * WINDOW);
    for name in ["each-alone", "shared-stamp-bucket"] {
        let naive = report.naive(name).unwrap();
        assert!(naive.worst_excess > 100, "{name}: {naive:?}");
    }
    assert_eq!(report.tally.worst_excess, 0);
}
