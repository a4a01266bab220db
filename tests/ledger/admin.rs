//! What operators ask for, field by field.

use serde_json::{Value, json};
use sluicegate::ledger::{TenantAnswer, TenantFault, TenantOp, TenantRequest};
use sluicegate::{Cost, Error};

use crate::support::{Object, Pop, items, wall};

fn shown(object: &mut Object, op: TenantOp) -> Value {
    match object.tenant("monthly", op) {
        TenantAnswer::Settings(settings) => json!(settings),
        TenantAnswer::Usage(usage) => json!(usage),
        TenantAnswer::Audit(audit) => json!(audit),
        TenantAnswer::Log(log) => json!(log),
        other => panic!("{other:?}"),
    }
}

/// The audit log, as JSON.
pub fn log(object: &mut Object) -> Vec<Value> {
    shown(object, TenantOp::Log).as_array().unwrap().clone()
}

#[test]
fn usage_before_and_after_the_first_ask() {
    let mut object = Object::new("America/Los_Angeles", "2026-11-20T12:00:00Z");
    let mut expected = json!({
        "limit": 100, "used": 0, "outstanding": 0, "remaining": 100, "serial": 1, "slot": "2026-11",
        "start": "2026-11-01T00:00:00-07:00", "end": "2026-12-01T00:00:00-08:00",
        "start_ms": wall("2026-11-01T07:00:00Z"), "end_ms": wall("2026-12-01T08:00:00Z"),
        "reset_local": "2026-12-01 00:00:00 America/Los_Angeles", "held": false, "partial": false,
    });
    assert_eq!(shown(&mut object, TenantOp::Usage), expected);
    let mut pop = Pop::new("LAX", "monthly");
    pop.exchange(&mut object, 30);
    pop.spend(12, 0).unwrap();
    pop.exchange(&mut object, 0);
    // Units are written off in chunks of 20 before they are spent: those count as used.
    for (field, units) in [("used", 20), ("outstanding", 10), ("remaining", 70)] {
        expected[field] = json!(units);
    }
    assert_eq!(shown(&mut object, TenantOp::Usage), expected);
}

#[test]
fn forfeited_units_count_as_used() {
    let mut object = Object::new("UTC", "2026-11-20T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    pop.exchange(&mut object, 30);
    pop.spend(1, 0).unwrap();
    pop.restart();
    pop.exchange(&mut object, 0);
    let audit = object.audit("monthly");
    assert_eq!((audit.spent, audit.forfeited, audit.outstanding), (1, 19, 10));
    assert_eq!(object.usage("monthly").used, 20);
}

#[test]
fn the_audit_before_and_after_the_first_ask() {
    let mut object = Object::new("UTC", "2026-11-20T12:00:00Z");
    let mut expected = json!({
        "serial": 0, "limit": 100, "granted": 0, "spent": 0, "returned": 0, "forfeited": 0, "outstanding": 0,
        "carried": 0, "consistent": true, "faults": [], "leases": [], "settled": 0,
    });
    assert_eq!(shown(&mut object, TenantOp::Audit), expected);
    let mut pop = Pop::new("LAX", "monthly");
    let reply = pop.exchange(&mut object, 30);
    pop.spend(12, 0).unwrap();
    pop.exchange(&mut object, 0);
    for (field, units) in [("serial", 1), ("granted", 30), ("spent", 20), ("outstanding", 10)] {
        expected[field] = json!(units);
    }
    expected["leases"] = json!([{
        "fence": items(&reply)[0].grant.unwrap().fence, "pop": "LAX", "birth": pop.start.birth, "amount": 30,
        "spent": 20, "forfeited": 0, "open": true,
    }]);
    assert_eq!(shown(&mut object, TenantOp::Audit), expected);
}

#[test]
fn settings_as_they_are_shown() {
    let mut object = Object::new("Europe/Paris", "2026-11-20T12:00:00Z");
    let period = json!({
        "unit": "month", "time_zone": "Europe/Paris", "anchor_day": 1, "anchor_weekday": null,
        "anchor_month": null, "anchor_time": "00:00:00",
    });
    let mut expected = json!({"policy": "monthly", "limit": 100, "period": period, "configured": false});
    assert_eq!(shown(&mut object, TenantOp::Get), expected);
    let op = TenantOp::put(&json!({"limit": 12.0})).unwrap();
    expected["limit"] = json!(12);
    expected["configured"] = json!(true);
    assert_eq!(shown(&mut object, op), expected);
    assert_eq!(shown(&mut object, TenantOp::Get), expected);
}

#[test]
fn the_log_tells_of_grants_periods_settings_and_reopenings_in_order() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    object.tenant("monthly", TenantOp::Put { limit: Some(60), period: None });
    object.host.wall += 5;
    let mut pop = Pop::new("LAX", "monthly");
    let fence = items(&pop.exchange(&mut object, 30))[0].grant.unwrap().fence;
    object.host.wall -= 1_000_000;
    object.tenant("monthly", TenantOp::Reopen { used: 7 });
    object.tenant("monthly", TenantOp::Delete);
    object.restart();
    let log = log(&mut object);
    let events: Vec<&str> = log.iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["settings", "opened", "grant", "opened", "reopened", "deleted"]);
    let stamps: Vec<&str> = log.iter().map(|entry| entry["stamp"].as_str().unwrap()).collect();
    assert!(stamps.is_sorted_by(|a, b| a < b), "also where the wall clock went back: {stamps:?}");
    let grant = json!({
        "at": "2026-05-31T12:00:00.005+00:00", "at_ms": wall("2026-05-31T12:00:00.005Z"), "stamp": stamps[2],
        "policy": "monthly", "event": "grant", "pop": "LAX", "birth": pop.start.birth, "serial": 1,
        "fence": fence, "amount": 30,
    });
    assert_eq!(log[2], grant);
    assert_eq!((&log[0]["limit"], &log[0]["period"]), (&json!(60), &Value::Null));
    assert_eq!((&log[4]["serial"], &log[4]["used"]), (&json!(2), &json!(7)));
}

