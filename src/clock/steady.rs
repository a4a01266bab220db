use serde::{Deserialize, Serialize};

use super::{SteadyMs, WallMs};

/// A longer silence within one life of an object is a step or a suspend, not idleness: the platform
/// takes an idle object out of memory after 10 s, or after 140 s at most where it cannot hibernate.
const LONGEST_IDLE_MS: i64 = 150_000;
/// An exact reading that is behind by less is noise, not a step: were a host to round its readings, a
/// shift for each of them would make steady time run fast. A true step this small is waited out.
const NOISE_MS: i64 = 1_000;
/// A standing clock is checked against the exact one on readings number 1, 2, 4 ... 64 and each 64th.
const MOST_UNCHECKED: u32 = 64;

/// One object's own time: it never goes back, and it never waits.
///
/// `steady = reading + shift`. A reading a second or more below the last one adds the difference to
/// `shift`; a smaller fall is waited out. Taking the maximum of the readings instead would stop the clock for the size of a step back, and every
/// window and bucket with it.
///
/// Two readings of the same wall clock feed it. The cheap one is `Date.now()`: in a Durable Object it
/// stands still after a step back until the wall has caught up. The exact one is SQLite's `now`, which
/// follows the step at once but costs a statement; it is consulted when the cheap one has not moved.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{SteadyClock, WallMs};
///
/// let mut clock = SteadyClock::new(WallMs(1_000_000));
/// let before = clock.observe(WallMs(1_000_500), || WallMs(1_000_500)).steady;
/// // The wall steps back an hour; the cheap reading freezes, the exact one shows the step.
/// let stepped = clock.observe(WallMs(1_000_500), || WallMs(-2_599_400));
/// assert_eq!(stepped.report.unwrap().stepped_ms, -3_599_900);
/// let later = clock.observe(WallMs(1_000_500), || WallMs(-2_599_300)).steady;
/// assert_eq!(later.since(before), 100);
/// ```
#[derive(Clone, Debug)]
pub struct SteadyClock {
    /// The last reading taken for true, and what turns it into steady time. Both are stored.
    mark: SteadyMark,
    /// The largest cheap reading seen in this life of the object.
    cheap: WallMs,
    /// How often the cheap reading has stood still in a row.
    standing: u32,
    /// False until the first reading of this life: the silence before it means nothing.
    awake: bool,
}

/// What a [`SteadyClock`] needs to go on after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyMark {
    /// The last wall reading.
    pub last: WallMs,
    /// Milliseconds added to a reading to make it steady; grows with each step back.
    pub shift_ms: i64,
}

/// One look at a [`SteadyClock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The steady time now.
    pub steady: SteadyMs,
    /// A step of the wall clock that this look revealed.
    pub report: Option<StepReport>,
}

/// A step of the wall clock, with its size. Nothing is decided by it; operators want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// What the wall clock moved by between two readings, in milliseconds. Negative is back.
    pub stepped_ms: i64,
}

impl StepReport {
    /// `wall-step-back`, or `wall-ahead`: with one clock a step ahead and a suspend look the same.
    pub const fn kind(&self) -> &'static str {
        if self.stepped_ms < 0 { "wall-step-back" } else { "wall-ahead" }
    }
}

impl SteadyClock {
    /// A clock that starts with the object, at `exact`.
    pub fn new(exact: WallMs) -> Self {
        Self::restore(SteadyMark { last: exact, shift_ms: 0 })
    }

    /// A clock that goes on from where a stored one was. The next reading may well be smaller.
    pub fn restore(mark: SteadyMark) -> Self {
        Self { mark, cheap: WallMs(i64::MIN), standing: 0, awake: false }
    }

    /// What to store with each new epoch, so that the clock survives a restart.
    pub const fn mark(&self) -> SteadyMark {
        self.mark
    }

    /// The steady time of the last look.
    pub fn now(&self) -> SteadyMs {
        self.steady()
    }

    /// Reads the clock. `cheap` may stand still after a step back; `exact` is asked only if it does.
    pub fn observe(&mut self, cheap: WallMs, exact: impl FnOnce() -> WallMs) -> Observation {
        let moved = cheap > self.cheap && self.awake;
        let report = if moved {
            self.standing = 0;
            // The exact reading may have been a little ahead of a cheap one taken at the turn's start.
            self.advance(WallMs(cheap.0.max(self.mark.last.0)))
        } else {
            self.standing = self.standing.saturating_add(1);
            let due = self.standing.is_power_of_two() || self.standing.is_multiple_of(MOST_UNCHECKED);
            if due || !self.awake || cheap.max(self.cheap) > self.mark.last {
                self.advance(exact())
            } else {
                None
            }
        };
        self.cheap = self.cheap.max(cheap);
        self.awake = true;
        Observation { steady: self.steady(), report }
    }

    /// True while the cheap reading is known to wait for the wall to catch up. In a Durable Object its
    /// timers and alarms wait with it.
    pub fn is_frozen(&self) -> bool {
        self.cheap > self.mark.last
    }

