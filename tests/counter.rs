//! The counter of one point of presence: batches, memory, and what a crash may cost.

#![cfg(not(target_arch = "wasm32"))]

use std::collections::HashMap;

use proptest::prelude::*;
use sluicegate::Cost;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::clock::WallMs;
use sluicegate::counter::{
    Ask, AskLimit, Collected, Counter, CounterSettings, Holder, JournalRow, Op, Outcome, Reply, SLOTS,
    WIRE_VERSION,
};
use sluicegate::http::KeyHash;
use sluicegate::policy::Algorithm;
use sluicegate::window::{FixedWindow, SlidingLog, SlidingWindow, WindowMs};

const START: i64 = 1_780_000_000_000;
const SETTINGS: CounterSettings = CounterSettings { flush_hits: 10, flush_every_ms: 1_000, max_keys: 1_000 };

/// An object with its storage: rows survive, memory does not.
struct Object {
    counter: Counter,
    disk: HashMap<u16, JournalRow>,
    settings: CounterSettings,
    now: i64,
    lives: u32,
}

impl Object {
    fn new(settings: CounterSettings) -> Self {
        let counter = Counter::restore(Holder(0), settings, Vec::new(), WallMs(START));
        Self { counter, disk: HashMap::new(), settings, now: START, lives: 0 }
    }

    fn decide(&mut self, op: Op, limits: Vec<AskLimit>) -> Outcome {
        let wall = WallMs(self.now);
        let outcome = self.counter.decide(&Ask { v: WIRE_VERSION, op, limits }, wall, || wall);
        self.store(outcome.rows.clone());
        outcome
    }

    fn ask(&mut self, op: Op, limits: Vec<AskLimit>) -> Reply {
        self.decide(op, limits).reply
    }

    fn take(&mut self, limit: AskLimit) -> Reply {
        self.ask(Op::Take, vec![limit])
    }

    fn store(&mut self, rows: Vec<JournalRow>) {
        for row in rows {
            assert!(row.slot < SLOTS && row.data.len() < 2_000_000);
            self.disk.insert(row.slot, row);
        }
    }

    /// The flush timer fires. Returns how many rows it wrote.
    fn timer(&mut self) -> usize {
        let wall = WallMs(self.now);
        let rows = self.counter.flush_now(wall, || wall);
        let count = rows.len();
        self.store(rows);
        count
    }

    /// `kill -9`: only what is on the disk comes back.
    fn crash(&mut self) {
        self.lives += 1;
        let mut rows: Vec<_> = self.disk.values().cloned().collect();
        rows.sort_by_key(|row| row.seq);
        self.counter = Counter::restore(Holder(self.lives), self.settings, rows, WallMs(self.now));
    }
}

fn fixed(limit: u64, window_ms: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow::new(limit, WindowMs::new(window_ms).unwrap()).unwrap())
}

fn limit(algorithm: Algorithm, key: u128, cost: u64) -> AskLimit {
    AskLimit {
        policy: "p".to_owned(),
        algorithm,
        key: KeyHash::new(key),
        cost: Cost::new(cost).unwrap(),
        shadow: false,
        receipt: None,
    }
}

fn remaining(reply: &Reply) -> Vec<u64> {
    reply.limits.iter().map(|limit| limit.decision.remaining).collect()
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    let mut object = Object::new(SETTINGS);
    let (wide, narrow) = (fixed(10, 60_000), fixed(2, 60_000));
    let both = |cost| vec![limit(wide, 1, cost), limit(narrow, 2, cost)];
    assert_eq!(remaining(&object.ask(Op::Take, both(2))), [8, 0]);
    let refused = object.ask(Op::Take, both(1));
    assert!(!refused.allowed && refused.limits[0].decision.allowed());
    assert_eq!(remaining(&refused), [8, 0], "the wide limit kept its units");
    assert!(refused.limits.iter().all(|limit| limit.receipt.is_none()));
}

#[test]
fn a_peek_takes_nothing_and_says_what_a_take_would() {
    let mut object = Object::new(SETTINGS);
    for _ in 0..5 {
        assert!(object.ask(Op::Peek, vec![limit(fixed(1, 60_000), 1, 1)]).allowed);
    }
    assert!(object.take(limit(fixed(1, 60_000), 1, 1)).allowed);
    assert!(!object.ask(Op::Peek, vec![limit(fixed(1, 60_000), 1, 1)]).allowed);
}

