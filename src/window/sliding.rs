use std::iter;

use serde::{Deserialize, Serialize};

use super::{Counting, Epoch, Position, WindowMs, checked_count, decide};
use crate::clock::SteadyMs;
use crate::{Cost, Decision, Error, RetryAfterBasis};

/// The most parts that a window can be cut into.
const MOST_SUB_WINDOWS: u32 = 60;

/// An estimate of what the last `window` has seen, from `sub_windows + 1` numbers per key.
///
/// The window is cut into k sub-windows of s milliseconds. The estimate is the count of the running
/// sub-window, plus the k - 1 before it whole, plus the share of the oldest one that the window still
/// covers if its hits were spread evenly, rounded up. With k = 1 these are the two counters that
/// Cloudflare described in 2017 ("How we built rate limiting capable of scaling to millions of domains").
///
/// Hits need not be spread evenly. What holds whatever they do, for a limit of L:
///
/// - at most L between any two hits that lie window x (1 - 1/k) apart or less, both included;
/// - at most 2L - ceil(2L / s) in any half-open interval as long as the window. That is 2L - 1 where s is
///   2L milliseconds or more, and it is reached: L in the last millisecond of a sub-window, the rest one
///   millisecond less than a window later, when next to nothing of the first L is counted.
/// - `strict` counts the oldest sub-window whole: then at most L in any interval as long as the window,
///   both ends included. The price is that a hit counts for up to a sub-window longer than the window.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::clock::SteadyMs;
/// use sluicegate::window::{Counting, Epochs, SlidingState, SlidingWindow, WindowMs};
///
/// let limit = SlidingWindow::new(10, WindowMs::new(60_000)?, 1, false)?;
/// let mut epochs = Epochs::default();
/// let mut state = SlidingState::default();
/// let (at, _) = epochs.position(limit.sub_window(), SteadyMs(59_000));
/// limit.take(&mut state, at, Cost::new(10)?);
///
/// // A quarter into the next minute three quarters of the ten still count: 7.5, rounded up.
/// let (at, _) = epochs.position(limit.sub_window(), SteadyMs(75_000));
/// assert_eq!(limit.look(&state, at, Cost::ONE).remaining, 2);
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct SlidingWindow {
    limit: u64,
    window: WindowMs,
    sub_windows: u32,
    strict: bool,
    /// Follows from the others.
    #[serde(skip_serializing)]
    sub_window: WindowMs,
}

#[derive(Deserialize)]
struct Fields {
    limit: u64,
    window: WindowMs,
    sub_windows: u32,
    strict: bool,
}

impl TryFrom<Fields> for SlidingWindow {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.limit, fields.window, fields.sub_windows, fields.strict)
    }
}

/// What a [`SlidingWindow`] keeps per key: the last sub-window in which something was taken, and the
/// counts of that one and those before it, newest first.
///
/// The sub-window's length is kept with it: a number of one length says nothing about another, so after
/// a change of that length the state counts as one that was never used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlidingState {
    sub_ms: u64,
    epoch: Epoch,
    counts: Vec<u64>,
}

impl SlidingState {
    /// How many numbers are kept.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }
}

/// The counts of a state as they lie at some position.
struct View<'a> {
    /// Newest first.
    counts: &'a [u64],
    /// How many sub-windows the newest of the counts is behind.
    shift: usize,
    into_ms: u64,
    /// Milliseconds until the position, which lies in the future where the stored epoch does.
    ahead_ms: u64,
}

impl SlidingWindow {
    /// At most an estimated `limit` units per `window`, which is cut into `sub_windows` parts.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error: at `limit` above 2^53 - 1; at `sub_windows`
    /// outside 1 to 60, or where the parts would not be whole milliseconds, or shorter than a second.
    pub fn new(limit: u64, window: WindowMs, sub_windows: u32, strict: bool) -> Result<Self, Error> {
        let limit = checked_count("limit", limit)?;
        if sub_windows == 0 || sub_windows > MOST_SUB_WINDOWS {
            return Err(Error::spec("sub_windows", "is not a whole number from 1 to 60"));
        }
        let parts = u64::from(sub_windows);
        if !window.get().is_multiple_of(parts) {
            return Err(Error::spec("sub_windows", "does not cut the window into whole milliseconds"));
        }
        let sub_window = WindowMs::new(window.get() / parts)
            .map_err(|_| Error::spec("sub_windows", "cuts the window into parts shorter than 1s"))?;
        Ok(Self { limit, window, sub_windows, strict, sub_window })
    }

    /// The most units per window, as estimated.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of the window.
    pub const fn window(&self) -> WindowMs {
        self.window
    }

    /// How many parts the window is cut into.
    pub const fn sub_windows(&self) -> u32 {
        self.sub_windows
    }

    /// True when the oldest sub-window counts whole.
    pub const fn strict(&self) -> bool {
        self.strict
    }

    /// The length of one part: the length of the epochs that counts are filed under.
    pub const fn sub_window(&self) -> WindowMs {
        self.sub_window
    }

