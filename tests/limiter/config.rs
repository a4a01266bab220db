//! Options as they are written down, right and wrong.

use serde_json::{Value, json};
use sluicegate::QuotaClockConfig;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::calendar::{Naming, PeriodSpec, Unit};
use sluicegate::clock::{EARLIEST_PLAUSIBLE_WALL, SuspendPolicy, Tolerance, TrackerConfig, WallMs};
use sluicegate::quota::QuotaSpec;

use super::{bucket, with};

fn built() -> QuotaClockConfig {
    let bucket = TokenBucket::new(20, Refill::new(1, 2_000).unwrap()).unwrap();
    let tracker = TrackerConfig {
        tolerance: Tolerance { fixed_ms: 100, ppm: 500 },
        earliest_plausible_wall: Some(WallMs(1_600_000_000_000)),
        ..TrackerConfig::new(SuspendPolicy::Credit)
    };
    let quota = QuotaSpec::new(9, PeriodSpec::new(Unit::Month, "Europe/Paris").unwrap()).unwrap();
    QuotaClockConfig::new(bucket, tracker).with_quota(quota).with_initial_tokens(7).unwrap()
}

#[test]
fn both_spellings_are_read_and_only_their_own() {
    let camel = json!({
        "capacity": 20.0, "refillPerSecond": 0.5, "initialTokens": 7, "suspendPolicy": "credit",
        "tolerance": { "fixedMs": 100 }, "earliestPlausibleWallMs": 1.6e12,
        "quota": { "limit": 9, "period": { "unit": "month", "timeZone": "Europe/Paris" } },
    });
    let snake = json!({
        "capacity": 20, "refill_per_second": 0.5, "initial_tokens": 7, "suspend_policy": "credit",
        "tolerance": { "fixed_ms": 100, "ppm": null }, "earliest_plausible_wall_ms": 1_600_000_000_000_i64,
        "quota": { "limit": 9, "period": { "unit": "month", "time_zone": "Europe/Paris" } },
    });
    assert_eq!(QuotaClockConfig::from_json(&camel, Naming::Camel).unwrap(), built());
    assert_eq!(QuotaClockConfig::from_json(&snake, Naming::Snake).unwrap(), built());
    assert!(QuotaClockConfig::from_json(&camel, Naming::Snake).is_err());
    assert!(QuotaClockConfig::from_json(&snake, Naming::Camel).is_err());
}

#[test]
fn what_is_left_out_has_its_usual_value_and_null_turns_the_floor_off() {
    let read = |options: &Value| QuotaClockConfig::from_json(options, Naming::Camel).unwrap();
    let plain = read(&bucket(20, 5.0, "ignore"));
    assert_eq!((plain.initial_tokens(), plain.quota()), (20, None));
    assert_eq!(*plain.tracker(), TrackerConfig::new(SuspendPolicy::Ignore));
    let null = ["initialTokens", "tolerance", "quota"]
        .into_iter()
        .fold(bucket(20, 5.0, "ignore"), |options, field| with(options, field, json!(null)));
    assert_eq!(read(&null), plain);
    let off = read(&with(bucket(20, 5.0, "ignore"), "earliestPlausibleWallMs", json!(null)));
    assert_eq!(off.tracker().earliest_plausible_wall, None);
    assert_eq!(plain.tracker().earliest_plausible_wall, Some(EARLIEST_PLAUSIBLE_WALL));
}

#[test]
fn what_is_wrong_is_named_by_its_path() {
    let quota = |field: &str, value: Value| json!({ "limit": 5, "period": with(json!({ "unit": "month", "timeZone": "UTC" }), field, value) });
    let faults = [
        ("capacity", json!(-1), "capacity"),
        ("capacity", json!(1.5), "capacity"),
        ("capacity", json!("NaN"), "capacity"),
        ("capacity", json!(1_u64 << 53), "capacity"),
        ("capacity", json!(null), "capacity"),
        ("refillPerSecond", json!(-5), "refillPerSecond"),
        ("refillPerSecond", json!("Infinity"), "refillPerSecond"),
        ("initialTokens", json!(11), "initialTokens"),
        ("initialTokens", json!(-3), "initialTokens"),
        ("suspendPolicy", json!("maybe"), "suspendPolicy"),
        ("suspendPolicy", json!(null), "suspendPolicy"),
        ("tolerance", json!({ "fixedMs": -1 }), "tolerance.fixedMs"),
        ("tolerance", json!({ "ppm": 4_294_967_296_u64 }), "tolerance.ppm"),
        ("tolerance", json!({ "fixed": 1 }), "tolerance.fixed"),
        ("tolerance", json!(250), "tolerance"),
        ("earliestPlausibleWallMs", json!("2020"), "earliestPlausibleWallMs"),
        ("quota", json!(10), "quota"),
        ("quota", json!({ "limit": 1.7, "period": {} }), "quota.limit"),
        ("quota", quota("unit", json!("minute")), "quota.period.unit"),
        ("quota", quota("timeZone", json!("+05:30")), "quota.period.timeZone"),
        ("quota", quota("anchorDay", json!(32)), "quota.period.anchorDay"),
        ("refilPerSecond", json!(1), "refilPerSecond"),
    ];
    for (field, value, path) in faults {
        let options = with(bucket(10, 1.0, "ignore"), field, value);
        let error = QuotaClockConfig::from_json(&options, Naming::Camel).unwrap_err();
        assert_eq!((error.code(), error.path()), ("invalid-spec", Some(path)), "{options}: {error}");
    }
    for field in ["capacity", "refillPerSecond", "suspendPolicy"] {
        let mut options = bucket(10, 1.0, "ignore");
        options.as_object_mut().unwrap().remove(field);
        let error = QuotaClockConfig::from_json(&options, Naming::Camel).unwrap_err();
        assert_eq!((error.code(), error.path()), ("invalid-spec", Some(field)));
    }
    assert!(QuotaClockConfig::from_json(&json!(null), Naming::Camel).unwrap_err().is_invalid_spec());
    assert_eq!(built().with_initial_tokens(21).unwrap_err().path(), Some("initialTokens"));
}

#[test]
fn a_tracker_alone_is_read_the_same_way() {
    let written = json!({ "suspendPolicy": "refuse", "tolerance": { "ppm": 83_334 } });
    let config = TrackerConfig::from_json(&written, Naming::Camel).unwrap();
    let tolerance = Tolerance { fixed_ms: 250, ppm: 83_334 };
    assert_eq!(config, TrackerConfig { tolerance, ..TrackerConfig::new(SuspendPolicy::Refuse) });
    let error = TrackerConfig::from_json(&bucket(1, 1.0, "refuse"), Naming::Camel).unwrap_err();
    assert!(error.path().is_some_and(|path| path == "capacity" || path == "refillPerSecond"), "{error}");
    assert_eq!(
        TrackerConfig::from_json(&json!({}), Naming::Snake).unwrap_err().path(),
        Some("suspend_policy")
    );
}
