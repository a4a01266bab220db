//! Random schedules: clocks that are off, drift, step and stand still, a network that loses, repeats and
//! delays, points of presence and Ledgers that are cut off, crash and run twice.

use proptest::prelude::*;
use sluicegate::sim::{ClockSpec, Fault, Machine, Network, Pace, Place, Scenario, Simulation, Stream};

use super::support::*;

const HOUR: i64 = 3_600_000;

/// One world, as proptest shrinks it.
#[derive(Clone, Debug)]
pub struct World {
    pub seed: u64,
    pub clocks: Vec<ClockSpec>,
    pub ledger: ClockSpec,
    pub network: Network,
    pub faults: Vec<(u64, Fault)>,
    pub traffic: Vec<(Pace, Place, u64, u64)>,
}

pub fn config_with_cases(usual: u32) -> ProptestConfig {
    ProptestConfig { cases: cases(usual), ..ProptestConfig::default() }
}

fn clock() -> impl Strategy<Value = ClockSpec> {
    let offsets = prop_oneof![Just(0i64), -(2 * WINDOW as i64)..2 * WINDOW as i64, -HOUR..HOUR];
    let drifts = prop_oneof![4 => -200i32..200, 1 => -10_000i32..10_000];
    (offsets, drifts).prop_map(|(offset_ms, drift_ppm)| ClockSpec { offset_ms, drift_ppm })
}

fn network() -> impl Strategy<Value = Network> {
    (1u64..100, 0u64..200, 0u32..200_000, 0u64..3 * WINDOW, 0u32..200_000, 0u32..200_000, any::<bool>())
        .prop_map(|(least_ms, spread_ms, slow_ppm, slow_ms, loss_ppm, twice_ppm, told)| Network {
            least_ms,
            spread_ms,
            slow_ppm,
            slow_ms,
            loss_ppm,
            told_after_ms: told.then_some(500),
            twice_ppm,
        })
}

fn machine(pops: usize) -> impl Strategy<Value = Machine> {
    prop_oneof![3 => (0..pops).prop_map(Machine::Pop), 1 => Just(LEDGER)]
}

fn fault(pops: usize) -> impl Strategy<Value = Fault> {
    let steps = prop_oneof![-HOUR..HOUR, -(WINDOW as i64)..WINDOW as i64];
    prop_oneof![
        3 => (machine(pops), steps).prop_map(|(machine, ms)| step(machine, ms)),
        2 => (machine(pops), 1u64..3 * WINDOW).prop_map(|(machine, for_ms)| Fault::Freeze { machine, for_ms }),
        2 => (machine(pops), 1u64..3 * WINDOW).prop_map(|(machine, for_ms)| Fault::CutOff { machine, for_ms }),
        3 => machine(pops).prop_map(|machine| Fault::Crash { machine }),
        2 => (machine(pops), 1u64..WINDOW).prop_map(|(machine, for_ms)| Fault::Split { machine, for_ms }),
    ]
}

/// Traffic of about `requests` per window in all.
fn traffic(pops: usize, requests: u64) -> impl Strategy<Value = (Pace, Place, u64, u64)> {
    let gap_us = (WINDOW * 1_000 / requests.max(1)).max(1);
    let paces = prop_oneof![
        Just(Pace::Steady { gap_us }),
        Just(Pace::Random { gap_us }),
        (0..WINDOW, 1u64..2_000).prop_map(move |(first_ms, spread_ms)| Pace::Bursts {
            every_ms: WINDOW,
            first_ms,
            requests: requests.max(1),
            spread_ms
        }),
    ];
    let places = prop_oneof![
        3 => Just(Place::Anywhere),
        1 => (0..pops).prop_map(Place::Pop),
        1 => (100u64..WINDOW).prop_map(|stay_ms| Place::Moving { stay_ms }),
    ];
    let costs = prop_oneof![4 => Just((1u64, 1u64)), 1 => (0u64..3, 3u64..6)];
    (paces, places, costs).prop_map(|(pace, place, (low, high))| (pace, place, low, high))
}