#[test]
fn stamps_are_not_repeated_by_another_life_on_a_clock_that_went_back() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    for life in 0..5 {
        object.tenant("monthly", TenantOp::Put { limit: Some(life), period: None });
        object.host.wall -= 60_000;
        object.restart();
    }
    let log = log(&mut object);
    let stamps: Vec<&str> = log.iter().map(|entry| entry["stamp"].as_str().unwrap()).collect();
    assert!(stamps.len() == 5 && stamps.is_sorted_by(|a, b| a < b), "{stamps:?}");
}

#[test]
fn the_log_is_bounded_and_an_entry_costs_no_row_of_its_own() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let mut rows = 0;
    for limit in 0..640 {
        let op = TenantOp::Put { limit: Some(limit), period: None };
        rows += object.rows_of(|object| object.tenant("monthly", op)).0;
    }
    // The settings and the head each time, and a row of the log for each 32.
    assert_eq!(rows, 2 * 640 + 640 / 32);
    assert_eq!((log(&mut object).len(), object.ledger.report().log), (256, 256));
    assert_eq!(object.host.disk.keys().filter(|key| key.starts_with("log/")).count(), 8);
    assert_eq!(log(&mut object)[0]["limit"], 640 - 256);
    let before = log(&mut object);
    object.restart();
    assert_eq!(log(&mut object), before);
}

#[test]
fn grants_cost_three_rows_and_reports_fewer() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    pop.exchange(&mut object, 3);
    let (grant, transactions, _) = object.rows_of(|object| pop.exchange(object, 5));
    assert_eq!((grant, transactions), (3, 1));
    pop.spend(2, 0).unwrap();
    assert_eq!(object.rows_of(|object| pop.exchange(object, 0)).0, 2, "the holder and the totals");
    assert_eq!(object.rows_of(|object| pop.exchange(object, 0)).0, 1, "the number of the ask");
}

fn faults(answer: TenantAnswer) -> Vec<(String, String)> {
    let TenantAnswer::Refused(faults) = answer else { panic!("{answer:?}") };
    faults.into_iter().map(|TenantFault { path, detail }| (path, detail)).collect()
}

#[test]
fn a_zone_that_the_runtime_does_not_know_is_refused_by_its_path() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let put = TenantOp::put(&json!({"period": {"unit": "day", "time_zone": "Europe/Atlantis"}})).unwrap();
    let (rows, _, answer) = object.rows_of(|object| object.tenant("monthly", put));
    let faults = faults(answer);
    assert_eq!((rows, faults.len(), faults[0].0.as_str()), (0, 1, "period.time_zone"));
    assert!(faults[0].1.contains("is not the name of a time zone"), "{}", faults[0].1);
    let TenantAnswer::Settings(settings) = object.tenant("monthly", TenantOp::Get) else { panic!() };
    assert!(!settings.configured);
    let error = Error::from(TenantFault { path: "period.time_zone".into(), detail: "x".into() });
    assert!(error.is_invalid_spec() && error.path() == Some("period.time_zone"));
}

