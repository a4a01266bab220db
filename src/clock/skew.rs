use super::WallMs;

/// How many samples the fastest is chosen from.
const SAMPLES: usize = 20;

/// How far the clock here is ahead of another one, as far as one round trip can tell.
///
/// The other clock was read somewhere between the two readings here, so the true offset lies between
/// `before - remote` and `after - remote`, however the round trip is divided into its two legs. The offset
/// is the middle of that and the error half the round trip (Cristian, 1989). Both ends are kept, in whole
/// milliseconds: the middle may lie on half a millisecond, the ends never do. Clocks that are read in whole
/// milliseconds hide up to one more, which is not counted.
///
/// It is measured, shown and alerted on. Nothing is decided by it.
///
/// # Example
///
/// ```
/// use sluicegate::clock::{Skew, SkewAlert, SkewThresholds, WallMs};
///
/// // The request took 20 ms, the reply 180 ms, and both clocks are right: the middle is off by 80 ms.
/// let skew = Skew::measure(WallMs(1_000), WallMs(1_020), WallMs(1_200)).unwrap();
/// assert_eq!((skew.offset_ms(), skew.error_ms()), (80, 100));
/// assert_eq!(skew.alert(SkewThresholds::default()), SkewAlert::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    least_ms: i64,
    most_ms: i64,
}

/// From where on an offset matters, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkewThresholds {
    /// Warn when an offset is certainly larger than this.
    pub warn_ms: u64,
    /// Page when an offset is certainly larger than this.
    pub page_ms: u64,
    /// Page when two of all PoPs are certainly further apart than this.
    pub spread_page_ms: u64,
}

impl Default for SkewThresholds {
    fn default() -> Self {
        Self { warn_ms: 50, page_ms: 200, spread_page_ms: 100 }
    }
}

/// Whom to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkewAlert {
    /// Nobody.
    #[default]
    None,
    /// Worth a look in working hours.
    Warn,
    /// Worth waking somebody.
    Page,
}

impl Skew {
    /// One sample: the clock here before asking, the other clock, the clock here after the reply. `None` if
    /// the clock here went back meanwhile: such a sample says nothing.
    pub const fn measure(before: WallMs, remote: WallMs, after: WallMs) -> Option<Self> {
        if after.0 < before.0 {
            return None;
        }
        Some(Self { least_ms: before.0.saturating_sub(remote.0), most_ms: after.0.saturating_sub(remote.0) })
    }

    /// The offset in milliseconds, positive if the clock here is ahead: the middle, rounded down.
    pub fn offset_ms(self) -> i64 {
        let half = i64::try_from(self.round_trip_ms() / 2).unwrap_or(i64::MAX);
        self.least_ms.saturating_add(half)
    }

    /// The error in milliseconds: half the round trip, rounded up, so that offset and error together still
    /// reach both ends.
    pub const fn error_ms(self) -> u64 {
        self.round_trip_ms().div_ceil(2)
    }

    /// The least and the most that the offset can be, in milliseconds.
    pub const fn bounds_ms(self) -> (i64, i64) {
        (self.least_ms, self.most_ms)
    }

    /// |offset| - error: what the offset certainly is, whatever the legs; zero if it may be none.
    pub const fn certain_ms(self) -> u64 {
        if self.least_ms > 0 {
            self.least_ms.unsigned_abs()
        } else if self.most_ms < 0 {
            self.most_ms.unsigned_abs()
        } else {
            0
        }
    }

    /// |offset| + error: the most that the offset can be, to pad an expiry with.
    pub fn worst_ms(self) -> u64 {
        self.least_ms.unsigned_abs().max(self.most_ms.unsigned_abs())
    }

    /// What the offset calls for. A slow network alone calls for nothing.
    pub const fn alert(self, thresholds: SkewThresholds) -> SkewAlert {
        let certain = self.certain_ms();
        if certain > thresholds.page_ms {
            SkewAlert::Page
        } else if certain > thresholds.warn_ms {
            SkewAlert::Warn
        } else {
            SkewAlert::None
        }
    }

