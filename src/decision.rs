use serde::{Deserialize, Serialize};

use crate::Error;

/// The largest whole number that JavaScript holds exactly, 2^53 - 1: no count, cost or limit is larger.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// How many units one request takes: a whole number from 0 to 2^53 - 1. Zero takes nothing.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
///
/// assert_eq!(Cost::try_from_f64(3.0)?.get(), 3);
/// assert_eq!(Cost::try_from_f64(-0.0)?.get(), 0);
/// assert!(Cost::try_from_f64(f64::NAN).is_err());
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Cost(u64);

impl Cost {
    /// One unit, the cost of a request that names none.
    pub const ONE: Self = Self(1);
    /// No units: asks without taking.
    pub const ZERO: Self = Self(0);

    /// A cost of `units`.
    ///
    /// # Errors
    ///
    /// An [`invalid-cost`](Error::is_invalid_cost) error above 2^53 - 1.
    pub fn new(units: u64) -> Result<Self, Error> {
        if units <= MAX_COUNT {
            Ok(Self(units))
        } else {
            Err(Error::cost(format!("{units} is above 9007199254740991")))
        }
    }

    /// A cost from a JavaScript number: 1.0 is 1 and -0 is 0.
    ///
    /// # Errors
    ///
    /// An [`invalid-cost`](Error::is_invalid_cost) error for a fraction, a negative number, NaN, an
    /// infinity or anything above 2^53 - 1.
    pub fn try_from_f64(units: f64) -> Result<Self, Error> {
        if !units.is_finite() || units.fract() != 0.0 || units < 0.0 || units > MAX_COUNT as f64 {
            return Err(Error::cost(format!("{units} is not a whole number from 0 to 9007199254740991")));
        }
        Ok(Self(units as u64))
    }

    /// A cost of `units`, or of the most there can be.
    pub(crate) const fn saturating(units: u64) -> Self {
        if units < MAX_COUNT { Self(units) } else { Self(MAX_COUNT) }
    }

    /// The number of units.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Cost {
    type Error = Error;

    fn try_from(units: u64) -> Result<Self, Error> {
        Self::new(units)
    }
}

impl From<Cost> for u64 {
    fn from(cost: Cost) -> Self {
        cost.0
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::ONE
    }
}

/// What a limit says to a request. A refusal is a value, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The most the limit lets through: per window, or a bucket's capacity.
    pub limit: u64,
    /// Units left. Before the request is taken, that is without its cost.
    pub remaining: u64,
    /// Milliseconds until the whole limit is free again if nothing more is taken.
    pub reset_ms: u64,
    /// Milliseconds until `remaining` grows, if nothing more is taken; zero when it is whole. The
    /// effective window of the `RateLimit` field.
    pub grows_ms: u64,
    /// Why the request is refused, and for how long; `None` when it is allowed.
    pub refusal: Option<Refusal>,
}

impl Decision {
    /// True when the request may go on.
    pub const fn allowed(&self) -> bool {
        self.refusal.is_none()
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The limit is used up. Waiting cures it.
    Limit {
        /// The earliest wait after which the same request fits if nothing else is taken meanwhile;
        /// never early. `None` when the limit never refills.
        retry_after_ms: Option<u64>,
        /// What kind of promise that wait is.
        basis: RetryAfterBasis,
    },
    /// The cost is larger than the limit ever lets through at once. Waiting does not cure it.
    CostExceedsLimit,
    /// The identity is blocked by an override.
    Blocked,
    /// The state could not be reached, and the policy's `on_error` is `closed`.
    Unavailable,
}

impl Refusal {
    /// The name on the wire: `limit`, `cost-exceeds-limit`, `blocked` or `unavailable`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Limit { .. } => "limit",
            Self::CostExceedsLimit => "cost-exceeds-limit",
            Self::Blocked => "blocked",
            Self::Unavailable => "unavailable",
        }
    }

    /// The wait in milliseconds, where waiting cures the refusal.
    pub const fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Limit { retry_after_ms, .. } => *retry_after_ms,
            _ => None,
        }
    }

    /// What the wait rests on, where there is one.
    pub const fn basis(&self) -> Option<RetryAfterBasis> {
        match self {
            Self::Limit { basis, .. } => Some(*basis),
            _ => None,
        }
    }
}

/// What a `retry_after_ms` rests on: the three are not the same promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryAfterBasis {
    /// The rest of a counted window, on the steady clock of the object that owns it.
    EpochWindow,
    /// A measured duration: the time a bucket needs to refill.
    MonotonicRefill,
    /// A count-down to a calendar boundary, which moves when the wall clock is corrected.
    WallPeriod,
}

impl RetryAfterBasis {
    /// The name on the wire: `epoch-window`, `monotonic-refill` or `wall-period`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EpochWindow => "epoch-window",
            Self::MonotonicRefill => "monotonic-refill",
            Self::WallPeriod => "wall-period",
        }
    }
}

/// Where a decision comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// The counter: its own counts, or what a Ledger gave it.
    #[default]
    Counter,
    /// The policy's `on_error`, because the counter or the Ledger was out of reach.
    OnError,
    /// The counter alone, with its part of the limit: the Ledger was out of reach, and the policy's
    /// `on_error` is `local`.
    Local,
    /// Nothing: another limit of the same request decided it, and of this one nothing is known yet.
    Nobody,
}

impl DecidedBy {
    /// The name on the wire: `counter`, `on-error`, `local` or `nobody`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::OnError => "on-error",
            Self::Local => "local",
            Self::Nobody => "nobody",
        }
    }

    /// True when the numbers of the decision say something.
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::Counter | Self::Local)
    }
}
