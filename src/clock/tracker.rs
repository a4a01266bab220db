use super::anomaly::Length;
use super::{
    Anomaly, AnomalyKind, ElapsedMs, ElapsedRealtimeMs, Readings, SuspendPolicy, TrackerConfig, WallMs,
};
use crate::Error;
use crate::error::ErrorKind;

/// Asks the host for a suspend-inclusive reading. It may cost a system call and it may fail.
pub type RealtimeReader<'a> = &'a mut dyn FnMut() -> Result<ElapsedRealtimeMs, Error>;

/// Turns pairs of readings, one of a monotonic and one of a wall clock, into the time that really passed.
///
/// Between two readings, dm is what the monotonic clock moved by and dw what the wall clock moved by:
/// - they agree to within the [`Tolerance`](super::Tolerance): dm is credited;
/// - the wall clock is behind: it was set back, for no suspend makes it lose time. dm is credited and a
///   `wall-step-back` reported;
/// - the wall clock is ahead: the machine was suspended, or the clock was set forward. A reader, if there
///   is one, tells which; without one the [`SuspendPolicy`] decides and `wall-ahead` is reported.
///
/// The reader is asked when the clocks disagree, either way, and once when the base is taken. Between two
/// times it is asked, suspended = what it moved by less what the monotonic clock moved by, and stepped =
/// what is left of the wall clock's move. The suspended part is always credited, the stepped part never,
/// whatever the policy.
///
/// Readings that cannot be true are refused and change nothing: a monotonic clock that went back, a wall
/// clock before the earliest plausible date, a reader that went back. A jump that the policy `refuse`
/// refuses becomes the new base: one error for each jump, and nothing is credited for it.
///
/// # Limits
///
/// - A suspend and a step back of the same size within one interval are invisible: nothing disagrees. With
///   a reader the suspended time is credited at the next disagreement; without one it never is.
/// - Drift in pieces below the tolerance is never reported. Only the report is lost: dm is credited.
/// - A reader that is first given later than the base says nothing about the interval it is first asked
///   about; the policy decides that one.
/// - The wall reading has no upper bound: a host that is a century ahead is believed.
///
/// The idea is that of the two-clock limiter in which a calendar reads the wall and a bucket does not.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{
///     ClockTracker, ElapsedMs, ElapsedRealtimeMs, MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs,
/// };
///
/// let at = |monotonic, wall| Readings { monotonic: MonotonicMs(monotonic), wall: WallMs(wall) };
/// let config = TrackerConfig::new(SuspendPolicy::Ignore);
/// let start = at(0, 1_760_000_000_000);
/// let mut tracker = ClockTracker::start(config, start, Some(&mut || Ok(ElapsedRealtimeMs(0))))?;
///
/// // The lid was shut for six hours: the monotonic clock stood still, the reader did not.
/// let woken = at(5, 1_760_021_600_005);
/// let seen = tracker.observe(woken, Some(&mut || Ok(ElapsedRealtimeMs(21_600_005))))?;
/// assert_eq!(seen.elapsed, ElapsedMs(21_600_005));
/// assert_eq!(seen.anomalies[0].kind.name(), "suspend");
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClockTracker {
    config: TrackerConfig,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The last reading that counted.
    base: Option<Readings>,
    /// All three clocks at the last time the reader was asked. A step measured since the last reading, and
    /// a suspend since the last time the reader was asked, would not fit together: false steps.
    asked: Option<Asked>,
    /// What was behind the last refusal.
    refused: Option<Anomaly>,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    readings: Readings,
    realtime: ElapsedRealtimeMs,
}

/// What one observation credits, and what it revealed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elapsed {
    /// The time to credit since the reading before.
    pub elapsed: ElapsedMs,
    /// What happened to the clocks meanwhile: nothing, one thing, or a suspend and a step.
    pub anomalies: Vec<Anomaly>,
}

/// What both clocks moved by. The monotonic part is never negative: regressions are refused before.
#[derive(Clone, Copy)]
struct Moved {
    monotonic_ms: i64,
    wall_ms: i64,
}

impl Moved {
    const fn between(earlier: Readings, later: Readings) -> Self {
        Self {
            monotonic_ms: later.monotonic.0.saturating_sub(earlier.monotonic.0),
            wall_ms: later.wall.0.saturating_sub(earlier.wall.0),
        }
    }

