//! What is stored, and what is made of it.

use serde_json::{Value, json};
use sluicegate::QuotaClockSnapshot;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::calendar::Utc;
use sluicegate::clock::{MonotonicMs, Readings, SuspendPolicy, TrackerConfig, WallMs};
use sluicegate::{Cost, QuotaClock, QuotaClockConfig};

use super::{DAY, HOUR, Host, Rig, SECOND, brief, bucket, kinds, quota, said, with};

fn monthly(limit: u64) -> Value {
    quota(limit, json!({ "unit": "month", "timeZone": "UTC" }))
}

/// Version 1 as it was first written. A change that breaks this test needs another version, and a reader
/// for this one.
fn version_1() -> Value {
    json!({
        "version": 1,
        "bucket": { "tokens": 7, "part": "1", "parts": "5" },
        "quota": {
            "open": {
                "serial": 1,
                "period": {
                    "slot": { "unit": "month", "date": "2026-05-01" },
                    "start": 1_777_593_600_000_i64,
                    "end": 1_780_272_000_000_i64,
                    "start_kind": "exact",
                    "end_kind": "exact",
                },
                "part_of_ms": null,
            },
            "used": 3,
        },
        "marks": { "monotonic_ms": 10_000_001, "wall_ms": 1_778_068_800_001_i64 },
    })
}

#[test]
fn the_form_of_version_1_is_what_it_was() {
    let options = with(bucket(10, 200.0, "ignore"), "quota", monthly(20)["quota"].clone());
    let mut rig = Rig::new(&options, Host::at("2026-05-06T12:00Z")).unwrap();
    rig.consume(3);
    rig.host.advance(1);
    rig.consume(8);
    assert_eq!(rig.snapshot(), version_1());

    let read = QuotaClockSnapshot::from_json(&version_1()).unwrap();
    assert_eq!(read, rig.limiter.snapshot());
    assert_eq!(serde_json::from_value::<QuotaClockSnapshot>(version_1()).unwrap(), read);
    let last = Readings { monotonic: MonotonicMs(10_000_001), wall: WallMs(rig.host.wall) };
    assert_eq!(read.last_readings(), Some(last));
    let restored = Rig::restore(&version_1(), &options, rig.host).unwrap();
    assert_eq!(restored.snapshot(), version_1());
}

#[test]
fn a_damaged_snapshot_is_refused_with_the_path_of_the_damage() {
    let faults = [
        ("/version", json!(2), "snapshot.version"),
        ("/version", json!("1"), "snapshot.version"),
        ("/bucket", json!(null), "snapshot.bucket"),
        ("/bucket/tokens", json!(-1), "snapshot.bucket.tokens"),
        ("/bucket/tokens", json!(1_u64 << 53), "snapshot.bucket"),
        ("/bucket/part", json!("5"), "snapshot.bucket"),
        ("/bucket/part", json!("x"), "snapshot.bucket"),
        ("/bucket/part", json!(1), "snapshot.bucket.part"),
        ("/bucket/parts", json!("0"), "snapshot.bucket"),
        ("/quota/used", json!(1_u64 << 53), "snapshot.quota.used"),
        ("/quota/used", json!(0.5), "snapshot.quota.used"),
        ("/quota/open", json!(null), "snapshot.quota.used"),
        ("/quota/open/serial", json!(0), "snapshot.quota.open.serial"),
        ("/quota/open/period/slot/date", json!("2026-05-32"), "snapshot.quota.open.period.slot.date"),
        ("/quota/open/period/start", json!(1_780_272_000_000_i64), "snapshot.quota.open.period.end"),
        ("/quota/open/period/start", json!(i64::MIN), "snapshot.quota.open.period.start"),
        ("/quota/open/period/end", json!(i64::MAX), "snapshot.quota.open.period.end"),
        ("/quota/open/period/end_kind", json!("late"), "snapshot.quota.open.period.end_kind"),
        ("/quota/open/part_of_ms", json!(1), "snapshot.quota.open.part_of_ms"),
        ("/marks", json!(7), "snapshot.marks"),
    ];
    for (place, value, path) in faults {
        let mut damaged = version_1();
        *damaged.pointer_mut(place).unwrap() = value.clone();
        let error = QuotaClockSnapshot::from_json(&damaged).unwrap_err();
        assert_eq!((error.code(), error.path()), ("invalid-spec", Some(path)), "{place} = {value}: {error}");
        assert!(serde_json::from_value::<QuotaClockSnapshot>(damaged).is_err());
    }
    for (whole, path) in [
        (json!(null), "snapshot.version"),
        (json!([1]), "snapshot.version"),
        (json!({ "version": 1 }), "snapshot"),
        (with(version_1(), "more", json!(1)), "snapshot.more"),
    ] {
        let error = QuotaClockSnapshot::from_json(&whole).unwrap_err();
        assert_eq!((error.code(), error.path()), ("invalid-spec", Some(path)), "{whole}: {error}");
    }
    let newer = QuotaClockSnapshot::from_json(&json!({ "version": 7 })).unwrap_err();
    assert_eq!(newer.to_string(), "snapshot.version: is 7; this build reads version 1");
}

