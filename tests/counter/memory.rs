//! Memory and rows are bounded, and given back.

use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::clock::WallMs;
use sluicegate::counter::{Collected, CounterSettings, Op};
use sluicegate::policy::Algorithm;
use sluicegate::window::{SlidingLog, WindowMs};

use crate::support::{Object, SETTINGS, START, fixed, limit};

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
