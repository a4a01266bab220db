//! Specifications: what is read, what is refused, and by which name.

use serde_json::{Value, json};
use sluicegate::calendar::{Naming, PeriodSpec, Unit};
use sluicegate::quota::QuotaSpec;

/// The path of the refusal of a period in JavaScript's spelling, with its message.
fn refused(spec: &Value) -> (String, String) {
    let error = PeriodSpec::from_json(spec, Naming::Camel).unwrap_err();
    assert!(error.is_invalid_spec());
    (error.path().unwrap_or_default().to_owned(), error.detail().to_owned())
}

fn with(unit: &str, field: &str, value: Value) -> Value {
    let mut spec = json!({ "unit": unit, "timeZone": "UTC" });
    spec[field] = value;
    spec
}

#[test]
fn an_anchor_that_does_not_belong_to_the_unit_is_refused_by_name() {
    let anchors = [("anchorDay", json!(2)), ("anchorWeekday", json!(2)), ("anchorMonth", json!(2))];
    for (unit, allowed) in [
        ("day", &[][..]),
        ("week", &["anchorWeekday"]),
        ("month", &["anchorDay"]),
        ("year", &["anchorDay", "anchorMonth"]),
    ] {
        for (field, value) in &anchors {
            let spec = with(unit, field, value.clone());
            if allowed.contains(field) {
                assert!(PeriodSpec::from_json(&spec, Naming::Camel).is_ok(), "{spec}");
            } else {
                let (path, detail) = refused(&spec);
                assert_eq!(path, *field);
                assert!(detail.contains("does not belong"), "{detail}");
            }
        }
        assert!(PeriodSpec::from_json(&with(unit, "anchorTime", json!("23:59:59")), Naming::Camel).is_ok());
        assert!(PeriodSpec::from_json(&with(unit, "anchorDay", Value::Null), Naming::Camel).is_ok());
    }
}

#[test]
fn values_out_of_their_domain_are_refused_by_name() {
    let numbers =
        [json!(0), json!(-1), json!(32), json!(256), json!(15.5), json!(1e300), json!("1"), json!(true)];
    for (unit, field) in [("month", "anchorDay"), ("week", "anchorWeekday"), ("year", "anchorMonth")] {
        for value in &numbers {
            assert_eq!(refused(&with(unit, field, value.clone())).0, field, "{value}");
        }
    }
    assert_eq!(refused(&with("week", "anchorWeekday", json!(8))).0, "anchorWeekday");
    assert_eq!(refused(&with("year", "anchorMonth", json!(13))).0, "anchorMonth");
    let times =
        ["", "1:40", "1:4O", "24:00", "12:60", "12:00:60", "12", "12:00:00:00", "+1:00", "12:00 ", "１２:00"];
    for time in times.map(Value::from).into_iter().chain([json!(1200), json!(["12:00"])]) {
        assert_eq!(refused(&with("day", "anchorTime", time.clone())).0, "anchorTime", "{time}");
    }
    for zone in [json!(""), json!("+05:30"), json!("UTC+3"), json!("GMT+0530"), json!(" "), json!(0)] {
        assert_eq!(refused(&with("day", "timeZone", zone.clone())).0, "timeZone", "{zone}");
    }
    assert_eq!(refused(&json!({ "unit": "day" })).0, "timeZone");
    assert_eq!(refused(&json!({ "timeZone": "UTC" })).0, "unit");
    assert_eq!(refused(&with("day", "anchorHour", json!(3))).0, "anchorHour");
    assert_eq!(refused(&with("day", "anchor_time", json!("03:00"))).0, "anchor_time");
    assert_eq!(refused(&json!("month")).0, "");
}

#[test]
fn units_below_a_day_are_refused_with_the_way_out() {
    for unit in ["hour", "minute", "second", "hours", "millisecond", "HOUR"] {
        let (path, detail) = refused(&json!({ "unit": unit, "timeZone": "UTC" }));
        assert_eq!(path, "unit");
        assert!(detail.contains("duration") && detail.contains("token bucket"), "{detail}");
    }
    for unit in ["quarter", "Month", "months", "", "decade", "daily"] {
        let (path, detail) = refused(&json!({ "unit": unit, "timeZone": "UTC" }));
        assert_eq!(path, "unit");
        assert!(detail.contains("\"day\", \"week\", \"month\", \"year\""), "{detail}");
    }
}

