//! One quota through steps of the clock.

use proptest::prelude::*;
use sluicegate::calendar::{JiffZone, PeriodSpec, Unit, Utc};
use sluicegate::clock::WallMs;
use sluicegate::quota::{CalendarQuota, QuotaSpec, QuotaState, QuotaVerdict};
use sluicegate::{Cost, Refusal, RetryAfterBasis};

use super::examples::Counting;
use super::{daily, monthly, wall, zone};

pub fn quota(limit: u64, spec: PeriodSpec) -> CalendarQuota<JiffZone> {
    let zone = zone(spec.time_zone());
    CalendarQuota::new(QuotaSpec::new(limit, spec).unwrap(), zone)
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

/// Slot, used, allowed: what most tests look at.
pub fn brief(verdict: &QuotaVerdict) -> (String, u64, bool) {
    (verdict.period().slot.to_string(), verdict.used, verdict.allowed())
}

fn wait(ms: u64) -> Option<Refusal> {
    Some(Refusal::Limit { retry_after_ms: Some(ms), basis: RetryAfterBasis::WallPeriod })
}

#[test]
fn backwards_over_a_boundary_holds_the_open_period_and_what_it_used() {
    let mut quota = quota(10, monthly("UTC", 1));
    quota.take(wall("2026-03-31T23:59:59Z"), cost(10)).unwrap();
    let april = quota.take(wall("2026-04-01T00:00:05Z"), cost(7)).unwrap();
    assert_eq!((brief(&april), april.open.serial), (("2026-04".to_owned(), 7, true), 2));
    for back in ["2026-03-31T23:59:54Z", "2026-03-01T00:00Z", "1970-01-01T00:00Z"] {
        let held = quota.take(wall(back), cost(4)).unwrap();
        assert_eq!(brief(&held), ("2026-04".to_owned(), 7, false));
        assert!(held.period_regression, "said of each held request");
        let left = wall("2026-05-01T00:00Z").0.abs_diff(wall(back).0);
        assert_eq!(held.decision.refusal, wait(left), "to the held period's end, from the reading");
    }
    let held = quota.take(wall("2026-03-31T23:00Z"), cost(3)).unwrap();
    assert_eq!((brief(&held), held.period_regression), (("2026-04".to_owned(), 10, true), true));
    let again = quota.take(wall("2026-04-01T00:00:06Z"), cost(1)).unwrap();
    assert_eq!((brief(&again), again.period_regression), (("2026-04".to_owned(), 10, false), false));
    let may = quota.take(wall("2026-05-01T00:00Z"), cost(1)).unwrap();
    assert_eq!((brief(&may), may.open.serial), (("2026-05".to_owned(), 1, true), 3));
}

#[test]
fn the_second_half_past_one_opens_nothing() {
    let mut quota = quota(2, daily("America/New_York", "01:30"));
    assert!(quota.take(wall("2021-11-07T05:30Z"), cost(2)).unwrap().allowed());
    let second = quota.take(wall("2021-11-07T06:30Z"), cost(1)).unwrap();
    assert_eq!(second.decision.refusal, wait(24 * 3_600_000));
    assert!(!second.period_regression);
}

#[test]
fn inside_the_open_period_no_zone_is_asked() {
    let spec = QuotaSpec::new(5, monthly("Europe/Paris", 1)).unwrap();
    let counting = Counting::new(zone("Europe/Paris"));
    let mut quota = CalendarQuota::new(spec, &counting);
    quota.take(wall("2026-03-15T00:00Z"), cost(1)).unwrap();
    let asked = counting.asked.replace(0);
    assert!((1..=16).contains(&asked), "{asked} questions to open");
    let (start, end) = (quota.state().open.unwrap().period.start, quota.state().open.unwrap().period.end);
    for at in [start, WallMs(end.0 - 1), WallMs(start.0 - 1), WallMs(i64::MIN), wall("2026-03-29T01:30Z")] {
        quota.look(at, cost(9)).unwrap();
        quota.take(at, cost(1)).unwrap();
    }
    assert_eq!(counting.asked.get(), 0);
    quota.take(end, cost(1)).unwrap();
    assert!(counting.asked.get() > 0);
}

#[test]
fn a_jump_of_any_size_costs_the_same_and_counts_up_to_four() {
    for (to, skipped) in [
        ("2026-02-01T00:00Z", 0),
        ("2026-03-31T00:00Z", 1),
        ("2026-05-31T00:00Z", 3),
        ("2026-06-01T00:00Z", 4),
        ("2076-01-01T00:00Z", 4),
        ("9999-01-01T00:00Z", 4),
    ] {
        let counting = Counting::new(zone("Europe/Paris"));
        let mut quota = CalendarQuota::new(QuotaSpec::new(5, monthly("Europe/Paris", 1)).unwrap(), &counting);
        quota.take(wall("2026-01-20T00:00Z"), cost(5)).unwrap();
        counting.asked.set(0);
        let after = quota.take(wall(to), cost(5)).unwrap();
        assert_eq!((after.allowed(), after.skipped_periods), (true, skipped), "{to}");
        assert!(counting.asked.get() <= 80, "{} questions", counting.asked.get());
        assert_eq!(quota.take(wall(to), cost(0)).unwrap().skipped_periods, 0, "said once");
    }
    // An empty slot was not skipped: it never was.
    let mut quota = quota(5, daily("Pacific/Apia", "00:00"));
    quota.take(wall("2011-12-30T09:00Z"), cost(1)).unwrap();
    assert_eq!(quota.take(wall("2011-12-30T11:00Z"), cost(1)).unwrap().skipped_periods, 0);
}

#[test]
fn costs_at_and_above_the_limit() {
    let mut quota = quota(5, daily("UTC", "00:00"));
    let noon = wall("2026-05-06T12:00Z");
    assert_eq!(quota.take(noon, cost(6)).unwrap().decision.refusal, Some(Refusal::CostExceedsLimit));
    assert_eq!(brief(&quota.take(noon, cost(5)).unwrap()), ("2026-05-06".to_owned(), 5, true));
    let full = quota.take(noon, Cost::ONE).unwrap();
    assert_eq!((full.decision.refusal, full.decision.remaining), (wait(12 * 3_600_000), 0));
    assert!(quota.take(noon, Cost::ZERO).unwrap().allowed());
    assert_eq!(quota.take(noon, cost(6)).unwrap().decision.refusal, Some(Refusal::CostExceedsLimit));
    let mut nothing = self::quota(0, daily("UTC", "00:00"));
    assert_eq!(nothing.take(noon, Cost::ONE).unwrap().decision.refusal, Some(Refusal::CostExceedsLimit));
    assert!(nothing.take(noon, Cost::ZERO).unwrap().allowed());
}

#[test]
fn looking_changes_nothing_and_sees_what_taking_would() {
    let mut quota = quota(5, daily("UTC", "00:00"));
    quota.take(wall("2026-05-06T12:00Z"), cost(5)).unwrap();
    let before = *quota.state();
    let tomorrow = quota.look(wall("2026-05-07T00:00Z"), cost(5)).unwrap();
    assert_eq!((brief(&tomorrow), *quota.state()), (("2026-05-07".to_owned(), 0, true), before));
    assert!(quota.look(WallMs(i64::MAX), cost(5)).is_err());
    assert!(quota.take(WallMs(i64::MAX), cost(5)).is_err());
    assert_eq!(*quota.state(), before);
    assert_eq!(quota.look(WallMs(i64::MIN), cost(1)).unwrap().decision.refusal, wait(9_007_199_254_740_991));
}

#[test]
fn what_is_given_back_goes_to_its_own_period() {
    let mut quota = quota(5, daily("UTC", "00:00"));
    let first = quota.take(wall("2026-05-06T12:00Z"), cost(5)).unwrap().open.serial;
    assert_eq!((quota.give_back(first, cost(2)), quota.state().used), (2, 3));
    let second = quota.take(wall("2026-05-07T12:00Z"), cost(1)).unwrap().open.serial;
    assert_eq!((quota.give_back(first, cost(3)), quota.state().used), (0, 1));
    assert_eq!((quota.give_back(second, cost(3)), quota.state().used), (1, 0));
}

#[test]
fn an_operator_can_reopen_after_one_wrong_reading() {
    let mut quota = quota(5, monthly("UTC", 1));
    quota.take(wall("2026-05-06T12:00Z"), cost(4)).unwrap();
    quota.take(wall("2036-05-06T12:00Z"), cost(1)).unwrap();
    let now = wall("2026-05-06T13:00Z");
    assert!(quota.take(now, cost(4)).unwrap().period_regression);
    assert_eq!(quota.reopen(now, 4).unwrap().serial, 3);
    let after = quota.take(now, cost(1)).unwrap();
    assert_eq!((brief(&after), after.period_regression), (("2026-05".to_owned(), 5, true), false));
}

#[test]
fn a_stored_state_goes_on_and_a_broken_one_does_not_panic() {
    let mut quota = quota(5, monthly("UTC", 31));
    quota.take(wall("2026-03-06T12:00Z"), cost(4)).unwrap();
    let text = serde_json::to_string(quota.state()).unwrap();
    assert!(text.contains("\"2026-02-01\"") && text.contains("\"exact\""), "{text}");
    let state: QuotaState = serde_json::from_str(&text).unwrap();
    assert_eq!(state, *quota.state());
    assert_eq!(postcard::from_bytes::<QuotaState>(&postcard::to_allocvec(&state).unwrap()).unwrap(), state);
    let mut restored = CalendarQuota::restore(quota.spec().clone(), Utc, state);
    assert_eq!(restored.take(wall("2026-03-30T00:00Z"), cost(2)).unwrap().decision.remaining, 1);

    let mut open = state.open.unwrap();
    (open.serial, open.part_of_ms) = (u64::MAX, Some(0));
    for (start, end) in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, 0), (i64::MIN, i64::MIN)] {
        (open.period.start, open.period.end) = (WallMs(start), WallMs(end));
        let broken = QuotaState { open: Some(open), used: u64::MAX };
        let mut quota = CalendarQuota::restore(quota.spec().clone(), Utc, broken);
        for at in [i64::MIN, -1, 0, 1_780_000_000_000, i64::MAX] {
            let _ = quota.take(WallMs(at), Cost::ONE);
            quota.give_back(u64::MAX, Cost::ONE);
        }
    }
}

