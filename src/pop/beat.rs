use crate::clock::SteadyMs;

/// So many looks at a clock that does not move count as any time limit: at the thousand requests a second
/// that an object can serve they take a quarter of a second, in which a clock that runs has moved.
const MOST_STANDING: u64 = 256;

/// An object's time for its own time limits. It goes by the steady clock; and where that stands still it
/// goes by how often it was looked at, since timers stand still with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beat {
    now: SteadyMs,
    looks: u64,
    /// The look that saw the clock move last.
    moved: u64,
}

/// When something began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    at: SteadyMs,
    look: u64,
}

impl Beat {
    /// Notes a look at the clock.
    pub const fn look(&mut self, now: SteadyMs) {
        self.looks = self.looks.saturating_add(1);
        if now.0 != self.now.0 {
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
        Moment { at: self.now, look: self.looks }
    }

    /// Whether `limit_ms` have passed since `began`, or so many looks that they would have.
    pub const fn is_over(&self, began: Moment, limit_ms: u64) -> bool {
        let since = if began.look > self.moved { began.look } else { self.moved };
        self.now.since(began.at) >= limit_ms || self.looks.saturating_sub(since) >= MOST_STANDING
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
}
