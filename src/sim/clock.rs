use serde::{Deserialize, Serialize};

use crate::clock::WallMs;

const MILLION: i128 = 1_000_000;

/// How a machine's wall clock goes at the start. Offsets are seconds or hours, drifts of real machines some
/// tens of millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSpec {
    /// Milliseconds ahead of true time.
    pub offset_ms: i64,
    /// Milliseconds gained in a million.
    pub drift_ppm: i32,
}

/// A machine's wall clock as a function of true time, which nothing in the simulated world can read.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    drift_ppm: i32,
    /// What it read at `since`.
    wall: i64,
    /// A true time; one that lies ahead is when a clock that stands still goes on.
    since: u64,
}

impl Clock {
    pub fn new(spec: ClockSpec, starts_at: WallMs) -> Self {
        // A clock that stood still for good would be no clock.
        let drift_ppm = spec.drift_ppm.clamp(-900_000, 900_000);
        Self { drift_ppm, wall: starts_at.0.saturating_add(spec.offset_ms), since: 0 }
    }

    pub fn wall(&self, now: u64) -> WallMs {
        WallMs(self.wall.saturating_add(self.run(now.saturating_sub(self.since))))
    }

    fn run(&self, passed: u64) -> i64 {
        let passed = i128::from(passed);
        // Rounded down, whichever way it drifts: a reading is whole milliseconds that have passed.
        let gained = (passed * i128::from(self.drift_ppm)).div_euclid(MILLION);
        i64::try_from(passed + gained).unwrap_or(i64::MAX)
    }

    pub fn step(&mut self, now: u64, ms: i64) {
        self.wall = self.wall(now).0.saturating_add(ms);
        self.since = self.since.max(now);
    }

    pub fn freeze(&mut self, now: u64, for_ms: u64) {
        self.wall = self.wall(now).0;
        self.since = self.since.max(now.saturating_add(for_ms));
    }

    /// True while it stands still.
    pub const fn is_frozen(&self, now: u64) -> bool {
        self.since > now
    }

    /// When it will read `due`, should nothing happen to it; now, if it does already.
    pub fn reaches(&self, now: u64, due: WallMs) -> u64 {
        let wait = i128::from(due.0) - i128::from(self.wall);
        if self.wall(now) >= due || wait <= 0 {
            return now;
        }
        let rate = MILLION + i128::from(self.drift_ppm);
        let passed = (wait * MILLION).checked_div(rate).and_then(|passed| u64::try_from(passed).ok());
        let mut at = self.since.saturating_add(passed.unwrap_or(u64::MAX));
        // Readings are rounded.
        while self.wall(at) < due && at < u64::MAX {
            at += 1;
        }
        at.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: WallMs = WallMs(1_000_000);

    #[test]
    fn it_drifts_steps_and_stands_still() {
        let mut clock = Clock::new(ClockSpec { offset_ms: -500, drift_ppm: 10_000 }, START);
        assert_eq!(clock.wall(1_000), WallMs(1_000_510));
        clock.freeze(1_000, 200);
        assert_eq!((clock.wall(1_199), clock.wall(1_300)), (WallMs(1_000_510), WallMs(1_000_611)));
        clock.step(1_300, -60_000);
        assert_eq!(clock.wall(1_400), WallMs(940_712));
    }

    #[test]
    fn a_step_does_not_wake_it() {
        let mut clock = Clock::new(ClockSpec::default(), START);
        clock.freeze(0, 1_000);
        clock.step(500, 30);
        assert_eq!((clock.wall(999), clock.wall(1_001)), (WallMs(1_000_030), WallMs(1_000_031)));
    }

    #[test]
    fn it_says_when_it_will_read_what() {
        for drift_ppm in [-300_000, -70, 0, 70, 300_000] {
            let mut clock = Clock::new(ClockSpec { offset_ms: 7, drift_ppm }, START);
            clock.freeze(100, 50);
            for due in [0, 1_000_000, 1_000_107, 1_000_108, 1_000_200, 1_098_765] {
                let at = clock.reaches(100, WallMs(due));
                assert!(clock.wall(at) >= WallMs(due), "{drift_ppm} {due}");
                assert!(at == 100 || clock.wall(at - 1) < WallMs(due), "{drift_ppm} {due}");
            }
        }
    }
}
