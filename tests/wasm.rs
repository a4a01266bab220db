//! The core in wasm, in Node and in a browser: the same guarantees as natively, on 32-bit pointers and
//! another platform's arithmetic.

#![cfg(target_arch = "wasm32")]

use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::clock::{SteadyClock, SteadyMs, WallMs};
use sluicegate::config::Config;
use sluicegate::counter::{Ask, AskLimit, Counter, CounterSettings, Holder, JournalRow, Op, WIRE_VERSION};
use sluicegate::http::{HashKey, KeyHash, LimitResult, parse_check, rate_limit};
use sluicegate::policy::Algorithm;
use sluicegate::pop::PopReplyLimit;
use sluicegate::window::{Epochs, FixedWindow, Position, SlidingLog, SlidingWindow, WindowMs};
use sluicegate::{Cost, DecidedBy, MAX_COUNT};
use wasm_bindgen_test::wasm_bindgen_test;

#[path = "sim/pinned.rs"]
mod pinned;

const WINDOW_MS: u64 = 60_000;

/// A small generator, the same numbers on every platform.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn window() -> WindowMs {
    WindowMs::new(WINDOW_MS).unwrap()
}

/// The most that `algorithm` admits in any half-open interval of `interval_ms`, over a random trace.
fn worst_interval(algorithm: Algorithm, interval_ms: u64, seed: u64) -> u64 {
    let (mut numbers, mut epochs, mut state) = (Numbers(seed), Epochs::default(), algorithm.fresh());
    let (mut now, mut admitted) = (1_780_000_000_000, Vec::new());
    for _ in 0..4_000 {
        now += if numbers.below(8) == 0 { numbers.below(WINDOW_MS) } else { numbers.below(WINDOW_MS / 40) };
        let at = match algorithm.epoch_ms() {
            Some(length) => epochs.position(length, SteadyMs(now)).0,
            None => Position { steady: SteadyMs(now), ..Position::default() },
        };
        let cost = Cost::new(numbers.below(4)).unwrap();
        if algorithm.look(&state, at, cost).allowed() {
            algorithm.take(&mut state, at, cost);
            admitted.push((now, cost.get()));
        }
    }
    let within = |start: u64| {
        admitted
            .iter()
            .filter(|(time, _)| (start..start + interval_ms).contains(time))
            .map(|(_, cost)| cost)
            .sum()
    };
    admitted.iter().map(|(start, _)| within(*start)).max().unwrap_or(0)
}

#[wasm_bindgen_test]
fn every_window_keeps_its_bound() {
    for seed in 1..4 {
        let fixed = Algorithm::FixedWindow(FixedWindow::new(20, window()).unwrap());
        assert!(worst_interval(fixed, WINDOW_MS, seed) <= 40);
        let strict = Algorithm::SlidingWindow(SlidingWindow::new(20, window(), 4, true).unwrap());
        assert!(worst_interval(strict, WINDOW_MS, seed) <= 20);
        let sliding = Algorithm::SlidingWindow(SlidingWindow::new(20, window(), 4, false).unwrap());
        assert!(worst_interval(sliding, WINDOW_MS, seed) <= 39);
        assert!(worst_interval(sliding, WINDOW_MS * 3 / 4, seed) <= 20);
        let log = Algorithm::SlidingLog(SlidingLog::new(20, window()).unwrap());
        assert!(worst_interval(log, WINDOW_MS, seed) <= 20);
        let bucket = TokenBucket::new(20, Refill::new(20, WINDOW_MS).unwrap()).unwrap();
        assert!(worst_interval(Algorithm::TokenBucket(bucket), WINDOW_MS, seed) <= 40);
    }
}

#[wasm_bindgen_test]
fn the_largest_numbers_of_javascript_do_not_overflow() {
    let huge = Cost::new(MAX_COUNT).unwrap();
    assert!(Cost::new(MAX_COUNT + 1).is_err() && Cost::try_from_f64(9_007_199_254_740_992.0).is_err());
    let bucket = TokenBucket::new(MAX_COUNT, Refill::new(1, MAX_COUNT).unwrap()).unwrap();
    for algorithm in [
        Algorithm::FixedWindow(FixedWindow::new(MAX_COUNT, window()).unwrap()),
        Algorithm::SlidingWindow(SlidingWindow::new(MAX_COUNT, window(), 60, false).unwrap()),
        Algorithm::TokenBucket(bucket),
    ] {
        let (mut state, at) = (algorithm.fresh(), Position::default());
        assert!(algorithm.look(&state, at, huge).allowed());
        algorithm.take(&mut state, at, huge);
        assert!(!algorithm.look(&state, at, Cost::ONE).allowed());
    }
}

