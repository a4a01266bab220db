use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bucket::BucketState;
use crate::calendar::{EARLIEST_WALL, LATEST_WALL, OpenPeriod};
use crate::clock::{MonotonicMs, Readings, WallMs};
use crate::config::read::show;
use crate::quota::QuotaState;
use crate::{Error, MAX_COUNT};

/// The form of snapshot that this build writes, and the only one it reads.
pub const SNAPSHOT_VERSION: u32 = 1;

/// Where the paths of errors begin.
const PATH: &str = "snapshot";

/// The state of a [`QuotaClock`](crate::QuotaClock) at one moment, to be stored and restored: a value that
/// was checked when it was read.
///
/// It has the bucket's level to the last fraction of a token, the quota's open period and its usage, and the
/// last readings of both clocks. These are for whoever looks at it: a restore takes its readings anew and
/// subtracts them from nothing.
///
/// As JSON it can go through JavaScript: every number in it is one that JavaScript holds exactly, and the
/// fraction, which may need 64 bits, is written as text.
///
/// # Example
///
/// ```
/// use sluicegate::QuotaClockSnapshot;
///
/// let written = serde_json::json!({
///     "version": 1,
///     "bucket": { "tokens": 7, "part": "1", "parts": "3" },
///     "quota": { "open": null, "used": 0 },
///     "marks": null,
/// });
/// let snapshot = QuotaClockSnapshot::from_json(&written)?;
/// assert_eq!(serde_json::to_value(&snapshot).unwrap(), written);
///
/// let newer = serde_json::json!({ "version": 2, "buckets": [] });
/// assert_eq!(QuotaClockSnapshot::from_json(&newer).unwrap_err().path(), Some("snapshot.version"));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct QuotaClockSnapshot {
    version: u32,
    #[serde(with = "exact_level")]
    bucket: BucketState,
    quota: QuotaState,
    marks: Option<Marks>,
}

/// The last readings that counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marks {
    monotonic_ms: i64,
    wall_ms: i64,
}

impl QuotaClockSnapshot {
    pub(super) fn new(bucket: BucketState, quota: QuotaState, base: Option<Readings>) -> Self {
        let marks =
            base.map(|base| Marks { monotonic_ms: base.monotonic.0, wall_ms: base.wall.0 }).filter(|marks| {
                [marks.monotonic_ms, marks.wall_ms].iter().all(|ms| ms.unsigned_abs() <= MAX_COUNT)
            });
        Self { version: SNAPSHOT_VERSION, bucket, quota, marks }
    }

    /// Reads what serializing a snapshot has written.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error whose path names what is wrong: `snapshot.version`
    /// for a snapshot of a newer build, `snapshot.bucket.tokens` and the like for one that was damaged.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        // First: in a newer form, nothing else need be what it is in this one.
        let version = value.get("version").unwrap_or(&Value::Null);
        if version.as_f64() != Some(SNAPSHOT_VERSION.into()) {
            let detail = format!("is {}; this build reads version {SNAPSHOT_VERSION}", show(version));
            return Err(Error::spec("version", detail).under(PATH));
        }
        let written: Written = serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            Error::spec(path, error.inner().to_string()).under(PATH)
        })?;
        written.check()
    }

    /// The readings that the limiter last went by; `None` if it had none, or none that JavaScript can hold.
    pub fn last_readings(&self) -> Option<Readings> {
        self.marks
            .map(|marks| Readings { monotonic: MonotonicMs(marks.monotonic_ms), wall: WallMs(marks.wall_ms) })
    }

    pub(super) const fn level(&self) -> &BucketState {
        &self.bucket
    }

    pub(super) const fn quota(&self) -> &QuotaState {
        &self.quota
    }
}

/// A snapshot as it is written down, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(with = "exact_level")]
    bucket: BucketState,
    quota: QuotaState,
    marks: Option<Marks>,
}

