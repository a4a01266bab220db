//! Rows that storage bills.

use sluicegate::clock::WallMs;
use sluicegate::counter::{Ask, Collected, CounterSettings, Op, WIRE_VERSION};

use crate::support::{Object, fixed, limit};

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