fn hit(counter: &mut Counter, key: u128, now: i64) -> (u64, Vec<JournalRow>) {
    let algorithm = Algorithm::FixedWindow(FixedWindow::new(50, window()).unwrap());
    let limit = AskLimit {
        policy: "p".to_owned(),
        algorithm,
        key: KeyHash::new(key),
        cost: Cost::ONE,
        shadow: false,
        receipt: None,
    };
    let ask = Ask { v: WIRE_VERSION, op: Op::Take, limits: vec![limit] };
    let outcome = counter.decide(&ask, WallMs(now), || WallMs(now));
    (outcome.reply.limits[0].decision.remaining, outcome.rows)
}

#[wasm_bindgen_test]
fn a_counter_comes_back_from_its_rows() {
    let settings = CounterSettings { flush_hits: 7, flush_every_ms: 1_000, max_keys: 500 };
    let (now, mut rows) = (1_780_000_000_000, std::collections::BTreeMap::new());
    let mut counter = Counter::restore(Holder(1), settings, Vec::new(), WallMs(now));
    for turn in 0..3_000_u128 {
        for row in hit(&mut counter, turn % 90, now).1 {
            rows.insert(row.slot, row);
        }
    }
    for row in counter.flush_now(WallMs(now), || WallMs(now)) {
        rows.insert(row.slot, row);
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by_key(|row| row.seq);
    let mut again = Counter::restore(Holder(2), settings, rows, WallMs(now));
    for key in 0..90 {
        assert_eq!(hit(&mut again, key, now).0, hit(&mut counter, key, now).0, "key {key}");
    }
}

#[wasm_bindgen_test]
fn steady_time_passes_a_step_back_of_an_hour() {
    let mut clock = SteadyClock::new(WallMs(1_780_000_000_000));
    let before = clock.observe(WallMs(1_780_000_000_000), || WallMs(1_780_000_000_000)).steady;
    let stepped = clock.observe(WallMs(1_780_000_000_000), || WallMs(1_779_996_400_000));
    assert_eq!(stepped.report.map(|step| step.stepped_ms), Some(-3_600_000));
    let later = clock.observe(WallMs(1_780_000_000_000), || WallMs(1_779_996_401_500)).steady;
    assert_eq!(later.since(before), 1_500);
}

#[wasm_bindgen_test]
fn a_check_is_read_and_answered() {
    let config = Config::from_json(
        r#"{"policies": [{"name": "per-ip", "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": "ip"}]}"#,
    )
    .unwrap();
    let body = br#"{"limits": [{"policy": "per-ip", "key": "2001:db8::1", "cost": 3}]}"#;
    let check = parse_check(&config, &HashKey::default(), body).unwrap();
    let policy = &config.policies()[check.limits[0].policy_index];
    let algorithm = policy.rate().unwrap().algorithm;
    let decision = algorithm.look(&algorithm.fresh(), Position::default(), check.limits[0].cost);
    let decided_by = DecidedBy::Counter;
    let reply = PopReplyLimit { decision, decided_by, epoch: Some(0), period: None, receipt: None };
    let results = [LimitResult::counted(policy, reply)];
    assert_eq!(rate_limit(&results, config.settings().header_draft).unwrap(), "\"per-ip\";r=60;t=60");
    let broken = br#"{"limits": [{"policy": "per-ip", "key": "2001:db8::1", "cost": 1.5}]}"#;
    let problem = parse_check(&config, &HashKey::default(), broken).unwrap_err();
    assert_eq!(problem.errors()[0].path(), Some("limits[0].cost"));
}

/// The numbers are those of `tests/sim`, in whichever steps time passes.
#[wasm_bindgen_test]
fn a_simulated_world_is_the_same_as_natively() {
    assert_eq!((pinned::windows(1_000), pinned::days(1_000)), (pinned::WINDOWS, pinned::DAYS));
    assert_eq!(pinned::windows(61), pinned::WINDOWS);
}
