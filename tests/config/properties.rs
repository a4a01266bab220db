//! Nothing panics, and faults are blamed on their field.

use proptest::prelude::*;
use serde_json::{Value, json};
use sluicegate::config::Config;

use crate::{faults, quota, with_policy};

/// Any JSON, with the names and words of a configuration in it.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "policies",
        "rules",
        "name",
        "algorithm",
        "limit",
        "window",
        "identity",
        "path",
        "method",
        "allow",
        "fixed-window",
        "token-bucket",
        "sliding-window",
        "sub_windows",
        "strict",
        "burst",
        "1m",
        "ip",
        "header:",
        "/api/*",
        "GET",
        "per-ip",
        "tenant",
        "calendar-quota",
        "period",
        "unit",
        "time_zone",
        "month",
        "UTC",
        "scope",
        "global",
        "tolerance",
        "on_error",
        "local",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let words = words.prop_map(str::to_owned);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(words.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_panics(value in any_json()) {
        if let Err(errors) = Config::from_value(&value) {
            prop_assert!(!errors.errors().is_empty());
        }
    }

    /// One field of a sound configuration replaced by anything: it is still read, or the faults are at
    /// that field, or name it as unknown.
    #[test]
    fn a_fault_is_blamed_on_its_field(
        field in prop::sample::select(vec!["name", "algorithm", "limit", "window", "identity", "on_error", "shadow", "scope"]),
        wrong in any_json(),
    ) {
        let mut value = with_policy(json!({}));
        value["policies"][0][field] = wrong;
        let path = format!("policies[0].{field}");
        for fault in faults(&value) {
            prop_assert!(fault.starts_with(&path), "{} for {}", fault, path);
        }
    }

    /// The same of a quota, and of a limit over all points of presence. Another algorithm makes other
    /// fields wrong, so it stays.
    #[test]
    fn a_fault_of_a_global_limit_is_blamed_on_its_field(
        field in prop::sample::select(vec!["name", "limit", "period", "identity", "on_error", "tolerance", "scope"]),
        is_quota: bool,
        wrong in any_json(),
    ) {
        let global = with_policy(json!({"scope": "global"}));
        let mut value = if is_quota { json!({"policies": [quota(json!({}))]}) } else { global };
        value["policies"][0][field] = wrong;
        let path = format!("policies[0].{field}");
        for fault in faults(&value) {
            prop_assert!(fault.starts_with(&path), "{} for {}", fault, path);
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,64}") {
        let _ = Config::from_json(&text);
    }
}
