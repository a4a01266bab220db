//! Every case of the corpus files, in one test a file that names all the cases that fail.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sluicegate::calendar::{JiffZone, Naming, Period, PeriodSpec, period_for};
use sluicegate::clock::WallMs;
use sluicegate::quota::{CalendarQuota, QuotaSpec, QuotaVerdict};
use sluicegate::{Cost, Error, Refusal};

fn run(text: &str, cases: usize, check: impl Fn(&Value) -> Result<(), String>) {
    let (mut ran, mut failed) = (0, String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        ran += 1;
        if let Err(why) = check(&case) {
            writeln!(failed, "{}: {why}", case["id"].as_str().unwrap()).unwrap();
        }
    }
    assert!(failed.is_empty(), "{} of {ran} cases failed:\n{failed}", failed.lines().count());
    assert_eq!(ran, cases, "the number of cases has changed");
}

/// Compares two views of one thing, and says where they differ.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, should be {expected:?}")) }
}

#[test]
fn calendar_cases() {
    run(include_str!("../corpus/calendar_cases.jsonl"), 149, |case| {
        let mut spec = Map::new();
        spec.insert("unit".into(), case["unit"].clone());
        spec.insert("time_zone".into(), case["zone"].clone());
        for anchor in ["day", "weekday", "month", "time"] {
            spec.insert(format!("anchor_{anchor}"), case["anchor"][anchor].clone());
        }
        let period = find(&Value::Object(spec), Naming::Snake, &case["instant_ms"]);
        matches(period, case, ["start_kind", "end_kind"])
    });
}

#[test]
fn bug_period() {
    run(include_str!("../corpus/bug_period.jsonl"), 75, |case| {
        let expected = &case["expect"];
        let period = find(&case["spec"], Naming::Camel, &case["wall_ms"]);
        let first = if let Some(code) = expected["error"].as_str() {
            refused(period, code, &expected["path_ends_with"])
        } else {
            matches(period, expected, ["startKind", "endKind"])
        };
        // `or` lists other answers that are as good.
        let others = expected["or"].as_array().map(Vec::as_slice).unwrap_or_default();
        others.iter().fold(first, |so_far, other| {
            so_far.or_else(|why| {
                let code = other["error"].as_str().ok_or(why)?;
                refused(find(&case["spec"], Naming::Camel, &case["wall_ms"]), code, &other["path_ends_with"])
            })
        })
    });
}

fn find(spec: &Value, naming: Naming, wall_ms: &Value) -> Result<Period, Error> {
    let spec = PeriodSpec::from_json(spec, naming)?;
    let zone = JiffZone::new(spec.time_zone(), naming)?;
    let wall = WallMs(wall_ms.as_i64().unwrap());
    let period = period_for(&spec, &zone, wall)?;
    assert!(period.contains(wall));
    assert_eq!(period_for(&spec, &zone, period.start)?, period);
    assert_eq!(period_for(&spec, &zone, WallMs(period.end.0 - 1))?, period);
    Ok(period)
}

fn matches(period: Result<Period, Error>, expected: &Value, kinds: [&str; 2]) -> Result<(), String> {
    let period = period.map_err(|error| error.to_string())?;
    same("slot", Some(period.slot.to_string().as_str()), expected["slot"].as_str())?;
    same("start", Some(period.start.0), expected["start_ms"].as_i64())?;
    same("end", Some(period.end.0), expected["end_ms"].as_i64())?;
    same("length", Some(period.length_ms()), expected["length_ms"].as_u64())?;
    same("start kind", Some(period.start_kind.name()), expected[kinds[0]].as_str())?;
    same("end kind", Some(period.end_kind.name()), expected[kinds[1]].as_str())
}

fn refused(period: Result<Period, Error>, code: &str, path: &Value) -> Result<(), String> {
    let error = period.err().ok_or("is not refused")?;
    same("code", error.code(), code)?;
    let (found, wanted) = (error.path().unwrap_or_default(), path.as_str().unwrap());
    if found.ends_with(wanted) {
        Ok(())
    } else {
        Err(format!("path is {found:?}, should end with {wanted:?}"))
    }
}

#[test]
fn quota_traces() {
    let text = include_str!("../corpus/clock_traces.jsonl");
    let of_quota: Vec<&str> = text.lines().filter(|line| line.contains("\"group\": \"quota\"")).collect();
    run(&of_quota.join("\n"), 6, |trace| {
        let mut period = trace["spec"].as_object().unwrap().clone();
        let limit = period.remove("limit").unwrap();
        let spec = serde_json::json!({ "limit": limit, "period": period });
        let spec = QuotaSpec::from_json(&spec, Naming::Snake).map_err(|error| error.to_string())?;
        let zone = super::zone(spec.period().time_zone());
        let mut quota = CalendarQuota::new(spec, zone);
        for (at, step) in trace["steps"].as_array().unwrap().iter().enumerate() {
            let wall = WallMs(step["wall_ms"].as_i64().unwrap());
            let cost = Cost::new(step["cost"].as_u64().unwrap()).unwrap();
            let looked = quota.look(wall, cost).unwrap();
            let verdict = quota.take(wall, cost).unwrap();
            same("look", looked.decision, verdict.decision)?;
            as_traced(&verdict, wall, step).map_err(|why| format!("step {at}: {why}"))?;
        }
        Ok(())
    });
}

fn as_traced(verdict: &QuotaVerdict, wall: WallMs, step: &Value) -> Result<(), String> {
    same("slot", Some(verdict.period().slot.to_string().as_str()), step["slot"].as_str())?;
    same("used", Some(verdict.used), step["used"].as_u64())?;
    same("allowed", Some(verdict.allowed()), step["allowed"].as_bool())?;
    same("regression", Some(verdict.period_regression), step["period_regression"].as_bool())?;
    same("skipped", Some(u64::from(verdict.skipped_periods)), step["skipped_periods"].as_u64())?;
    let refusal = verdict.decision.refusal;
    if refusal == Some(Refusal::CostExceedsLimit) {
        // DIFFERENCE: the traces give the wait to the boundary with a cost that never fits. No wait
        // cures that refusal, so none is given; the way to the boundary is compared all the same.
        same("wait", refusal.and_then(|refusal| refusal.retry_after_ms()), None)?;
        return same("boundary", Some(verdict.open.left_ms(wall)), step["retry_after_ms"].as_u64());
    }
    let basis = refusal.and_then(|refusal| refusal.basis()).map(|basis| basis.name());
    same("wait", refusal.and_then(|refusal| refusal.retry_after_ms()), step["retry_after_ms"].as_u64())?;
    same("basis", basis, step["retry_after_basis"].as_str())
}
