//! What holds for every zone, specification and instant.

use proptest::prelude::*;
use sluicegate::calendar::{
    EARLIEST_WALL, LATEST_WALL, LocalMs, PeriodSpec, Unit, Utc, boundary, period_for, periods,
};
use sluicegate::clock::WallMs;

use super::differential::{any_case, any_instant, any_name, spec_of};
use super::{wall, zone};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_period_holds_its_instant_and_is_found_from_either_end((name, plan, time, at) in any_case()) {
        let (spec, zone) = (spec_of(plan, &name, time), zone(&name));
        let period = period_for(&spec, &zone, at).unwrap();
        prop_assert!(period.contains(at) && period.start < period.end);
        prop_assert_eq!(period_for(&spec, &zone, period.start).unwrap(), period);
        prop_assert_eq!(period_for(&spec, &zone, WallMs(period.end.0 - 1)).unwrap(), period);
        let before = period_for(&spec, &zone, WallMs(period.start.0 - 1)).unwrap();
        prop_assert_eq!(before.end, period.start);
        prop_assert_ne!(before.slot, period.slot);
    }

    #[test]
    fn later_instants_have_later_periods((name, plan, time, at) in any_case(), by in 0_i64..40_000_000_000) {
        let (spec, zone) = (spec_of(plan, &name, time), zone(&name));
        let (one, other) = (
            period_for(&spec, &zone, at).unwrap(),
            period_for(&spec, &zone, WallMs(at.0 + by)).unwrap(),
        );
        prop_assert!(one == other || one.end <= other.start);
    }

    #[test]
    fn later_local_times_begin_later((name, local, by) in any_name().prop_flat_map(|name| {
        (any_instant(&name), Just(name), 0_i64..200_000_000).prop_map(|(at, name, by)| (name, at.0, by))
    })) {
        let zone = zone(&name);
        let one = boundary(&zone, LocalMs(local)).unwrap();
        let other = boundary(&zone, LocalMs(local + by)).unwrap();
        prop_assert!(one.at <= other.at);
    }

    #[test]
    fn lengths_add_up((name, plan, time, at) in any_case()) {
        let (spec, zone) = (spec_of(plan, &name, time), zone(&name));
        let row = periods(&spec, &zone, at, 8).unwrap();
        let sum: u64 = row.iter().map(|period| period.length_ms()).sum();
        prop_assert_eq!(sum, row[7].end.0.abs_diff(row[0].start.0));
        prop_assert!(row.windows(2).all(|pair| pair[0].end == pair[1].start));
    }

    /// No reading, however odd, panics or takes long; those of the years 1 to 9999 have a period.
    #[test]
    fn any_reading_has_an_answer(at in any::<i64>(), small in -90_000_000_000_000_i64..300_000_000_000_000,
                                 (name, plan, time, _) in any_case()) {
        let (spec, zone) = (spec_of(plan, &name, time), zone(&name));
        for at in [at, small].map(WallMs) {
            let inside = EARLIEST_WALL <= at && at <= LATEST_WALL;
            let found = period_for(&spec, &zone, at);
            prop_assert_eq!(found.is_ok(), inside, "{:?}", found);
            let _ = boundary(&zone, LocalMs(at.0)).unwrap();
        }
    }
}

/// Anchor 31 stays 31 through 4,800 months with a short one in every other, and so does each anchor day.
#[test]
fn anchors_do_not_drift_in_400_years() {
    for (day, unit) in [29, 30, 31].into_iter().flat_map(|day| [(day, Unit::Month), (day, Unit::Year)]) {
        let mut spec = PeriodSpec::new(unit, "UTC").unwrap().with_anchor_day(day).unwrap();
        if unit == Unit::Year {
            spec = spec.with_anchor_month(2).unwrap();
        }
        let count = if unit == Unit::Month { 4_800 } else { 400 };
        let row = periods(&spec, &Utc, wall("2000-03-31T00:00Z"), count).unwrap();
        for period in &row {
            let start = jiff::Timestamp::from_millisecond(period.start.0).unwrap();
            let date = jiff::tz::TimeZone::UTC.to_datetime(start).date();
            assert_eq!(date.day(), (day as i8).min(date.days_in_month()), "{spec:?} {date}");
            assert!(date.to_string().starts_with(&period.slot.to_string()), "{spec:?} {date}");
        }
        // 400 years of the calendar are a whole number of weeks and days, the same always.
        assert_eq!(row.last().unwrap().end.0 - row[0].start.0, 146_097 * 86_400_000);
    }
}

#[test]
fn the_ends_of_time_are_refused_by_name() {
    let spec = PeriodSpec::new(Unit::Year, "Pacific/Kiritimati").unwrap();
    let zone = zone("Pacific/Kiritimati");
    for at in [i64::MIN, EARLIEST_WALL.0 - 1, LATEST_WALL.0 + 1, i64::MAX] {
        let error = period_for(&spec, &zone, WallMs(at)).unwrap_err();
        assert_eq!(error.code(), "implausible-wall");
        assert!(error.detail().contains("years 1 to 9999"), "{error}");
    }
    let slot_at = |at| period_for(&spec, &zone, at).unwrap().slot.to_string();
    assert_eq!(slot_at(EARLIEST_WALL), "0000"); // 10 hours behind UTC in those days
    assert_eq!(slot_at(LATEST_WALL), "10000"); // 14 hours ahead
    assert_eq!(slot_at(wall("0001-07-01T00:00Z")), "0001");
    assert_eq!(periods(&spec, &zone, LATEST_WALL, 2).unwrap_err().code(), "implausible-wall");
}