    const fn sub_ms(&self) -> u64 {
        self.sub_window.get()
    }

    const fn parts(&self) -> usize {
        self.sub_windows as usize
    }

    /// The state's counts, if they are of this length and some of them are not zero.
    fn used<'a>(&self, state: &'a SlidingState) -> Option<&'a [u64]> {
        let counts = state.counts.get(..=self.parts()).unwrap_or(&state.counts);
        (state.sub_ms == self.sub_ms() && counts.iter().any(|count| *count > 0)).then_some(counts)
    }

    /// How the counts lie at `at`; `None` where none is left. Counts of an epoch ahead of `at` are kept,
    /// and seen from that epoch's start: epochs never shrink.
    fn view<'a>(&self, state: &'a SlidingState, at: Position) -> Option<View<'a>> {
        let counts = self.used(state)?;
        let into_ms = at.into_ms.min(self.sub_ms().saturating_sub(1));
        if at.epoch < state.epoch {
            let epochs = state.epoch.0.saturating_sub(at.epoch.0);
            let ahead_ms = epochs.saturating_mul(self.sub_ms()).saturating_sub(into_ms);
            return Some(View { counts, shift: 0, into_ms: 0, ahead_ms });
        }
        let shift = usize::try_from(at.epoch.0.saturating_sub(state.epoch.0)).ok()?;
        (shift <= self.parts()).then_some(View { counts, shift, into_ms, ahead_ms: 0 })
    }

    /// The sum of the counts that are still within the window after `shift` sub-windows.
    fn total(&self, counts: &[u64], shift: usize) -> u128 {
        let kept = self.parts().saturating_add(1).saturating_sub(shift);
        counts.iter().take(kept).map(|count| u128::from(*count)).sum()
    }

    fn oldest(&self, counts: &[u64], shift: usize) -> u128 {
        let index = self.parts().checked_sub(shift);
        index.and_then(|index| counts.get(index)).map_or(0, |count| u128::from(*count))
    }

    fn estimate(&self, view: &View<'_>) -> u64 {
        let oldest = self.oldest(view.counts, view.shift);
        let share = if self.strict {
            oldest
        } else {
            let left_ms = u128::from(self.sub_ms().saturating_sub(view.into_ms));
            // A product of 64 and 35 bits; rounded up, so that the estimate is never below the formula.
            oldest.saturating_mul(left_ms).div_ceil(u128::from(self.sub_ms()))
        };
        let whole = self.total(view.counts, view.shift).saturating_sub(oldest);
        u64::try_from(whole.saturating_add(share)).unwrap_or(u64::MAX)
    }

    /// The first millisecond of a sub-window at which `oldest` takes no more than `room`.
    fn fits_from(&self, oldest: u128, room: u128) -> Option<u64> {
        if self.strict || oldest == 0 {
            return (oldest <= room).then_some(0);
        }
        // ceil(oldest x left / s) <= room just if left <= floor(room x s / oldest).
        let most_left = room.saturating_mul(u128::from(self.sub_ms())) / oldest;
        let most_left = u64::try_from(most_left).unwrap_or(u64::MAX);
        (most_left > 0).then_some(self.sub_ms().saturating_sub(most_left))
    }

    /// Milliseconds until `units`, which do not fit now, fit if nothing more is taken.
    fn wait_ms(&self, view: &View<'_>, units: u64) -> u64 {
        let room = u128::from(self.limit.saturating_sub(units));
        let mut whole = self.total(view.counts, view.shift);
        let mut start_ms = 0_u64;
        for shift in view.shift..=self.parts() {
            let oldest = self.oldest(view.counts, shift);
            whole = whole.saturating_sub(oldest);
            if let Some(from_ms) = room.checked_sub(whole).and_then(|room| self.fits_from(oldest, room)) {
                start_ms = start_ms.saturating_add(from_ms);
                break;
            }
            start_ms = start_ms.saturating_add(self.sub_ms());
        }
        view.ahead_ms.saturating_add(start_ms.saturating_sub(view.into_ms))
    }
}

impl Counting for SlidingWindow {
    type State = SlidingState;

    fn look(&self, state: &SlidingState, at: Position, cost: Cost) -> Decision {
        let view = self.view(state, at);
        let used = view.as_ref().map_or(0, |view| self.estimate(view));
        let remaining = self.limit.saturating_sub(used);
        decide(self.limit, remaining, cost, RetryAfterBasis::EpochWindow, |units| {
            Some(view.as_ref().map_or(0, |view| self.wait_ms(view, units)))
        })
    }

    fn take(&self, state: &mut SlidingState, at: Position, cost: Cost) {
        if cost == Cost::ZERO {
            return;
        }
        match self.view(state, at).map(|view| view.shift) {
            Some(shift) => {
                state.counts.splice(0..0, iter::repeat_n(0, shift));
                state.counts.truncate(self.parts().saturating_add(1));
                state.epoch = state.epoch.max(at.epoch);
            }
            None => *state = SlidingState { sub_ms: self.sub_ms(), epoch: at.epoch, counts: vec![0] },
        }
        if let Some(newest) = state.counts.first_mut() {
            *newest = newest.saturating_add(cost.get());
        }
    }