#[test]
fn a_shadow_limit_counts_what_gets_through_and_never_refuses() {
    let mut object = Object::new(SETTINGS);
    let shadow = |key| AskLimit { shadow: true, ..limit(fixed(1, 60_000), key, 1) };
    let enforced = limit(fixed(3, 60_000), 7, 1);
    for expected in [true, false, false] {
        let reply = object.ask(Op::Take, vec![enforced.clone(), shadow(1)]);
        assert!(reply.allowed);
        assert_eq!(reply.limits[1].receipt.is_some(), expected);
    }
    assert!(!object.ask(Op::Take, vec![enforced, shadow(2)]).allowed);
    assert!(
        object.ask(Op::Peek, vec![shadow(2)]).limits[0].decision.allowed(),
        "a refused request is not counted"
    );
}

#[test]
fn a_give_back_returns_units_once_and_only_to_the_life_that_took_them() {
    let mut object = Object::new(SETTINGS);
    let one = limit(fixed(5, 60_000), 1, 3);
    let receipt = object.take(one.clone()).limits[0].receipt;
    let give = AskLimit { receipt, ..one.clone() };
    assert_eq!(remaining(&object.ask(Op::Give, vec![give.clone()])), [5]);
    object.take(one);
    object.timer();
    object.crash();
    assert_eq!(remaining(&object.ask(Op::Give, vec![give])), [2], "another life keeps the units taken");
}

#[test]
fn a_changed_window_starts_anew_and_a_changed_limit_does_not() {
    let mut object = Object::new(SETTINGS);
    object.take(limit(fixed(10, 60_000), 1, 10));
    assert_eq!(remaining(&object.ask(Op::Peek, vec![limit(fixed(15, 60_000), 1, 1)])), [5]);
    assert_eq!(remaining(&object.ask(Op::Peek, vec![limit(fixed(4, 60_000), 1, 1)])), [0]);
    assert_eq!(
        remaining(&object.take(limit(fixed(10, 90_000), 1, 1))),
        [9],
        "no epoch of another length is misread"
    );
}

#[test]
fn policies_that_count_the_same_identity_count_apart() {
    let mut object = Object::new(SETTINGS);
    let one = limit(fixed(1, 60_000), 1, 1);
    let other = AskLimit { policy: "q".to_owned(), ..one.clone() };
    assert!(object.take(one.clone()).allowed && object.take(other.clone()).allowed);
    assert!(!object.take(one).allowed && !object.take(other).allowed);
}

#[test]
fn a_flood_of_keys_costs_bounded_memory_and_frees_no_debt() {
    let settings = CounterSettings { max_keys: 100, ..SETTINGS };
    let mut object = Object::new(settings);
    let algorithm = fixed(1, 60_000);
    assert!(object.take(limit(algorithm, 1, 1)).allowed);
    for key in 2..5_000 {
        object.take(limit(algorithm, key, 1));
    }
    assert!(object.counter.keys() <= 100 + 64);
    assert!(!object.take(limit(algorithm, 1, 1)).allowed, "the first key still owes");
    object.now += 61_000;
    assert!(object.take(limit(algorithm, 9_999, 1)).allowed);
    assert!(!object.take(limit(algorithm, 9_999, 1)).allowed);
}

#[test]
fn a_key_stays_with_its_shared_counter_when_memory_is_free_again() {
    let mut object = Object::new(CounterSettings { max_keys: 100, ..SETTINGS });
    for key in 0..100 {
        object.take(limit(fixed(5, 5_000), key, 1));
    }
    let long = limit(fixed(1, 86_400_000), 1 << 100, 1);
    assert!(object.take(long.clone()).allowed);
    // The others are swept, so there is room for a counter of its own, where nothing would be counted.
    object.now += 60_000;
    object.take(limit(fixed(5, 5_000), 0, 1));
    assert!(!object.take(long).allowed);
}

#[test]
fn keys_of_one_object_spread_over_all_shared_counters() {
    let mut object = Object::new(CounterSettings { max_keys: 1, ..SETTINGS });
    let algorithm = fixed(1_000_000, 60_000);
    // An object's keys have their low bits in common: those choose the object.
    let mut state = 1_u128;
    for _ in 0..2_000 {
        state =
            state.wrapping_mul(0xda94_2042_e4dd_58b5_0000_0001_0000_01b3).wrapping_add(0x1357_9bdf_2468_ace1);
        object.take(limit(algorithm, state / 256 * 256, 1));
    }
    assert_eq!(object.counter.keys(), 1 + 64);
}