    fn advance(&mut self, reading: WallMs) -> Option<StepReport> {
        let delta = reading.0.saturating_sub(self.mark.last.0);
        let back = delta <= -NOISE_MS;
        if back {
            self.mark.shift_ms = self.mark.shift_ms.saturating_add(delta.saturating_neg());
        } else if delta < 0 {
            return None;
        }
        self.mark.last = reading;
        (back || (self.awake && delta >= LONGEST_IDLE_MS)).then_some(StepReport { stepped_ms: delta })
    }

    fn steady(&self) -> SteadyMs {
        SteadyMs(u64::try_from(self.mark.last.0.saturating_add(self.mark.shift_ms)).unwrap_or(0))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A host with a wall clock that can be stepped, and the freezing `Date.now()` of a Durable Object.
    struct Host {
        real: i64,
        offset: i64,
        clamped: i64,
    }

    impl Host {
        fn read(&mut self, clock: &mut SteadyClock) -> Observation {
            let wall = self.real + self.offset;
            self.clamped = self.clamped.max(wall);
            clock.observe(WallMs(self.clamped), || WallMs(wall))
        }
    }

    #[test]
    fn a_restart_on_a_clock_that_went_back_goes_on_from_the_mark() {
        let mut clock = SteadyClock::new(WallMs(10_000_000));
        let before = clock.observe(WallMs(10_000_000), || WallMs(10_000_000)).steady;
        let mut again = SteadyClock::restore(clock.mark());
        let first = again.observe(WallMs(6_400_000), || WallMs(6_400_000));
        assert_eq!(first.steady, before);
        assert_eq!(first.report, Some(StepReport { stepped_ms: -3_600_000 }));
        let later = again.observe(WallMs(6_401_000), || WallMs(6_401_000));
        assert_eq!((later.steady.since(before), later.report), (1000, None));
    }

    #[test]
    fn a_long_sleep_between_two_lives_is_not_a_step() {
        let mut clock = SteadyClock::restore(SteadyMark { last: WallMs(1_000_000), shift_ms: 5 });
        let seen = clock.observe(WallMs(90_000_000), || WallMs(90_000_000));
        assert_eq!(seen, Observation { steady: SteadyMs(90_000_005), report: None });
    }

    #[test]
    fn an_hour_ahead_within_one_life_is_reported_and_passed_on() {
        let mut clock = SteadyClock::new(WallMs(1_000_000));
        clock.observe(WallMs(1_000_010), || WallMs(1_000_010));
        let seen = clock.observe(WallMs(4_600_030), || WallMs(4_600_030));
        assert_eq!(seen.report, Some(StepReport { stepped_ms: 3_600_020 }));
        assert_eq!(seen.steady, SteadyMs(4_600_030));
    }

    #[test]
    fn a_busy_object_asks_the_exact_clock_rarely() {
        let mut clock = SteadyClock::new(WallMs(1_000_000));
        let mut asked = 0;
        for _ in 0..1000 {
            clock.observe(WallMs(1_000_000), || {
                asked += 1;
                WallMs(1_000_000)
            });
        }
        assert!(asked <= 24, "{asked} statements for 1000 readings within one millisecond");
    }

    #[test]
    fn readings_rounded_to_seconds_do_not_make_time_run_fast() {
        let mut clock = SteadyClock::new(WallMs(1_000_000));
        let start = clock.observe(WallMs(1_000_000), || WallMs(1_000_000)).steady;
        let mut last = start;
        for request in 0..20_000_i64 {
            let now = 1_000_000 + request / 2;
            last = clock.observe(WallMs(now), || WallMs(now / 1000 * 1000)).steady;
        }
        assert_eq!(last.since(start), 9_999);
    }

    proptest! {
        /// Whatever the wall does, steady time never goes back, loses at most what lies between two
        /// readings at each step back, and runs ahead only by the steps ahead.
        #[test]
        fn steady_time_never_goes_back_and_never_waits(
            moves in prop::collection::vec((1i64..3000, prop_oneof![8 => Just(0i64), 1 => -4_000_000i64..-10_000, 1 => 1i64..4_000_000]), 1..200)
        ) {
            let mut host = Host { real: 1_700_000_000_000, offset: 0, clamped: 0 };
            let mut clock = SteadyClock::new(WallMs(host.real));
            let mut last = host.read(&mut clock).steady;
            for (pass, step) in moves {
                host.real += pass;
                host.offset += step;
                let seen = host.read(&mut clock);
                prop_assert!(seen.steady >= last);
                let gained = seen.steady.since(last) as i64;
                if step == 0 {
                    prop_assert_eq!(gained, pass, "without a step each millisecond counts once");
                } else {
                    prop_assert!(gained <= pass + step.max(0));
                }
                if !(0..LONGEST_IDLE_MS).contains(&step) {
                    prop_assert_eq!(seen.report.map(|r| r.stepped_ms), Some(pass + step));
                }
                last = seen.steady;
            }
        }
    }
}
