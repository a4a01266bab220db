use super::clock::ClockSpec;
use super::fault::Fault;
use super::network::Network;
use super::traffic::Stream;
use crate::clock::WallMs;
use crate::config::{Config, Settings};
use crate::counter::CounterSettings;
use crate::global::HolderSettings;
use crate::ledger::LedgerSettings;
use crate::pop::PopSettings;

/// 1 April 2026, 00:00 UTC: a day, a month and a quarter begin.
const STARTS_AT: WallMs = WallMs(1_775_001_600_000);

/// All that a [`Simulation`](super::Simulation) runs on. The same scenario always gives the same run.
///
/// True time begins at 0 and is counted in milliseconds.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What is drawn at random follows from it: traffic, delays, losses, the objects' own numbers.
    pub seed: u64,
    /// What a clock without an offset reads at the start.
    pub starts_at: WallMs,
    /// The policies, as they are deployed; the rules in it are not used.
    pub config: Config,
    /// One point of presence for each clock.
    pub pops: Vec<ClockSpec>,
    /// One machine for each clock; they share the Ledgers, which are objects on them.
    pub ledgers: Vec<ClockSpec>,
    /// What lies between points of presence and Ledgers.
    pub network: Network,
    /// What comes in.
    pub traffic: Vec<Stream>,
    /// What goes wrong, and at which time.
    pub faults: Vec<(u64, Fault)>,
    /// How a `PopCounter` is set up.
    pub pop: PopSettings,
    /// How a Ledger is set up.
    pub ledger: LedgerSettings,
    /// How long a write to storage takes. What comes of a turn leaves the object when what it wrote is
    /// durable.
    pub write_ms: u64,
    /// How long a caller waits for an answer.
    pub patience_ms: u64,
    /// After how long without requests an object leaves memory; `None` keeps it there.
    pub evict_after_ms: Option<u64>,
    /// Whether naive limiters decide the same requests, to compare.
    pub naive: bool,
    /// How many of the latest events are kept.
    pub log: usize,
    /// Whether refusals are among them: where much is refused, they leave no room for anything else.
    pub log_refusals: bool,
}

impl Scenario {
    /// Points of presence and one Ledger with right clocks, on a network without faults, and no traffic.
    pub fn new(config: Config, pops: usize) -> Self {
        let settings = config.settings();
        Self {
            seed: 1,
            starts_at: STARTS_AT,
            pops: vec![ClockSpec::default(); pops],
            ledgers: vec![ClockSpec::default()],
            network: Network::default(),
            traffic: Vec::new(),
            faults: Vec::new(),
            pop: pop_settings(settings),
            ledger: LedgerSettings::default(),
            write_ms: 2,
            patience_ms: settings.time_limit_ms,
            evict_after_ms: Some(10_000),
            naive: true,
            log: 200,
            log_refusals: true,
            config,
        }
    }
}

/// As the Worker sets up a `PopCounter`.
fn pop_settings(settings: &Settings) -> PopSettings {
    let Settings { flush_hits, flush_every_ms, max_keys, lease_chunk, time_limit_ms, .. } = *settings;
    let leases = HolderSettings { chunk: lease_chunk, ..HolderSettings::default() };
    let counter = CounterSettings { flush_hits, flush_every_ms, max_keys };
    // An answer that says what was out of reach has to leave in time.
    let ask_limit_ms = time_limit_ms.saturating_sub(time_limit_ms / 5);
    PopSettings { leases, ask_limit_ms, ..PopSettings::new(counter) }
}