impl Written {
    fn check(self) -> Result<QuotaClockSnapshot, Error> {
        let fault = |path: &str, detail: String| Err(Error::spec(path, detail).under(PATH));
        if self.version != SNAPSHOT_VERSION {
            return fault(
                "version",
                format!("is {}; this build reads version {SNAPSHOT_VERSION}", self.version),
            );
        }
        if self.quota.used > MAX_COUNT {
            return fault("quota.used", format!("{} is above {MAX_COUNT}", self.quota.used));
        }
        if let Some(open) = &self.quota.open {
            check_open(open).map_err(|error| error.under("quota.open").under(PATH))?;
        } else if self.quota.used > 0 {
            return fault("quota.used", format!("is {} of a period that is not open", self.quota.used));
        }
        let Self { version, bucket, quota, marks } = self;
        Ok(QuotaClockSnapshot { version, bucket, quota, marks })
    }
}

impl TryFrom<Written> for QuotaClockSnapshot {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self, Error> {
        written.check()
    }
}

/// A period that cannot be would be held for good, or hand out a part of the limit that is none.
fn check_open(open: &OpenPeriod) -> Result<(), Error> {
    let period = &open.period;
    if open.serial == 0 || open.serial > MAX_COUNT {
        return Err(Error::spec("serial", format!("{} is not from 1 to {MAX_COUNT}", open.serial)));
    }
    if period.start >= period.end {
        let detail = format!("{} is not after the start, {}", period.end.0, period.start.0);
        return Err(Error::spec("period.end", detail));
    }
    // The period of the first and of the last reading that there is may reach a year beyond it.
    const YEAR_MS: i64 = 366 * 86_400_000;
    if period.start.0 < EARLIEST_WALL.0 - YEAR_MS {
        return Err(Error::spec("period.start", format!("{} is before any calendar period", period.start.0)));
    }
    if period.end.0 > LATEST_WALL.0 + YEAR_MS {
        return Err(Error::spec("period.end", format!("{} is after any calendar period", period.end.0)));
    }
    match open.part_of_ms {
        Some(whole_ms) if whole_ms < period.length_ms() => Err(Error::spec(
            "part_of_ms",
            format!("{whole_ms} is less than the part, {}", period.length_ms()),
        )),
        _ => Ok(()),
    }
}

/// A bucket's level, exactly, with what may need 64 bits as text.
mod exact_level {
    use std::num::NonZeroU64;

    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::MAX_COUNT;
    use crate::bucket::BucketState;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        tokens: u64,
        part: String,
        parts: String,
    }

    /// A [`BucketState`] as it serializes itself. Its mark is not used: time comes in as elapsed.
    #[derive(Serialize, Deserialize)]
    struct State {
        level: Level,
        mark: u64,
    }

    #[derive(Serialize, Deserialize)]
    struct Level {
        tokens: u64,
        part: u64,
        parts: NonZeroU64,
    }

    pub(super) fn serialize<S: Serializer>(state: &BucketState, to: S) -> Result<S::Ok, S::Error> {
        let state = serde_json::to_value(state).and_then(serde_json::from_value::<State>);
        let Level { tokens, part, parts } = state.map_err(S::Error::custom)?.level;
        Written { tokens, part: part.to_string(), parts: parts.to_string() }.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BucketState, D::Error> {
        let Written { tokens, part, parts } = Written::deserialize(from)?;
        if tokens > MAX_COUNT {
            return Err(D::Error::custom(format!("{tokens} tokens are more than {MAX_COUNT}")));
        }
        let no_fraction = || D::Error::custom("part and parts are no fraction of a token");
        let part: u64 = part.parse().map_err(|_| no_fraction())?;
        let parts: NonZeroU64 = parts.parse().map_err(|_| no_fraction())?;
        if part >= parts.get() {
            return Err(no_fraction());
        }
        let state = State { level: Level { tokens, part, parts }, mark: 0 };
        serde_json::to_value(state).and_then(serde_json::from_value).map_err(D::Error::custom)
    }
}
