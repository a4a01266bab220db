use serde::{Deserialize, Serialize};

use super::{Counting, Position, WindowMs, decide};
use crate::clock::SteadyMs;
use crate::{Cost, Decision, Error, RetryAfterBasis};

/// The largest limit: a log remembers each hit, and is read and written whole.
const MOST_UNITS: u64 = 1_000;

/// Exact: never more than `limit` units in any half-open interval as long as the window.
///
/// Each hit is remembered with its time and leaves when the window has passed: a hit at s counts while
/// now - s is less than the window. Two hits in the same millisecond both count. The price is memory, so
/// the limit is at most 1,000.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::clock::SteadyMs;
/// use sluicegate::window::{Counting, LogState, Position, SlidingLog, WindowMs};
///
/// let limit = SlidingLog::new(2, WindowMs::new(60_000)?)?;
/// let mut state = LogState::default();
/// let at = |ms| Position { steady: SteadyMs(ms), ..Position::default() };
/// limit.take(&mut state, at(1_000), Cost::ONE);
/// limit.take(&mut state, at(1_000), Cost::ONE);
///
/// let refusal = limit.look(&state, at(1_500), Cost::ONE).refusal;
/// assert_eq!(refusal.and_then(|r| r.retry_after_ms()), Some(59_500));
/// assert!(limit.look(&state, at(61_000), Cost::ONE).allowed());
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct SlidingLog {
    limit: u64,
    window: WindowMs,
}

#[derive(Deserialize)]
struct Fields {
    limit: u64,
    window: WindowMs,
}

impl TryFrom<Fields> for SlidingLog {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.limit, fields.window)
    }
}

/// What a [`SlidingLog`] keeps per key: when how many units were taken, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogState {
    hits: Vec<(SteadyMs, u64)>,
}

impl SlidingLog {
    /// At most `limit` units in any `window`.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error at `limit` above 1,000.
    pub fn new(limit: u64, window: WindowMs) -> Result<Self, Error> {
        if limit > MOST_UNITS {
            return Err(Error::spec("limit", "is above 1000, the most that a sliding-log remembers"));
        }
        Ok(Self { limit, window })
    }

    /// The most units per window.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of the window.
    pub const fn window(&self) -> WindowMs {
        self.window
    }

    /// The hits that still count at `now`, oldest first.
    fn live<'a>(&self, state: &'a LogState, now: SteadyMs) -> impl Iterator<Item = &'a (SteadyMs, u64)> {
        let window_ms = self.window.get();
        state.hits.iter().filter(move |(hit, _)| now.since(*hit) < window_ms)
    }

    fn used(&self, state: &LogState, now: SteadyMs) -> u64 {
        self.live(state, now).fold(0, |sum, (_, units)| sum.saturating_add(*units))
    }

    /// Milliseconds until so many hits have left that `units` fit.
    fn wait_ms(&self, state: &LogState, now: SteadyMs, units: u64) -> u64 {
        let room = self.limit.saturating_sub(units);
        let mut used = self.used(state, now);
        let mut until = now;
        for (hit, units) in self.live(state, now) {
            if used <= room {
                break;
            }
            used = used.saturating_sub(*units);
            until = hit.plus(self.window.get());
        }
        until.since(now)
    }
}

impl Counting for SlidingLog {
    type State = LogState;

    fn look(&self, state: &LogState, at: Position, cost: Cost) -> Decision {
        let remaining = self.limit.saturating_sub(self.used(state, at.steady));
        decide(self.limit, remaining, cost, RetryAfterBasis::EpochWindow, |units| {
            Some(self.wait_ms(state, at.steady, units))
        })
    }