/// A world of up to 24 points of presence over `windows` windows, in which about `requests` come per window.
pub fn world(requests: u64, windows: u64) -> impl Strategy<Value = World> {
    (2usize..25).prop_flat_map(move |pops| {
        (
            any::<u64>(),
            prop::collection::vec(clock(), pops),
            clock(),
            network(),
            prop::collection::vec((0..windows * WINDOW, fault(pops)), 0..25),
            prop::collection::vec(traffic(pops, requests / 2), 1..4),
        )
            .prop_map(|(seed, clocks, ledger, network, faults, traffic)| World {
                seed,
                clocks,
                ledger,
                network,
                faults,
                traffic,
            })
    })
}

impl World {
    pub fn scenario(self, policy: &str, until_ms: u64, clients: u64) -> Scenario {
        let name = ["api", "quota"].into_iter().find(|name| policy.contains(&format!("\"{name}\""))).unwrap();
        let stream = |(pace, place, low, high)| Stream {
            cost: (low, high),
            clients,
            ..Stream::new(name, until_ms, pace, place)
        };
        Scenario {
            seed: self.seed,
            ledgers: vec![self.ledger],
            network: self.network,
            faults: self.faults,
            traffic: self.traffic.into_iter().map(stream).collect(),
            pops: self.clocks.clone(),
            ..scenario(policy, self.clocks.len())
        }
    }
}

fn limits() -> impl Strategy<Value = (u64, u32)> {
    let limits = prop_oneof![4 => 10u64..60, 3 => 60u64..300, 1 => Just(1_000u64)];
    (limits, prop::sample::select(vec![0u32, 10_000, 100_000, 500_000]))
}

const WINDOWS: u64 = 6;

proptest! {
    #![proptest_config(config_with_cases(200))]

    /// Whatever goes wrong, at most L + S are let through in each epoch; at a tolerance of 0 at most L.
    #[test]
    fn no_epoch_is_passed(
        ((limit, tolerance_ppm), world) in limits().prop_flat_map(|limit| (Just(limit), world(2 * limit.0, WINDOWS))),
        clients in prop_oneof![3 => Just(1u64), 1 => 2u64..5],
    ) {
        let scenario = world.scenario(&window(limit, tolerance_ppm), WINDOWS * WINDOW, clients);
        let mut world = Simulation::new(scenario);
        world.run_until((WINDOWS + 2) * WINDOW);
        let report = world.report();
        let api = report.policy("api").unwrap();
        prop_assert_eq!(api.ceiling, limit + limit * u64::from(tolerance_ppm) / 1_000_000);
        prop_assert!(api.tally.worst_epoch <= api.ceiling, "{:?}", api.tally);
        prop_assert_eq!(api.tally.by_on_error, 0);
    }
}

/// The largest limits and the most points of presence, on a few schedules.
#[test]
fn large_limits_over_twenty_points_hold() {
    for (seed, limit, tolerance_ppm) in [(1, 10_000, 10_000), (2, 5_000, 100_000), (3, 10_000, 0)] {
        let pace = Pace::Random { gap_us: WINDOW * 1_000 / (limit * 3 / 2) };
        let mut scenario = with(
            scenario(&window(limit, tolerance_ppm), 20),
            [Stream::new("api", 2 * WINDOW, pace, Place::Anywhere)],
        );
        scenario.seed = seed;
        scenario.pops = (0..20).map(|pop| ahead((pop - 10) * 777_777)).collect();
        scenario.network =
            Network { slow_ppm: 50_000, slow_ms: 700, twice_ppm: 50_000, ..Network::default() };
        scenario.faults = (0..10).map(|n| (n * 1_900, Fault::Crash { machine: POP(n as usize) })).collect();
        let report = run(scenario, 3 * WINDOW);
        assert!(report.tally.worst_epoch <= report.ceiling, "{:?}", report.tally);
        assert!(report.tally.worst_epoch >= limit * 9 / 10, "{:?}", report.tally);
    }
}
