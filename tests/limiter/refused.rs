//! What cannot be decided about is an error, and leaves everything as it was.

use std::cell::Cell;

use serde_json::json;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::calendar::{PeriodSpec, Unit, Utc, ZoneOffsets};
use sluicegate::clock::{ElapsedRealtimeMs, SuspendPolicy, TrackerConfig, WallMs};
use sluicegate::quota::QuotaSpec;
use sluicegate::{Cost, Error, QuotaClock, QuotaClockConfig};

use super::{DAY, HOUR, Host, Rig, SECOND, bucket, cost, kinds, with};

fn rig(policy: &str) -> Rig {
    let quota = json!({ "limit": 50, "period": { "unit": "day", "timeZone": "UTC" } });
    let host = Host::at("2026-05-06T12:00Z").with_reader();
    let mut rig = Rig::new(&with(bucket(10, 1.0, policy), "quota", quota), host).unwrap();
    assert!(rig.consume(10).allowed());
    rig
}

#[test]
fn a_refused_reading_changes_nothing_and_later_ones_count_from_the_old_base() {
    type Break = fn(&mut Host);
    let broken: [(&str, Break); 4] = [
        ("monotonic-regression", |host| host.monotonic -= 1),
        ("implausible-wall", |host| host.wall = 0),
        ("implausible-wall", |host| host.wall = 1_577_836_799_999),
        ("reader-regression", |host| {
            host.realtime = Some(0);
            host.step_wall(HOUR);
        }),
    ];
    for (code, harm) in broken {
        let mut rig = rig("credit");
        let (good, before) = (rig.host, rig.snapshot());
        harm(&mut rig.host);
        for _ in 0..3 {
            assert_eq!(rig.try_consume(1).unwrap_err().code(), code);
            assert_eq!(rig.try_peek(1).unwrap_err().code(), code);
            assert!(rig.limiter.refused().is_none());
        }
        assert_eq!(rig.snapshot(), before, "{code}");
        rig.host = good;
        rig.host.advance(4 * SECOND);
        let after = rig.consume(4);
        assert_eq!((after.allowed(), after.tokens_remaining, after.anomalies.len()), (true, 0, 0), "{code}");
    }
}

#[test]
fn a_jump_that_is_refused_is_one_error_takes_nothing_and_opens_nothing() {
    let mut rig = rig("refuse");
    rig.host.realtime = None;
    rig.host.step_wall(2 * DAY);
    let before = rig.snapshot();
    assert_eq!(rig.try_peek(1).unwrap_err().code(), "ambiguous-jump");
    let after = rig.snapshot();
    assert_eq!((&after["bucket"], &after["quota"]), (&before["bucket"], &before["quota"]));
    // Time goes on from the refused readings, and the period by the wall clock as it now is.
    rig.host.advance(SECOND);
    let next = rig.consume(1);
    assert!(next.allowed() && next.anomalies.is_empty(), "{next:?}");
    assert_eq!((next.tokens_remaining, next.quota_remaining), (0, Some(49)));
    assert_eq!((next.period.unwrap().slot.to_string(), next.skipped_periods), ("2026-05-08".to_owned(), 1));
}

#[test]
fn a_reader_that_fails_is_an_error_and_the_next_reading_asks_again() {
    let mut rig = rig("ignore");
    rig.host.suspend(4 * SECOND);
    let before = rig.snapshot();
    let mut failing = || ElapsedRealtimeMs::try_from_f64(f64::NAN);
    let host = Host { realtime: None, ..rig.host };
    let error = host.read(|readings, _| rig.limiter.try_consume(readings, Some(&mut failing), cost(1)));
    assert_eq!((error.unwrap_err().code(), rig.snapshot()), ("non-finite", before));
    let after = rig.consume(0);
    assert_eq!((after.tokens_remaining, kinds(&after.anomalies)), (4, vec!["suspend"]));
    // At construction it is an error, too: it would never say anything.
    let (config, zone) = super::configure(&bucket(1, 1.0, "ignore")).unwrap();
    let made = host.read(|readings, _| QuotaClock::new(config, zone, readings, Some(&mut failing)));
    assert_eq!(made.unwrap_err().code(), "non-finite");
}

#[test]
fn a_cost_that_is_none_is_refused_before_any_clock_is_read() {
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.5, 9_007_199_254_740_992.0] {
        assert_eq!(Cost::try_from_f64(bad).unwrap_err().code(), "invalid-cost");
    }
    let mut rig = rig("ignore");
    let all = rig.consume((1 << 53) - 1);
    assert_eq!(all.refusal.unwrap().name(), "cost-exceeds-capacity");
}

/// UTC, until it breaks; and it counts how often it is asked.
#[derive(Default)]
struct Fragile {
    broken: Cell<bool>,
    asked: Cell<u32>,
}

impl ZoneOffsets for Fragile {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        self.asked.set(self.asked.get() + 1);
        // Any error will do: this is one that can be made here.
        if self.broken.get() { Err(Cost::try_from_f64(f64::NAN).unwrap_err()) } else { Utc.offset_ms(at) }
    }
}

fn fragile(zone: &Fragile, host: Host) -> QuotaClock<&Fragile> {
    let bucket = TokenBucket::new(10, Refill::new(1, 1_000).unwrap()).unwrap();
    let quota = QuotaSpec::new(50, PeriodSpec::new(Unit::Day, "UTC").unwrap()).unwrap();
    let config = QuotaClockConfig::new(bucket, TrackerConfig::new(SuspendPolicy::Ignore)).with_quota(quota);
    host.read(|readings, reader| QuotaClock::new(config, zone, readings, reader)).unwrap()
}

#[test]
fn a_zone_that_fails_drops_the_readings_so_that_nothing_goes_unsaid() {
    let (zone, mut host) = (Fragile::default(), Host::at("2026-05-06T12:00Z"));
    let mut limiter = fragile(&zone, host);
    let mut take = |host: Host, units| host.read(|at, reader| limiter.try_consume(at, reader, cost(units)));
    assert!(take(host, 10).unwrap().allowed());
    zone.broken.set(true);
    host.advance(SECOND);
    assert!(take(host, 1).unwrap().allowed(), "in the open period the zone is not needed");
    host.step_wall(DAY);
    host.advance(SECOND);
    for units in [0, 1, 9, 99] {
        assert!(take(host, units).unwrap_err().is_invalid_cost());
    }
    zone.broken.set(false);
    host.advance(SECOND);
    let after = take(host, 2).unwrap();
    assert_eq!((after.tokens_remaining, after.quota_remaining), (0, Some(48)));
    assert_eq!(kinds(&after.anomalies), ["wall-ahead"]);
}

#[test]
fn a_zone_is_asked_once_for_each_period_whatever_is_decided() {
    let (zone, mut host) = (Fragile::default(), Host::at("2026-05-06T12:00Z"));
    let mut limiter = fragile(&zone, host);
    let mut take = |host: Host, units| host.read(|at, reader| limiter.try_consume(at, reader, cost(units)));
    assert_eq!(zone.asked.get(), 0, "not at construction");
    take(host, 10).unwrap();
    for day in 0..3 {
        assert!(zone.asked.replace(0) > 0, "day {day}");
        for units in [1, 0, 10, 11, 51] {
            take(host, units).unwrap();
        }
        host.step_wall(-DAY);
        take(host, 1).unwrap();
        host.step_wall(DAY);
        assert_eq!(zone.asked.get(), 0, "day {day}");
        // The first request of a day is one that the bucket refuses: it opens the day all the same.
        host.step_wall(DAY);
        take(host, 10).unwrap();
    }
}