    const fn round_trip_ms(self) -> u64 {
        self.most_ms.abs_diff(self.least_ms)
    }
}

/// The offset of one other clock, from the fastest of the last 20 samples: the shortest round trip leaves
/// the least room for uneven legs (as NTP's clock filter does with eight).
///
/// # Example
///
/// ```
/// use sluicegate::clock::{SkewEstimator, WallMs};
///
/// let mut estimator = SkewEstimator::new();
/// estimator.record(WallMs(1_000), WallMs(1_900), WallMs(1_400));
/// estimator.record(WallMs(2_000), WallMs(2_905), WallMs(2_010));
/// let skew = estimator.estimate().unwrap();
/// assert_eq!((skew.offset_ms(), skew.error_ms()), (-900, 5));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SkewEstimator {
    samples: [Option<Skew>; SAMPLES],
    next: usize,
}

impl SkewEstimator {
    /// An estimator without samples.
    pub const fn new() -> Self {
        Self { samples: [None; SAMPLES], next: 0 }
    }

    /// Takes in a sample, as [`Skew::measure`] does, in place of the oldest; false if it says nothing.
    pub fn record(&mut self, before: WallMs, remote: WallMs, after: WallMs) -> bool {
        let sample = Skew::measure(before, remote, after);
        if sample.is_some() {
            self.samples[self.next] = sample;
            self.next = (self.next + 1) % SAMPLES;
        }
        sample.is_some()
    }

    /// The fastest of the last 20 samples; of equally fast ones the latest. `None` before the first.
    pub fn estimate(&self) -> Option<Skew> {
        let (newer, older) = self.samples.split_at(self.next);
        let latest_first = newer.iter().rev().chain(older.iter().rev());
        latest_first.flatten().copied().min_by_key(|skew| skew.round_trip_ms())
    }
}

/// How far apart the clocks of many PoPs are, each measured against the same other clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkewSpread {
    /// The largest offset less the smallest, in milliseconds.
    pub spread_ms: u64,
    /// What two of them are certainly apart, whatever the errors, in milliseconds.
    pub certain_ms: u64,
}

impl SkewSpread {
    /// The spread over `offsets`; zero for fewer than two.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::clock::{Skew, SkewSpread, SkewThresholds, WallMs};
    ///
    /// let ahead = Skew::measure(WallMs(1_080), WallMs(1_000), WallMs(1_100)).unwrap();
    /// let behind = Skew::measure(WallMs(920), WallMs(1_000), WallMs(960)).unwrap();
    /// let spread = SkewSpread::over([ahead, behind]);
    /// assert_eq!((spread.spread_ms, spread.certain_ms), (150, 120));
    /// assert!(spread.pages(SkewThresholds::default()));
    /// ```
    pub fn over(offsets: impl IntoIterator<Item = Skew>) -> Self {
        let mut offsets = offsets.into_iter();
        let Some(first) = offsets.next() else { return Self::default() };
        let middle = first.offset_ms();
        let (mut low, mut high) = (middle, middle);
        let (mut least_most, mut most_least) = (first.most_ms, first.least_ms);
        for skew in offsets {
            low = low.min(skew.offset_ms());
            high = high.max(skew.offset_ms());
            least_most = least_most.min(skew.most_ms);
            most_least = most_least.max(skew.least_ms);
        }
        let certain = u64::try_from(most_least.saturating_sub(least_most)).unwrap_or(0);
        Self { spread_ms: high.abs_diff(low), certain_ms: certain }
    }

