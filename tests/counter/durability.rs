//! What is on the disk, and what a crash may cost.

use std::collections::HashMap;

use proptest::prelude::*;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::clock::WallMs;
use sluicegate::counter::{Ask, CounterSettings, Op, WIRE_VERSION};
use sluicegate::policy::Algorithm;
use sluicegate::window::{SlidingLog, SlidingWindow, WindowMs};

use crate::support::{Object, SETTINGS, fixed, limit, remaining};

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
