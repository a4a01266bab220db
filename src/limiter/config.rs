use serde_json::Value;

use crate::bucket::{Refill, TokenBucket};
use crate::calendar::Naming;
use crate::clock::{SuspendPolicy, Tolerance, TrackerConfig, WallMs};
use crate::config::read::{Fields, at, choice, show, whole};
use crate::quota::QuotaSpec;
use crate::{Error, MAX_COUNT};

/// What a [`QuotaClock`](crate::QuotaClock) allows, and how it judges its clocks: a value that was checked
/// when it was made.
///
/// # Example
///
/// ```
/// use sluicegate::QuotaClockConfig;
/// use sluicegate::calendar::Naming;
///
/// let written = serde_json::json!({
///     "capacity": 20,
///     "refillPerSecond": 5,
///     "suspendPolicy": "ignore",
///     "quota": { "limit": 10_000, "period": { "unit": "month", "timeZone": "America/Los_Angeles" } },
/// });
/// let config = QuotaClockConfig::from_json(&written, Naming::Camel)?;
/// assert_eq!((config.bucket().capacity(), config.initial_tokens()), (20, 20));
///
/// let negative = serde_json::json!({ "capacity": -1, "refillPerSecond": 5, "suspendPolicy": "ignore" });
/// assert_eq!(QuotaClockConfig::from_json(&negative, Naming::Camel).unwrap_err().path(), Some("capacity"));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaClockConfig {
    bucket: TokenBucket,
    initial_tokens: u64,
    tracker: TrackerConfig,
    quota: Option<QuotaSpec>,
}

impl QuotaClockConfig {
    /// A bucket that begins full, and no quota. The tracker's `earliest_plausible_wall` only counts once
    /// there is a quota: a bucket does not care what day it is.
    pub const fn new(bucket: TokenBucket, tracker: TrackerConfig) -> Self {
        Self { bucket, initial_tokens: bucket.capacity(), tracker, quota: None }
    }

    /// The same with so many tokens in the bucket at the start.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error at `initialTokens` for more than the capacity.
    pub fn with_initial_tokens(mut self, tokens: u64) -> Result<Self, Error> {
        let capacity = self.bucket.capacity();
        if tokens > capacity {
            let detail = format!("{tokens} is above the capacity of {capacity}");
            return Err(Error::spec(Names::CAMEL.initial_tokens, detail));
        }
        self.initial_tokens = tokens;
        Ok(self)
    }

    /// The same with a calendar quota.
    #[must_use]
    pub fn with_quota(mut self, quota: QuotaSpec) -> Self {
        self.quota = Some(quota);
        self
    }

    /// Reads `{capacity, refillPerSecond, initialTokens?, suspendPolicy, tolerance?: {fixedMs?, ppm?},
    /// earliestPlausibleWallMs?, quota?: {limit, period}}`, or the same in snake case.
    ///
    /// `null` is a field that is not there, except that `earliestPlausibleWallMs: null` turns that check
    /// off; left out, it is 2020. A value that JSON has no way to write, such as NaN, may stand as a string:
    /// it is refused like any other.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error whose path is the field that is wrong, missing or
    /// unknown: `quota.period.timeZone`. That the zone exists is checked when it is loaded.
    pub fn from_json(value: &Value, naming: Naming) -> Result<Self, Error> {
        let names = Names::of(naming);
        read(value, &names.all(), |fields| {
            let bucket = read_bucket(fields, names);
            let initial = fields.optional(names.initial_tokens, or_null(count)).flatten();
            let tracker = read_tracker(fields, naming);
            let quota = fields.optional(names.quota, or_null(Ok)).flatten().map(|quota| {
                let quota = QuotaSpec::from_json(quota, naming);
                quota.map_err(|error| pass_on(fields, error.under(names.quota))).ok()
            });
            let mut config = Self::new(bucket?, tracker?);
            if let Some(tokens) = initial {
                let checked = config.with_initial_tokens(tokens);
                config = checked.map_err(|error| fields.fail(names.initial_tokens, error.detail())).ok()?;
            }
            match quota {
                None => Some(config),
                Some(quota) => Some(config.with_quota(quota?)),
            }
        })
    }

    /// Capacity and refill.
    pub const fn bucket(&self) -> &TokenBucket {
        &self.bucket
    }

    /// Tokens in the bucket at the start; not used by a restore.
    pub const fn initial_tokens(&self) -> u64 {
        self.initial_tokens
    }

    /// How the clocks are judged.
    pub const fn tracker(&self) -> &TrackerConfig {
        &self.tracker
    }

    /// The calendar quota, if there is one.
    pub const fn quota(&self) -> Option<&QuotaSpec> {
        self.quota.as_ref()
    }

    pub(super) fn into_quota(self) -> Option<QuotaSpec> {
        self.quota
    }
}

/// How the fields are spelled.
#[derive(Clone, Copy)]
struct Names {
    refill: &'static str,
    initial_tokens: &'static str,
    policy: &'static str,
    earliest: &'static str,
    fixed: &'static str,
    capacity: &'static str,
    tolerance: &'static str,
    ppm: &'static str,
    quota: &'static str,
}

impl Names {
    const CAMEL: Self = Self {
        refill: "refillPerSecond",
        initial_tokens: "initialTokens",
        policy: "suspendPolicy",
        earliest: "earliestPlausibleWallMs",
        fixed: "fixedMs",
        capacity: "capacity",
        tolerance: "tolerance",
        ppm: "ppm",
        quota: "quota",
    };
    const SNAKE: Self = Self {
        refill: "refill_per_second",
        initial_tokens: "initial_tokens",
        policy: "suspend_policy",
        earliest: "earliest_plausible_wall_ms",
        fixed: "fixed_ms",
        ..Self::CAMEL
    };