    fn take(&self, state: &mut LogState, at: Position, cost: Cost) {
        if cost == Cost::ZERO {
            return;
        }
        let window_ms = self.window.get();
        state.hits.retain(|(hit, _)| at.steady.since(*hit) < window_ms);
        match state.hits.binary_search_by_key(&at.steady, |(hit, _)| *hit) {
            Ok(found) => {
                if let Some((_, units)) = state.hits.get_mut(found) {
                    *units = units.saturating_add(cost.get());
                }
            }
            Err(place) => state.hits.insert(place, (at.steady, cost.get())),
        }
        state.forget_excess();
    }

    /// Taken out of the hit of that millisecond, if it is still remembered.
    fn give_back(&self, state: &mut LogState, _at: Position, taken: Position, cost: Cost) {
        for (hit, units) in &mut state.hits {
            if *hit == taken.steady {
                *units = units.saturating_sub(cost.get());
            }
        }
        state.hits.retain(|(_, units)| *units > 0);
    }

    /// When the last hit leaves.
    fn idle_from(&self, state: &LogState) -> SteadyMs {
        state.hits.last().map_or(SteadyMs(0), |(hit, _)| hit.plus(self.window.get()))
    }
}

impl LogState {
    /// How many hits are kept.
    pub(crate) fn len(&self) -> usize {
        self.hits.len()
    }

    /// Drops hits that no limit can notice, since newer ones fill the largest limit alone. A policy that
    /// counts without refusing would grow the log for ever.
    fn forget_excess(&mut self) {
        let mut newer = 0_u64;
        let noticed = self.hits.iter().rev().take_while(|(_, units)| {
            let noticed = newer < MOST_UNITS;
            newer = newer.saturating_add(*units);
            noticed
        });
        let excess = self.hits.len().saturating_sub(noticed.count());
        self.hits.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(limit: u64) -> SlidingLog {
        SlidingLog::new(limit, WindowMs::new(1000).unwrap()).unwrap()
    }

    fn at(ms: u64) -> Position {
        Position { steady: SteadyMs(ms), ..Position::default() }
    }

    #[test]
    fn hits_of_one_millisecond_are_counted_and_given_back_one_by_one() {
        let mut state = LogState::default();
        for _ in 0..3 {
            second(3).take(&mut state, at(5000), Cost::ONE);
        }
        assert_eq!(second(3).look(&state, at(5999), Cost::ONE).remaining, 0);
        second(3).give_back(&mut state, at(5999), at(5000), Cost::ONE);
        second(3).give_back(&mut state, at(5999), at(5001), Cost::ONE);
        assert_eq!(second(3).look(&state, at(5999), Cost::ONE).remaining, 1);
        second(3).give_back(&mut state, at(5999), at(5000), Cost::new(9).unwrap());
        assert_eq!(state, LogState::default());
    }

    #[test]
    fn a_time_that_went_back_is_filed_where_it_belongs() {
        let mut state = LogState::default();
        second(3).take(&mut state, at(5000), Cost::ONE);
        second(3).take(&mut state, at(4500), Cost::ONE);
        assert_eq!(state.hits, [(SteadyMs(4500), 1), (SteadyMs(5000), 1)]);
        assert_eq!(second(3).look(&state, at(100), Cost::ONE).remaining, 1);
    }

    #[test]
    fn counting_without_refusing_keeps_the_log_short_and_its_waits_right() {
        let mut state = LogState::default();
        let minute = SlidingLog::new(2, WindowMs::new(60_000).unwrap()).unwrap();
        for ms in 0..5000 {
            minute.take(&mut state, at(ms), Cost::ONE);
        }
        assert_eq!(state.len(), 1000);
        let decision = minute.look(&state, at(5000), Cost::ONE);
        assert_eq!((decision.grows_ms, decision.reset_ms), (59_998, 59_999));
    }

    #[test]
    fn a_log_is_short() {
        let window = WindowMs::new(1000).unwrap();
        assert!(SlidingLog::new(1000, window).is_ok());
        assert_eq!(SlidingLog::new(1001, window).unwrap_err().path(), Some("limit"));
    }
}