#[test]
fn every_number_in_it_is_one_that_javascript_holds() {
    // A third of a token a second needs 64 bits for its fractions.
    let bucket = TokenBucket::new((1 << 53) - 1, Refill::per_second_f64(1.0 / 3.0).unwrap()).unwrap();
    let config = QuotaClockConfig::new(bucket, TrackerConfig::new(SuspendPolicy::Ignore));
    let odd = Readings { monotonic: MonotonicMs(i64::MIN), wall: WallMs(i64::MAX) };
    let mut limiter = QuotaClock::new(config.clone(), Utc, odd, None).unwrap();
    limiter.try_consume(odd, None, Cost::new(10).unwrap()).unwrap();
    let later = Readings { monotonic: MonotonicMs(i64::MIN + 1), ..odd };
    limiter.try_consume(later, None, Cost::ONE).unwrap();
    let text = serde_json::to_string(&limiter.snapshot()).unwrap();
    assert!(text.contains("\"10000000000000000000\"") && text.contains("\"marks\":null"), "{text}");
    // As JavaScript would read and write it: each number by way of a float.
    fn through_floats(value: &mut Value) {
        match value {
            Value::Number(number) => {
                let float = number.as_f64().unwrap();
                assert!(float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0);
                *value = json!(float as i64);
            }
            Value::Object(fields) => fields.values_mut().for_each(through_floats),
            _ => {}
        }
    }
    let mut read = serde_json::from_str(&text).unwrap();
    through_floats(&mut read);
    let snapshot = QuotaClockSnapshot::from_json(&read).unwrap();
    assert_eq!((snapshot.last_readings(), &snapshot), (None, &limiter.snapshot()));
}

#[test]
fn time_that_nothing_measured_is_not_credited_and_a_new_monotonic_clock_is_no_regression() {
    for host in [Host::at("2026-05-06T12:00Z"), Host::at("2026-05-06T12:00Z").with_reader()] {
        let options = bucket(10, 1.0, "credit");
        let mut rig = Rig::new(&options, host).unwrap();
        rig.consume(10);
        rig.host.advance(SECOND);
        let stored = rig.snapshot();
        let mut later = Host { monotonic: 3, realtime: host.realtime.map(|_| 9), ..rig.host };
        later.step_wall(8 * HOUR);
        let mut again = Rig::restore(&stored, &options, later).unwrap();
        assert_eq!((again.peek().tokens_remaining, again.peek().anomalies.len()), (0, 0));
        again.host.advance(4 * SECOND);
        assert_eq!(again.peek().tokens_remaining, 4);
        // A second restore is a limiter of its own, and takes nothing from the first.
        let mut twin = Rig::restore(&stored, &options, later).unwrap();
        twin.host.advance(2 * SECOND);
        assert_eq!((twin.consume(2).tokens_remaining, again.consume(4).tokens_remaining), (0, 0));
        assert_eq!(rig.snapshot(), stored, "nothing is changed by being looked at");
    }
}

