//! Cases worth a name, with their dates.

use std::cell::Cell;

use sluicegate::Error;
use sluicegate::calendar::{BoundaryKind, Period, PeriodSpec, Unit, ZoneOffsets, period_for, periods};
use sluicegate::clock::WallMs;

use super::{daily, monthly, wall, zone};

const HOUR_MS: u64 = 3_600_000;

fn at(spec: &PeriodSpec, time: &str) -> Period {
    period_for(spec, &zone(spec.time_zone()), wall(time)).unwrap()
}

#[test]
fn half_past_two_in_new_york_on_14_march_2021_does_not_exist() {
    let spec = daily("America/New_York", "02:30");
    let (before, day) = (at(&spec, "2021-03-14T06:59:59.999Z"), at(&spec, "2021-03-14T07:00Z"));
    assert_eq!((before.slot.to_string().as_str(), before.end), ("2021-03-13", wall("2021-03-14T07:00Z")));
    assert_eq!((day.slot.to_string().as_str(), day.start_kind), ("2021-03-14", BoundaryKind::Gap));
    assert_eq!([before.length_ms(), day.length_ms()], [HOUR_MS * 47 / 2; 2]);
}

#[test]
fn half_past_one_in_new_york_on_7_november_2021_happens_twice() {
    let spec = daily("America/New_York", "01:30");
    let day = at(&spec, "2021-11-07T05:30Z");
    assert_eq!((day.start, day.start_kind), (wall("2021-11-07T05:30Z"), BoundaryKind::Repeat));
    assert_eq!(day.length_ms(), 25 * HOUR_MS);
    assert_eq!(at(&spec, "2021-11-07T06:30Z"), day, "the second 01:30 opens nothing");
}

#[test]
fn anchor_31_goes_through_february_and_comes_back() {
    let spec = monthly("UTC", 31);
    let row = periods(&spec, &zone("UTC"), wall("2023-01-31T00:00Z"), 5).unwrap();
    let starts: Vec<_> = row.iter().map(|period| (period.slot.to_string(), period.start)).collect();
    let expected = [
        ("2023-01", "2023-01-31T00:00Z"),
        ("2023-02", "2023-02-28T00:00Z"),
        ("2023-03", "2023-03-31T00:00Z"),
        ("2023-04", "2023-04-30T00:00Z"),
        ("2023-05", "2023-05-31T00:00Z"),
    ];
    assert_eq!(starts, expected.map(|(slot, start)| (slot.to_owned(), wall(start))));
}

#[test]
fn the_30th_of_february_is_the_last_of_february_each_year() {
    let spec = PeriodSpec::new(Unit::Year, "UTC").unwrap().with_anchor_month(2).unwrap();
    let spec = spec.with_anchor_day(30).unwrap();
    let starts: Vec<_> =
        periods(&spec, &zone("UTC"), wall("2027-06-01T00:00Z"), 3).unwrap().iter().map(|p| p.start).collect();
    assert_eq!(starts, ["2027-02-28T00:00Z", "2028-02-29T00:00Z", "2029-02-28T00:00Z"].map(wall));
}

#[test]
fn dates_that_begin_twice_are_one_slot() {
    for (name, first, again, slot) in [
        ("America/St_Johns", "2010-11-07T02:30Z", "2010-11-07T02:31Z", "2010-11-07"),
        ("Antarctica/Casey", "2010-03-04T13:00Z", "2010-03-04T15:30Z", "2010-03-05"),
    ] {
        let spec = daily(name, "00:00");
        assert_eq!(at(&spec, first).slot.to_string(), slot);
        assert_eq!(at(&spec, again), at(&spec, first), "{name} shows the day before again");
    }
}

#[test]
fn a_dropped_date_is_an_empty_slot_and_is_never_returned() {
    let spec = daily("Pacific/Apia", "00:00");
    let row = periods(&spec, &zone("Pacific/Apia"), wall("2011-12-30T09:59:59.999Z"), 2).unwrap();
    assert_eq!(row.iter().map(|p| p.slot.to_string()).collect::<Vec<_>>(), ["2011-12-29", "2011-12-31"]);
    assert_eq!((row[0].end_kind, row[1].start_kind), (BoundaryKind::Gap, BoundaryKind::Exact));
    assert_eq!(row[0].end, row[1].start);
}

