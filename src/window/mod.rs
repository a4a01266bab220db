//! Windows: epochs, and the algorithms that count in them.

mod epoch;
mod fixed;
mod log;
mod sliding;

pub use epoch::{Epoch, Epochs, Position, WindowMs};
pub use fixed::{FixedState, FixedWindow};
pub use log::{LogState, SlidingLog};
pub use sliding::{SlidingState, SlidingWindow};

use crate::clock::SteadyMs;
use crate::{Cost, Decision, Error, MAX_COUNT, Refusal, RetryAfterBasis};

/// An algorithm that counts one key: a configuration value whose behaviour is here and whose state is
/// kept elsewhere, by whoever owns the key.
///
/// Looking and taking are two steps, so that several limits can be looked at before any is taken.
pub trait Counting {
    /// What is kept per key. The default is a key that was never seen.
    type State: Default;

    /// What the limit says to `cost` at this point. Takes nothing.
    fn look(&self, state: &Self::State, at: Position, cost: Cost) -> Decision;

    /// Takes `cost`, which [`look`](Self::look) at the same point has just allowed; saturates.
    fn take(&self, state: &mut Self::State, at: Position, cost: Cost);

    /// Gives back `cost` taken at `taken`, at most as much as that window or bucket still holds.
    fn give_back(&self, state: &mut Self::State, at: Position, taken: Position, cost: Cost);

    /// From when on the state equals one that was never used: memory, never a decision.
    fn idle_from(&self, state: &Self::State) -> SteadyMs;
}

/// The decision on `cost` where `remaining` of `limit` is left. `wait` says after how many milliseconds
/// a number of units that does not fit now will; `None` is never.
pub(crate) fn decide(
    limit: u64,
    remaining: u64,
    cost: Cost,
    basis: RetryAfterBasis,
    wait: impl Fn(u64) -> Option<u64>,
) -> Decision {
    let until = |units| if remaining >= limit { 0 } else { wait(units).unwrap_or(MAX_COUNT) };
    let refusal = if limit == 0 || cost.get() > limit {
        Some(Refusal::CostExceedsLimit)
    } else if cost.get() > remaining {
        Some(Refusal::Limit { retry_after_ms: wait(cost.get()), basis })
    } else {
        None
    };
    let (reset_ms, grows_ms) = (until(limit), until(remaining.saturating_add(1)));
    Decision { limit, remaining, reset_ms, grows_ms, refusal }
}

/// `value`, if a count can be that large.
pub(crate) fn checked_count(path: &str, value: u64) -> Result<u64, Error> {
    if value <= MAX_COUNT { Ok(value) } else { Err(Error::spec(path, "is above 9007199254740991")) }
}