#[test]
fn on_an_earlier_date_the_period_is_held() {
    let mut rig = Rig::new(&monthly(10), Host::at("2026-04-01T00:00:10Z")).unwrap();
    rig.consume(7);
    let mut earlier = Rig::restore(&rig.snapshot(), &monthly(10), Host::at("2026-03-31T23:59Z")).unwrap();
    let held = earlier.consume(3);
    assert_eq!((brief(&held), kinds(&held.anomalies)), (said("2026-04", 0, true), vec!["period-regression"]));
    assert!(!earlier.consume(1).allowed());
    // Even on one that has no date yet, once it has.
    let mut booted = Rig::restore(&rig.snapshot(), &monthly(10), Host::at("1970-01-01T00:00Z")).unwrap();
    assert_eq!(booted.try_consume(1).unwrap_err().code(), "implausible-wall");
    booted.host.wall = rig.host.wall;
    assert_eq!(brief(&booted.consume(4)), said("2026-04", 3, false));
}

#[test]
fn a_smaller_bucket_spills_and_a_larger_one_begins_with_what_there_was() {
    let mut rig = Rig::new(&bucket(100, 1.0, "ignore"), Host::at("2026-05-06T12:00Z")).unwrap();
    rig.consume(20);
    let resize = |stored: &Value, capacity| {
        let mut rig = Rig::restore(stored, &bucket(capacity, 1.0, "ignore"), Host::at("2026-05-06T12:00Z"));
        let rig = rig.as_mut().unwrap();
        (rig.snapshot(), rig.peek().tokens_remaining)
    };
    let (small, tokens) = resize(&rig.snapshot(), 30);
    assert_eq!((tokens, resize(&small, 100).1), (30, 30), "what was spilled does not come back");
    assert_eq!(resize(&rig.snapshot(), 1_000).1, 80);
    // A bucket that was never used is full, not full whatever its size.
    let fresh = Rig::new(&bucket(5, 1.0, "ignore"), Host::at("2026-05-06T12:00Z")).unwrap().snapshot();
    assert_eq!(resize(&fresh, 10).1, 5);
}

#[test]
fn another_quota_is_a_change_of_settings_never_a_second_allowance() {
    let mut rig = Rig::new(&monthly(100), Host::at("2026-08-10T00:00Z")).unwrap();
    rig.consume(80);
    let restore =
        |stored: &Value, options: &Value| Rig::restore(stored, options, Host::at("2026-08-10T00:01Z"));
    let mut lowered = restore(&rig.snapshot(), &monthly(50)).unwrap();
    assert_eq!(brief(&lowered.consume(1)), said("2026-08", 0, false));
    let mut raised = restore(&lowered.snapshot(), &monthly(120)).unwrap();
    assert_eq!(brief(&raised.consume(40)), said("2026-08", 0, true));
    // Another unit: the open month keeps its end.
    let daily = quota(100, json!({ "unit": "day", "timeZone": "Asia/Tokyo" }));
    let mut day = restore(&rig.snapshot(), &daily).unwrap();
    assert_eq!(brief(&day.consume(21)), said("2026-08", 20, false));
    // Taken out, and put back: the month is the same month.
    let mut without = restore(&rig.snapshot(), &bucket(1_000, 1.0, "ignore")).unwrap();
    let free = without.consume(500);
    assert_eq!((free.allowed(), free.quota_remaining, free.period), (true, None, None));
    let mut back = restore(&without.snapshot(), &monthly(100)).unwrap();
    assert_eq!(brief(&back.consume(21)), said("2026-08", 20, false));
    back.host.advance(30 * DAY);
    assert_eq!(brief(&back.consume(100)), said("2026-09", 0, true));
}