    const fn disagreement_ms(self) -> i64 {
        self.wall_ms.saturating_sub(self.monotonic_ms)
    }

    fn monotonic(self) -> u64 {
        not_negative(self.monotonic_ms)
    }
}

impl ClockTracker {
    /// A tracker that takes its first reading as its base and credits nothing for it.
    pub const fn new(config: TrackerConfig) -> Self {
        Self { config, state: State { base: None, asked: None, refused: None } }
    }

    /// A tracker with its base at `readings`, so that the time from now on counts.
    ///
    /// # Errors
    ///
    /// Code `implausible-wall` for a wall reading before the earliest plausible one (start with
    /// [`ClockTracker::new`] where the clock may come right later), or the reader's own error.
    pub fn start(
        config: TrackerConfig,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Self, Error> {
        let mut tracker = Self::new(config);
        tracker.observe(readings, reader)?;
        Ok(tracker)
    }

    /// The reading that the next one is measured from.
    pub const fn base(&self) -> Option<Readings> {
        self.state.base
    }

    /// The jump behind the last observation's `ambiguous-jump` error; `None` after any other observation.
    pub const fn refused(&self) -> Option<Anomaly> {
        self.state.refused
    }

    /// The time to credit since the reading before. `reader` is asked only if the clocks disagree, or if
    /// this reading becomes the first base.
    ///
    /// # Errors
    ///
    /// Code `monotonic-regression`, `implausible-wall` or `reader-regression`: the reading is dropped and
    /// nothing changes. Code `ambiguous-jump` under [`SuspendPolicy::Refuse`]: the reading becomes the
    /// base, and [`ClockTracker::refused`] has the sizes. An error of the reader is passed on, and nothing
    /// changes either: the next reading asks again.
    ///
    /// # Panics
    ///
    /// Never: sums stop at the largest number.
    pub fn observe(
        &mut self,
        readings: Readings,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Elapsed, Error> {
        self.state.refused = None;
        if let Some(base) = self.state.base {
            refuse_regression(base, readings)?;
        }
        self.refuse_implausible(readings.wall)?;
        let Some(base) = self.state.base else {
            self.state.asked = ask(readings, reader)?;
            self.state.base = Some(readings);
            return Ok(Elapsed::default());
        };
        let moved = Moved::between(base, readings);
        if moved.disagreement_ms().unsigned_abs() <= self.config.tolerance.budget_ms(moved.monotonic()) {
            self.state.base = Some(readings);
            return Ok(Elapsed { elapsed: ElapsedMs(moved.monotonic()), anomalies: Vec::new() });
        }
        self.settle(readings, moved, reader)
    }

    fn refuse_implausible(&self, wall: WallMs) -> Result<(), Error> {
        match self.config.earliest_plausible_wall {
            Some(earliest) if wall < earliest => Err(Error::new(
                ErrorKind::ImplausibleWall,
                format!(
                    "the wall clock reads {} ms since 1970, before the earliest plausible {}: it has not \
                     been set yet",
                    wall.0, earliest.0
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The clocks disagree: the reader settles it if it has a base itself, else the policy.
    fn settle(
        &mut self,
        readings: Readings,
        moved: Moved,
        reader: Option<RealtimeReader<'_>>,
    ) -> Result<Elapsed, Error> {
        let before = self.state.asked;
        let now = ask(readings, reader)?;
        if let (Some(before), Some(now)) = (before, now)
            && now.realtime < before.realtime
        {
            return Err(Error::new(
                ErrorKind::ReaderRegression,
                format!(
                    "the suspend-inclusive clock went back from {} to {} ms",
                    before.realtime.0, now.realtime.0
                ),
            ));
        }
        self.state.base = Some(readings);
        // Where the policy has credited a whole jump, a later reader must not credit its suspended part again.
        let credited = self.config.policy == SuspendPolicy::Credit && moved.disagreement_ms() > 0;
        self.state.asked = if credited { now } else { now.or(before) };
        match (before, now) {
            (Some(before), Some(now)) => Ok(self.split(before, now, moved)),
            _ => self.guess(moved),
        }
    }

    /// Splits what happened since the reader was last asked into a suspended and a stepped part.
    fn split(&self, before: Asked, now: Asked, moved: Moved) -> Elapsed {
        let window = Moved::between(before.readings, now.readings);
        let awake_and_not = now.realtime.0.saturating_sub(before.realtime.0);
        let suspended_ms = not_negative(awake_and_not.saturating_sub(window.monotonic_ms));
        let suspended = i64::try_from(suspended_ms).unwrap_or(i64::MAX);
        let credited = ElapsedMs(moved.monotonic().saturating_add(suspended_ms));

        let mut stepped = window.disagreement_ms().saturating_sub(suspended);
        let budget = self.config.tolerance.budget_ms(window.monotonic());
        let mut slept = suspended_ms > budget;
        let mut was_set = stepped.unsigned_abs() > budget;
        if !slept && !was_set {
            // Two parts that only together are an event, or a step that is small beside the slewing of a
            // long time since the reader was last asked. The larger part gives the event its name.
            stepped = moved.disagreement_ms().saturating_sub(suspended);
            slept = moved.disagreement_ms() > 0 && suspended >= stepped;
            was_set = !slept;
        }
        let step = if stepped < 0 { AnomalyKind::WallStepBack } else { AnomalyKind::WallStepForward };
        let kinds = [slept.then_some(AnomalyKind::Suspend), was_set.then_some(step)];
        let anomaly = |kind| Anomaly {
            kind,
            disagreement_ms: moved.disagreement_ms(),
            suspended_ms: Some(suspended_ms),
            stepped_ms: Some(stepped),
            credited: Some(credited),
            decided_by: None,
        };
        Elapsed { elapsed: credited, anomalies: kinds.into_iter().flatten().map(anomaly).collect() }
    }

    /// No reader: a step back is certain, anything ahead is the policy's guess.
    fn guess(&mut self, moved: Moved) -> Result<Elapsed, Error> {
        let disagreement_ms = moved.disagreement_ms();
        let back = disagreement_ms < 0;
        let credited = match self.config.policy {
            _ if back => Some(moved.monotonic()),
            SuspendPolicy::Ignore => Some(moved.monotonic()),
            SuspendPolicy::Credit => Some(not_negative(moved.wall_ms)),
            SuspendPolicy::Refuse => None,
        };
        let anomaly = Anomaly {
            kind: if back { AnomalyKind::WallStepBack } else { AnomalyKind::WallAhead },
            disagreement_ms,
            suspended_ms: None,
            stepped_ms: back.then_some(disagreement_ms),
            credited: credited.map(ElapsedMs),
            decided_by: (!back).then_some(self.config.policy),
        };
        let Some(credited) = credited else {
            self.state.refused = Some(anomaly);
            return Err(Error::new(ErrorKind::AmbiguousJump, anomaly.to_string()));
        };
        Ok(Elapsed { elapsed: ElapsedMs(credited), anomalies: vec![anomaly] })
    }
}

fn refuse_regression(base: Readings, readings: Readings) -> Result<(), Error> {
    if readings.monotonic >= base.monotonic {
        return Ok(());
    }
    let back = Length(base.monotonic.0.saturating_sub(readings.monotonic.0).unsigned_abs());
    Err(Error::new(
        ErrorKind::MonotonicRegression,
        format!("the monotonic clock went back by {back}: no duration it measures can be trusted"),
    ))
}

fn ask(readings: Readings, reader: Option<RealtimeReader<'_>>) -> Result<Option<Asked>, Error> {
    reader.map(|read| read().map(|realtime| Asked { readings, realtime })).transpose()
}

fn not_negative(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicMs;

    #[test]
    fn the_plausibility_floor_belongs_to_the_configuration() {
        let first = |wall, earliest| {
            let config = TrackerConfig {
                earliest_plausible_wall: earliest,
                ..TrackerConfig::new(SuspendPolicy::Ignore)
            };
            ClockTracker::start(config, Readings { monotonic: MonotonicMs(0), wall: WallMs(wall) }, None)
                .map(|_| ())
        };
        let floor = TrackerConfig::new(SuspendPolicy::Ignore).earliest_plausible_wall;
        assert_eq!(first(1_577_836_800_000, floor), Ok(()));
        assert_eq!(first(1_577_836_799_999, floor).unwrap_err().code(), "implausible-wall");
        assert_eq!(first(i64::MAX, floor), Ok(()), "no upper bound");
        assert_eq!(first(0, None), Ok(()));
        assert!(first(1_600_000_000_000, Some(WallMs(1_700_000_000_000))).is_err());
    }
}
