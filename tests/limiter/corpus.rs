//! Every case of the corpus files, in one test a file that names all the cases that fail.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use sluicegate::clock::Anomaly;
use sluicegate::{Cost, Error, QuotaClockDecision};

use super::{Host, MINUTE, Rig, kinds, quota};

fn run(
    text: &str,
    mut is_one: impl FnMut(&Value) -> bool,
    check: impl Fn(&Value) -> Result<(), String>,
) -> usize {
    let (mut ran, mut failed) = (0, String::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        if !is_one(&case) {
            continue;
        }
        ran += 1;
        if let Err(why) = check(&case) {
            writeln!(failed, "{}: {why}", case["id"].as_str().unwrap()).unwrap();
        }
    }
    assert!(failed.is_empty(), "{} of {ran} cases failed:\n{failed}", failed.lines().count());
    ran
}

#[test]
fn bug_quotaclock() {
    let ran = run(include_str!("../corpus/bug_quotaclock.jsonl"), |_| true, Player::play);
    assert_eq!(ran, 48, "the number of cases has changed");
}

/// The quota traces again, joined with a bucket that is never in the way and a clock whose steps are as
/// large as the traces have them.
#[test]
fn quota_traces() {
    let is_quota = |case: &Value| case["group"] == "quota";
    let ran = run(include_str!("../corpus/clock_traces.jsonl"), is_quota, |case| {
        let (spec, steps) = (&case["spec"], case["steps"].as_array().unwrap());
        let limit = spec["limit"].as_u64().unwrap();
        let period =
            json!({ "unit": spec["unit"], "timeZone": spec["time_zone"], "anchorDay": spec["anchor_day"] });
        let host = Host { monotonic: 0, wall: steps[0]["wall_ms"].as_i64().unwrap(), realtime: None };
        let mut rig = Rig::new(&quota(limit, period), host).map_err(|error| error.to_string())?;
        for (index, step) in steps.iter().enumerate() {
            rig.host.monotonic += MINUTE;
            rig.host.wall = step["wall_ms"].as_i64().unwrap();
            let units = step["cost"].as_u64().unwrap();
            let decision = rig.try_consume(units).map_err(|error| error.to_string())?;
            // The trace left open what a cost above the limit is; it is a refusal of its own.
            let (wait, basis) = if units > limit {
                (Value::Null, Value::Null)
            } else {
                (step["retry_after_ms"].clone(), step["retry_after_basis"].clone())
            };
            let expected = json!({
                "allowed": step["allowed"],
                "period": { "slot": step["slot"] },
                "quotaRemaining": limit - step["used"].as_u64().unwrap(),
                "skippedPeriods": step["skipped_periods"],
                "retryAfterMs": wait,
                "retryAfterBasis": basis,
            });
            expect(&decision, &expected).map_err(|why| format!("step {index}: {why}"))?;
            let held = kinds(&decision.anomalies).contains(&"period-regression");
            same("period_regression", &json!(held), &step["period_regression"])?;
        }
        Ok(())
    });
    assert_eq!(ran, 6, "the number of traces has changed");
}

/// Plays one case: the limiter that its steps are about, and the snapshots they took.
struct Player {
    rig: Rig,
    options: Value,
    snapshots: HashMap<String, Value>,
}

impl Player {
    fn play(case: &Value) -> Result<(), String> {
        let host = hands(&case["clock"]);
        let options = case["options"].clone();
        let mut player = if options.is_null() {
            None
        } else {
            match Rig::new(&options, host) {
                Ok(rig) => Some(Self { rig, options, snapshots: HashMap::new() }),
                Err(error) if may_throw(&case["constructor_may_throw"], &error) => return Ok(()),
                Err(error) => return Err(format!("cannot be constructed: {error}")),
            }
        };
        for (index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let done = match (&mut player, step["do"].as_str().unwrap()) {
                (_, "construct") => {
                    let made = Rig::new(&step["options"], host);
                    thrown(made.map(|_| ()), &step["throws"])
                }
                (Some(player), what) => player.step(what, step),
                (None, what) => Err(format!("{what} without a limiter")),
            };
            done.map_err(|why| format!("step {index}: {why}"))?;
        }
        Ok(())
    }

    fn step(&mut self, what: &str, step: &Value) -> Result<(), String> {
        let by = step["ms"].as_i64().unwrap_or(0);
        match what {
            "advance" => self.rig.host.advance(by),
            "stepWall" => self.rig.host.step_wall(by),
            "suspend" => self.rig.host.suspend(by),
            "set" => {
                let (hands, host) = (&step["hands"], &mut self.rig.host);
                host.monotonic = hands["monotonicMs"].as_i64().unwrap_or(host.monotonic);
                host.wall = hands["wallMs"].as_i64().unwrap_or(host.wall);
                host.realtime = hands["elapsedRealtimeMs"].as_i64().or(host.realtime);
            }
            "snapshot" => {
                self.snapshots.insert(step["as"].to_string(), self.rig.snapshot());
            }
            "restore" => {
                merge(&mut self.options, &step["options_change"]);
                let snapshot = &self.snapshots[&step["from"].to_string()];
                self.rig = Rig::restore(snapshot, &self.options, hands(&step["clock"]))
                    .map_err(|error| format!("cannot be restored: {error}"))?;
            }
            "tryConsume" => {
                // As at the border to JavaScript: the cost is read before the clocks are.
                let answer = cost(&step["cost"]).and_then(|cost| self.rig.try_consume(cost.get()));
                return self.judge(answer, step);
            }
            "peek" => {
                let answer = self.rig.try_peek(1);
                return self.judge(answer, step);
            }
            other => return Err(format!("no such step: {other}")),
        }
        Ok(())
    }

