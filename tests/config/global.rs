//! Limits over all points of presence: how they are read, and who counts them.

use proptest::prelude::*;
use serde_json::{Value, json};
use sluicegate::calendar::{PeriodSpec, Unit};
use sluicegate::config::{Config, Counting, OnError, Policy, Scope, Settings};
use sluicegate::http::KeyHash;
use sluicegate::ledger::LedgerName;
use sluicegate::policy::Algorithm;
use sluicegate::pop::Measure;

use crate::{policy, quota, with_policy};

/// The policy of a configuration that has one.
fn only(policy: &Value) -> Policy {
    Config::from_value(&json!({ "policies": [policy] })).unwrap().policies()[0].clone()
}

fn scope(change: Value) -> Scope {
    only(&policy(change)).rate().unwrap().scope
}

#[test]
fn a_scope_has_a_tolerance_where_it_is_global() {
    let global = |tolerance_ppm| Scope::Global { tolerance_ppm };
    assert_eq!((scope(json!({})), scope(json!({"scope": "pop"}))), (Scope::Pop, Scope::Pop));
    assert_eq!(scope(json!({"scope": "global"})), global(100_000));
    for (written, ppm) in [
        ("0", 0),
        ("0.0", 0),
        ("-0.0", 0),
        ("1", 1_000_000),
        ("0.05", 50_000),
        ("1e-6", 1),
        ("0.999999", 999_999),
    ] {
        let tolerance: Value = serde_json::from_str(written).unwrap();
        assert_eq!(scope(json!({"scope": "global", "tolerance": tolerance})), global(ppm), "{written}");
    }
    assert_eq!(scope(json!({"algorithm": "token-bucket", "scope": "global"})), global(0));
    assert_eq!(only(&policy(json!({"scope": "global", "on_error": "local"}))).on_error, OnError::Local);
    assert_eq!(only(&policy(json!({"scope": "global"}))).on_error, OnError::Open);
}

#[test]
fn a_quota_has_periods() {
    let period = json!({"unit": "year", "time_zone": "Asia/Kolkata", "anchor_month": 4, "anchor_day": 6,
                        "anchor_time": "05:30"});
    let spec = PeriodSpec::new(Unit::Year, "Asia/Kolkata").unwrap();
    let spec =
        spec.with_anchor_month(4).unwrap().with_anchor_day(6).unwrap().with_anchor_time("05:30").unwrap();
    for scope in [json!(null), json!("global")] {
        let policy =
            only(&quota(json!({"period": period, "scope": scope, "on_error": "closed", "shadow": true})));
        assert_eq!(policy.counting, Counting::Quota(spec.clone()));
        assert_eq!((policy.period(), policy.rate(), policy.window_ms()), (Some(&spec), None, None));
        assert_eq!((policy.limit, policy.burst(), policy.most_at_once()), (10_000, None, 10_000));
        assert_eq!((policy.on_error, policy.shadow), (OnError::Closed, true));
    }
    assert_eq!(only(&quota(json!({}))).on_error, OnError::Closed, "without a word");
}

#[test]
fn a_measure_says_who_counts() {
    let settings = Settings::default();
    let key = KeyHash::new(8 * 1000 + 5);
    let measure = |policy: &Value| only(policy).measure(key, &settings);
    for algorithm in ["fixed-window", "sliding-window", "sliding-log", "token-bucket"] {
        let own = policy(json!({ "algorithm": algorithm }));
        assert_eq!(measure(&own), Measure::Pop(only(&own).rate().unwrap().algorithm), "{algorithm}");
    }
    assert_eq!(measure(&quota(json!({}))), Measure::Quota);
    let ledger = LedgerName::Shard(5);
    let window = policy(json!({"scope": "global", "tolerance": 0.25, "on_error": "closed"}));
    let Algorithm::FixedWindow(fixed) = only(&window).rate().unwrap().algorithm else { panic!("fixed") };
    let expected =
        Measure::Window { window: fixed, tolerance_ppm: 250_000, ledger, on_error: OnError::Closed };
    assert_eq!(measure(&window), expected);
    let bucket =
        policy(json!({"algorithm": "token-bucket", "burst": 5, "scope": "global", "on_error": "local"}));
    let Algorithm::TokenBucket(tokens) = only(&bucket).rate().unwrap().algorithm else { panic!("bucket") };
    assert_eq!(measure(&bucket), Measure::Bucket { bucket: tokens, ledger, on_error: OnError::Local });
    assert_eq!((tokens.capacity(), only(&bucket).most_at_once(), only(&bucket).limit), (5, 5, 60));
}

