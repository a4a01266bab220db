//! The configuration: what is read, and how every fault is named.

#![cfg(not(target_arch = "wasm32"))]

mod faults;
mod global;
mod properties;

use serde_json::{Value, json};
use sluicegate::config::{Config, OnError, OnMissing, Settings};
use sluicegate::http::{HeaderDraft, RequestPath};
use sluicegate::policy::Algorithm;

/// A policy with what must be there, changed by `change`.
fn policy(change: Value) -> Value {
    let mut policy =
        json!({"name": "per-ip", "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": "ip"});
    merge(&mut policy, change);
    policy
}

/// A calendar quota with what must be there, changed by `change`.
fn quota(change: Value) -> Value {
    let mut quota = json!({"name": "monthly", "algorithm": "calendar-quota", "limit": 10_000, "identity": "ip",
                           "period": {"unit": "month", "time_zone": "Europe/Paris"}});
    merge(&mut quota, change);
    quota
}

/// A configuration with one policy, changed by `change`.
fn with_policy(change: Value) -> Value {
    json!({"policies": [policy(change)]})
}

/// A configuration with three policies and these rules.
fn with_rules(rules: Value) -> Value {
    let named = |name: &str| policy(json!({"name": name}));
    json!({"policies": [named("a"), named("b"), named("c")], "rules": rules})
}

/// Puts the members of `change` into `value`; null takes one out.
fn merge(value: &mut Value, change: Value) {
    let map = value.as_object_mut().unwrap();
    for (name, change) in change.as_object().unwrap() {
        match change {
            Value::Null => map.remove(name),
            change => map.insert(name.clone(), change.clone()),
        };
    }
}

fn faults(value: &Value) -> Vec<String> {
    match Config::from_value(value) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            assert!(errors.errors().iter().all(|error| error.is_invalid_spec()));
            errors.to_string().lines().map(str::to_owned).collect()
        }
    }
}

#[test]
fn everything_that_can_be_said_is_read() {
    let config = Config::from_value(&json!({
        "prefix": "/_limits", "shards": 4, "time_limit": "250ms", "flush_hits": 50, "flush_every": "2s",
        "max_keys": 1000, "ledger_shards": 3, "lease_chunk": 7, "ipv6_prefix": 56, "header_draft": "next", "tenant_header": "X-Tenant",
        "policies": [
            policy(json!({"limit": 60.0, "on_error": "closed", "on_missing": "refuse", "shadow": true,
                          "scope": "pop", "max_retry_after": "1h"})),
            policy(json!({"name": "b.2_x", "algorithm": "sliding-window", "sub_windows": 6, "strict": true})),
            policy(json!({"name": "log", "algorithm": "sliding-log", "limit": 0, "on_missing": "skip",
                          "identity": ["ip", "header:X-Api-Key", "path", "tenant"]})),
            policy(json!({"name": "bucket", "algorithm": "token-bucket", "burst": 20})),
            policy(json!({"name": "plain-bucket", "algorithm": "token-bucket"})),
        ],
        "rules": [
            {"method": ["get", "POST"], "path": "/api/*", "policies": ["bucket", "per-ip"]},
            {"method": "GET", "path": "/healthz", "allow": true},
            {"policies": "log"},
        ],
    }))
    .unwrap();
    let settings = config.settings();
    assert_eq!((settings.prefix.as_str(), settings.shards, settings.time_limit_ms), ("/_limits", 4, 250));
    assert_eq!((settings.flush_hits, settings.flush_every_ms, settings.max_keys), (50, 2000, 1000));
    assert_eq!((settings.ledger_shards, settings.lease_chunk), (3, 7));
    assert_eq!((settings.ipv6_prefix, settings.header_draft), (56, HeaderDraft::Next));
    let [fixed, sliding, log, bucket, plain] = config.policies() else { panic!("five policies") };
    assert_eq!((fixed.limit, fixed.window_ms().map(|ms| ms.get()), fixed.burst()), (60, Some(60_000), None));
    assert_eq!((fixed.on_error, fixed.on_missing, fixed.shadow), (OnError::Closed, OnMissing::Refuse, true));
    assert_eq!(fixed.max_retry_after_ms, Some(3_600_000));
    let Algorithm::SlidingWindow(window) = sliding.rate().unwrap().algorithm else { panic!("sliding") };
    assert_eq!((window.sub_windows(), window.strict(), window.limit()), (6, true, 60));
    assert_eq!((log.limit, log.on_missing, log.identity.parts().len()), (0, OnMissing::Skip, 4));
    let Algorithm::TokenBucket(tokens) = bucket.rate().unwrap().algorithm else { panic!("bucket") };
    assert_eq!((tokens.capacity(), bucket.burst(), bucket.limit), (20, Some(20), 60));
    assert_eq!((tokens.refill().tokens(), tokens.refill().per_ms()), (1, 1000));
    assert_eq!(plain.burst(), Some(60), "a bucket holds its limit unless told otherwise");
    assert_eq!(config.policy("log").map(|(index, _)| index), Some(2));
    assert!(config.policy("nobody").is_none());
    let matched =
        |method, path| config.matching(method, &RequestPath::parse(path)).map(|rule| rule.policies());
    assert_eq!(matched("GET", "/api/x"), Some(&[3, 0][..]), "policies keep the order of the rule");
    assert_eq!(matched("GET", "/healthz"), Some(&[][..]));
    assert_eq!(matched("POST", "/healthz"), Some(&[2][..]));
    assert!(config.warnings().is_empty(), "{:?}", config.warnings());
}