    fn judge(&self, answer: Result<QuotaClockDecision, Error>, step: &Value) -> Result<(), String> {
        if step["throws"].is_null() {
            let decision = answer.map_err(|error| format!("{}: {error}", error.code()))?;
            return expect(&decision, &step["expect"]);
        }
        thrown(answer.map(|_| ()), &step["throws"])?;
        reported(self.rig.limiter.refused().as_slice(), &step["anomalies"])
    }
}

fn hands(clock: &Value) -> Host {
    Host {
        monotonic: clock["monotonicMs"].as_i64().unwrap(),
        wall: clock["wallMs"].as_i64().unwrap(),
        realtime: clock["elapsedRealtimeMs"].as_i64(),
    }
}

/// Numbers that JSON cannot write, and what is no number, stand as strings.
fn cost(value: &Value) -> Result<Cost, Error> {
    match value.as_f64() {
        Some(units) => Cost::try_from_f64(units),
        None => Cost::try_from_f64(f64::NAN),
    }
}

fn may_throw(code: &Value, error: &Error) -> bool {
    code == "any" || code == error.code()
}

fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (_, Value::Null) => {}
        (Value::Object(into), Value::Object(change)) => {
            for (name, change) in change {
                merge(into.entry(name.clone()).or_insert(Value::Null), change);
            }
        }
        (into, change) => *into = change.clone(),
    }
}

fn thrown(answer: Result<(), Error>, expected: &Value) -> Result<(), String> {
    let Err(error) = answer else { return Err("nothing was thrown".to_owned()) };
    if let Some(code) = expected["code"].as_str()
        && code != error.code()
    {
        return Err(format!("threw {}: {error}", error.code()));
    }
    match (expected["path_ends_with"].as_str(), error.path()) {
        (Some(end), path) if !path.is_some_and(|path| path.ends_with(end)) => {
            Err(format!("its path is {path:?}, should end with {end}"))
        }
        _ => Ok(()),
    }
}

fn expect(decision: &QuotaClockDecision, expected: &Value) -> Result<(), String> {
    let period = decision.period.map(|period| {
        json!({
            "slot": period.slot.to_string(),
            "startMs": period.start.0,
            "endMs": period.end.0,
            "startKind": period.start_kind.name(),
            "endKind": period.end_kind.name(),
        })
    });
    let found = json!({
        "allowed": decision.allowed(),
        "tokensRemaining": decision.tokens_remaining,
        "quotaRemaining": decision.quota_remaining,
        "retryAfterMs": decision.retry_after_ms,
        "retryAfterBasis": decision.retry_after_basis.map(|basis| basis.name()),
        "refusal": decision.refusal.map(|refusal| refusal.name()),
        "period": period,
        "skippedPeriods": decision.skipped_periods,
    });
    for (name, expected) in expected.as_object().unwrap() {
        if name == "anomalies" {
            reported(&decision.anomalies, expected)?;
        } else {
            same(name, found.get(name).ok_or_else(|| format!("no such field: {name}"))?, expected)?;
        }
    }
    Ok(())
}

/// Objects need only have what is expected of them, and `{min, max}` is a range.
fn same(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    let fits = match expected {
        Value::Object(fields) if fields.contains_key("min") || fields.contains_key("max") => {
            let (least, most) = (expected["min"].as_f64(), expected["max"].as_f64());
            found.as_f64().is_some_and(|number| {
                least.is_none_or(|least| least <= number) && most.is_none_or(|most| number <= most)
            })
        }
        Value::Object(fields) => fields.iter().all(|(name, value)| found.get(name) == Some(value)),
        _ => found == expected,
    };
    if fits { Ok(()) } else { Err(format!("{what} is {found}, should be {expected}")) }
}

fn reported(anomalies: &[Anomaly], expected: &Value) -> Result<(), String> {
    let kinds = kinds(anomalies);
    if expected["none"] == true && !kinds.is_empty() {
        return Err(format!("reported {kinds:?}, should be nothing"));
    }
    let wanted = expected["includes"].as_array().map(Vec::as_slice).unwrap_or_default();
    match wanted.iter().find(|kind| !kinds.contains(&kind.as_str().unwrap())) {
        Some(missing) => Err(format!("reported {kinds:?}, without {missing}")),
        None => Ok(()),
    }
}