#[test]
fn two_keys_of_one_shared_counter_are_too_much_only_together() {
    let mut object = Object::new(CounterSettings { max_keys: 1, ..SETTINGS });
    object.take(limit(fixed(10, 60_000), 1, 1));
    let pair = vec![limit(fixed(10, 60_000), 2, 6), limit(fixed(10, 60_000), 3, 6)];
    let refused = object.ask(Op::Take, pair);
    let refusal = refused.limits[1].decision.refusal.unwrap();
    assert!(!refused.allowed && refusal.name() == "limit" && refusal.retry_after_ms().is_some());
}

/// The ring turns over many times while every key still counts: nothing but moving what a row held into
/// the one that takes its place keeps it.
#[test]
fn a_long_window_survives_the_turning_of_the_ring() {
    let long = WindowMs::new(30 * 86_400_000).unwrap();
    let algorithms = [
        fixed(1_000_000, long.get()),
        Algorithm::SlidingWindow(SlidingWindow::new(1_000_000, long, 3, true).unwrap()),
        Algorithm::SlidingLog(SlidingLog::new(1_000, long).unwrap()),
        Algorithm::TokenBucket(TokenBucket::new(1_000_000, Refill::NEVER).unwrap()),
    ];
    for algorithm in algorithms {
        let mut object = Object::new(CounterSettings { flush_hits: 2, max_keys: 50_000, ..SETTINGS });
        let mut taken = HashMap::<u128, u64>::new();
        for hit in 0..3_000_u128 {
            object.now += 300;
            // Some keys are touched once and then only held; others again and again.
            let key = if hit % 3 == 0 { hit % 997 } else { hit % 11 };
            if object.take(limit(algorithm, key, 1)).allowed {
                *taken.entry(key).or_default() += 1;
            }
            if hit % 400 == 399 {
                object.timer();
                object.crash();
                for (key, units) in &taken {
                    let decision = object.ask(Op::Peek, vec![limit(algorithm, *key, 0)]).limits[0].decision;
                    assert_eq!(decision.limit - decision.remaining, *units, "key {key} after hit {hit}");
                }
            }
        }
        assert!(object.disk.values().all(|row| row.seq > 500), "the ring has turned over");
    }
}

#[test]
fn a_quiet_object_gives_back_memory_and_rows_and_keeps_its_clock() {
    let mut object = Object::new(SETTINGS);
    let take =
        |object: &mut Object, key| object.decide(Op::Take, vec![limit(fixed(5, 60_000), key, 1)]).alarm;
    let alarms: Vec<_> = (0..200).map(|key| take(&mut object, key)).collect();
    object.timer();
    let due = alarms.into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(due.len(), 1, "one alarm per object");
    object.crash();
    assert_eq!(
        object.decide(Op::Peek, vec![limit(fixed(5, 60_000), 1, 1)]).alarm,
        None,
        "not again after a restart"
    );
    object.now = due[0].0;
    let wall = WallMs(object.now);
    let written = object.disk.len();
    assert_eq!(
        object.counter.collect(wall, || wall),
        Collected::Nothing,
        "small rows are not worth deleting"
    );
    assert_eq!((object.counter.keys(), object.disk.len()), (0, written));
    object.now -= 3_600_000;
    object.crash();
    let reply = object.take(limit(fixed(5, 60_000), 1, 1));
    assert!(reply.limits[0].epoch.unwrap() >= (START / 60_000) as u64, "epochs never shrink");
}

#[test]
fn large_rows_that_nothing_needs_are_deleted() {
    let mut object = Object::new(CounterSettings { flush_hits: 1_000, max_keys: 50_000, ..SETTINGS });
    for key in 0..5_000 {
        object.take(limit(fixed(5, 60_000), key, 1));
    }
    object.timer();
    let large = object.disk.values().filter(|row| row.data.len() > 16 << 10).count();
    assert!(large > 0);
    object.now += 3_600_000;
    let wall = WallMs(object.now);
    let Collected::Empty { rows, delete } = object.counter.collect(wall, || wall) else {
        panic!("nothing to delete")
    };
    assert_eq!((rows.len(), delete.len()), (1, large));
    object.store(rows);
    object.disk.retain(|slot, _| !delete.contains(slot));
    assert!(object.disk.values().all(|row| row.data.len() < 16 << 10));
    object.crash();
    assert!(object.take(limit(fixed(5, 60_000), 1, 5)).allowed);
}

#[test]
fn what_could_not_be_written_is_written_later() {
    let mut object = Object::new(SETTINGS);
    for key in 0..5 {
        object.take(limit(fixed(5, 60_000), key, 1));
    }
    let wall = WallMs(object.now);
    let rows = object.counter.flush_now(wall, || wall);
    assert_eq!(rows.len(), 1);
    object.counter.unwritten(&rows);
    object.timer();
    object.crash();
    assert!((0..5).all(|key| remaining(&object.ask(Op::Peek, vec![limit(fixed(5, 60_000), key, 1)])) == [4]));
}

