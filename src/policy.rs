//! Policies: what is limited, by which algorithm, and what happens when that cannot be known.

use serde::{Deserialize, Serialize};

use crate::bucket::{BucketState, TokenBucket};
use crate::clock::SteadyMs;
use crate::window::{
    Counting, FixedState, FixedWindow, LogState, Position, SlidingLog, SlidingState, SlidingWindow, WindowMs,
};
use crate::{Cost, Decision, RetryAfterBasis};

/// How a policy counts: one of the algorithms, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// At most the limit per epoch.
    FixedWindow(FixedWindow),
    /// An estimate over the current and the previous epochs.
    SlidingWindow(SlidingWindow),
    /// Exact: each unit leaves when its window has passed.
    SlidingLog(SlidingLog),
    /// Capacity, plus a steady refill.
    TokenBucket(TokenBucket),
}

/// What happens to a request when the state of its policy is out of reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// It goes on.
    #[default]
    Open,
    /// It is refused as unavailable.
    Closed,
    /// Of a limit over many points of presence: each goes on alone with its part of it. The bound over all
    /// of them is given up.
    Local,
}

/// What an [`Algorithm`] keeps per key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CounterState {
    /// Of a fixed window.
    Fixed(FixedState),
    /// Of a sliding window.
    Sliding(SlidingState),
    /// Of a sliding log.
    Log(LogState),
    /// Of a token bucket.
    Bucket(BucketState),
}

/// Runs one body for whichever algorithm and state belong together; a state of another kind (the
/// policy's algorithm was changed) counts as one that was never used.
macro_rules! dispatch {
    ($algorithm:expr, $state:expr, |$config:ident, $inner:ident| $body:expr, else $otherwise:expr) => {
        match ($algorithm, $state) {
            (Algorithm::FixedWindow($config), CounterState::Fixed($inner)) => $body,
            (Algorithm::SlidingWindow($config), CounterState::Sliding($inner)) => $body,
            (Algorithm::SlidingLog($config), CounterState::Log($inner)) => $body,
            (Algorithm::TokenBucket($config), CounterState::Bucket($inner)) => $body,
            _ => $otherwise,
        }
    };
}

impl CounterState {
    /// Roughly how much memory it takes, counted in keys of ordinary size.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Fixed(_) | Self::Bucket(_) => 1,
            Self::Sliding(sliding) => 1 + sliding.len() / 8,
            Self::Log(log) => 1 + log.len() / 8,
        }
    }
}

impl Algorithm {
    /// The state of a key that was never seen.
    pub fn fresh(&self) -> CounterState {
        match self {
            Self::FixedWindow(_) => CounterState::Fixed(FixedState::default()),
            Self::SlidingWindow(_) => CounterState::Sliding(SlidingState::default()),
            Self::SlidingLog(_) => CounterState::Log(LogState::default()),
            Self::TokenBucket(_) => CounterState::Bucket(BucketState::default()),
        }
    }

    /// The length of the epochs this algorithm files its counts under; `None` where it has none.
    pub fn epoch_ms(&self) -> Option<WindowMs> {
        match self {
            Self::FixedWindow(fixed) => Some(fixed.window()),
            Self::SlidingWindow(sliding) => Some(sliding.sub_window()),
            Self::SlidingLog(_) | Self::TokenBucket(_) => None,
        }
    }

    /// Tells apart what must not share a counter, although the policy's name is the same: another
    /// algorithm, or another window. The limit is not part of it: a changed limit keeps the counts.
    pub(crate) fn shape(&self) -> u128 {
        let (kind, window_ms) = match self {
            Self::FixedWindow(fixed) => (1, fixed.window().get()),
            Self::SlidingWindow(sliding) => {
                (2 + 8 * u128::from(sliding.sub_windows()), sliding.window().get())
            }
            Self::SlidingLog(log) => (3, log.window().get()),
            Self::TokenBucket(_) => (4, 0),
        };
        kind << 64 | u128::from(window_ms)
    }

    /// What its waits rest on.
    pub const fn basis(&self) -> RetryAfterBasis {
        match self {
            Self::FixedWindow(_) | Self::SlidingWindow(_) | Self::SlidingLog(_) => {
                RetryAfterBasis::EpochWindow
            }
            Self::TokenBucket(_) => RetryAfterBasis::MonotonicRefill,
        }
    }

    /// See [`Counting::look`].
    pub fn look(&self, state: &CounterState, at: Position, cost: Cost) -> Decision {
        dispatch!(self, state, |config, inner| config.look(inner, at, cost), else self.look(&self.fresh(), at, cost))
    }

    /// See [`Counting::take`].
    pub fn take(&self, state: &mut CounterState, at: Position, cost: Cost) {
        dispatch!(self, &mut *state, |config, inner| config.take(inner, at, cost), else {
            let mut fresh = self.fresh();
            self.take(&mut fresh, at, cost);
            *state = fresh;
        });
    }

    /// See [`Counting::give_back`].
    pub fn give_back(&self, state: &mut CounterState, at: Position, taken: Position, cost: Cost) {
        dispatch!(self, state, |config, inner| config.give_back(inner, at, taken, cost), else ());
    }

    /// See [`Counting::idle_from`].
    pub fn idle_from(&self, state: &CounterState) -> SteadyMs {
        dispatch!(self, state, |config, inner| config.idle_from(inner), else SteadyMs(0))
    }
}
