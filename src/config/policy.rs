//! A policy as it was read: a value whose parts belong together.

use crate::Error;
use crate::calendar::PeriodSpec;
use crate::http::{HashKey, Identity, KeyHash, RequestFacts, Resolved};
use crate::ledger::LedgerName;
use crate::policy::{Algorithm, OnError};
use crate::pop::Measure;
use crate::window::WindowMs;

use super::settings::Settings;

/// One limit: a name, what it counts by, and how it counts.
///
/// # Example
///
/// ```
/// use sluicegate::config::{Config, Counting};
///
/// let config = Config::from_json(
///     r#"{"policies": [
///         {"name": "monthly", "algorithm": "calendar-quota", "limit": 10000, "identity": "header:x-api-key",
///          "period": {"unit": "month", "time_zone": "Europe/Paris"}}
///     ]}"#,
/// )?;
/// let policy = &config.policies()[0];
/// assert!(matches!(policy.counting, Counting::Quota(_)) && policy.is_global());
/// assert_eq!((policy.window_ms(), policy.period().map(|period| period.time_zone())), (None, Some("Europe/Paris")));
/// # Ok::<(), sluicegate::config::ConfigErrors>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Its name, unique: letters, digits, `.`, `_` and `-`, at most 64.
    pub name: String,
    /// How it counts, with its numbers.
    pub counting: Counting,
    /// Units per window or period; for a token bucket the units that flow in per window.
    pub limit: u64,
    /// What it counts by.
    pub identity: Identity,
    /// What happens when the state is out of reach. Of a calendar quota always [`OnError::Closed`].
    pub on_error: OnError,
    /// What happens to a request without the identity.
    pub on_missing: OnMissing,
    /// Counts and reports, but never refuses.
    pub shadow: bool,
    /// The most that `Retry-After` says; without it the field is never early.
    pub max_retry_after_ms: Option<u64>,
}

/// How a policy counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counting {
    /// So much per duration.
    Rate(Rate),
    /// So much per period of a calendar, exactly, over all points of presence: the algorithm
    /// `calendar-quota`. A tenant's own settings go before these.
    Quota(PeriodSpec),
}

/// So much per duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The algorithm, with its numbers.
    pub algorithm: Algorithm,
    /// The window that the limit is for.
    pub window: WindowMs,
    /// A token bucket's capacity.
    pub burst: Option<u64>,
    /// Whether each point of presence counts alone.
    pub scope: Scope,
}

/// Who counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each point of presence alone.
    Pop,
    /// All points of presence together, for fixed windows and token buckets.
    Global {
        /// How far a window's limit may be passed, in millionths of it; 0 for a token bucket.
        tolerance_ppm: u32,
    },
}

/// What happens to a request without the identity that its policy counts by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// All such requests share one counter.
    #[default]
    Shared,
    /// It is answered 400.
    Refuse,
    /// The policy does not count it.
    Skip,
}

/// What a policy makes of a request's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// It is counted under this key.
    Counted(KeyHash),
    /// The identity is missing, and the policy refuses such requests: answer 400.
    Refused,
    /// The identity is missing, and the policy does not count such requests.
    Skipped,
}

impl Policy {
    /// Whom a request is counted as.
    pub fn subject(&self, key: &HashKey, facts: &RequestFacts<'_>) -> Subject {
        self.decide_missing(self.identity.resolve(key, facts), key)
    }

    /// The same for an identity that a caller gives, see [`Identity::resolve_given`].
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error with a path that begins with `key`.
    pub fn subject_given(&self, key: &HashKey, given: &[&str]) -> Result<Subject, Error> {
        Ok(self.decide_missing(self.identity.resolve_given(key, given)?, key))
    }

    fn decide_missing(&self, resolved: Resolved, key: &HashKey) -> Subject {
        match (resolved, self.on_missing) {
            (Resolved::Key(hash), _) => Subject::Counted(hash),
            (Resolved::Missing, OnMissing::Shared) => Subject::Counted(self.identity.shared(key)),
            (Resolved::Missing, OnMissing::Refuse) => Subject::Refused,
            (Resolved::Missing, OnMissing::Skip) => Subject::Skipped,
        }
    }

    /// How `key` is counted, and by whom: what a point of presence is told with each request.
    pub fn measure(&self, key: KeyHash, settings: &Settings) -> Measure {
        let Counting::Rate(rate) = &self.counting else { return Measure::Quota };
        let ledger = || LedgerName::Shard(shard(key, settings.ledger_shards));
        match (rate.algorithm, rate.scope) {
            (Algorithm::FixedWindow(window), Scope::Global { tolerance_ppm }) => {
                Measure::Window { window, tolerance_ppm, ledger: ledger(), on_error: self.on_error }
            }
            (Algorithm::TokenBucket(bucket), Scope::Global { .. }) => {
                Measure::Bucket { bucket, ledger: ledger(), on_error: self.on_error }
            }
            (algorithm, _) => Measure::Pop(algorithm),
        }
    }

    /// True when all points of presence count together: a Ledger owns the limit.
    pub const fn is_global(&self) -> bool {
        !matches!(&self.counting, Counting::Rate(Rate { scope: Scope::Pop, .. }))
    }

    /// How it counts, unless it is a calendar quota.
    pub const fn rate(&self) -> Option<&Rate> {
        match &self.counting {
            Counting::Rate(rate) => Some(rate),
            Counting::Quota(_) => None,
        }
    }

    /// The periods of a calendar quota, where a tenant has none of its own.
    pub const fn period(&self) -> Option<&PeriodSpec> {
        match &self.counting {
            Counting::Rate(_) => None,
            Counting::Quota(period) => Some(period),
        }
    }

    /// The window that the limit is for; a calendar quota has none.
    pub fn window_ms(&self) -> Option<WindowMs> {
        self.rate().map(|rate| rate.window)
    }

    /// A token bucket's capacity.
    pub fn burst(&self) -> Option<u64> {
        self.rate().and_then(|rate| rate.burst)
    }

    /// The most that is let through at once: a token bucket's capacity, else the limit.
    pub fn most_at_once(&self) -> u64 {
        self.burst().unwrap_or(self.limit)
    }
}

/// Which of `shards` Ledgers holds this key.
fn shard(key: KeyHash, shards: u32) -> u32 {
    let shard = key.get() % u128::from(shards.max(1));
    u32::try_from(shard).unwrap_or(0)
}
