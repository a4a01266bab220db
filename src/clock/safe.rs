use serde::{Deserialize, Serialize};

use super::{ElapsedMs, WallMs};

/// The least that [`elapsed_cap`] allows one gap to credit: one hour.
pub const LEAST_ELAPSED_CAP: ElapsedMs = ElapsedMs(3_600_000);
/// A known offset of more than this, in milliseconds, is discounted from the stamps of another machine.
pub const MOST_ACCEPTED_SKEW_MS: u64 = 2_000;

/// How many times the measured skew an expiry is padded by.
const SKEW_PADDING: u64 = 3;
/// An expiry outlives its window by at least one part in this many: 63 s for 60 s.
const LEAST_MARGIN_PARTS: u64 = 20;

/// When a bucket on a wall clock was last refilled. It never moves back.
///
/// Storing `now` instead, even where `now` lies before the stamp, is a bypass as soon as two writers
/// disagree about the time: each change from the slow one to the fast one credits the difference again.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{Stamp, WallMs};
///
/// let stamp = Stamp::new(WallMs(1_900)).advanced_to(WallMs(1_000));
/// assert_eq!(stamp.at(), WallMs(1_900));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp(WallMs);

impl Stamp {
    /// A stamp at `at`.
    pub const fn new(at: WallMs) -> Self {
        Self(at)
    }

    /// The stamp to store after a look at `now`: the later of the two.
    #[must_use]
    pub fn advanced_to(self, now: WallMs) -> Self {
        Self(self.0.max(now))
    }

    /// The reading it stands for.
    pub const fn at(self) -> WallMs {
        self.0
    }
}

/// Whose clock a [`Stamp`] was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampedBy {
    /// This machine. However wrong its clock is, a constant offset cancels out of a difference, and
    /// discounting it would starve the bucket.
    Own,
    /// Another machine.
    Other {
        /// By how much the clock here is known to be ahead of that machine's, in milliseconds; negative
        /// for behind.
        ahead_ms: i64,
    },
}

/// What [`safe_elapsed`] credits, and what it had to correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SafeElapsed {
    /// The time to credit: never negative, never above the cap.
    pub elapsed: ElapsedMs,
    /// What the cap took away, in milliseconds; zero is the normal case.
    pub capped_ms: u64,
    /// How far the stamp lies ahead of `now`, in milliseconds; zero is the normal case.
    pub behind_ms: u64,
    /// The known offset is more than is accepted: counted as `clock_skew_exceeded`.
    pub clock_skew_exceeded: bool,
}

/// The most that one gap may credit: an hour, or the time of a full refill where that is longer. With less
/// than a full refill a slow bucket starves; with more nothing is gained, since the capacity bounds it.
pub fn elapsed_cap(full_refill_ms: u64) -> ElapsedMs {
    ElapsedMs(full_refill_ms.max(LEAST_ELAPSED_CAP.0))
}

/// The time between a stored stamp and `now`, for a bucket that has a wall clock and nothing behind it.
/// Where there is a monotonic clock use a [`ClockTracker`](super::ClockTracker); where the state lives in one
/// object, its [`SteadyClock`](super::SteadyClock).
///
/// Another machine's stamp is corrected by a known offset of more than [`MOST_ACCEPTED_SKEW_MS`] if this
/// clock is ahead. An offset the other way is counted and not added: it could only give, and an estimate
/// may be wrong.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{Stamp, StampedBy, WallMs, elapsed_cap, safe_elapsed};
///
/// let stamp = Stamp::new(WallMs(10_000));
/// let own = safe_elapsed(WallMs(15_000), stamp, StampedBy::Own, elapsed_cap(0));
/// assert_eq!(own.elapsed.0, 5_000);
/// let other = safe_elapsed(WallMs(15_000), stamp, StampedBy::Other { ahead_ms: 3_000 }, elapsed_cap(0));
/// assert_eq!((other.elapsed.0, other.clock_skew_exceeded), (2_000, true));
/// ```
pub fn safe_elapsed(now: WallMs, stamp: Stamp, by: StampedBy, cap: ElapsedMs) -> SafeElapsed {
    let gap = now.0.saturating_sub(stamp.at().0);
    let (discount, clock_skew_exceeded) = match by {
        StampedBy::Other { ahead_ms } if ahead_ms.unsigned_abs() > MOST_ACCEPTED_SKEW_MS => {
            (u64::try_from(ahead_ms).unwrap_or(0), true)
        }
        _ => (0, false),
    };
    // The discount comes before the cap: it is the gap that is wrong, not what is left of it.
    let measured = u64::try_from(gap).unwrap_or(0).saturating_sub(discount);
    SafeElapsed {
        elapsed: ElapsedMs(measured.min(cap.0)),
        capped_ms: measured.saturating_sub(cap.0),
        behind_ms: if gap < 0 { gap.unsigned_abs() } else { 0 },
        clock_skew_exceeded,
    }
}

