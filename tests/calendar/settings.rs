//! Changes of settings while a period is open.

use proptest::prelude::*;
use sluicegate::calendar::{PeriodSpec, Unit, ZoneOffsets, period_for};
use sluicegate::clock::WallMs;
use sluicegate::quota::{CalendarQuota, QuotaSpec, QuotaVerdict};
use sluicegate::{Cost, Error, Refusal};

use super::quota::{brief, cost, quota};
use super::{daily, monthly, wall, zone};

fn change(quota: &mut CalendarQuota<sluicegate::calendar::JiffZone>, limit: u64, spec: PeriodSpec) {
    let zone = zone(spec.time_zone());
    quota.change(QuotaSpec::new(limit, spec).unwrap(), zone);
}

fn bounds(verdict: &QuotaVerdict) -> (WallMs, WallMs) {
    (verdict.period().start, verdict.period().end)
}

#[test]
fn another_limit_counts_at_once_and_what_is_used_stays() {
    let mut quota = quota(100, monthly("UTC", 1));
    let now = wall("2026-08-10T00:00Z");
    quota.take(now, cost(80)).unwrap();
    change(&mut quota, 50, monthly("UTC", 1));
    let lowered = quota.take(now, cost(1)).unwrap();
    assert_eq!((lowered.decision.remaining, lowered.decision.limit, lowered.used), (0, 50, 80));
    assert!(!lowered.allowed() && quota.take(now, Cost::ZERO).unwrap().allowed());
    change(&mut quota, 120, monthly("UTC", 1));
    assert_eq!(brief(&quota.take(now, cost(40)).unwrap()), ("2026-08".to_owned(), 120, true));
    assert!(!quota.take(now, Cost::ONE).unwrap().allowed());
}

#[test]
fn another_anchor_counts_from_the_end_of_the_open_period_with_a_part_first() {
    let mut quota = quota(100, monthly("UTC", 1));
    quota.take(wall("2026-03-10T00:00Z"), cost(100)).unwrap();
    change(&mut quota, 100, monthly("UTC", 15));
    let march = quota.take(wall("2026-03-31T23:59:59.999Z"), cost(1)).unwrap();
    assert_eq!((brief(&march), march.open.is_part()), (("2026-03".to_owned(), 100, false), false));

    // 1 to 15 April are 14 of the 31 days from 15 March on.
    let part = quota.take(wall("2026-04-01T00:00Z"), cost(45)).unwrap();
    assert_eq!(bounds(&part), (wall("2026-04-01T00:00Z"), wall("2026-04-15T00:00Z")));
    assert_eq!((brief(&part), part.decision.limit), (("2026-03".to_owned(), 45, true), 45));
    assert!(part.open.is_part() && part.open.serial == 2 && part.skipped_periods == 0);
    let full = quota.take(wall("2026-04-02T00:00Z"), cost(60)).unwrap();
    let until_15 = wall("2026-04-15T00:00Z").0.abs_diff(wall("2026-04-02T00:00Z").0);
    assert_eq!(full.decision.refusal.unwrap().retry_after_ms(), Some(until_15), "fits into the period after");
    assert_eq!(
        quota.look(wall("2026-04-02T00:00Z"), cost(101)).unwrap().decision.refusal,
        Some(Refusal::CostExceedsLimit)
    );

    let whole = quota.take(wall("2026-04-15T00:00Z"), cost(60)).unwrap();
    assert_eq!((brief(&whole), whole.open.is_part()), (("2026-04".to_owned(), 60, true), false));
}

#[test]
fn where_the_grids_meet_there_is_no_part() {
    let mut quota = quota(31, monthly("UTC", 1));
    quota.take(wall("2026-03-10T00:00Z"), cost(1)).unwrap();
    change(&mut quota, 31, daily("UTC", "00:00"));
    let day = quota.take(wall("2026-04-01T00:00Z"), cost(31)).unwrap();
    assert_eq!((brief(&day), day.open.is_part()), (("2026-04-01".to_owned(), 31, true), false));
    change(&mut quota, 31, monthly("UTC", 1));
    let rest = quota.take(wall("2026-04-02T00:00Z"), cost(29)).unwrap();
    assert_eq!((brief(&rest), rest.decision.limit), (("2026-04".to_owned(), 29, true), 29));
}

