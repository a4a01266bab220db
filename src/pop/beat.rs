use crate::clock::SteadyMs;

/// So many looks at a clock that does not move count as any time limit: at the thousand requests a second
/// that an object can serve they take a quarter of a second, in which a clock that runs has moved.
const MOST_STANDING: u64 = 256;

/// So much of the time between two looks counts at most against a message that is under way: a clock that
/// steps ahead would fail it otherwise. While one is, the timer sees to looks that are no further apart.
pub(super) const MOST_GAP_MS: u64 = 250;

/// An object's time for its own time limits. It goes by the steady clock; and where that stands still it
/// goes by how often it was looked at, since timers stand still with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beat {
    now: SteadyMs,
    /// The time between looks, as far as it counts, added up.
    paced_ms: u64,
    looks: u64,
    /// The look that saw the clock move last.
    moved: u64,
}

/// When something began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    at: SteadyMs,
    paced_ms: u64,
    look: u64,
}

impl Beat {
    /// Notes a look at the clock.
    pub fn look(&mut self, now: SteadyMs) {
        self.looks = self.looks.saturating_add(1);
        if now.0 != self.now.0 {
            self.paced_ms = self.paced_ms.saturating_add(now.since(self.now).min(MOST_GAP_MS));
            self.now = now;
            self.moved = self.looks;
        }
    }

    /// The steady time of the last look.
    pub const fn now(&self) -> SteadyMs {
        self.now
    }

    /// This moment.
    pub const fn moment(&self) -> Moment {
        Moment { at: self.now, paced_ms: self.paced_ms, look: self.looks }
    }

    /// Whether `limit_ms` have passed since `began`, or so many looks that they would have.
    pub const fn is_over(&self, began: Moment, limit_ms: u64) -> bool {
        self.now.since(began.at) >= limit_ms || self.has_stood(began)
    }

    /// The same for something under way, which a step of the clock must not end.
    pub const fn is_overdue(&self, began: Moment, limit_ms: u64) -> bool {
        self.paced_ms.saturating_sub(began.paced_ms) >= limit_ms || self.has_stood(began)
    }

    /// When to look again at something that is under way.
    pub fn look_again_at(&self, began: Moment, limit_ms: u64) -> SteadyMs {
        let passed_ms = self.paced_ms.saturating_sub(began.paced_ms);
        self.now.plus(limit_ms.saturating_sub(passed_ms).min(MOST_GAP_MS))
    }

    const fn has_stood(&self, began: Moment) -> bool {
        let since = if began.look > self.moved { began.look } else { self.moved };
        self.looks.saturating_sub(since) >= MOST_STANDING
    }
}

impl Moment {
    /// The steady time at which `limit_ms` will have passed.
    pub const fn plus(self, limit_ms: u64) -> SteadyMs {
        self.at.plus(limit_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_passes_by_the_clock_or_by_looks_at_one_that_stands() {
        let mut beat = Beat::default();
        beat.look(SteadyMs(1_000));
        let began = beat.moment();
        beat.look(SteadyMs(2_999));
        assert!(!beat.is_over(began, 2_000));
        beat.look(SteadyMs(3_000));
        assert!(beat.is_over(began, 2_000));

        let began = beat.moment();
        for _ in 1..MOST_STANDING {
            beat.look(SteadyMs(3_000));
            assert!(!beat.is_over(began, 2_000));
        }
        beat.look(SteadyMs(3_000));
        assert!(beat.is_over(began, 2_000));
        beat.look(SteadyMs(3_001));
        assert!(!beat.is_over(began, 2_000), "it moves");
    }

    #[test]
    fn a_step_ahead_does_not_end_what_is_under_way() {
        let mut beat = Beat::default();
        beat.look(SteadyMs(1_000));
        let began = beat.moment();
        beat.look(SteadyMs(3_601_000));
        assert!(beat.is_over(began, 2_000) && !beat.is_overdue(began, 2_000));
        let mut looks = 0;
        while !beat.is_overdue(began, 2_000) {
            beat.look(beat.look_again_at(began, 2_000));
            looks += 1;
        }
        assert_eq!((beat.now(), looks), (SteadyMs(3_601_000 + 1_750), 7));
    }
}