#[test]
fn both_spellings_mean_the_same_and_errors_keep_the_one_that_was_read() {
    let snake = json!({ "unit": "year", "time_zone": "Europe/Paris", "anchor_month": 7.0, "anchor_day": 31,
                        "anchor_time": "06:30" });
    let camel = json!({ "unit": "year", "timeZone": "Europe/Paris", "anchorMonth": 7, "anchorDay": 31,
                        "anchorTime": "06:30:00", "anchorWeekday": null });
    let spec = PeriodSpec::from_json(&snake, Naming::Snake).unwrap();
    assert_eq!(PeriodSpec::from_json(&camel, Naming::Camel).unwrap(), spec);
    assert_eq!(serde_json::from_value::<PeriodSpec>(camel).unwrap(), spec);
    let path =
        |value: Value, naming| PeriodSpec::from_json(&value, naming).unwrap_err().path().map(str::to_owned);
    let wrong = json!({ "unit": "month", "time_zone": "UTC", "anchor_day": 0 });
    assert_eq!(path(wrong, Naming::Snake).as_deref(), Some("anchor_day"));
    // Identity is the tenant's own string.
    assert_ne!(PeriodSpec::new(Unit::Day, "Asia/Kolkata"), PeriodSpec::new(Unit::Day, "Asia/Calcutta"));
    assert_eq!(PeriodSpec::new(Unit::Day, "utc").unwrap().time_zone(), "utc");
}

#[test]
fn a_specification_survives_being_stored() {
    let specs = [
        PeriodSpec::new(Unit::Day, "UTC").unwrap(),
        PeriodSpec::new(Unit::Week, "UTC").unwrap().with_anchor_weekday(7).unwrap(),
        PeriodSpec::new(Unit::Month, "UTC").unwrap().with_anchor_day(31).unwrap(),
        PeriodSpec::new(Unit::Year, "UTC")
            .unwrap()
            .with_anchor_month(2)
            .unwrap()
            .with_anchor_day(30)
            .unwrap(),
    ];
    for spec in specs.map(|spec| spec.with_anchor_time("23:30:01").unwrap()) {
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<PeriodSpec>(&text).unwrap(), spec, "{text}");
        let bytes = postcard::to_allocvec(&spec).unwrap();
        assert_eq!(postcard::from_bytes::<PeriodSpec>(&bytes).unwrap(), spec);
    }
    let hourly = serde_json::from_str::<PeriodSpec>(r#"{"unit":"hour","time_zone":"UTC"}"#).unwrap_err();
    assert!(hourly.to_string().starts_with("unit: "), "{hourly}");
}

#[test]
fn quotas_are_read_with_the_path_of_what_is_wrong() {
    let period = json!({ "unit": "month", "timeZone": "UTC" });
    let path = |value: Value| {
        QuotaSpec::from_json(&value, Naming::Camel).unwrap_err().path().unwrap_or_default().to_owned()
    };
    for limit in
        [json!(-1), json!(1.7), json!("5"), json!(null), json!(9_007_199_254_740_992_u64), json!(1e300)]
    {
        assert_eq!(path(json!({ "limit": limit, "period": period })), "limit", "{limit}");
    }
    assert_eq!(path(json!({ "limit": 5 })), "period");
    assert_eq!(path(json!({ "limit": 5, "period": { "unit": "minute", "timeZone": "UTC" } })), "period.unit");
    assert_eq!(path(json!({ "limit": 5, "period": { "unit": "day", "timeZone": "+1" } })), "period.timeZone");
    assert_eq!(path(json!({ "limit": 5, "period": "day" })), "period");
    assert_eq!(path(json!({ "limit": 5, "period": period, "window": 1 })), "window");
    let largest = json!({ "limit": 9_007_199_254_740_991_u64, "period": period });
    assert_eq!(QuotaSpec::from_json(&largest, Naming::Camel).unwrap().limit(), 9_007_199_254_740_991);
}