    const fn of(naming: Naming) -> Self {
        match naming {
            Naming::Snake => Self::SNAKE,
            Naming::Camel => Self::CAMEL,
        }
    }

    const fn all(self) -> [&'static str; 7] {
        let [policy, tolerance, earliest] = self.of_tracker();
        [self.capacity, self.refill, self.initial_tokens, self.quota, policy, tolerance, earliest]
    }

    const fn of_tracker(self) -> [&'static str; 3] {
        [self.policy, self.tolerance, self.earliest]
    }
}

impl TrackerConfig {
    /// Reads `{suspendPolicy, tolerance?: {fixedMs?, ppm?}, earliestPlausibleWallMs?}`, or the same in snake
    /// case, as [`QuotaClockConfig::from_json`] does.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error whose path is the field that is wrong, missing or
    /// unknown.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::calendar::Naming;
    /// use sluicegate::clock::TrackerConfig;
    ///
    /// let written = serde_json::json!({ "suspendPolicy": "credit", "earliestPlausibleWallMs": null });
    /// let config = TrackerConfig::from_json(&written, Naming::Camel)?;
    /// assert_eq!(config.earliest_plausible_wall, None);
    /// # Ok::<(), sluicegate::Error>(())
    /// ```
    pub fn from_json(value: &Value, naming: Naming) -> Result<Self, Error> {
        read(value, &Names::of(naming).of_tracker(), |fields| read_tracker(fields, naming))
    }
}

/// Reads one object, and gives the first fault there is in it.
fn read<T>(
    value: &Value,
    known: &[&str],
    read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>,
) -> Result<T, Error> {
    let mut errors = Vec::new();
    let found = Fields::open(value, "", known, &mut errors).and_then(|mut fields| read(&mut fields));
    match (found, errors.into_iter().next()) {
        (Some(found), None) => Ok(found),
        (_, Some(error)) => Err(error),
        // Not reached: whatever keeps a value from being read is noted.
        (None, None) => Err(at("", "cannot be read".to_owned())),
    }
}

/// Notes an error that has its whole path.
fn pass_on(fields: &mut Fields<'_, '_>, error: Error) {
    fields.fail(error.path().unwrap_or_default(), error.detail());
}

fn read_bucket(fields: &mut Fields<'_, '_>, names: Names) -> Option<TokenBucket> {
    let capacity = fields.required(names.capacity, "write the most tokens the bucket holds", count);
    let refill = fields.required(names.refill, "write how many tokens come in a second", |value| {
        let rate = value.as_f64().ok_or_else(|| format!("{} is not a number from 0", show(value)))?;
        Refill::per_second_f64(rate).map_err(|error| error.detail().to_owned())
    });
    // Both were checked: a count is at most what a bucket holds.
    TokenBucket::new(capacity?, refill?).map_err(|error| pass_on(fields, error)).ok()
}

fn read_tracker(fields: &mut Fields<'_, '_>, naming: Naming) -> Option<TrackerConfig> {
    let names = Names::of(naming);
    let policies = [SuspendPolicy::Ignore, SuspendPolicy::Credit, SuspendPolicy::Refuse];
    let choices = policies.map(|policy| (policy.name(), policy));
    let policy = fields.required(
        names.policy,
        "write \"ignore\", \"credit\" or \"refuse\": a suspend and a step of the wall clock look the same",
        |value| choice(value, &choices),
    );
    let tolerance = fields.optional(names.tolerance, or_null(Ok)).flatten().map(|value| {
        let mut faults = Vec::new();
        let tolerance = read_tolerance(value, names, &mut faults);
        faults.into_iter().for_each(|error| pass_on(fields, error));
        tolerance
    });
    let earliest = fields.optional(names.earliest, or_null(wall));
    let mut config = TrackerConfig::new(policy?);
    if let Some(tolerance) = tolerance {
        config.tolerance = tolerance?;
    }
    if let Some(earliest) = earliest {
        config.earliest_plausible_wall = earliest;
    }
    Some(config)
}

fn read_tolerance(value: &Value, names: Names, errors: &mut Vec<Error>) -> Option<Tolerance> {
    let mut fields = Fields::open(value, names.tolerance, &[names.fixed, names.ppm], errors)?;
    let fixed_ms = fields.optional(names.fixed, or_null(count)).flatten();
    let ppm = fields.optional(names.ppm, or_null(|value| whole(value, 0, u32::MAX.into()))).flatten();
    let usual = Tolerance::default();
    Some(Tolerance {
        fixed_ms: fixed_ms.unwrap_or(usual.fixed_ms),
        ppm: ppm.and_then(|ppm| u32::try_from(ppm).ok()).unwrap_or(usual.ppm),
    })
}

fn count(value: &Value) -> Result<u64, String> {
    whole(value, 0, MAX_COUNT)
}

fn wall(value: &Value) -> Result<WallMs, String> {
    let ms =
        value.as_f64().ok_or_else(|| format!("{} is not milliseconds since 1970, or null", show(value)))?;
    WallMs::try_from_f64(ms).map_err(|error| error.detail().to_owned())
}

/// The same reader, with `null` as `None`.
fn or_null<'a, T>(
    read: impl FnOnce(&'a Value) -> Result<T, String>,
) -> impl FnOnce(&'a Value) -> Result<Option<T>, String> {
    move |value| if value.is_null() { Ok(None) } else { read(value).map(Some) }
}
