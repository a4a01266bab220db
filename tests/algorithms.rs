//! What each algorithm guarantees, against a count by hand, and the traces that reach each bound.

#![cfg(not(target_arch = "wasm32"))]

use proptest::prelude::*;
use sluicegate::bucket::{BucketState, Refill, TokenBucket};
use sluicegate::clock::SteadyMs;
use sluicegate::policy::{Algorithm, CounterState};
use sluicegate::window::{Epoch, Epochs, FixedWindow, Position, SlidingLog, SlidingWindow, WindowMs};
use sluicegate::{Cost, Decision, MAX_COUNT, Refusal};

/// A multiple of every epoch length used here, so that traces can name offsets within an epoch.
const START: u64 = 604_800_000;

fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

fn window(ms: u64) -> WindowMs {
    WindowMs::new(ms).unwrap()
}

fn fixed(limit: u64, ms: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow::new(limit, window(ms)).unwrap())
}

fn sliding(limit: u64, ms: u64, parts: u32, strict: bool) -> Algorithm {
    Algorithm::SlidingWindow(SlidingWindow::new(limit, window(ms), parts, strict).unwrap())
}

fn log(limit: u64, ms: u64) -> Algorithm {
    Algorithm::SlidingLog(SlidingLog::new(limit, window(ms)).unwrap())
}

fn bucket(capacity: u64, tokens: u64, per_ms: u64) -> Algorithm {
    Algorithm::TokenBucket(TokenBucket::new(capacity, Refill::new(tokens, per_ms).unwrap()).unwrap())
}

/// One key of one algorithm, the epochs of its owner, and what was admitted when.
struct Key {
    algorithm: Algorithm,
    epochs: Epochs,
    state: CounterState,
    now: u64,
    admitted: Vec<(u64, u64)>,
}

impl Key {
    fn new(algorithm: Algorithm) -> Self {
        let state = algorithm.fresh();
        Self { algorithm, epochs: Epochs::default(), state, now: START, admitted: Vec::new() }
    }

    /// A key that has seen `steps`: pairs of a gap before a hit, and its cost.
    fn after(algorithm: Algorithm, steps: &[(u64, u64)]) -> Self {
        let mut key = Self::new(algorithm);
        for (gap, units) in steps {
            key.now += gap;
            key.hit(*units);
        }
        key
    }

    /// The position at some time; the key's own epochs move only with [`hit`](Self::hit).
    fn at(&self, now: u64) -> Position {
        match self.algorithm.epoch_ms() {
            Some(length) => self.epochs.clone().position(length, SteadyMs(now)).0,
            None => Position { steady: SteadyMs(now), ..Position::default() },
        }
    }

    fn look(&self, now: u64, units: u64) -> Decision {
        self.algorithm.look(&self.state, self.at(now), cost(units))
    }

    fn hit(&mut self, units: u64) -> bool {
        let at = match self.algorithm.epoch_ms() {
            Some(length) => self.epochs.position(length, SteadyMs(self.now)).0,
            None => self.at(self.now),
        };
        let allowed = self.algorithm.look(&self.state, at, cost(units)).allowed();
        if allowed {
            self.algorithm.take(&mut self.state, at, cost(units));
            self.admitted.push((self.now, units));
        }
        allowed
    }

    /// One unit at a time, at an offset from the start, until one is refused.
    fn fill(&mut self, offset: u64) -> u64 {
        self.now = START + offset;
        (0..).take_while(|_| self.hit(1)).count() as u64
    }

    fn sum(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.admitted.iter().filter(|(time, _)| counts(*time)).map(|(_, units)| units).sum()
    }

    /// The most that any half-open interval of this length has seen; the worst one starts at a hit.
    fn most_in(&self, length: u64) -> u64 {
        let starts = self.admitted.iter().map(|(start, _)| *start);
        starts.map(|start| self.sum(|time| start <= time && time < start + length)).max().unwrap_or(0)
    }
}

