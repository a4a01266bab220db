use serde::{Deserialize, Serialize};

use super::{Counting, Epoch, Position, WindowMs, checked_count, decide};
use crate::clock::SteadyMs;
use crate::{Cost, Decision, Error, RetryAfterBasis};

/// At most `limit` units per epoch: the oldest and cheapest way to count, one number per key.
///
/// Each epoch starts from nothing. So an interval as long as the window can see up to twice the limit:
/// all of it at the end of one epoch, and all of it again at the start of the next.
///
/// The `reset_ms` of a fixed window is always the rest of the open epoch, for a key that was never seen
/// too: that is when a fixed window starts again, whoever asks.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::clock::SteadyMs;
/// use sluicegate::window::{Counting, Epochs, FixedState, FixedWindow, WindowMs};
///
/// let window = WindowMs::new(60_000)?;
/// let limit = FixedWindow::new(1, window)?;
/// let mut state = FixedState::default();
/// let (at, _) = Epochs::default().position(window, SteadyMs(75_000));
///
/// assert!(limit.look(&state, at, Cost::ONE).allowed());
/// limit.take(&mut state, at, Cost::ONE);
/// let decision = limit.look(&state, at, Cost::ONE);
/// assert_eq!(decision.refusal.and_then(|r| r.retry_after_ms()), Some(45_000));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct FixedWindow {
    limit: u64,
    window: WindowMs,
}

#[derive(Deserialize)]
struct Fields {
    limit: u64,
    window: WindowMs,
}

impl TryFrom<Fields> for FixedWindow {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.limit, fields.window)
    }
}

/// What a [`FixedWindow`] keeps per key: the last epoch in which something was taken, and how much.
///
/// The epoch's length is kept with it: a number of one length says nothing about another, so after a
/// change of the policy's window the state counts as one that was never used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedState {
    window_ms: u64,
    epoch: Epoch,
    used: u64,
}

impl FixedWindow {
    /// At most `limit` units in each epoch of length `window`.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error at `limit` above 2^53 - 1.
    pub fn new(limit: u64, window: WindowMs) -> Result<Self, Error> {
        Ok(Self { limit: checked_count("limit", limit)?, window })
    }

    /// The most units per epoch.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of an epoch.
    pub const fn window(&self) -> WindowMs {
        self.window
    }

    fn matches(&self, state: &FixedState) -> bool {
        state.window_ms == self.window.get()
    }

    /// The epoch that a request at `at` is filed under, and what that has taken already. A stored epoch
    /// ahead of `at` keeps its counts, and takes the request too: epochs never shrink.
    fn held(&self, state: &FixedState, at: Position) -> (Epoch, u64) {
        if self.matches(state) && state.used > 0 && state.epoch >= at.epoch {
            (state.epoch, state.used)
        } else {
            (at.epoch, 0)
        }
    }
}

impl Counting for FixedWindow {
    type State = FixedState;

    fn look(&self, state: &FixedState, at: Position, cost: Cost) -> Decision {
        let (epoch, used) = self.held(state, at);
        let window_ms = self.window.get();
        let ahead_ms = epoch.0.saturating_sub(at.epoch.0).saturating_mul(window_ms);
        let left_ms = ahead_ms.saturating_add(window_ms.saturating_sub(at.into_ms).max(1));
        let remaining = self.limit.saturating_sub(used);
        let decision = decide(self.limit, remaining, cost, RetryAfterBasis::EpochWindow, |_| Some(left_ms));
        Decision { reset_ms: left_ms, ..decision }
    }

    fn take(&self, state: &mut FixedState, at: Position, cost: Cost) {
        if cost == Cost::ZERO {
            return;
        }
        let (epoch, used) = self.held(state, at);
        *state = FixedState { window_ms: self.window.get(), epoch, used: used.saturating_add(cost.get()) };
    }

    /// Only the epoch in which it was taken gets it back; a later one has started from nothing anyway.
    fn give_back(&self, state: &mut FixedState, _at: Position, taken: Position, cost: Cost) {
        if self.matches(state) && state.epoch == taken.epoch {
            state.used = state.used.saturating_sub(cost.get());
        }
    }

