//! Prometheus text, from what the counters report.

use std::fmt::Write;

use serde_json::Value;

/// The media type of the Prometheus text format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The counters of one point of presence as Prometheus metrics.
pub fn text(pop: &str, counters: &[Value]) -> String {
    let mut text = String::new();
    let pop = label(pop);
    decisions(&mut text, &pop, counters);
    anomalies(&mut text, &pop, counters);
    let simple = [
        ("sluicegate_asks_total", "counter", "Requests that reached a counter.", "/asks"),
        ("sluicegate_rows_written_total", "counter", "Rows that storage billed.", "/rows_written"),
        ("sluicegate_flushes_total", "counter", "Flushes of the write-behind journal.", "/flushes"),
        ("sluicegate_keys", "gauge", "Keys held in memory.", "/keys"),
        (
            "sluicegate_ledger_asks_total",
            "counter",
            "Messages to Ledgers, since the object started.",
            "/asks_sent",
        ),
        (
            "sluicegate_ledger_asks_failed_total",
            "counter",
            "Messages to Ledgers that were not answered in time, since the object started.",
            "/asks_failed",
        ),
        (
            "sluicegate_requests_waited_total",
            "counter",
            "Requests that had to wait for a Ledger, since the object started.",
            "/requests_waited",
        ),
        ("sluicegate_leases_open", "gauge", "Leases that can be spent from.", "/leases_open"),
        ("sluicegate_units_in_hand", "gauge", "Units left in them.", "/units_in_hand"),
        (
            "sluicegate_lease_fence_rejected_total",
            "counter",
            "Leases that their Ledger did not know, since the object started.",
            "/lease_fences_rejected",
        ),
        (
            "sluicegate_ledgers_out_of_reach",
            "gauge",
            "Ledgers that did not answer the last message in time.",
            "/ledgers_out_of_reach",
        ),
        ("sluicegate_clock_step_ms", "gauge", "Size of the last step of the wall clock.", "/last_step_ms"),
    ];
    for (name, kind, help, pointer) in simple {
        head(&mut text, name, kind, help);
        for (shard, counter) in reachable(counters) {
            let value = counter.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
            let _ = writeln!(text, "{name}{{pop=\"{pop}\",shard=\"{shard}\"}} {value}");
        }
    }
    text
}

fn decisions(text: &mut String, pop: &str, counters: &[Value]) {
    let name = "sluicegate_decisions_total";
    head(text, name, "counter", "Limits decided, by policy and outcome.");
    for (shard, counter) in reachable(counters) {
        let policies = counter.pointer("/policies").and_then(Value::as_object);
        for (policy, totals) in policies.into_iter().flatten() {
            for outcome in ["allowed", "refused", "would_refuse"] {
                let value = totals.get(outcome).and_then(Value::as_u64).unwrap_or_default();
                let policy = label(policy);
                let _ = writeln!(
                    text,
                    "{name}{{policy=\"{policy}\",outcome=\"{outcome}\",pop=\"{pop}\",shard=\"{shard}\"}} {value}"
                );
            }
        }
    }
}

fn anomalies(text: &mut String, pop: &str, counters: &[Value]) {
    let name = "sluicegate_clock_anomalies_total";
    head(text, name, "counter", "Steps of the wall clock that were seen.");
    for (shard, counter) in reachable(counters) {
        for (kind, pointer) in [("wall-step-back", "/steps_back"), ("wall-ahead", "/steps_ahead")] {
            let value = counter.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
            let _ = writeln!(text, "{name}{{kind=\"{kind}\",pop=\"{pop}\",shard=\"{shard}\"}} {value}");
        }
    }
}

fn reachable(counters: &[Value]) -> impl Iterator<Item = (u64, &Value)> {
    let shard = |counter: &Value| counter.get("shard").and_then(Value::as_u64);
    counters.iter().filter(|counter| counter.get("asks").is_some()).filter_map(move |c| Some((shard(c)?, c)))
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// A label's value, with what the format escapes escaped.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
