//! The wall clock of the Ledger steps. Periods are held, epochs never shrink, and both go on.

use sluicegate::ledger::LedgerEvent;

use crate::caps::{CapPop, epoch_and_left};
use crate::support::{Object, Pop, wall};

const HOUR_MS: i64 = 3_600_000;
const WINDOW_MS: u64 = 60_000;

#[test]
fn a_step_back_over_the_boundary_does_not_reopen_the_month() {
    let mut object = Object::new("America/Los_Angeles", "2026-03-31T23:59:00-07:00");
    let mut pop = Pop::new("LAX", "monthly");
    assert_eq!(pop.take_all(&mut object), 100);
    object.host.wall = wall("2026-04-01T00:00:00-07:00");
    assert!(pop.request(&mut object, 25));
    object.host.wall -= HOUR_MS;
    for _ in 0..2 {
        assert_eq!(pop.take_all(&mut object), if object.lives == 1 { 75 } else { 0 });
        let usage = object.usage("monthly");
        assert_eq!((usage.slot.as_str(), usage.serial, usage.held, usage.used), ("2026-04", 2, true, 100));
        object.restart();
    }
    let regressions = object
        .host
        .events
        .iter()
        .filter(|event| **event == LedgerEvent::PeriodRegression { policy: "monthly".into(), serial: 2 });
    assert_eq!(regressions.count(), 2, "once for each life, not for each ask");
    assert_eq!(object.ledger.report().totals.period_regressions, 1);
}

#[test]
fn a_step_forward_opens_the_next_month_and_stays_there() {
    let mut object = Object::new("UTC", "2026-04-30T23:30:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 40));
    object.host.wall += HOUR_MS;
    assert_eq!(pop.take_all(&mut object), 100);
    object.host.wall -= HOUR_MS;
    assert_eq!(pop.take_all(&mut object), 0);
    object.host.wall += HOUR_MS;
    assert_eq!(pop.take_all(&mut object), 0);
    assert_eq!(object.usage("monthly").serial, 2);
}

#[test]
fn a_reading_before_2020_changes_nothing() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 1));
    let disk = object.host.disk.clone();
    object.host.wall = 0;
    for _ in 0..3 {
        assert!(crate::support::items(&pop.exchange(&mut object, 50)).is_empty());
    }
    let down = |event: &&LedgerEvent| matches!(event, LedgerEvent::QuotaUnavailable { .. });
    assert_eq!(object.host.events.iter().filter(down).count(), 1, "an operator is told once");
    assert_eq!(object.host.disk, disk);
    object.host.wall = wall("2026-05-10T12:00:00Z");
    assert_eq!(pop.take_all(&mut object), 99);
}

/// Asks each second after a step, and says how long the epoch took to change.
fn next_epoch_after(object: &mut Object, pop: &mut CapPop) -> u64 {
    let (before, _) = epoch_and_left(&pop.ask(object, 1, 0));
    for seconds in 1..=3 * WINDOW_MS / 1_000 {
        object.host.wall += 1_000;
        let (epoch, left_ms) = epoch_and_left(&pop.ask(object, 1, 0));
        assert!(epoch >= before, "an epoch shrank");
        assert!((1..=WINDOW_MS).contains(&left_ms));
        if epoch > before {
            return seconds * 1_000;
        }
    }
    panic!("no epoch opened within three windows")
}

#[test]
fn epochs_never_shrink_and_the_next_opens_within_two_windows_of_any_step() {
    for (step, restart) in [-HOUR_MS, -90_000, -1_500, -500, HOUR_MS, 0]
        .into_iter()
        .flat_map(|step| [(step, false), (step, true)])
    {
        let mut object = Object::new("UTC", "2026-05-10T12:00:20Z");
        let mut pop = CapPop::new(1);
        let (before, _) = epoch_and_left(&pop.ask(&mut object, 5, 0));
        object.host.wall += step;
        if restart {
            object.restart();
        }
        let (after, _) = epoch_and_left(&pop.ask(&mut object, 1, 0));
        assert!(after >= before, "{step} ms, restart {restart}: from {before} to {after}");
        let took = next_epoch_after(&mut object, &mut pop);
        assert!(took <= 2 * WINDOW_MS, "{step} ms, restart {restart}: {took} ms");
    }
}

#[test]
fn an_epoch_is_stored_with_the_clock_that_opened_it_before_it_is_told() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:20Z");
    let mut pop = CapPop::new(1);
    for _ in 0..4 {
        let (epoch, _) = epoch_and_left(&pop.ask(&mut object, 5, 0));
        let head: serde_json::Value = serde_json::from_str(&object.host.disk["head"]).unwrap();
        assert_eq!(head["row"]["epochs"]["open"]["60000"], epoch);
        assert_eq!(head["row"]["mark"]["last"], object.host.wall);
        object.host.wall += 60_000;
    }
}

#[test]
fn steps_are_counted_with_their_sizes_and_reported() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:20Z");
    let mut pop = CapPop::new(1);
    pop.ask(&mut object, 5, 0);
    for (step, back, ahead) in [(-HOUR_MS, 1, 0), (2 * HOUR_MS, 1, 1)] {
        object.host.wall += step;
        // A clock that stands still is compared with the exact one on readings number 1, 2, 4 and so on.
        (0..4).for_each(|_| drop(pop.ask(&mut object, 1, 0)));
        let totals = object.ledger.report().totals;
        assert_eq!((totals.steps_back, totals.steps_ahead, totals.last_step_ms), (back, ahead, step));
        let Some(LedgerEvent::ClockStep(report)) = object.host.events.last() else { panic!() };
        assert_eq!(report.stepped_ms, step);
    }
}