#[test]
fn ledgers_are_needed_where_somebody_counts_over_all() {
    let needs =
        |policies: Value| Config::from_value(&json!({ "policies": policies })).unwrap().needs_ledger();
    assert!(!needs(json!([policy(json!({})), policy(json!({"name": "b", "algorithm": "token-bucket"}))])));
    assert!(needs(json!([policy(json!({})), policy(json!({"name": "b", "scope": "global"}))])));
    assert!(needs(json!([policy(json!({})), quota(json!({}))])));
}

#[test]
fn what_works_hardly_as_it_was_meant_is_warned_about() {
    let warnings = |policy: Value| -> Vec<String> {
        let rules = json!([{"path": "/x", "allow": true}]);
        let config = Config::from_value(&json!({"policies": [policy], "rules": rules})).unwrap();
        config.warnings().to_vec()
    };
    let global = |change: Value| {
        let mut policy = policy(json!({"scope": "global"}));
        crate::merge(&mut policy, change);
        warnings(policy)
    };
    for (limit, tolerance) in
        [(9, json!(null)), (9, json!(0.1)), (19, json!(0.05)), (999_999, json!(0.000_001))]
    {
        let part = tolerance.as_f64().unwrap_or(0.1);
        let said = global(json!({"limit": limit, "tolerance": tolerance}));
        let warning = format!(
            "policies[0].tolerance: {part} of {limit} is less than one unit, so every request waits for the Ledger; \
             write tolerance = 0 if that is meant"
        );
        assert_eq!(said, [warning]);
    }
    for (limit, tolerance) in
        [(10, json!(0.1)), (20, json!(0.05)), (1_000_000, json!(0.000_001)), (9, json!(0)), (0, json!(0.1))]
    {
        assert_eq!(global(json!({"limit": limit, "tolerance": tolerance})), [""; 0], "{limit} {tolerance}");
    }
    let short = "policies[0].window: over all points of presence 4 seconds goes by in asking; use scope = \"pop\" below 5 \
                 seconds";
    assert_eq!(global(json!({"window": "4s"})), [short]);
    assert_eq!(global(json!({"window": "5s"})), [""; 0]);
    assert_eq!(global(json!({"algorithm": "token-bucket", "window": "1s", "limit": 1})), [""; 0]);
    assert_eq!(warnings(policy(json!({"window": "1s", "limit": 1}))), [""; 0]);
    assert_eq!(warnings(quota(json!({}))), [""; 0]);
    let parts = "policies[0].identity: the tenants API names a tenant by one string, so tenants of several cannot have \
                 settings of their own";
    assert_eq!(warnings(quota(json!({"identity": ["ip", "path"]}))), [parts]);
    assert_eq!(warnings(policy(json!({"identity": ["ip", "path"]}))), [""; 0]);
}

proptest! {
    /// A key is always counted by the same Ledger, and all of them are used.
    #[test]
    fn keys_are_spread_over_the_ledgers(key: u128, shards in 1..=1024_u32) {
        let mut value = with_policy(json!({"scope": "global"}));
        value["ledger_shards"] = json!(shards);
        let config = Config::from_value(&value).unwrap();
        let measure = config.policies()[0].measure(KeyHash::new(key), config.settings());
        let Measure::Window { ledger: LedgerName::Shard(shard), .. } = measure else { panic!("{measure:?}") };
        prop_assert_eq!(u128::from(shard), key % u128::from(shards));
    }
}