/// Gaps that like the edges of seconds and of windows, and costs that like to be small.
fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let edge = (0u64..6, 0u64..3).prop_map(|(seconds, off)| (seconds * 1000 + off).saturating_sub(1));
    let gap = prop_oneof![3 => 0u64..4, 3 => 0u64..900, 3 => edge, 1 => 0u64..9000];
    prop::collection::vec((gap, prop_oneof![1u64..4, 0u64..25]), 1..120)
}

/// Lengths that the edges in [`steps`] meet, and some that they do not.
fn lengths() -> impl Strategy<Value = u64> {
    prop_oneof![(1u64..5).prop_map(|seconds| seconds * 1000), 1000u64..5000]
}

fn parts() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1u32, 2, 3, 4, 6, 10])
}

fn any_algorithm() -> impl Strategy<Value = Algorithm> {
    let limit = prop_oneof![6 => 1u64..20, 1 => Just(0u64)];
    let rate = (1u64..12, prop::sample::select(vec![1u64, 7, 100, 999, 1000, 10_000]));
    (limit, parts(), any::<bool>(), rate, 0..4).prop_map(|(limit, parts, strict, (tokens, per_ms), kind)| {
        let ms = 1000 * u64::from(parts);
        match kind {
            0 => fixed(limit, ms),
            1 => sliding(limit, ms, parts, strict),
            2 => log(limit, ms),
            _ => bucket(limit, tokens, per_ms),
        }
    })
}

