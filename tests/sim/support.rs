use sluicegate::Error;
use sluicegate::calendar::{JiffZone, Naming};
use sluicegate::config::Config;
use sluicegate::http::KeyHash;
use sluicegate::sim::{ClockSpec, Fault, Machine, PolicyReport, Scenario, Simulation, Stream, Zones};

/// The length of the windows here.
pub const WINDOW: u64 = 10_000;
pub const KEY: KeyHash = KeyHash::new(0);
pub const POP: fn(usize) -> Machine = Machine::Pop;
pub const LEDGER: Machine = Machine::Ledger(0);

/// How often random schedules are tried: `SLUICEGATE_SIM_CASES`, in place of so many.
pub fn cases(usual: u32) -> u32 {
    std::env::var("SLUICEGATE_SIM_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

pub fn config(policies: &[String]) -> Config {
    let text = format!(r#"{{"policies": [{}]}}"#, policies.join(","));
    Config::from_json(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A window over all points of presence, named `api`, that refuses where its Ledger is out of reach.
pub fn window(limit: u64, tolerance_ppm: u32) -> String {
    format!(
        r#"{{"name": "api", "algorithm": "fixed-window", "limit": {limit}, "window": "{}s", "identity": "ip",
            "scope": "global", "tolerance": {}.{:06}, "on_error": "closed"}}"#,
        WINDOW / 1_000,
        tolerance_ppm / 1_000_000,
        tolerance_ppm % 1_000_000
    )
}

/// A quota, named `quota`.
pub fn quota(limit: u64, period: &str) -> String {
    format!(
        r#"{{"name": "quota", "algorithm": "calendar-quota", "limit": {limit}, "identity": "ip", "period": {period}}}"#
    )
}

pub const DAY: &str = r#"{"unit": "day", "time_zone": "UTC"}"#;
pub const DAY_MS: u64 = 86_400_000;

/// A scenario of one policy, without naive limiters and a log.
pub fn scenario(policy: &str, pops: usize) -> Scenario {
    Scenario { naive: false, log: 0, ..Scenario::new(config(&[policy.to_owned()]), pops) }
}

/// The same with this traffic.
pub fn with(mut scenario: Scenario, traffic: impl IntoIterator<Item = Stream>) -> Scenario {
    scenario.traffic = traffic.into_iter().collect();
    scenario
}

/// A clock with a constant offset.
pub fn ahead(offset_ms: i64) -> ClockSpec {
    ClockSpec { offset_ms, drift_ppm: 0 }
}

pub fn step(machine: Machine, ms: i64) -> Fault {
    Fault::Step { machine, ms }
}

/// What a whole run of a scenario did with its first policy.
pub fn run(scenario: Scenario, until_ms: u64) -> PolicyReport {
    let mut world = Simulation::new(scenario);
    world.run_until(until_ms);
    world.report().policies.remove(0)
}

/// Time zones from the bundled data.
#[derive(Debug)]
pub struct Bundled;

impl Zones for Bundled {
    type Zone = JiffZone;

    fn zone(&self, name: &str) -> Result<JiffZone, Error> {
        JiffZone::new(name, Naming::Snake)
    }
}