#[test]
fn while_a_step_back_holds_the_timers_each_take_is_written_at_once() {
    let mut object = Object::new(SETTINGS);
    object.take(limit(fixed(100, 60_000), 1, 1));
    object.timer();
    // Date.now() stands still, SQLite's clock shows the step.
    let frozen = WallMs(object.now + 5);
    for hit in 0..5 {
        let exact = WallMs(object.now - 3_600_000 + hit);
        let ask = Ask { v: WIRE_VERSION, op: Op::Take, limits: vec![limit(fixed(100, 60_000), 1, 1)] };
        let rows = object.counter.decide(&ask, frozen, || exact).rows;
        // The first sees a clock that has moved as it should.
        assert_eq!(rows.len(), usize::from(hit > 0), "hit {hit}");
        object.store(rows);
    }
    object.now -= 3_590_000;
    object.crash();
    assert_eq!(remaining(&object.ask(Op::Peek, vec![limit(fixed(100, 60_000), 1, 1)])), [94]);
}

#[test]
fn what_a_start_has_to_read_is_bounded() {
    let log = Algorithm::SlidingLog(SlidingLog::new(1_000, WindowMs::new(86_400_000).unwrap()).unwrap());
    let mut object = Object::new(CounterSettings { flush_hits: 1_000, max_keys: 50_000, ..SETTINGS });
    for hit in 0..60_000_u128 {
        object.now += 1;
        object.take(limit(log, hit % 60, 1));
    }
    let stored: usize = object.disk.values().map(|row| row.data.len()).sum();
    assert!(stored < 18 << 20, "{stored} bytes");
    let before = object.ask(Op::Peek, vec![limit(log, 7, 1)]);
    object.timer();
    object.crash();
    assert_eq!(object.ask(Op::Peek, vec![limit(log, 7, 1)]), before);
}

#[test]
fn a_key_that_is_never_idle_again_sets_an_alarm_that_exists() {
    let bucket = Algorithm::TokenBucket(TokenBucket::new(5, Refill::NEVER).unwrap());
    let alarm = Object::new(SETTINGS).decide(Op::Take, vec![limit(bucket, 1, 1)]).alarm.unwrap();
    assert_eq!(alarm.0 - START, 30 * 86_400_000);
}

#[test]
fn rows_written_do_not_grow_with_the_number_of_keys() {
    let settings = CounterSettings { flush_hits: 1_000, flush_every_ms: 1_000, max_keys: 50_000 };
    let mut object = Object::new(settings);
    let mut rows = 0;
    for hit in 0..20_000_u128 {
        let wall = WallMs(object.now + (hit / 10) as i64);
        let ask = Ask {
            v: WIRE_VERSION,
            op: Op::Take,
            limits: vec![limit(fixed(1_000_000, 60_000), hit % 10_000, 1)],
        };
        rows += object.counter.decide(&ask, wall, || wall).rows.len();
    }
    assert!(rows <= 22, "{rows} rows for 20,000 decisions over 10,000 keys");
}

fn any_algorithm() -> impl Strategy<Value = Algorithm> {
    let window = |ms| WindowMs::new(ms).unwrap();
    prop_oneof![
        Just(fixed(7, 5_000)),
        Just(Algorithm::SlidingWindow(SlidingWindow::new(7, window(4_000), 2, false).unwrap())),
        Just(Algorithm::SlidingLog(SlidingLog::new(7, window(3_000)).unwrap())),
    ]
}

#[derive(Clone, Debug)]
enum Event {
    Take(u128, u64),
    Pass(i64),
    Timer,
    Crash,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        20 => (0..12_u128, 0..4_u64).prop_map(|(key, cost)| Event::Take(key, cost)),
        6 => (1..2_500_i64).prop_map(Event::Pass),
        2 => Just(Event::Timer),
        1 => Just(Event::Crash),
    ];
    prop::collection::vec(event, 1..400)
}

