//! What one window limit over many points of presence costs, by its size, their number and the tolerance.
//!
//! `cargo run --release --example pops_table`
//!
//! Windows of a minute, ten of them, one client. In each window come 1.5 L requests at random and L / 2 more
//! within a second around the boundary, at points of presence chosen at random, whose clocks are up to an hour
//! off and drift by up to 100 millionths. Messages take 20 ms and a little more each way. All figures are sums
//! over 20 seeds, or the worst of them.

use sluicegate::config::{Config, ConfigErrors};
use sluicegate::sim::{ClockSpec, Pace, Place, Random, Scenario, SimReport, Simulation, Stream};

const WINDOW_MS: u64 = 60_000;
const WINDOWS: u64 = 10;
const SEEDS: u64 = 20;

fn scenario(limit: u64, pops: usize, tolerance: &str, seed: u64) -> Result<Scenario, ConfigErrors> {
    let config = Config::from_json(&format!(
        r#"{{"policies": [{{"name": "api", "algorithm": "fixed-window", "limit": {limit}, "window": "60s",
            "identity": "ip", "scope": "global", "tolerance": {tolerance}, "on_error": "closed"}}]}}"#
    ))?;
    let mut random = Random::part(seed, 1_000);
    let clock = |_| ClockSpec {
        offset_ms: random.below(7_200_000) as i64 - 3_600_000,
        drift_ppm: random.below(201) as i32 - 100,
    };
    let end = WINDOWS * WINDOW_MS;
    let steady = Pace::Random { gap_us: WINDOW_MS * 1_000 * 2 / (3 * limit) };
    let bursts = Pace::Bursts {
        every_ms: WINDOW_MS,
        first_ms: WINDOW_MS - 500,
        requests: limit / 2,
        spread_ms: 1_000,
    };
    Ok(Scenario {
        seed,
        pops: (0..pops).map(clock).collect(),
        traffic: [steady, bursts].map(|pace| Stream::new("api", end, pace, Place::Anywhere)).to_vec(),
        naive: false,
        log: 0,
        ..Scenario::new(config, pops)
    })
}

/// Sums over the seeds; of the worst epoch the worst.
#[derive(Default)]
struct Row {
    worst: u64,
    ceiling: u64,
    decisions: u64,
    early: u64,
    for_good: u64,
    asks: u64,
    waited: u64,
    waited_ms: u64,
    rows: u64,
}

impl Row {
    fn add(&mut self, report: &SimReport) {
        let Some(policy) = report.policy("api") else { return };
        let tally = &policy.tally;
        self.worst = self.worst.max(tally.worst_epoch);
        self.ceiling = policy.ceiling;
        self.decisions += tally.decisions;
        self.early += tally.early;
        self.for_good += tally.early_for_good;
        self.asks += report.totals.asks;
        self.waited += tally.waited;
        self.waited_ms += tally.waited_ms;
        self.rows += report.totals.pop_rows + report.totals.ledger_rows;
    }

    fn print(&self, limit: u64, pops: usize, tolerance: &str) {
        let per_thousand = |count: u64| (count as f64) * 1_000.0 / (self.decisions as f64);
        println!(
            "| {limit} | {pops} | {tolerance} | {} of {} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} |",
            self.worst,
            self.ceiling,
            per_thousand(self.early),
            per_thousand(self.for_good),
            per_thousand(self.waited),
            (self.waited_ms as f64) / (self.waited.max(1) as f64),
            per_thousand(self.asks),
            per_thousand(self.rows),
        );
    }
}

fn main() -> Result<(), ConfigErrors> {
    println!(
        "| L | PoPs | tolerance | worst epoch, of L + S | early refusals | of these for good | waited | ms waited | asks | rows |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for limit in [10, 100, 1_000, 10_000] {
        for pops in [3, 20] {
            for tolerance in ["0", "0.01", "0.1", "0.5"] {
                let mut row = Row::default();
                for seed in 1..=SEEDS {
                    let mut world = Simulation::new(scenario(limit, pops, tolerance, seed)?);
                    world.run_until((WINDOWS + 1) * WINDOW_MS);
                    row.add(&world.report());
                }
                row.print(limit, pops, tolerance);
            }
        }
    }
    Ok(())
}