/// How long to keep something that is meant to live `intended_ms` and counts for a window of `window_ms`:
/// the longer of `intended_ms` + 3 x `skew_ms`, the largest offset the clocks involved may have, and the
/// window + 5 %, rounded up. What is kept too long costs memory; what goes too early is a second window.
///
/// # Example
///
/// ```
/// use sluicegate::clock::safe_ttl;
///
/// assert_eq!(safe_ttl(60_000, 50, 60_000), 63_000);
/// assert_eq!(safe_ttl(60_000, 2_000, 60_000), 66_000);
/// ```
pub const fn safe_ttl(intended_ms: u64, skew_ms: u64, window_ms: u64) -> u64 {
    let padded = intended_ms.saturating_add(skew_ms.saturating_mul(SKEW_PADDING));
    let least = window_ms.saturating_add(window_ms.div_ceil(LEAST_MARGIN_PARTS));
    if padded > least { padded } else { least }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: ElapsedMs = LEAST_ELAPSED_CAP;

    fn look(now: i64, stamp: i64, by: StampedBy) -> SafeElapsed {
        safe_elapsed(WallMs(now), Stamp::new(WallMs(stamp)), by, HOUR)
    }

    /// How many of one request each `every_ms` a bucket of one token per `refill_ms` lets through.
    fn admitted(refill_ms: u64, every_ms: i64, requests: i64, elapsed: impl Fn(i64, Stamp) -> u64) -> u64 {
        let (mut credit, mut stamp, mut let_through) = (refill_ms, Stamp::new(WallMs(0)), 0);
        for request in 0..requests {
            let now = request * every_ms;
            credit = (credit + elapsed(now, stamp)).min(10 * refill_ms);
            stamp = stamp.advanced_to(WallMs(now));
            if credit >= refill_ms {
                credit -= refill_ms;
                let_through += 1;
            }
        }
        let_through
    }

    #[test]
    fn a_stamp_ahead_of_now_credits_nothing_and_says_by_how_much() {
        let seen = look(1_000, 1_900, StampedBy::Own);
        assert_eq!(seen, SafeElapsed { behind_ms: 900, ..SafeElapsed::default() });
    }

    #[test]
    fn a_week_is_capped_and_reported_and_a_slow_bucket_gets_its_full_refill() {
        let week = 7 * 24 * 3_600_000;
        let seen = look(week, 0, StampedBy::Own);
        assert_eq!((seen.elapsed, seen.capped_ms), (HOUR, week as u64 - HOUR.0));
        // One token in six hours, four at most, asked once a day: an hour a day would starve it.
        let cap = elapsed_cap(4 * 6 * 3_600_000);
        let seen = safe_elapsed(WallMs(24 * 3_600_000), Stamp::new(WallMs(0)), StampedBy::Own, cap);
        assert_eq!((seen.elapsed.0, seen.capped_ms), (24 * 3_600_000, 0));
    }

    #[test]
    fn a_known_offset_is_discounted_for_the_stamps_of_others_only() {
        let other = |ahead_ms| look(10_000, 4_000, StampedBy::Other { ahead_ms });
        assert_eq!((other(2_000).elapsed.0, other(2_000).clock_skew_exceeded), (6_000, false));
        assert_eq!((other(2_001).elapsed.0, other(2_001).clock_skew_exceeded), (3_999, true));
        assert_eq!((other(-9_000).elapsed.0, other(-9_000).clock_skew_exceeded), (6_000, true));
        assert_eq!(other(i64::MAX).elapsed.0, 0);
        assert_eq!(look(10_000, 4_000, StampedBy::Own).elapsed.0, 6_000);
    }

    #[test]
    fn discounting_ones_own_constant_offset_would_starve_the_bucket() {
        let own = |now, stamp| safe_elapsed(WallMs(now), stamp, StampedBy::Own, HOUR).elapsed.0;
        let naive = |now, stamp: Stamp| u64::try_from(now - stamp.at().0 - 3_000).unwrap_or(0);
        // One a second, a request each 100 ms for ten minutes, on a clock that is 3 s ahead all the time.
        assert_eq!(admitted(1_000, 100, 6_000, naive), 1);
        assert_eq!(admitted(1_000, 100, 6_000, own), 600);
    }

    /// Two writers take turns, 10 ms apart, for 10 s; the clock of one is 900 ms ahead.
    #[test]
    fn storing_now_behind_a_stamp_is_a_bypass_and_a_stamp_that_never_moves_back_is_not() {
        let (mut naive, mut stores_now) = (0, 0);
        let (mut ours, mut stamp) = (0, Stamp::new(WallMs(0)));
        for write in 1..=1_000 {
            let now = write * 10 + if write % 2 == 1 { 900 } else { 0 };
            naive += (now - stores_now).max(0);
            stores_now = now;
            let by = StampedBy::Other { ahead_ms: 0 };
            ours += safe_elapsed(WallMs(now), stamp, by, HOUR).elapsed.0;
            stamp = stamp.advanced_to(WallMs(now));
        }
        assert_eq!(naive, 455_000, "45 times the time that passed");
        assert_eq!(ours, 10_890);
    }

    #[test]
    fn the_discount_is_taken_from_the_gap_not_from_what_the_cap_left() {
        let seen = look(7 * 24 * 3_600_000, 0, StampedBy::Other { ahead_ms: 5_000 });
        assert_eq!(seen.elapsed, HOUR);
    }

    #[test]
    fn an_expiry_outlives_its_window_by_the_margin() {
        assert_eq!(safe_ttl(60_000, 0, 60_000), 63_000);
        assert_eq!(safe_ttl(60_000, 1_000, 60_000), 63_000);
        assert_eq!(safe_ttl(60_000, 1_001, 60_000), 63_003);
        assert_eq!(safe_ttl(0, 0, 1), 2, "rounded up");
        assert_eq!(safe_ttl(0, 0, 21), 23, "22.05 rounded up");
        assert_eq!(safe_ttl(u64::MAX, u64::MAX, u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn never_negative_and_never_above_the_cap(
            now: i64, stamp: i64, ahead: Option<i64>, full_refill: u64
        ) {
            let by = ahead.map_or(StampedBy::Own, |ahead_ms| StampedBy::Other { ahead_ms });
            let cap = elapsed_cap(full_refill);
            let seen = safe_elapsed(WallMs(now), Stamp::new(WallMs(stamp)), by, cap);
            prop_assert!(seen.elapsed <= cap);
            prop_assert!(i128::from(seen.elapsed.0) <= (i128::from(now) - i128::from(stamp)).max(0));
            prop_assert!(seen.capped_ms == 0 || seen.elapsed == cap);
        }

        #[test]
        fn an_expiry_is_never_shorter_than_either_promise(
            intended in 0..1u64 << 40, skew in 0..1u64 << 20, window in 0..1u64 << 40
        ) {
            let ttl = safe_ttl(intended, skew, window);
            prop_assert!(ttl >= intended + 3 * skew);
            prop_assert!(ttl * 100 >= window * 105);
            prop_assert!(ttl == intended + 3 * skew || (ttl - 1) * 100 < window * 105);
        }
    }
}
