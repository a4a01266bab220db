use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::ErrorKind;

/// A wall-clock reading: milliseconds since 1970, as the host has it. It can step either way.
///
/// The readings of different clocks are different types, so that one cannot be taken for another:
///
/// ```compile_fail,E0308
/// use sluicegate::clock::{MonotonicMs, WallMs};
///
/// let earlier: WallMs = MonotonicMs(5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WallMs(pub i64);

impl WallMs {
    /// A reading from a JavaScript number such as `Date.now()`, rounded down to a whole millisecond.
    ///
    /// # Errors
    ///
    /// An error with code `non-finite` for NaN and the infinities.
    pub fn try_from_f64(ms: f64) -> Result<Self, Error> {
        whole_ms("wall", ms).map(Self)
    }
}

/// A monotonic reading: milliseconds since some origin of the host's choosing, which may be negative.
/// On most hosts it stands still while the machine is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MonotonicMs(pub i64);

impl MonotonicMs {
    /// A reading from a JavaScript number such as `performance.now()`, rounded down to a whole
    /// millisecond.
    ///
    /// Rounding down keeps the order, and what one difference loses the next one gains: the differences
    /// of a whole run add up to its length to within one millisecond. (Rounding towards zero would give a
    /// millisecond away where readings pass zero; rounding each difference would drift.) A source that
    /// goes back by a fraction within one millisecond is not noticed, and gains nothing by it.
    ///
    /// # Errors
    ///
    /// An error with code `non-finite` for NaN and the infinities.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::clock::MonotonicMs;
    ///
    /// assert_eq!(MonotonicMs::try_from_f64(1234.9)?, MonotonicMs(1234));
    /// assert_eq!(MonotonicMs::try_from_f64(-0.1)?, MonotonicMs(-1));
    /// assert_eq!(MonotonicMs::try_from_f64(f64::NAN).unwrap_err().code(), "non-finite");
    /// # Ok::<(), sluicegate::Error>(())
    /// ```
    pub fn try_from_f64(ms: f64) -> Result<Self, Error> {
        whole_ms("monotonic", ms).map(Self)
    }
}

/// A suspend-inclusive reading, such as CLOCK_BOOTTIME or `/proc/uptime`: milliseconds that go on while
/// the machine is suspended and that nobody sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElapsedRealtimeMs(pub i64);

impl ElapsedRealtimeMs {
    /// A reading from a JavaScript number, rounded down to a whole millisecond.
    ///
    /// # Errors
    ///
    /// An error with code `non-finite` for NaN and the infinities.
    pub fn try_from_f64(ms: f64) -> Result<Self, Error> {
        whole_ms("suspend-inclusive", ms).map(Self)
    }
}

/// Milliseconds that really passed and may be credited to a bucket. Not a point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElapsedMs(pub u64);

/// The two cheap readings, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Readings {
    /// What the monotonic clock reads.
    pub monotonic: MonotonicMs,
    /// What the wall clock reads.
    pub wall: WallMs,
}

impl Readings {
    /// Both readings from JavaScript numbers, each rounded down to a whole millisecond.
    ///
    /// # Errors
    ///
    /// An error with code `non-finite` if either is NaN or infinite.
    pub fn try_from_f64(monotonic_ms: f64, wall_ms: f64) -> Result<Self, Error> {
        Ok(Self { monotonic: MonotonicMs::try_from_f64(monotonic_ms)?, wall: WallMs::try_from_f64(wall_ms)? })
    }
}

/// A point on an object's own [steady clock](crate::clock::SteadyClock): milliseconds that never go
/// back. Steady points of two objects have nothing to do with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SteadyMs(pub u64);

impl SteadyMs {
    /// Milliseconds since `earlier`; zero if that lies ahead.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `ms` milliseconds later.
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Rounds down; a finite reading too large for 64 bits becomes the largest, which keeps the order.
fn whole_ms(clock: &str, ms: f64) -> Result<i64, Error> {
    if ms.is_finite() {
        Ok(ms.floor() as i64)
    } else {
        Err(Error::new(ErrorKind::NonFinite, format!("the {clock} clock read {ms}, which is not a time")))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_number_is_refused_on_every_clock() {
        for ms in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for error in [
                WallMs::try_from_f64(ms).unwrap_err(),
                MonotonicMs::try_from_f64(ms).unwrap_err(),
                ElapsedRealtimeMs::try_from_f64(ms).unwrap_err(),
                Readings::try_from_f64(ms, 0.0).unwrap_err(),
                Readings::try_from_f64(0.0, ms).unwrap_err(),
            ] {
                assert_eq!(error.code(), "non-finite", "{error}");
            }
        }
        assert_eq!(WallMs::try_from_f64(1e300).unwrap(), WallMs(i64::MAX));
    }

    proptest! {
        /// Cut a stretch of time into any fractional pieces: the whole differences add up to it.
        #[test]
        fn rounding_down_neither_drifts_nor_reorders(
            start in -5_000.0..5_000.0f64,
            pieces in prop::collection::vec(0.0..7.0f64, 1..400),
        ) {
            let mut at = start;
            let mut last = MonotonicMs::try_from_f64(at).unwrap();
            let mut sum = 0;
            for piece in pieces {
                at += piece;
                let now = MonotonicMs::try_from_f64(at).unwrap();
                prop_assert!(now >= last);
                sum += now.0 - last.0;
                last = now;
            }
            prop_assert!((sum as f64 - (at - start)).abs() < 1.0);
        }
    }
}
