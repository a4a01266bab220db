use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value, json};

use super::read;
use crate::Error;
use crate::calendar::Unit;
use crate::clock::{EARLIEST_PLAUSIBLE_WALL, WallMs};
use crate::config::Config;
use crate::policy::OnError;
use crate::sim::{ClockSpec, Fault, Network, Scenario, Stream};

/// The name of the one policy.
pub(super) const POLICY: &str = "limit";

/// A run is over then, in true time.
pub(super) const LONGEST_MS: u64 = 4 * 3_600_000;
/// Samples that one run has at most.
pub(super) const MOST_SAMPLES: u64 = 100_000;

/// How far a clock may be off at the start, and how far it may step.
pub(super) const MOST_OFF_MS: i64 = 2 * 3_600_000;
/// How long something that goes wrong may last.
pub(super) const LONGEST_FAULT_MS: u64 = 2 * 3_600_000;

/// Starts at which a clock that is off still reads a time that can be.
pub(super) const STARTS_MS: RangeInclusive<i64> =
    EARLIEST_PLAUSIBLE_WALL.0 + 2 * MOST_OFF_MS..=4_102_444_800_000;

/// What a limit counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Windows of so many milliseconds.
    Window(u64),
    /// Calendar periods in UTC.
    Period(Unit),
}

/// One limit over many points of presence, and what comes in: what a [`Comparison`](super::Comparison) runs on.
///
/// Its bounds keep a run within what a page can show and a browser can work through, whoever wrote it: 12
/// points of presence, 500 requests a second, four hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldSpec {
    /// What is drawn at random follows from it.
    pub seed: u64,
    /// What a right clock reads at the start.
    pub starts_at: WallMs,
    /// Units per window or period.
    pub limit: u64,
    /// Which windows or periods.
    pub counts: Counts,
    /// How far the tolerant limit may be passed; not used by periods.
    pub tolerance_ppm: u32,
    /// What happens while the Ledger is out of reach; of periods it is always [`OnError::Closed`].
    pub on_error: OnError,
    /// One point of presence for each clock.
    pub pops: Vec<ClockSpec>,
    /// The clock of the Ledger's machine.
    pub ledger: ClockSpec,
    /// What lies between the two.
    pub network: Network,
    /// What comes in.
    pub traffic: Vec<Stream>,
    /// How often a sample is taken.
    pub sample_ms: u64,
}

impl WorldSpec {
    /// Reads a specification from JSON text.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error with the path of the first field that is wrong.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::sim::compare::WorldSpec;
    ///
    /// let text = r#"{"seed": 1, "starts_at_ms": 1775001600000, "limit": 60, "counts": {"window_ms": 60000},
    ///     "tolerance_ppm": 100000, "on_error": "closed", "pops": [{"offset_ms": 0}, {"offset_ms": 1e9}],
    ///     "ledger": {"offset_ms": 0}, "network": {"latency_ms": 20, "jitter_ms": 10, "loss_ppm": 0},
    ///     "traffic": [], "sample_ms": 100}"#;
    /// let error = WorldSpec::from_json(text).unwrap_err();
    /// assert_eq!(error.path(), Some("pops[1].offset_ms"));
    /// ```
    pub fn from_json(text: &str) -> Result<Self, Error> {
        read::spec(&read::parse(text)?)
    }

    /// When a run of it is over.
    pub fn ends_ms(&self) -> u64 {
        self.sample_ms.saturating_mul(MOST_SAMPLES).min(LONGEST_MS)
    }

    /// True when it counts by windows: then there is a limit with a tolerance beside the exact one.
    pub const fn is_window(&self) -> bool {
        matches!(self.counts, Counts::Window(_))
    }

    /// A fault of a machine that there is, within the bounds.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error with the path of the field that is wrong.
    pub fn fault_from_json(&self, text: &str) -> Result<Fault, Error> {
        read::fault(&read::parse(text)?, self.pops.len())
    }

    /// The world of one limit. `watched` has the naive limiters and the log in it.
    pub(super) fn scenario(&self, tolerance_ppm: u32, watched: bool) -> Result<Scenario, Error> {
        let config = Config::from_value(&self.config(tolerance_ppm)).map_err(|errors| {
            let first = errors.errors().first();
            Error::spec("", first.map_or_else(String::new, ToString::to_string))
        })?;
        Ok(Scenario {
            seed: self.seed,
            starts_at: self.starts_at,
            pops: self.pops.clone(),
            ledgers: vec![self.ledger],
            network: self.network,
            traffic: self.traffic.clone(),
            naive: watched,
            log: if watched { 200 } else { 0 },
            log_refusals: false,
            ..Scenario::new(config, 0)
        })
    }

    fn config(&self, tolerance_ppm: u32) -> Value {
        let mut policy = Map::new();
        let mut put = |name: &str, value: Value| policy.insert(name.to_owned(), value);
        put("name", POLICY.into());
        put("identity", "ip".into());
        put("limit", self.limit.into());
        match self.counts {
            Counts::Window(window_ms) => {
                put("algorithm", "fixed-window".into());
                put("window", format!("{window_ms}ms").into());
                put("scope", "global".into());
                let tolerance = Number::from_f64(f64::from(tolerance_ppm) / 1_000_000.0);
                put("tolerance", tolerance.map_or(Value::Null, Value::Number));
                let on_error = read::ON_ERROR.iter().find(|(_, on_error)| *on_error == self.on_error);
                put("on_error", on_error.map_or(Value::Null, |(name, _)| (*name).into()));
            }
            Counts::Period(unit) => {
                put("algorithm", "calendar-quota".into());
                put("period", json!({"unit": unit.name(), "time_zone": "UTC"}));
            }
        }
        json!({"policies": [policy]})
    }
}
