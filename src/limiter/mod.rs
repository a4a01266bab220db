//! [`QuotaClock`]: a token bucket and a calendar quota for one process, as one decision.
//!
//! A limiter asks its host's clock two questions, and no clock answers both. How long since the last
//! request, for the bucket, is a duration: the wall clock has no durations, because it can be set. Which
//! month it is in Los Angeles, for the quota, is a date: the monotonic clock has no dates. So each half has
//! its own clock, and a [`ClockTracker`] in between keeps a step of the one from becoming a refill of the
//! other. The idea, and the names of its parts, are those of the JavaScript module `quota-clock-source`;
//! keeping the state over a restart is ours.
//!
//! # Limits
//!
//! - The state is that of one process: two processes with one snapshot are two limiters.
//! - Time between a snapshot and the restore is not credited to the bucket: no clock here can measure it.
//! - A wait for a quota is a distance to a date on a clock that can be set; a wait for a bucket is not.
//!   [`QuotaClockDecision::retry_after_basis`] says which one it is.
//! - What the [`ClockTracker`] cannot see, this does not see either: a suspend and a step back of the same
//!   size within one interval.

mod config;
mod decision;
mod snapshot;

pub use config::QuotaClockConfig;
pub use decision::{QuotaClockDecision, QuotaClockRefusal};
pub use snapshot::{QuotaClockSnapshot, SNAPSHOT_VERSION};

use crate::bucket::{BucketState, TokenBucket};
use crate::calendar::ZoneOffsets;
use crate::clock::{Anomaly, ClockTracker, Readings, RealtimeReader, TrackerConfig, WallMs};
use crate::quota::{CalendarQuota, QuotaState, QuotaVerdict};
use crate::{Cost, Error};

use decision::Half;

/// A token bucket on real elapsed time, and if configured a calendar quota on the wall clock of a time
/// zone, as one limiter: a request takes from both or from neither.
///
/// The host's clocks are read by the caller, both at the same moment, once for each call. A suspend-inclusive
/// reader, where the host has one, is asked only when the two disagree.
///
/// # Example
///
/// Ten requests at once and two a second, and 10,000 a month in Los Angeles:
///
/// ```
/// use sluicegate::bucket::{Refill, TokenBucket};
/// use sluicegate::calendar::{PeriodSpec, Unit, Utc};
/// use sluicegate::clock::{MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs};
/// use sluicegate::quota::QuotaSpec;
/// use sluicegate::{Cost, QuotaClock, QuotaClockConfig, QuotaClockRefusal, RetryAfterBasis};
///
/// let config = QuotaClockConfig::new(
///     TokenBucket::new(10, Refill::new(2, 1_000)?)?,
///     TrackerConfig::new(SuspendPolicy::Ignore),
/// )
/// .with_quota(QuotaSpec::new(10_000, PeriodSpec::new(Unit::Month, "UTC")?)?);
/// // On a real host: its monotonic and its wall clock, read one after the other.
/// let at = |ms| Readings { monotonic: MonotonicMs(ms), wall: WallMs(1_760_000_000_000 + ms) };
///
/// let mut limiter = QuotaClock::new(config, Utc, at(0), None)?;
/// let decision = limiter.try_consume(at(5), None, Cost::new(10)?)?;
/// assert!(decision.allowed());
/// assert_eq!((decision.tokens_remaining, decision.quota_remaining), (0, Some(9_990)));
///
/// let refused = limiter.try_consume(at(105), None, Cost::ONE)?;
/// assert_eq!(refused.refusal, Some(QuotaClockRefusal::Bucket));
/// assert_eq!((refused.retry_after_ms, refused.quota_remaining), (Some(400), Some(9_990)));
/// assert_eq!(refused.retry_after_basis, Some(RetryAfterBasis::MonotonicRefill));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuotaClock<Z> {
    tracker: ClockTracker,
    bucket: TokenBucket,
    level: BucketState,
    quota: Option<CalendarQuota<Z>>,
    /// What a quota had counted that the configuration no longer has: were it dropped, taking a quota out
    /// of a configuration and putting it back would hand out the period a second time.
    shelved: QuotaState,
}