#[test]
fn a_zone_that_the_runtime_has_forgotten_makes_its_quota_unavailable_until_other_settings() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    let tokyo = TenantOp::put(&json!({"period": {"unit": "month", "time_zone": "Asia/Tokyo"}})).unwrap();
    object.tenant("monthly", tokyo.clone());
    assert_eq!(pop.take_all(&mut object), 100);
    object.host.forgotten.push("Asia/Tokyo".into());
    object.restart();
    assert!(items(&pop.exchange(&mut object, 1)).is_empty());
    assert!(matches!(object.tenant("monthly", TenantOp::Usage), TenantAnswer::Unavailable { .. }));
    assert_eq!(faults(object.tenant("monthly", tokyo))[0].0, "period.time_zone");
    object.put(
        "monthly",
        100,
        &sluicegate::calendar::PeriodSpec::new(sluicegate::calendar::Unit::Day, "UTC").unwrap(),
    );
    assert_eq!(pop.take_all(&mut object), 0, "the open period and its book are as they were");
}

#[test]
fn bodies_of_a_put_are_checked_field_by_field() {
    let paths = |body: Value| -> Vec<String> {
        let errors = TenantOp::put(&body).unwrap_err();
        errors.iter().map(|error| error.path().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(json!([])), [""]);
    assert_eq!(paths(json!({"limit": -1})), ["limit"]);
    assert_eq!(paths(json!({"limit": "10", "window": 1})), ["window", "limit"]);
    assert_eq!(paths(json!({"limit": 9_007_199_254_740_992_u64})), ["limit"]);
    assert_eq!(paths(json!({"period": {}})), ["period.unit"]);
    assert_eq!(paths(json!({"period": 5})), ["period"]);
    assert_eq!(paths(json!({"period": {"unit": "month", "time_zone": "+05:30"}})), ["period.time_zone"]);
    assert_eq!(
        paths(json!({"period": {"unit": "month", "time_zone": "UTC", "anchor_day": 32}})),
        ["period.anchor_day"]
    );
    assert_eq!(TenantOp::put(&json!({"limit": null})), Ok(TenantOp::Put { limit: None, period: None }));
}

#[test]
fn numbers_out_of_range_are_refused_by_their_path() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let put = TenantOp::Put { limit: Some(u64::MAX), period: None };
    assert_eq!(faults(object.tenant("monthly", put))[0].0, "limit");
    assert_eq!(faults(object.tenant("monthly", TenantOp::Reopen { used: u64::MAX }))[0].0, "used");
    assert!(object.host.disk.is_empty());
}

#[test]
fn policies_that_are_no_calendar_quotas_are_unknown() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let put = || TenantOp::put(&json!({"limit": 1, "period": {"unit": "day", "time_zone": "UTC"}})).unwrap();
    for policy in ["api", "near", "nobody", "", "a/b"] {
        let ops = [TenantOp::Get, put(), TenantOp::Delete, TenantOp::Usage, TenantOp::Audit];
        for op in ops.into_iter().chain([TenantOp::Reopen { used: 0 }]) {
            assert_eq!(object.tenant(policy, op), TenantAnswer::Unknown, "{policy}");
        }
    }
    assert!(object.host.disk.is_empty() && object.ledger.report().quotas == 0);
}

#[test]
fn requests_and_answers_survive_the_wire() {
    let text = r#"{"policy":"monthly","op":{"put":{"limit":5}}}"#;
    let request: TenantRequest = serde_json::from_str(text).unwrap();
    assert_eq!(request.op, TenantOp::Put { limit: Some(5), period: None });
    let again = serde_json::to_string(&TenantRequest { policy: "q".into(), op: TenantOp::Usage }).unwrap();
    assert_eq!(again, r#"{"policy":"q","op":"usage"}"#);
}

#[test]
fn the_report_counts() {
    let mut object = Object::new("UTC", "2026-05-31T12:00:00Z");
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    lax.exchange(&mut object, 30);
    fra.exchange(&mut object, 10);
    assert!(fra.spend(Cost::ONE.get(), 0).unwrap());
    let report = json!(object.ledger.report());
    let expected = [
        ("asks", 2),
        ("grants", 2),
        ("units_granted", 40),
        ("pops", 2),
        ("quotas", 1),
        ("keys", 0),
        ("log", 3),
        ("rows_written", 7),
        ("fences_rejected", 0),
        ("periods_opened", 1),
        ("unreadable", 0),
    ];
    expected.iter().for_each(|(field, count)| assert_eq!(report[*field], *count, "{field}"));
    assert_eq!(report["frozen"], false);
}