proptest! {
    /// Whatever the clock does: never over the limit under one serial, serials and ends never go back,
    /// a wait that is obeyed is enough, and no serial opens for the same period of time twice.
    #[test]
    fn a_clock_that_jumps_never_hands_out_a_period_twice(
        steps in prop::collection::vec((-3_000_000_000_i64..4_000_000_000, 0_u64..8), 1..60),
        unit in prop::sample::select(vec![Unit::Day, Unit::Week, Unit::Month, Unit::Year]),
    ) {
        let spec = PeriodSpec::new(unit, "America/Havana").unwrap();
        let mut quota = quota(10, spec);
        let mut taken = std::collections::BTreeMap::new();
        let (mut at, mut last) = (1_600_000_000_000, None::<(u64, WallMs)>);
        for (by, units) in steps {
            at += by;
            let verdict = quota.take(WallMs(at), cost(units)).unwrap();
            if verdict.allowed() {
                *taken.entry(verdict.period().start).or_insert(0) += units;
            } else if let Some(wait) = verdict.decision.refusal.unwrap().retry_after_ms() {
                prop_assert!(quota.clone().take(WallMs(at + wait as i64), cost(units)).unwrap().allowed());
                prop_assert!(!quota.clone().take(WallMs(at + wait as i64 - 1), cost(units)).unwrap().allowed());
            }
            prop_assert_eq!(verdict.period_regression, at < verdict.period().start.0);
            let now = (verdict.open.serial, verdict.period().end);
            prop_assert!(last.is_none_or(|last| last == now || (last < now && last.1 <= verdict.period().start)));
            last = Some(now);
        }
        prop_assert!(taken.values().all(|&units| units <= 10), "{:?}", taken);
    }
}