    /// True when two clocks are certainly further apart than is safe.
    pub const fn pages(self, thresholds: SkewThresholds) -> bool {
        self.certain_ms > thresholds.spread_page_ms
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn skew(least_ms: i64, most_ms: i64) -> Skew {
        Skew { least_ms, most_ms }
    }

    #[test]
    fn an_odd_round_trip_keeps_both_its_ends() {
        let skew = Skew::measure(WallMs(100), WallMs(100), WallMs(101)).unwrap();
        assert_eq!((skew.offset_ms(), skew.error_ms(), skew.bounds_ms()), (0, 1, (0, 1)));
        let skew = Skew::measure(WallMs(100), WallMs(103), WallMs(101)).unwrap();
        assert_eq!((skew.offset_ms(), skew.error_ms(), skew.bounds_ms()), (-3, 1, (-3, -2)));
    }

    #[test]
    fn alerts_start_strictly_above_their_thresholds_and_only_on_what_is_certain() {
        let alert = |least, most| skew(least, most).alert(SkewThresholds::default());
        assert_eq!(
            [alert(50, 90), alert(51, 90), alert(200, 900), alert(201, 900)],
            [SkewAlert::None, SkewAlert::Warn, SkewAlert::Warn, SkewAlert::Page]
        );
        assert_eq!(
            [alert(-90, -51), alert(-900, -201), alert(-5_000, 5_000)],
            [SkewAlert::Warn, SkewAlert::Page, SkewAlert::None]
        );
        assert!(!SkewSpread::over([skew(0, 0), skew(100, 100)]).pages(SkewThresholds::default()));
        assert!(SkewSpread::over([skew(0, 0), skew(101, 101)]).pages(SkewThresholds::default()));
        assert!(!SkewSpread::over([skew(-90, 90), skew(90, 270)]).pages(SkewThresholds::default()));
        assert_eq!(SkewSpread::over([]), SkewSpread::default());
    }

    #[test]
    fn the_fastest_of_the_last_twenty_is_taken_and_then_forgotten() {
        let mut estimator = SkewEstimator::new();
        assert_eq!(estimator.estimate(), None);
        assert!(estimator.record(WallMs(0), WallMs(0), WallMs(2)));
        for sample in 1..=19 {
            assert!(estimator.record(WallMs(0), WallMs(sample), WallMs(100)));
            assert_eq!(estimator.estimate(), Some(skew(0, 2)));
        }
        assert!(!estimator.record(WallMs(100), WallMs(0), WallMs(99)), "the clock here went back");
        assert_eq!(estimator.estimate(), Some(skew(0, 2)), "a sample without meaning displaces none");
        assert!(estimator.record(WallMs(0), WallMs(21), WallMs(100)));
        assert!(estimator.record(WallMs(0), WallMs(20), WallMs(100)));
        assert_eq!(estimator.estimate(), Some(skew(-20, 80)), "of equally fast ones the latest");
    }

    proptest! {
        /// Whatever the legs and the offset: the interval holds the truth, and so do offset and error.
        #[test]
        fn the_bound_always_holds_the_true_offset(
            offset in -10_000_000i64..10_000_000,
            legs in prop::collection::vec((0i64..2_000, 0i64..2_000, 0i64..50), 1..60),
        ) {
            let mut estimator = SkewEstimator::new();
            let mut real = 1_700_000_000_000;
            for (there, back, held) in legs {
                let remote = real + there;
                estimator.record(WallMs(real + offset), WallMs(remote), WallMs(remote + back + offset));
                real = remote + back + held;
                let skew = estimator.estimate().unwrap();
                let (least, most) = skew.bounds_ms();
                prop_assert!((least..=most).contains(&offset));
                prop_assert!(skew.offset_ms().abs_diff(offset) <= skew.error_ms());
                prop_assert!((skew.certain_ms()..=skew.worst_ms()).contains(&offset.unsigned_abs()));
            }
        }

        #[test]
        fn no_reading_panics(before: i64, remote: i64, after: i64) {
            if let Some(skew) = Skew::measure(WallMs(before), WallMs(remote), WallMs(after)) {
                let (least, most) = skew.bounds_ms();
                prop_assert!(least <= skew.offset_ms() && skew.offset_ms() <= most);
                prop_assert!(skew.certain_ms() <= skew.worst_ms());
                skew.alert(SkewThresholds::default());
                SkewSpread::over([skew, super::Skew { least_ms: i64::MIN, most_ms: i64::MAX }, skew]);
            }
        }
    }
}
