use serde::{Deserialize, Serialize};

use crate::Error;
use crate::clock::SteadyMs;
use crate::ordered::Map;

/// A window's length in milliseconds: from 1 s to 366 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct WindowMs(u64);

impl WindowMs {
    const SHORTEST_MS: u64 = 1_000;
    const LONGEST_MS: u64 = 366 * 86_400_000;

    /// A window of `ms` milliseconds.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error under a second (a header field cannot name
    /// such a window) or over 366 days (that is a calendar quota).
    pub fn new(ms: u64) -> Result<Self, Error> {
        match ms {
            0..Self::SHORTEST_MS => Err(Error::spec("window", "is shorter than 1s")),
            Self::SHORTEST_MS..=Self::LONGEST_MS => Ok(Self(ms)),
            _ => Err(Error::spec("window", "is longer than 366d; a calendar-quota counts years")),
        }
    }

    /// The length in milliseconds; never zero.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for WindowMs {
    type Error = Error;

    fn try_from(ms: u64) -> Result<Self, Error> {
        Self::new(ms)
    }
}

impl From<WindowMs> for u64 {
    fn from(window: WindowMs) -> Self {
        window.0
    }
}

/// The name of one window: a number that the owner of a limit opens, and nobody else computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

/// Where a request falls: the owner's steady time, the open epoch and how far that has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The owner's steady time.
    pub steady: SteadyMs,
    /// The open epoch for the algorithm's [`epoch_ms`](crate::policy::Algorithm::epoch_ms); zero where
    /// it has no epochs.
    pub epoch: Epoch,
    /// Milliseconds since that epoch began, less than its length.
    pub into_ms: u64,
}

/// The epochs that an object has opened, one per window length, never a smaller one than before.
///
/// Epochs are kept per length because a policy's window can change: an epoch number of one length
/// says nothing about another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epochs {
    open: Map<WindowMs, Epoch>,
}

impl Epochs {
    /// The position at `steady` for windows of this length, and whether that opened an epoch: an
    /// opened epoch is to be stored before anybody hears of it.
    pub fn position(&mut self, window: WindowMs, steady: SteadyMs) -> (Position, bool) {
        let computed = Epoch(steady.0 / window.0);
        let entry = self.open.entry(window).or_insert(Epoch(0));
        let opened = computed > *entry;
        if opened {
            *entry = computed;
        }
        // Steady time never goes back, so this only differs when a stored epoch is ahead of it.
        let into_ms = if *entry == computed { steady.0 % window.0 } else { 0 };
        (Position { steady, epoch: *entry, into_ms }, opened)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn epochs_never_shrink_and_lengths_do_not_meet(times in prop::collection::vec(0u64..10_000_000, 1..100)) {
            let lengths = [7_000, 45_000, 60_000].map(|ms| WindowMs::new(ms).unwrap());
            let mut epochs = Epochs::default();
            let mut last = [Epoch(0); 3];
            for time in times {
                for (window, last) in lengths.iter().zip(&mut last) {
                    let (at, opened) = epochs.position(*window, SteadyMs(time));
                    prop_assert!(at.epoch >= *last && at.into_ms < window.get());
                    prop_assert_eq!(opened, at.epoch > *last);
                    *last = at.epoch;
                }
            }
        }
    }

    #[test]
    fn a_window_has_a_sensible_length() {
        assert!(WindowMs::new(999).is_err() && WindowMs::new(367 * 86_400_000).is_err());
        assert_eq!(WindowMs::new(60_000).map(WindowMs::get), Ok(60_000));
    }
}