impl<Z: ZoneOffsets> QuotaClock<Z> {
    /// A limiter that nothing was taken of. Its time begins at `readings`: what passes between here and the
    /// first request is credited. `zone` is the one that the quota's specification names, and is not asked
    /// for anything where there is no quota.
    ///
    /// A wall clock that has not been set yet (before the configuration's earliest plausible date) is no
    /// error here, so that a host that boots in 1970 can start. Requests are refused with
    /// `implausible-wall` until the clock is right; time begins at the first reading that is, and the
    /// decades that the clock jumped over are credited to nobody.
    ///
    /// # Errors
    ///
    /// The reader's own.
    ///
    /// # Panics
    ///
    /// Never; nothing here does.
    pub fn new(
        config: QuotaClockConfig,
        zone: Z,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Self, Error> {
        let level = config.bucket().fresh(config.initial_tokens());
        Self::begin(config, zone, level, QuotaState::default(), readings, reader)
    }

    /// A limiter that goes on from a snapshot, under the same configuration or another one.
    ///
    /// - **Time** begins at `readings`, as in [`QuotaClock::new`]. What passed since the snapshot is not
    ///   credited, and a monotonic clock that has begun again is no regression.
    /// - **The bucket** has what it had, at most the capacity; `initial_tokens` is not used.
    /// - **The quota** has the open period and what was used of it. It is held where the wall clock now
    ///   reads an earlier date. Another limit counts at once; another zone, unit or anchor counts from the
    ///   end of the open period on, and the part of a period that may then come first has its part of the
    ///   limit. Without a quota in the configuration its counts are kept for one that has.
    ///
    /// # Errors
    ///
    /// The reader's own.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::bucket::{Refill, TokenBucket};
    /// use sluicegate::calendar::Utc;
    /// use sluicegate::clock::{MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs};
    /// use sluicegate::{Cost, QuotaClock, QuotaClockConfig, QuotaClockSnapshot};
    ///
    /// let bucket = TokenBucket::new(5, Refill::new(1, 1_000)?)?;
    /// let config = QuotaClockConfig::new(bucket, TrackerConfig::new(SuspendPolicy::Ignore));
    /// let at = |monotonic, wall| Readings { monotonic: MonotonicMs(monotonic), wall: WallMs(wall) };
    ///
    /// let mut limiter = QuotaClock::new(config.clone(), Utc, at(900_000, 1_760_000_000_000), None)?;
    /// limiter.try_consume(at(900_000, 1_760_000_000_000), None, Cost::new(4)?)?;
    /// let stored = serde_json::to_value(limiter.snapshot()).unwrap();
    ///
    /// // The process starts again an hour later.
    /// let snapshot = QuotaClockSnapshot::from_json(&stored)?;
    /// let mut limiter = QuotaClock::restore(&snapshot, config, Utc, at(0, 1_760_003_600_000), None)?;
    /// assert_eq!(limiter.peek(at(0, 1_760_003_600_000), None, Cost::ONE)?.tokens_remaining, 1);
    /// # Ok::<(), sluicegate::Error>(())
    /// ```
    pub fn restore(
        snapshot: &QuotaClockSnapshot,
        config: QuotaClockConfig,
        zone: Z,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Self, Error> {
        let mut level = snapshot.level().clone();
        // Cuts the level off at a smaller capacity now, so that a larger one later does not bring it back.
        config.bucket().credit(&mut level, 0);
        Self::begin(config, zone, level, *snapshot.quota(), readings, reader)
    }

    fn begin(
        config: QuotaClockConfig,
        zone: Z,
        level: BucketState,
        counted: QuotaState,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Self, Error> {
        let mut tracker = ClockTracker::new(effective_tracker(&config));
        match tracker.observe(readings, reader) {
            Ok(_) => {}
            // Nothing was changed, so the first plausible reading becomes the base.
            Err(error) if error.code() == "implausible-wall" => {}
            Err(error) => return Err(error),
        }
        let bucket = *config.bucket();
        let quota = config.into_quota().map(|spec| CalendarQuota::restore(spec, zone, counted));
        let shelved = if quota.is_some() { QuotaState::default() } else { counted };
        Ok(Self { tracker, bucket, level, quota, shelved })
    }

    /// Takes `cost` from the bucket and from the quota if both have it, and otherwise nothing from either.
    ///
    /// Either way the time since the last call is credited, and the quota's period that is due is opened. A
    /// cost of zero is always allowed; it takes nothing, but opens the period.
    ///
    /// # Errors
    ///
    /// - `monotonic-regression`, `implausible-wall`, `reader-regression`, the reader's and the zone's own
    ///   errors: the readings are dropped and nothing has changed; the next ones count from where the last
    ///   good ones left off.
    /// - `ambiguous-jump`, under the suspend policy `refuse`: nothing was taken, credited or opened, and
    ///   time goes on from these readings. [`QuotaClock::refused`] has the sizes.
    ///
    /// A cost that is no whole number cannot get here: [`Cost::try_from_f64`] refuses it, and whoever calls
    /// that before reading the clocks has changed nothing at all.
    pub fn try_consume(
        &mut self,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
        cost: Cost,
    ) -> Result<QuotaClockDecision, Error> {
        self.decide(readings, reader, cost, Taking::Yes)
    }

    /// What [`try_consume`](Self::try_consume) would say now. Takes nothing and opens no period, so
    /// `skipped_periods` is said again by the call that does open it.
    ///
    /// The time since the last call is credited, and what happened to the clocks meanwhile is reported here
    /// and not a second time.
    ///
    /// # Errors
    ///
    /// As [`try_consume`](Self::try_consume).
    pub fn peek(
        &mut self,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
        cost: Cost,
    ) -> Result<QuotaClockDecision, Error> {
        self.decide(readings, reader, cost, Taking::No)
    }

    /// What to store so that [`QuotaClock::restore`] can go on from here. Changes nothing.
    pub fn snapshot(&self) -> QuotaClockSnapshot {
        let counted = self.quota.as_ref().map_or(self.shelved, |quota| *quota.state());
        QuotaClockSnapshot::new(self.level.clone(), counted, self.tracker.base())
    }

    /// The jump behind the last call's `ambiguous-jump` error. The call had no decision to say it in.
    pub const fn refused(&self) -> Option<Anomaly> {
        self.tracker.refused()
    }

    fn decide(
        &mut self,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
        cost: Cost,
        taking: Taking,
    ) -> Result<QuotaClockDecision, Error> {
        // On a copy: should the calendar fail, these readings must count as never seen.
        let mut tracker = self.tracker.clone();
        let seen = match tracker.observe(readings, reader) {
            Ok(seen) => seen,
            Err(error) => {
                self.tracker = tracker;
                return Err(error);
            }
        };
        let mut level = self.level.clone();
        self.bucket.credit(&mut level, seen.elapsed.0);
        let of_bucket = Half::of_bucket(&self.bucket, &level, cost);
        let verdict = match (&mut self.quota, taking) {
            (None, _) => None,
            (Some(quota), Taking::No) => Some(quota.look(readings.wall, cost)?),
            (Some(quota), Taking::Yes) if of_bucket == Half::Fits => Some(quota.take(readings.wall, cost)?),
            (Some(quota), Taking::Yes) => Some(look_and_open(quota, readings.wall, cost)?),
        };
        // From here on nothing fails.
        self.tracker = tracker;
        let taken = taking == Taking::Yes && verdict.is_none_or(|verdict| verdict.allowed());
        // The bucket does not take what it does not have, so this is the last condition of the two.
        if taken {
            self.bucket.try_take(&mut level, cost);
        }
        self.level = level;
        let tokens = self.bucket.available(&self.level);
        Ok(QuotaClockDecision::join(of_bucket, tokens, verdict.as_ref(), readings.wall, seen.anomalies))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    Yes,
    No,
}

/// What the quota says, with the period opened that is due, and nothing taken.
fn look_and_open<Z: ZoneOffsets>(
    quota: &mut CalendarQuota<Z>,
    wall: WallMs,
    cost: Cost,
) -> Result<QuotaVerdict, Error> {
    let verdict = quota.look(wall, cost)?;
    // Once for each period; in an open one this asks the zone nothing.
    if quota.state().open != Some(verdict.open) {
        quota.take(wall, Cost::ZERO)?;
    }
    Ok(verdict)
}

/// The tracker's settings: what day it is matters to a quota only.
fn effective_tracker(config: &QuotaClockConfig) -> TrackerConfig {
    let tracker = *config.tracker();
    if config.quota().is_some() {
        tracker
    } else {
        TrackerConfig { earliest_plausible_wall: None, ..tracker }
    }
}