#[test]
fn a_change_of_zone_in_mid_day_gives_no_second_allowance() {
    let mut quota = quota(10, daily("Pacific/Kiritimati", "00:00"));
    let now = wall("2026-08-21T16:00Z");
    assert_eq!(brief(&quota.take(now, cost(10)).unwrap()), ("2026-08-22".to_owned(), 10, true));
    change(&mut quota, 10, daily("Pacific/Pago_Pago", "00:00"));
    assert!(!quota.take(WallMs(now.0 + 1_800_000), Cost::ONE).unwrap().allowed());
    // Kiritimati's day ends at 10:00Z, Pago Pago's at 11:00Z: an hour of 24 comes first.
    let hour = quota.take(wall("2026-08-22T10:00Z"), Cost::ONE).unwrap();
    assert_eq!(bounds(&hour), (wall("2026-08-22T10:00Z"), wall("2026-08-22T11:00Z")));
    assert_eq!((hour.decision.limit, hour.allowed()), (0, false));
    assert_eq!(hour.decision.refusal.unwrap().retry_after_ms(), Some(3_600_000));
    assert!(quota.take(wall("2026-08-22T11:00Z"), cost(10)).unwrap().allowed());
}

#[test]
fn back_and_forth_in_one_period_changes_nothing() {
    let mut quota = quota(10, monthly("UTC", 1));
    let now = wall("2026-03-10T00:00Z");
    let open = quota.take(now, cost(10)).unwrap().open;
    for spec in [daily("UTC", "00:00"), monthly("UTC", 10), monthly("Asia/Tokyo", 1), monthly("UTC", 1)] {
        change(&mut quota, 10, spec);
        let verdict = quota.take(now, Cost::ONE).unwrap();
        assert!(!verdict.allowed() && verdict.open == open);
    }
    let april = quota.take(wall("2026-04-01T00:00Z"), cost(10)).unwrap();
    assert!(april.allowed() && !april.open.is_part());
}

#[test]
fn new_rules_of_a_zone_do_not_open_a_month_twice() {
    /// UTC, with another offset as of a release of the zone's data.
    struct Released(i64);
    impl ZoneOffsets for Released {
        fn offset_ms(&self, _: WallMs) -> Result<i64, Error> {
            Ok(self.0)
        }
    }
    for later_ms in [3_600_000, -3_600_000] {
        let spec = QuotaSpec::new(7_440, monthly("UTC", 1)).unwrap();
        let mut quota = CalendarQuota::new(spec.clone(), Released(later_ms));
        let end = quota.take(wall("2026-03-10T00:00Z"), cost(7_440)).unwrap().period().end;
        quota.change(spec, Released(0));
        let next = quota.take(end, Cost::ONE).unwrap();
        assert!(next.open.is_part() && next.period().start == end);
        // March has an hour left by the new rules, or April has an hour less.
        let expected = if later_ms > 0 { ("2026-03", 10) } else { ("2026-04", 7_440 * 719 / 720) };
        assert_eq!((next.period().slot.to_string().as_str(), next.decision.limit), expected);
    }
}

fn any_spec() -> impl Strategy<Value = PeriodSpec> {
    let zones = ["UTC", "Pacific/Apia", "America/Havana", "Antarctica/Casey", "Asia/Kathmandu"];
    let spec = (prop::sample::select(zones.to_vec()), 0_u8..4, 1_u8..=28, 0_u8..24);
    spec.prop_map(|(zone, unit, day, hour)| {
        let spec = match unit {
            0 => PeriodSpec::new(Unit::Day, zone),
            1 => PeriodSpec::new(Unit::Week, zone).and_then(|spec| spec.with_anchor_weekday(day % 7 + 1)),
            2 => PeriodSpec::new(Unit::Month, zone).and_then(|spec| spec.with_anchor_day(day)),
            _ => PeriodSpec::new(Unit::Year, zone).and_then(|spec| spec.with_anchor_month(day % 12 + 1)),
        };
        spec.unwrap().with_anchor_time(&format!("{hour:02}:30")).unwrap()
    })
}

proptest! {
    /// Through any changes: open periods follow one another, are never empty, end on a boundary of the
    /// grid they were opened under, and a part has its part of the limit.
    #[test]
    fn changes_never_open_a_period_twice_or_an_empty_one(
        steps in prop::collection::vec((any_spec(), 0_i64..3_000_000_000), 2..12),
    ) {
        let mut quota = quota(1_000, steps[0].0.clone());
        let (mut at, mut last_end) = (1_325_000_000_000, None);
        for (spec, by) in steps {
            let zone = zone(spec.time_zone());
            change(&mut quota, 1_000, spec.clone());
            at += by;
            let before = *quota.state();
            let verdict = quota.take(WallMs(at), Cost::ZERO).unwrap();
            let period = verdict.period();
            prop_assert!(period.contains(WallMs(at)));
            if before.open.is_some_and(|open| open == verdict.open) {
                continue;
            }
            let whole = period_for(&spec, &zone, WallMs(at)).unwrap();
            let expected_start = whole.start.max(last_end.unwrap_or(whole.start));
            prop_assert_eq!((period.start, period.end), (expected_start, whole.end));
            let share = u128::from(period.length_ms()) * 1_000 / u128::from(whole.length_ms());
            prop_assert_eq!(u128::from(verdict.decision.limit), share);
            prop_assert_eq!(verdict.open.is_part(), *period != whole);
            last_end = Some(period.end);
        }
    }
}