#[test]
fn short_shifts_and_seconds_in_offsets() {
    // 20 minutes forward at midnight, from 07:00 to 07:20 ahead.
    let singapore = at(&daily("Asia/Singapore", "00:00"), "1933-01-01T00:00Z");
    assert_eq!(singapore.start_kind, BoundaryKind::Gap);
    let monrovia = at(&daily("Africa/Monrovia", "00:00"), "1972-01-07T00:44:30Z");
    assert_eq!((monrovia.start, monrovia.start_kind), (wall("1972-01-07T00:44:30Z"), BoundaryKind::Gap));
    let toronto = at(&daily("America/Toronto", "00:00"), "1919-03-31T04:30Z");
    assert_eq!((toronto.start, toronto.start_kind), (wall("1919-03-31T04:30Z"), BoundaryKind::Gap));
    for name in ["America/Noronha", "America/Boa_Vista"] {
        // Summer time for one week, in October 2000.
        let spec = daily(name, "00:00");
        let week = periods(&spec, &zone(name), wall("2000-10-07T12:00Z"), 10).unwrap();
        let hours: Vec<_> = week.iter().map(|day| day.length_ms() / HOUR_MS).collect();
        assert_eq!(hours, [24, 23, 24, 24, 24, 24, 24, 25, 24, 24], "{name}");
    }
}

/// Counts the questions asked of a zone.
pub struct Counting<Z> {
    pub zone: Z,
    pub asked: Cell<u32>,
}

impl<Z> Counting<Z> {
    pub fn new(zone: Z) -> Self {
        Self { zone, asked: Cell::new(0) }
    }
}

impl<Z: ZoneOffsets> ZoneOffsets for Counting<Z> {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        self.asked.set(self.asked.get() + 1);
        self.zone.offset_ms(at)
    }
}

#[test]
fn a_period_costs_few_questions_wherever_it_is() {
    for (time, most) in [
        ("0001-01-01T00:00Z", 16),
        ("1900-06-15T00:00Z", 16),
        ("2026-07-15T12:00Z", 16),
        ("9999-12-31T23:59:59.999Z", 16),
        ("2021-03-14T06:59:59.999Z", 64), // before and in a gap, found to the millisecond
    ] {
        for spec in [daily("America/New_York", "02:30"), monthly("America/New_York", 14)] {
            let zone = Counting::new(zone("America/New_York"));
            period_for(&spec, &zone, wall_or_end(time)).unwrap();
            assert!(zone.asked.get() <= most, "{} questions at {time}", zone.asked.get());
        }
    }
}

/// Past what `jiff` calls a timestamp, for the last day of 9999.
fn wall_or_end(text: &str) -> WallMs {
    if text.starts_with("9999-12-31") { sluicegate::calendar::LATEST_WALL } else { wall(text) }
}

#[test]
fn a_zone_that_breaks_its_promise_is_an_error_and_not_a_wrong_period() {
    struct Far;
    impl ZoneOffsets for Far {
        fn offset_ms(&self, _: WallMs) -> Result<i64, Error> {
            Ok(i64::MAX)
        }
    }
    /// Another offset each hour.
    struct Restless;
    impl ZoneOffsets for Restless {
        fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
            Ok(at.0.div_euclid(3_600_000).rem_euclid(23) * 3_600_000 - 36_000_000)
        }
    }
    let spec = daily("UTC", "00:00");
    assert_eq!(period_for(&spec, &Far, WallMs(0)).unwrap_err().code(), "invalid-spec");
    for hour in 0..1_000 {
        let at = WallMs(hour * 3_600_000);
        if let Ok(period) = period_for(&spec, &Restless, at) {
            assert!(period.contains(at));
        }
    }
}