    /// The end of the state's epoch, on the steady clock of the object that opens the epochs.
    fn idle_from(&self, state: &FixedState) -> SteadyMs {
        if self.matches(state) && state.used > 0 {
            SteadyMs(state.epoch.0.saturating_add(1).saturating_mul(self.window.get()))
        } else {
            SteadyMs(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_COUNT, Refusal};

    fn minute(limit: u64) -> FixedWindow {
        FixedWindow::new(limit, WindowMs::new(60_000).unwrap()).unwrap()
    }

    fn at(epoch: u64, into_ms: u64) -> Position {
        Position { steady: SteadyMs(epoch * 60_000 + into_ms), epoch: Epoch(epoch), into_ms }
    }

    #[test]
    fn an_untouched_key_reports_the_end_of_the_epoch() {
        let decision = minute(5).look(&FixedState::default(), at(7, 1), Cost::ONE);
        assert_eq!((decision.reset_ms, decision.grows_ms, decision.remaining), (59_999, 0, 5));
    }

    #[test]
    fn an_epoch_that_went_back_forgets_nothing() {
        let mut state = FixedState::default();
        minute(2).take(&mut state, at(9, 0), Cost::ONE);
        assert_eq!(minute(2).look(&state, at(8, 59_000), Cost::ONE).remaining, 1);
        minute(2).take(&mut state, at(8, 59_000), Cost::ONE);
        let decision = minute(2).look(&state, at(8, 59_000), Cost::ONE);
        assert_eq!(decision.refusal.and_then(|r| r.retry_after_ms()), Some(61_000));
        assert!(minute(2).look(&state, at(10, 0), Cost::ONE).allowed());
    }

    #[test]
    fn a_give_back_reaches_only_its_own_epoch() {
        let mut state = FixedState::default();
        minute(2).take(&mut state, at(9, 0), Cost::ONE);
        minute(2).give_back(&mut state, at(9, 0), at(8, 0), Cost::ONE);
        assert_eq!(minute(2).look(&state, at(9, 0), Cost::ONE).remaining, 1);
        minute(2).give_back(&mut state, at(9, 5), at(9, 0), Cost::new(50).unwrap());
        assert_eq!(minute(2).look(&state, at(9, 5), Cost::ONE).remaining, 2);
    }

    #[test]
    fn a_changed_window_starts_anew_and_a_lowered_limit_does_not() {
        let mut state = FixedState::default();
        minute(9).take(&mut state, at(600, 0), Cost::new(9).unwrap());
        let hour = FixedWindow::new(9, WindowMs::new(3_600_000).unwrap()).unwrap();
        assert_eq!(hour.look(&state, at(10, 0), Cost::ONE).remaining, 9);
        let lowered = minute(3).look(&state, at(600, 20_000), Cost::ONE);
        assert_eq!((lowered.remaining, lowered.grows_ms), (0, 40_000));
    }

    #[test]
    fn a_limit_is_checked_also_when_it_is_read() {
        let window = WindowMs::new(60_000).unwrap();
        assert_eq!(FixedWindow::new(MAX_COUNT + 1, window).unwrap_err().path(), Some("limit"));
        let text = format!(r#"{{"limit": {}, "window": 60000}}"#, MAX_COUNT + 1);
        assert!(serde_json::from_str::<FixedWindow>(&text).is_err());
        let largest = format!(r#"{{"limit": {MAX_COUNT}, "window": 60000}}"#);
        assert_eq!(serde_json::from_str::<FixedWindow>(&largest).unwrap().limit(), MAX_COUNT);
    }

    #[test]
    fn a_limit_of_zero_refuses_a_cost_of_zero_too() {
        let zero = minute(0).look(&FixedState::default(), at(1, 0), Cost::ZERO);
        assert_eq!(zero.refusal, Some(Refusal::CostExceedsLimit));
    }
}
