//! What `GET /v1/policies` tells.

use sluicegate::http::policies_response;

use crate::*;

fn told(config: &Value) -> Value {
    serde_json::from_str(&policies_response(&Config::from_value(config).unwrap())).unwrap()
}

/// What the only policy of a configuration is told as.
fn policy_told(policy: Value) -> Value {
    let mut told = told(&json!({"tenant_header": "x-tenant", "policies": [policy]}));
    told["policies"][0].take()
}

#[test]
fn each_policy_is_told_with_its_numbers_and_null_for_what_it_does_not_have() {
    let rate = |algorithm: &str, more: Value| {
        let mut policy =
            json!({"name": "p", "algorithm": algorithm, "limit": 60, "window": "1m", "identity": "ip"});
        policy.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        policy_told(policy)
    };
    let plain = |algorithm: &str, more: Value| {
        let mut told = json!({"name": "p", "algorithm": algorithm, "scope": "pop", "limit": 60, "window_ms": 60_000,
            "period": null, "tolerance_ppm": null, "burst": null, "identity": "ip", "on_error": "open", "shadow": false});
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        told
    };
    for algorithm in ["fixed-window", "sliding-window", "sliding-log"] {
        assert_eq!(rate(algorithm, json!({})), plain(algorithm, json!({})));
    }
    assert_eq!(rate("token-bucket", json!({})), plain("token-bucket", json!({"burst": 60})));
    let global = json!({"scope": "global", "on_error": "local"});
    let told_global = |more: Value| {
        let mut told = json!({"scope": "global", "on_error": "local"});
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        told
    };
    assert_eq!(
        rate("fixed-window", global.clone()),
        plain("fixed-window", told_global(json!({"tolerance_ppm": 100_000})))
    );
    // A bucket over all points of presence is exact: it has no tolerance, not one of 0.
    assert_eq!(
        rate("token-bucket", json!({"scope": "global", "on_error": "local", "burst": 7})),
        plain("token-bucket", told_global(json!({"burst": 7})))
    );
    assert_eq!(
        rate(
            "fixed-window",
            json!({"scope": "global", "tolerance": 0, "shadow": true, "on_error": "closed"})
        ),
        plain(
            "fixed-window",
            json!({"scope": "global", "tolerance_ppm": 0, "shadow": true, "on_error": "closed"})
        )
    );
}

#[test]
fn a_quota_is_told_with_its_whole_calendar() {
    let period =
        json!({"unit": "year", "time_zone": "Asia/Kathmandu", "anchor_month": 4, "anchor_time": "09:30"});
    let policy = json!({"name": "q", "algorithm": "calendar-quota", "limit": 9, "identity": "tenant", "period": period});
    assert_eq!(
        policy_told(policy),
        json!({"name": "q", "algorithm": "calendar-quota", "scope": "global", "limit": 9, "window_ms": null,
            "period": {"unit": "year", "time_zone": "Asia/Kathmandu", "anchor_day": 1, "anchor_weekday": null,
                "anchor_month": 4, "anchor_time": "09:30:00"},
            "tolerance_ppm": null, "burst": null, "identity": "tenant", "on_error": "closed", "shadow": false})
    );
}

#[test]
fn an_identity_has_the_form_of_a_key() {
    let identities = ["per-ip", "per-key", "per-path", "per-tenant", "combined"];
    let told: Value = serde_json::from_str(&policies_response(&config())).unwrap();
    let of = |name: &&str| {
        let policies = told["policies"].as_array().unwrap();
        policies.iter().find(|policy| policy["name"] == **name).unwrap()["identity"].clone()
    };
    let combined = json!(["ip", "header:x-key", "path"]);
    assert_eq!(
        identities.iter().map(of).collect::<Vec<_>>(),
        [json!("ip"), json!("header:x-key"), json!("path"), json!("tenant"), combined]
    );
}

#[test]
fn rules_are_told_as_they_match() {
    let policy = |name: &str| json!({"name": name, "algorithm": "fixed-window", "limit": 1, "window": "1m", "identity": "ip"});
    let told = told(&json!({"policies": [policy("a"), policy("b")], "rules": [
        {"path": "/free/", "allow": true},
        {"method": "post", "path": "/api/%2A/*", "policies": ["b", "a"]},
        {"method": ["GET", "head"], "policies": ["a"]},
    ]}));
    assert_eq!(
        told["rules"],
        json!([
            {"method": null, "path": "/free", "policies": [], "allow": true},
            {"method": ["POST"], "path": "/api/%2A/*", "policies": ["b", "a"], "allow": false},
            {"method": ["GET", "HEAD"], "path": null, "policies": ["a"], "allow": false},
        ])
    );
}
