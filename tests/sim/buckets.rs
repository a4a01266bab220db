//! Token buckets over many points of presence: in any T milliseconds of true time at most `burst + rate x T`.

use proptest::prelude::*;
use sluicegate::sim::{ClockSpec, Fault, Machine, Simulation};

use super::support::*;
use super::worlds::{config_with_cases, world};

const WINDOWS: u64 = 12;

/// `rate` tokens come in per window.
fn bucket(rate: u64, burst: u64) -> String {
    format!(
        r#"{{"name": "api", "algorithm": "token-bucket", "limit": {rate}, "window": "{}s", "burst": {burst},
            "identity": "ip", "scope": "global", "on_error": "closed"}}"#,
        WINDOW / 1_000
    )
}

proptest! {
    #![proptest_config(config_with_cases(100))]

    #[test]
    fn no_bucket_is_passed(
        ((rate, burst), world) in (1u64..200, 1u64..200).prop_flat_map(|size| (Just(size), world(size.0 + size.1, WINDOWS))),
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