proptest! {
    #[test]
    fn fixed_admits_the_limit_per_epoch_and_twice_that_in_any_window(limit in 1u64..20, ms in lengths(), steps in steps()) {
        let key = Key::after(fixed(limit, ms), &steps);
        for (time, _) in &key.admitted {
            prop_assert!(key.sum(|other| other / ms == time / ms) <= limit);
        }
        prop_assert!(key.most_in(ms) <= 2 * limit);
        let used = key.sum(|time| time / ms == key.now / ms);
        prop_assert_eq!(key.look(key.now, 1).remaining, limit - used);
        prop_assert_eq!(key.look(key.now, 1).reset_ms, ms - key.now % ms);
    }

    #[test]
    fn sliding_counts_its_formula_rounded_up_and_keeps_its_bounds(
        limit in 1u64..20, parts in parts(), strict: bool, steps in steps()
    ) {
        let (parts, sub) = (u64::from(parts), 1000);
        let key = Key::after(sliding(limit, parts * sub, parts as u32, strict), &steps);
        if strict {
            prop_assert!(key.most_in(parts * sub + 1) <= limit, "both ends of a window included");
        } else {
            prop_assert!(key.most_in((parts - 1) * sub + 1) <= limit, "both ends included");
            prop_assert!(key.most_in(parts * sub) <= 2 * limit - (2 * limit).div_ceil(sub));
        }
        let epoch = key.now / sub;
        let whole = key.sum(|time| time / sub + parts > epoch);
        let oldest = key.sum(|time| time / sub + parts == epoch);
        let share = if strict { oldest } else { (oldest * (sub - key.now % sub)).div_ceil(sub) };
        prop_assert_eq!(key.look(key.now, 1).remaining, limit - (whole + share).min(limit));
    }

    #[test]
    fn log_is_exact_in_any_half_open_window(limit in 1u64..20, ms in lengths(), steps in steps()) {
        let key = Key::after(log(limit, ms), &steps);
        prop_assert!(key.most_in(ms) <= limit);
        let used = key.sum(|time| key.now - time < ms);
        prop_assert_eq!(key.look(key.now, 1).remaining, limit - used);
    }

    #[test]
    fn bucket_admits_capacity_and_rate_times_t_in_any_t(
        capacity in 1u64..20, tokens in 1u64..12, per_ms in 1u64..3000, steps in steps()
    ) {
        let key = Key::after(bucket(capacity, tokens, per_ms), &steps);
        for (start, _) in &key.admitted {
            for (end, _) in key.admitted.iter().filter(|(end, _)| end >= start) {
                let most = capacity + tokens * (end - start) / per_ms;
                prop_assert!(key.sum(|time| (*start..=*end).contains(&time)) <= most);
            }
        }
    }

    #[test]
    fn bucket_credits_in_parts_add_up_to_the_whole_credit(
        tokens in 1u64..1000, per_ms in 1u64..100_000, elapsed in prop::collection::vec(0u64..5000, 0..200)
    ) {
        let bucket = TokenBucket::new(MAX_COUNT, Refill::new(tokens, per_ms).unwrap()).unwrap();
        let mut state = bucket.fresh(0);
        elapsed.iter().for_each(|ms| bucket.credit(&mut state, *ms));
        let mut at_once = bucket.fresh(0);
        bucket.credit(&mut at_once, elapsed.iter().sum());
        prop_assert_eq!(&state, &at_once);
        prop_assert_eq!(bucket.available(&state), elapsed.iter().sum::<u64>() * tokens / per_ms);
    }

    #[test]
    fn waits_are_never_early_and_never_late(algorithm in any_algorithm(), steps in steps(), units in 1u64..25) {
        let key = Key::after(algorithm, &steps);
        let decision = key.look(key.now, units);
        let remaining = |wait: u64| key.look(key.now + wait, 1).remaining;
        match decision.refusal {
            None => prop_assert!(units <= decision.remaining),
            Some(Refusal::CostExceedsLimit) => prop_assert!(units > decision.limit),
            Some(refusal) => {
                let wait = refusal.retry_after_ms().unwrap();
                prop_assert!(wait > 0 && decision.remaining < units && units <= decision.limit);
                prop_assert!(key.look(key.now + wait, units).allowed(), "early");
                prop_assert!(!key.look(key.now + wait - 1, units).allowed(), "late");
            }
        }
        if decision.remaining == decision.limit {
            prop_assert_eq!(decision.grows_ms, 0);
        } else {
            let (reset, grows) = (decision.reset_ms, decision.grows_ms);
            prop_assert!(remaining(grows) > decision.remaining && remaining(grows - 1) == decision.remaining);
            prop_assert!(remaining(reset) == decision.limit && remaining(reset - 1) < decision.limit);
        }
    }

    #[test]
    fn a_look_takes_nothing_and_repeats_itself(algorithm in any_algorithm(), steps in steps(), units in 0u64..25) {
        let key = Key::after(algorithm, &steps);
        let before = key.state.clone();
        let first = key.look(key.now, units);
        prop_assert_eq!(first, key.look(key.now, units));
        prop_assert_eq!(&key.state, &before);
        prop_assert_eq!(key.look(key.now, 0).allowed(), first.limit > 0, "nothing costs nothing");
    }

    #[test]
    fn a_take_that_is_given_back_leaves_what_was_there(
        algorithm in any_algorithm(), steps in steps(), units in 0u64..25, later in 0u64..3000
    ) {
        let mut key = Key::after(algorithm, &steps);
        let untouched = Key::after(algorithm, &steps);
        if key.hit(units) {
            prop_assert_eq!(key.look(key.now, 1).remaining, untouched.look(key.now, 1).remaining - units);
            let (at, taken) = (key.at(key.now + later), key.at(key.now));
            key.algorithm.give_back(&mut key.state, at, taken, cost(units));
            for now in [key.now, key.now + later] {
                prop_assert_eq!(key.look(now, 1), untouched.look(now, 1));
            }
        }
    }

    #[test]
    fn an_idle_state_equals_one_that_was_never_used(
        algorithm in any_algorithm(), steps in steps(), units in 0u64..25, given: bool, later in 0u64..20_000
    ) {
        let mut key = Key::after(algorithm, &steps);
        if key.hit(units) && given {
            let at = key.at(key.now);
            algorithm.give_back(&mut key.state, at, at, cost(units));
        }
        let unused = Key::new(algorithm);
        let idle = key.algorithm.idle_from(&key.state).0;
        for now in [idle.max(key.now), idle.max(key.now) + later] {
            prop_assert_eq!(key.look(now, units), unused.look(now, units));
        }
        if idle > key.now && unused.look(idle, 1).limit > 0 {
            prop_assert!(key.look(idle - 1, 1).remaining < unused.look(idle - 1, 1).remaining, "not before");
        }
    }

    #[test]
    fn a_state_and_its_algorithm_survive_storage(algorithm in any_algorithm(), steps in steps()) {
        let key = Key::after(algorithm, &steps);
        let bytes = postcard::to_allocvec(&(&key.algorithm, &key.state)).unwrap();
        prop_assert_eq!(postcard::from_bytes(&bytes), Ok((key.algorithm, key.state)));
        let text = serde_json::to_string(&key.algorithm).unwrap();
        prop_assert_eq!(serde_json::from_str::<Algorithm>(&text).unwrap(), key.algorithm);
    }

    /// Whatever was stored and wherever the position is: an answer, and what was taken is not forgotten.
    #[test]
    fn no_state_position_or_cost_panics(
        kind in 0u32..4, limit in prop_oneof![0u64..3, Just(MAX_COUNT)], tokens: u64, per_ms in 1u64..,
        numbers in prop::collection::vec(prop_oneof![0u64..4, any::<u64>(), Just(u64::MAX)], 12),
        units in prop::collection::vec(prop_oneof![0u64..3, MAX_COUNT - 3..=MAX_COUNT], 1..6),
    ) {
        let (length, n) = (366 * 86_400_000, &numbers);
        let algorithm = [
            fixed(limit, length), sliding(limit, length, 4, n[0] % 2 == 0), log(limit.min(1000), length), bucket(limit, tokens, per_ms),
        ][kind as usize];
        let bytes = match kind {
            0 => postcard::to_allocvec(&(0u32, length, n[1], n[2])),
            1 => postcard::to_allocvec(&(1u32, length / 4, n[1], &n[2..9])),
            2 => postcard::to_allocvec(&(2u32, vec![(n[1], n[2]), (n[3], n[4]), (n[5], n[6])])),
            _ => postcard::to_allocvec(&(3u32, Some((n[1], n[2], n[3].max(1))), n[4])),
        };
        let mut state: CounterState = postcard::from_bytes(&bytes.unwrap()).unwrap();
        let at = Position { steady: SteadyMs(n[9]), epoch: Epoch(n[10]), into_ms: n[11] };
        for units in units {
            let before = algorithm.look(&state, at, cost(units)).remaining;
            algorithm.take(&mut state, at, cost(units));
            let after = algorithm.look(&state, at, cost(units)).remaining;
            prop_assert_eq!(after, before.saturating_sub(units));
            let _ = algorithm.idle_from(&state);
            algorithm.give_back(&mut state, Position::default(), at, cost(units / 2));
            prop_assert!(algorithm.look(&state, at, cost(units)).remaining >= after);
        }
    }
}