    /// Only the sub-window in which it was taken gets it back, while it still counts.
    fn give_back(&self, state: &mut SlidingState, _at: Position, taken: Position, cost: Cost) {
        let back = state.epoch.0.checked_sub(taken.epoch.0).and_then(|back| usize::try_from(back).ok());
        if state.sub_ms == self.sub_ms()
            && let Some(count) = back.and_then(|back| state.counts.get_mut(back))
        {
            *count = count.saturating_sub(cost.get());
        }
    }

    /// When the newest count leaves, on the steady clock of the object that opens the epochs.
    fn idle_from(&self, state: &SlidingState) -> SteadyMs {
        let newest = self.used(state).and_then(|counts| counts.iter().position(|count| *count > 0));
        newest.map_or(SteadyMs(0), |newest| {
            let more = self.parts().saturating_add(1).saturating_sub(newest);
            let epoch = state.epoch.0.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
            SteadyMs(epoch.saturating_mul(self.sub_ms()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sliding(limit: u64, sub_windows: u32) -> SlidingWindow {
        let window = WindowMs::new(1000 * u64::from(sub_windows)).unwrap();
        SlidingWindow::new(limit, window, sub_windows, false).unwrap()
    }

    fn at(epoch: u64, into_ms: u64) -> Position {
        Position { steady: SteadyMs(epoch * 1000 + into_ms), epoch: Epoch(epoch), into_ms }
    }

    #[test]
    fn parts_are_whole_milliseconds_and_a_second_or_more() {
        let new = |ms, parts| SlidingWindow::new(1, WindowMs::new(ms).unwrap(), parts, false);
        assert_eq!(new(60_000, 4).map(|w| w.sub_window().get()), Ok(15_000));
        for (ms, parts) in [(60_000, 0), (120_000, 61), (60_000, 7), (5_000, 10)] {
            assert_eq!(new(ms, parts).unwrap_err().path(), Some("sub_windows"), "{ms} / {parts}");
        }
        let text = r#"{"limit": 1, "window": 60000, "sub_windows": 0, "strict": false}"#;
        assert!(serde_json::from_str::<SlidingWindow>(text).is_err());
        let read = serde_json::from_str::<SlidingWindow>(&text.replace(": 0", ": 4")).unwrap();
        assert_eq!(read, new(60_000, 4).unwrap());
        let bytes = postcard::to_allocvec(&read).unwrap();
        assert_eq!(postcard::from_bytes::<SlidingWindow>(&bytes), Ok(read));
    }

    #[test]
    fn the_oldest_share_is_rounded_up() {
        let mut state = SlidingState::default();
        sliding(10, 1).take(&mut state, at(5, 0), Cost::new(10).unwrap());
        let left = |into_ms| sliding(10, 1).look(&state, at(6, into_ms), Cost::ONE).remaining;
        assert_eq!([0, 99, 100, 101, 250, 999].map(left), [0, 0, 1, 1, 2, 9]);
    }

    #[test]
    fn epochs_out_of_reach_read_as_empty_and_an_epoch_that_went_back_forgets_nothing() {
        let mut state = SlidingState::default();
        sliding(10, 4).take(&mut state, at(5, 0), Cost::new(10).unwrap());
        let left = |epoch| sliding(10, 4).look(&state, at(epoch, 0), Cost::ONE);
        assert_eq!([3, 5, 9, 10, 1 << 40].map(|epoch| left(epoch).remaining), [0, 0, 0, 10, 10]);
        assert_eq!(left(3).reset_ms, 7000);
        sliding(10, 4).take(&mut state, at(3, 0), Cost::ONE);
        assert_eq!((state.epoch, state.counts), (Epoch(5), vec![11]));
    }

    #[test]
    fn a_give_back_reaches_only_its_own_sub_window() {
        let mut state = SlidingState::default();
        for epoch in [5, 7] {
            sliding(10, 4).take(&mut state, at(epoch, 0), Cost::new(3).unwrap());
        }
        sliding(10, 4).give_back(&mut state, at(8, 0), at(5, 0), Cost::new(2).unwrap());
        sliding(10, 4).give_back(&mut state, at(8, 0), at(6, 0), Cost::new(2).unwrap());
        sliding(10, 4).give_back(&mut state, at(8, 0), at(8, 0), Cost::new(2).unwrap());
        assert_eq!(state.counts, [3, 0, 1]);
    }

    #[test]
    fn another_number_of_parts_keeps_the_counts_and_another_length_does_not() {
        let mut state = SlidingState::default();
        sliding(10, 4).take(&mut state, at(5, 0), Cost::new(3).unwrap());
        assert_eq!(sliding(10, 2).look(&state, at(6, 0), Cost::ONE).remaining, 7);
        let longer = SlidingWindow::new(10, WindowMs::new(60_000).unwrap(), 4, false).unwrap();
        assert_eq!(longer.look(&state, at(5, 0), Cost::ONE).remaining, 10);
    }
}
