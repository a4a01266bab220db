use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::WallMs;
use crate::Error;

/// 2020-01-01T00:00:00Z. A host without a battery behind its clock boots in 1970, and a clock that is read
/// before its host is ready may say the same: usage must not be filed under such a date.
pub const EARLIEST_PLAUSIBLE_WALL: WallMs = WallMs(1_577_836_800_000);

const PPM: u128 = 1_000_000;

/// What to do when the wall clock ran ahead of the monotonic one and there is no suspend-inclusive reader:
/// a suspend (refill is owed) and a step ahead (it is not) look exactly the same then.
///
/// There is no default, because neither guess is right everywhere.
///
/// # Example
///
/// ```
/// use sluicegate::clock::SuspendPolicy;
///
/// assert_eq!("credit".parse::<SuspendPolicy>()?, SuspendPolicy::Credit);
/// assert_eq!("maybe".parse::<SuspendPolicy>().unwrap_err().code(), "invalid-spec");
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuspendPolicy {
    /// Credit only what the monotonic clock measured. For servers: a laptop loses its sleep.
    Ignore,
    /// Credit what the wall clock moved by. For laptops: a correction of the clock is a free refill.
    Credit,
    /// Refuse the reading with an `ambiguous-jump` error, once per jump. For those who would rather
    /// stop than be wrong.
    Refuse,
}

impl SuspendPolicy {
    /// The name in a configuration: `ignore`, `credit` or `refuse`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Credit => "credit",
            Self::Refuse => "refuse",
        }
    }
}

impl FromStr for SuspendPolicy {
    type Err = Error;

    /// Reads a name as [`SuspendPolicy::name`] writes it.
    fn from_str(name: &str) -> Result<Self, Error> {
        [Self::Ignore, Self::Credit, Self::Refuse]
            .into_iter()
            .find(|policy| policy.name() == name)
            .ok_or_else(|| {
                Error::spec("", format!("{name:?} is not a suspend policy: use ignore, credit or refuse"))
            })
    }
}

/// By how much the two clocks may disagree between two readings before it is an event: a fixed part for
/// small steps and rounding, and a part in proportion to the time between the readings for slewing.
///
/// The proportional part grows with idle time (21.6 minutes after 30 days), and a step can hide in it. The
/// default of 500 ppm is the most that ntpd slews; chrony's `maxslewrate` is 83,333 ppm by default, which
/// passes the default budget after 3 s where the monotonic clock is not slewed along (it is on Linux).
///
/// # Example
///
/// ```
/// use sluicegate::clock::Tolerance;
///
/// assert_eq!(Tolerance::default().budget_ms(600_000), 550);
/// let chrony = Tolerance { ppm: 83_334, ..Tolerance::default() };
/// assert_eq!(chrony.budget_ms(4_000), 583);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tolerance {
    /// The fixed part, in milliseconds.
    pub fixed_ms: u64,
    /// The proportional part, in millionths of the monotonic time between two readings.
    pub ppm: u32,
}

impl Tolerance {
    /// The largest disagreement that is not an event, over `monotonic_ms` milliseconds. A whole number is
    /// enough: disagreements are whole, so rounding the budget down lets nothing through and stops nothing.
    pub fn budget_ms(self, monotonic_ms: u64) -> u64 {
        let slew = u128::from(monotonic_ms) * u128::from(self.ppm) / PPM;
        self.fixed_ms.saturating_add(u64::try_from(slew).unwrap_or(u64::MAX))
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { fixed_ms: 250, ppm: 500 }
    }
}

/// How a [`ClockTracker`](super::ClockTracker) judges its readings.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{SuspendPolicy, Tolerance, TrackerConfig};
///
/// let config = TrackerConfig {
///     tolerance: Tolerance { fixed_ms: 1_000, ppm: 500 },
///     earliest_plausible_wall: None, // a bucket alone does not care what day it is
///     ..TrackerConfig::new(SuspendPolicy::Ignore)
/// };
/// assert_eq!(config.tolerance.budget_ms(0), 1_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackerConfig {
    /// Who decides when the wall clock ran ahead and nothing can tell why.
    pub policy: SuspendPolicy,
    /// How much disagreement is normal.
    pub tolerance: Tolerance,
    /// Wall readings before this are refused; `None` turns the check off. It belongs to a calendar quota:
    /// without one, leave it off.
    pub earliest_plausible_wall: Option<WallMs>,
}

impl TrackerConfig {
    /// The default tolerance, and wall readings before 2020 refused.
    pub fn new(policy: SuspendPolicy) -> Self {
        Self {
            policy,
            tolerance: Tolerance::default(),
            earliest_plausible_wall: Some(EARLIEST_PLAUSIBLE_WALL),
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_exact_at_its_edges_and_does_not_overflow() {
        let tolerance = Tolerance::default();
        let budgets = [0, 1_999, 2_000, 10_000, 2_592_000_000].map(|ms| tolerance.budget_ms(ms));
        assert_eq!(budgets, [250, 250, 251, 255, 1_296_250]);
        let widest = Tolerance { fixed_ms: u64::MAX, ppm: u32::MAX };
        assert_eq!(widest.budget_ms(u64::MAX), u64::MAX);
        assert_eq!(Tolerance { fixed_ms: 0, ppm: 0 }.budget_ms(u64::MAX), 0);
    }

    #[test]
    fn a_configuration_may_name_one_part_of_the_tolerance() {
        let tolerance: Tolerance = serde_json::from_str(r#"{"fixed_ms": 100}"#).unwrap();
        assert_eq!(tolerance, Tolerance { fixed_ms: 100, ppm: 500 });
        assert!(serde_json::from_str::<Tolerance>(r#"{"ppm": -1}"#).is_err());
        assert_eq!(serde_json::to_string(&SuspendPolicy::Refuse).unwrap(), r#""refuse""#);
    }
}