#[test]
fn fixed_reaches_twice_its_limit_across_one_boundary() {
    let mut key = Key::new(fixed(100, 60_000));
    let admitted = [59_999, 60_000, 119_999].map(|offset| key.fill(offset));
    assert_eq!((admitted, key.most_in(2)), ([100, 100, 0], 200));
}

/// The limit in the last millisecond of a sub-window, and what fits one millisecond less than a window
/// later. With a limit of 100 per second: 1, 1, 1, 2 and 4 units short of twice the limit.
#[test]
fn sliding_reaches_its_bound_in_a_whole_window() {
    for (parts, short) in [(1, 1), (2, 1), (4, 1), (10, 2), (20, 4)] {
        let (limit, ms) = (100 * u64::from(parts), 1000 * u64::from(parts));
        let mut key = Key::new(sliding(limit, ms, parts, false));
        assert_eq!((key.fill(999), key.fill(999 + ms - 1)), (limit, limit - short), "{parts} parts");
        assert_eq!((key.most_in(ms), short), (2 * limit - short, (2 * limit).div_ceil(1000)));
    }
}

#[test]
fn sliding_reaches_one_less_than_twice_its_limit_where_its_parts_are_long() {
    for parts in [1, 2, 4, 10] {
        let mut key = Key::new(sliding(100, 60_000, parts, false));
        let sub = 60_000 / u64::from(parts);
        assert_eq!((key.fill(sub - 1), key.fill(sub - 1 + 59_999)), (100, 99), "{parts} parts");
    }
}