#[test]
fn what_is_left_out_has_its_default() {
    let config = Config::from_value(&with_policy(json!({}))).unwrap();
    assert_eq!(config.settings(), &Settings::default());
    let policy = &config.policies()[0];
    assert_eq!(
        (policy.on_error, policy.on_missing, policy.shadow),
        (OnError::Open, OnMissing::Shared, false)
    );
    assert_eq!(policy.max_retry_after_ms, None);
    assert!(config.matching("GET", &RequestPath::parse("/")).is_none(), "without rules nothing matches");
}

#[test]
fn json_text_is_read_strictly() {
    let text = with_policy(json!({})).to_string();
    assert!(Config::from_json(&text).is_ok());
    let error = |text: &str| Config::from_json(text).unwrap_err().to_string();
    assert!(error("{").starts_with("is not JSON: EOF"), "{}", error("{"));
    assert!(error(r#"{"policies": [], "policies": []}"#).starts_with("\"policies\" is given twice"));
    let twice = text.replacen("\"limit\":60", "\"limit\":60,\"limit\":600", 1);
    assert!(error(&twice).starts_with("policies[0]: \"limit\" is given twice"), "{}", error(&twice));
}

#[test]
fn rules_that_are_never_reached_are_warned_about() {
    let warnings = |rules: Value| Config::from_value(&with_rules(rules)).unwrap().warnings().to_vec();
    let table = [
        (json!([{"policies": ["a"]}, {"path": "/x", "policies": ["b"]}]), Some((1, 0))),
        (json!([{"path": "/*", "policies": ["a"]}, {"policies": ["b"]}]), Some((1, 0))),
        (json!([{"path": "/a/*", "policies": ["a"]}, {"path": "/a", "policies": ["b"]}]), Some((1, 0))),
        (
            json!([{"path": "/a/*", "policies": ["a"]}, {"path": "/a/b/*", "method": "GET", "policies": ["b"]}]),
            Some((1, 0)),
        ),
        (json!([{"path": "/a/", "policies": ["a"]}, {"path": "//a", "policies": ["b"]}]), Some((1, 0))),
        (
            json!([{"method": ["GET", "POST"], "policies": ["a"]}, {"method": "post", "policies": ["b"]}]),
            Some((1, 0)),
        ),
        (json!([{"path": "/a", "policies": ["a"]}, {"path": "/a/*", "policies": ["b"]}]), None),
        (json!([{"path": "/a/*", "policies": ["a"]}, {"path": "/ab", "policies": ["b"]}]), None),
        (json!([{"method": "GET", "policies": ["a"]}, {"policies": ["b"]}]), None),
        (json!([{"method": "GET", "policies": ["a"]}, {"method": ["GET", "PUT"], "policies": ["b"]}]), None),
    ];
    for (rules, expected) in table {
        let expected = expected.map(|(late, early)| {
            format!("rules[{late}] is never reached: rules[{early}] matches all that it matches")
        });
        assert_eq!(warnings(rules.clone()), expected.into_iter().collect::<Vec<_>>(), "{rules}");
    }
    let forgeable = Config::from_value(&with_policy(json!({"identity": "header:X-Forwarded-For"}))).unwrap();
    assert!(
        forgeable.warnings()[0].starts_with("policies[0].identity: a client can write \"x-forwarded-for\"")
    );
}