proptest! {
    /// Whatever is on the disk after a flush is all there is in memory: a crash right after a timer
    /// changes no answer, however often the ring of rows has turned over.
    #[test]
    fn a_crash_after_a_flush_changes_nothing(algorithm in any_algorithm(), events in events()) {
        let mut object = Object::new(SETTINGS);
        for event in events {
            match event {
                Event::Take(key, cost) => { object.take(limit(algorithm, key, cost)); }
                Event::Pass(ms) => object.now += ms,
                Event::Timer => { object.timer(); }
                Event::Crash => {
                    object.timer();
                    let look = |object: &mut Object| {
                        (0..12).map(|key| {
                            let reply = object.ask(Op::Peek, vec![limit(algorithm, key, 1)]);
                            reply.limits[0].decision
                        }).collect::<Vec<_>>()
                    };
                    let before = look(&mut object);
                    object.timer();
                    object.crash();
                    prop_assert_eq!(before, look(&mut object));
                }
            }
        }
    }

    /// A crash at any moment loses fewer takes than `flush_hits`: admitted in an epoch is at most the
    /// limit and what the crashes lost.
    #[test]
    fn a_crash_loses_less_than_the_flush_bound(events in events()) {
        let algorithm = fixed(7, 5_000);
        let mut object = Object::new(SETTINGS);
        let (mut admitted, mut crashes) = (HashMap::<(u64, u128), u64>::new(), HashMap::<u64, u64>::new());
        for event in events {
            match event {
                Event::Take(key, cost) => {
                    let reply = object.take(limit(algorithm, key, cost));
                    let epoch = reply.limits[0].epoch.unwrap();
                    crashes.entry(epoch).or_default();
                    if reply.allowed {
                        *admitted.entry((epoch, key)).or_default() += cost;
                    }
                }
                Event::Pass(ms) => object.now += ms,
                Event::Timer => { object.timer(); }
                Event::Crash => {
                    object.crash();
                    for lost in crashes.values_mut() { *lost += 1; }
                }
            }
        }
        for ((epoch, key), units) in admitted {
            // Each crash forgets fewer than flush_hits takes of at most 3 units.
            let bound = 7 + crashes[&epoch] * u64::from(SETTINGS.flush_hits - 1) * 3;
            prop_assert!(units <= bound, "key {} took {} in epoch {}, bound {}", key, units, epoch, bound);
        }
    }

    /// Through any number of crashes and steps of the wall clock, epochs never shrink.
    #[test]
    fn epochs_never_shrink_through_steps_and_crashes(
        moves in prop::collection::vec((1..4_000_i64, prop_oneof![6 => Just(0), 1 => -4_000_000..4_000_000_i64], any::<bool>()), 1..60)
    ) {
        let mut object = Object::new(SETTINGS);
        let mut last = 0;
        for (pass, step, crash) in moves {
            object.now += pass + step;
            if crash { object.crash(); }
            let epoch = object.take(limit(fixed(5, 1_000), 1, 1)).limits[0].epoch.unwrap();
            prop_assert!(epoch >= last);
            last = epoch;
        }
    }
}

/// Rows that storage bills for 1,000 decisions at one request every `every_ms`, alarms and deletions among
/// them; the object leaves memory after 10 s without a request, as it does on the platform.
fn rows_per_thousand(every_ms: i64, keys: u128) -> f64 {
    let settings = CounterSettings { flush_hits: 1_000, flush_every_ms: 1_000, max_keys: 50_000 };
    let (mut object, mut rows, mut alarm) = (Object::new(settings), 0, None);
    let decisions = 20_000;
    for hit in 0..decisions {
        let outcome = object.decide(Op::Take, vec![limit(fixed(u64::MAX >> 12, 60_000), hit % keys, 1)]);
        alarm = outcome.alarm.or(alarm);
        rows += outcome.rows.len() + usize::from(outcome.alarm.is_some());
        if every_ms >= 1_000 {
            object.now += 1_000;
            rows += object.timer();
            object.now -= 1_000;
        }
        object.now += every_ms;
        let wall = WallMs(object.now);
        if alarm.is_some_and(|due| due <= wall) {
            rows += match object.counter.collect(wall, || wall) {
                Collected::Later(due) => {
                    alarm = Some(due);
                    1
                }
                Collected::Nothing => 0,
                Collected::Empty { rows, delete } => {
                    object.store(rows);
                    object.disk.retain(|slot, _| !delete.contains(slot));
                    1 + delete.len()
                }
            };
            alarm = alarm.filter(|due| *due > wall);
        }
        if every_ms >= 10_000 {
            object.crash();
        }
    }
    rows as f64 * 1_000.0 / decisions as f64
}

/// The figures of the README's table of costs.
#[test]
fn a_decision_costs_what_the_readme_says() {
    let measured: Vec<_> = [(1, 1), (1, 10_000), (10, 1), (100, 1), (1_000, 1), (20_000, 1), (70_000, 1)]
        .map(|(every_ms, keys)| format!("{:.1}", rows_per_thousand(every_ms, keys)))
        .into();
    let readme = ["1.1", "1.1", "10.1", "100.0", "1000.3", "1009.2", "1019.2"];
    assert_eq!(measured, readme);
}