/// Shorter by a sub-window the limit holds, both ends included. Two milliseconds more, and it does not.
#[test]
fn sliding_reaches_its_limit_in_all_but_one_part_of_a_window_and_passes_it_soon_after() {
    for parts in [1, 2, 4, 10] {
        let inner = 1000 * (u64::from(parts) - 1);
        let mut key = Key::new(sliding(1000, 1000 * u64::from(parts), parts, false));
        assert_eq!((key.fill(999), key.fill(999 + inner), key.fill(1000 + inner)), (1000, 0, 0));
        assert_eq!(key.fill(1001 + inner), 1);
        assert_eq!((key.most_in(inner + 1), key.most_in(inner + 3)), (1000, 1001), "{parts} parts");
    }
}

#[test]
fn strict_reaches_its_limit_and_admits_the_next_when_the_oldest_part_is_out_of_reach() {
    for parts in [1, 2, 4, 10] {
        let mut key = Key::new(sliding(100, 60_000, parts, true));
        let sub = 60_000 / u64::from(parts);
        assert_eq!((key.fill(0), key.fill(60_000), key.fill(59_999 + sub)), (100, 0, 0));
        assert_eq!((key.fill(60_000 + sub), key.most_in(60_001)), (100, 100), "{parts} parts");
        // Hits at the very end of a part do not wait any longer than the window, plus a millisecond.
        let mut key = Key::new(sliding(100, 60_000, parts, true));
        assert_eq!((key.fill(sub - 1), key.fill(sub + 59_999), key.fill(sub + 60_000)), (100, 0, 100));
    }
}

#[test]
fn log_reaches_its_limit_and_admits_the_next_in_the_millisecond_the_window_ends() {
    let mut key = Key::after(log(1000, 60_000), &[(7, 900)]);
    assert_eq!((key.fill(60_006), key.fill(60_007)), (100, 900), "900 count to the end");
    assert_eq!((key.most_in(60_000), key.most_in(60_001)), (1000, 1900));
}

#[test]
fn bucket_reaches_capacity_and_rate_times_t() {
    let mut key = Key::new(bucket(100, 3, 1000));
    for ms in 0..=10_500 {
        key.fill(ms);
    }
    assert_eq!((key.sum(|_| true), key.most_in(10_001)), (100 + 31, 100 + 30));
}

#[test]
fn a_bucket_that_was_never_seen_is_full() {
    let bucket = TokenBucket::new(7, Refill::new(1, 1000).unwrap()).unwrap();
    let mut state = BucketState::default();
    assert!(bucket.try_take(&mut state, cost(7)) && bucket.try_take(&mut state, Cost::ZERO));
    assert!(!bucket.try_take(&mut state, Cost::ONE));
    assert_eq!([1, 8].map(|units| bucket.wait_ms(&state, cost(units))), [Some(1000), None]);
}

#[test]
fn a_wait_that_no_javascript_number_holds_is_none() {
    let (longest, longer) = (Refill::new(1, MAX_COUNT).unwrap(), Refill::new(1, MAX_COUNT + 1).unwrap());
    let wait = |capacity, refill| {
        let bucket = TokenBucket::new(capacity, refill).unwrap();
        bucket.wait_ms(&bucket.fresh(0), cost(capacity))
    };
    assert_eq!([wait(1, longest), wait(1, longer), wait(0, longest)], [Some(MAX_COUNT), None, None]);
}
