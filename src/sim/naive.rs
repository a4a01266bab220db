//! What one would write first, on the same traffic and the same clocks.

use super::tally::{Counts, Filed};
use crate::bucket::TokenBucket;
use crate::calendar::{Utc, period_for};
use crate::clock::WallMs;
use crate::config::{Counting, Policy};
use crate::http::KeyHash;
use crate::ordered::Map;

/// How a naive limiter counts. Its state is reached at once from everywhere, and never lost.
#[derive(Clone, Debug)]
enum Way {
    /// One number per window, which whoever counts computes from the time on its own machine.
    Window { limit: u64, window_ms: u64 },
    /// A level and a stamp: elapsed = the time on this machine - the stamp, which another may have written.
    Bucket(TokenBucket),
    /// One number per calendar period (in UTC), which whoever counts computes from its own time.
    Period { limit: u64, period: crate::calendar::PeriodSpec },
}

/// A naive limiter.
#[derive(Clone, Debug)]
pub(super) struct Naive {
    pub name: &'static str,
    way: Way,
    /// Whether all points of presence share its state.
    shared: bool,
    states: Map<(usize, KeyHash), State>,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The number of the window or period; of a bucket the stamp.
    at: Option<i64>,
    /// Units used; of a bucket units that are missing, times the milliseconds in which one comes in.
    used: u128,
}

/// The naive limiters that stand in for `policy`, over so many points of presence.
pub(super) fn instead_of(policy: &Policy, counts: &Counts, pops: usize) -> Vec<Naive> {
    let part = |limit: u64| limit.div_ceil(u64::try_from(pops).unwrap_or(u64::MAX).max(1));
    let naive = |name, way, shared| Naive { name, way, shared, states: Map::new(), counts: counts.clone() };
    let limit = policy.limit;
    match &policy.counting {
        Counting::Quota(period) => {
            let way = |limit| Way::Period { limit, period: period.clone() };
            let (whole, parts) = (way(limit), way(part(limit)));
            vec![
                naive("shared-period", whole.clone(), true),
                naive("each-alone", whole, false),
                naive("each-a-part", parts, false),
            ]
        }
        Counting::Rate(rate) => {
            let window_ms = rate.window.get();
            let refill = crate::bucket::Refill::new(limit, window_ms).ok();
            let bucket = refill.and_then(|refill| TokenBucket::new(policy.most_at_once(), refill).ok());
            let window = |limit| Way::Window { limit, window_ms };
            let shared = bucket.map(|bucket| naive("shared-stamp-bucket", Way::Bucket(bucket), true));
            let windows = [
                naive("shared-window", window(limit), true),
                naive("each-alone", window(limit), false),
                naive("each-a-part", window(part(limit)), false),
            ];
            shared.into_iter().chain(windows).collect()
        }
    }
}

impl Naive {
    /// Decides a request at `pop`, whose clock reads `wall`. `filed` is how the onlooker files it.
    pub fn request(&mut self, pop: usize, wall: WallMs, filed: Filed) {
        let place = if self.shared { 0 } else { pop };
        let state = self.states.entry((place, filed.key)).or_default();
        if self.way.take(state, wall, filed.cost) {
            self.counts.admit(filed);
        } else {
            self.counts.refuse(filed);
        }
    }
}

impl Way {
    fn take(&self, state: &mut State, wall: WallMs, cost: u64) -> bool {
        let (number, most, cost) = match self {
            Self::Window { limit, window_ms } => {
                let window_ms = i64::try_from(*window_ms).unwrap_or(i64::MAX).max(1);
                (wall.0.div_euclid(window_ms), u128::from(*limit), u128::from(cost))
            }
            Self::Period { limit, period } => {
                let start = period_for(period, &Utc, wall).map_or(0, |period| period.start.0);
                (start, u128::from(*limit), u128::from(cost))
            }
            Self::Bucket(bucket) => {
                let elapsed = wall.0.saturating_sub(state.at.unwrap_or(wall.0));
                let elapsed = u128::try_from(elapsed).unwrap_or(0);
                let refill = bucket.refill();
                state.used = state.used.saturating_sub(elapsed.saturating_mul(refill.tokens().into()));
                state.at = Some(wall.0);
                let per_ms = u128::from(refill.per_ms());
                let units = |count: u64| u128::from(count).saturating_mul(per_ms);
                (wall.0, units(bucket.capacity()), units(cost))
            }
        };
        if state.at != Some(number) {
            *state = State { at: Some(number), used: 0 };
        }
        let fits = state.used.saturating_add(cost) <= most;
        if fits {
            state.used = state.used.saturating_add(cost);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::Refill;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_stamp_of_a_fast_clock_fills_the_bucket_each_time() {
        let bucket = TokenBucket::new(10, Refill::new(10, 60_000).unwrap()).unwrap();
        let (way, mut state) = (Way::Bucket(bucket), State::default());
        let taken = (0..100).filter(|n| way.take(&mut state, WallMs(n % 2 * HOUR), 1)).count();
        assert_eq!(taken, 100);
        let (one_clock, mut state) = (Way::Bucket(bucket), State::default());
        assert_eq!((0..100).filter(|_| one_clock.take(&mut state, WallMs(HOUR), 1)).count(), 10);
    }

    #[test]
    fn two_clocks_open_a_window_again_and_again() {
        let (way, mut state) = (Way::Window { limit: 10, window_ms: 60_000 }, State::default());
        assert_eq!((0..100).filter(|n| way.take(&mut state, WallMs(n % 2 * HOUR), 1)).count(), 100);
        let mut state = State::default();
        assert_eq!((0..100).filter(|_| way.take(&mut state, WallMs(HOUR), 1)).count(), 10);
    }
}
