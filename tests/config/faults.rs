//! How every fault is named.

use serde_json::{Value, json};
use sluicegate::config::Config;

use crate::{faults, merge, policy, quota, with_policy, with_rules};

#[test]
fn faults_of_a_policy_name_the_field_and_what_to_write() {
    let table = [
        (json!({"window": "1x"}), "window: \"1x\" is not a duration; use 10s, 5m, 1h"),
        (json!({"window": 60}), "window: 60 has no unit; use \"60s\" if seconds are meant"),
        (json!({"window": "500ms"}), "window: \"500ms\" is shorter than 1s"),
        (json!({"window": "367d"}), "window: \"367d\" is longer than 366d; a calendar-quota counts years"),
        (json!({"window": true}), "window: true is not a string"),
        (json!({"window": null}), "window: is missing; give its length, such as \"1m\""),
        (json!({"limit": -1}), "limit: -1 is not a whole number from 0 to 9007199254740991"),
        (json!({"limit": 1.5}), "limit: 1.5 is not a whole number from 0 to 9007199254740991"),
        (
            json!({"limit": "60"}),
            "limit: \"60\" is not a whole number from 0 to 9007199254740991; write it without quotes",
        ),
        (
            json!({"limit": 9_007_199_254_740_992_u64}),
            "limit: 9007199254740992 is not a whole number from 0 to 9007199254740991",
        ),
        (json!({"limit": null}), "limit: is missing; give a whole number of units per window"),
        (
            json!({"name": "a b"}),
            "name: \"a b\" is not 1 to 64 letters, digits, dots, underscores and hyphens",
        ),
        (json!({"name": ""}), "name: \"\" is not 1 to 64 letters, digits, dots, underscores and hyphens"),
        (
            json!({"algorithm": "fixed-windows"}),
            "algorithm: \"fixed-windows\" is unknown; did you mean \"fixed-window\"?",
        ),
        (
            json!({"algorithm": "gcra"}),
            "algorithm: \"gcra\" is unknown; use one of \"fixed-window\", \"sliding-window\", \"sliding-log\", \"token-bucket\", \"calendar-quota\"",
        ),
        (
            json!({"algorithm": "concurrency"}),
            "algorithm: \"concurrency\" is not available in this version; use one of \"fixed-window\", \"sliding-window\", \"sliding-log\", \"token-bucket\", \"calendar-quota\"",
        ),
        (json!({"scope": "world"}), "scope: \"world\" is unknown; use one of \"pop\", \"global\""),
        (json!({"scope": 1}), "scope: 1 is not a string; use one of \"pop\", \"global\""),
        (json!({"burst": 5}), "burst: belongs to \"token-bucket\"; a \"fixed-window\" has no such option"),
        (
            json!({"algorithm": "token-bucket", "sub_windows": 1}),
            "sub_windows: belongs to \"sliding-window\"; a \"token-bucket\" has no such option",
        ),
        (
            json!({"algorithm": "sliding-window", "sub_windows": 7000}),
            "sub_windows: is not a whole number from 1 to 60",
        ),
        (
            json!({"algorithm": "sliding-log", "limit": 1001}),
            "limit: is above 1000, the most that a sliding-log remembers",
        ),
        (
            json!({"identity": null}),
            "identity: is missing; use \"ip\", \"header:NAME\", \"path\", \"tenant\" or a list of them",
        ),
        (
            json!({"identity": "user"}),
            "identity: \"user\" is unknown; use \"ip\", \"header:NAME\", \"path\", \"tenant\" or a list of them",
        ),
        (json!({"identity": ["ip", "header:"]}), "identity[1]: \"\" is not the name of a header"),
        (json!({"identity": ["ip", 7]}), "identity[1]: 7 is not a string"),
        (json!({"identity": ["header:A", "header:a"]}), "identity: names \"header:a\" twice"),
        (json!({"identity": []}), "identity: names nothing to count by"),
        (
            json!({"identity": "tenant"}),
            "identity: \"tenant\" needs tenant_header, the header that names the tenant, to be set beside the policies",
        ),
        (
            json!({"on_error": "shut"}),
            "on_error: \"shut\" is unknown; use one of \"open\", \"closed\", \"local\"",
        ),
        (json!({"on_missing": "share"}), "on_missing: \"share\" is unknown; did you mean \"shared\"?"),
        (json!({"shadow": "yes"}), "shadow: \"yes\" is not true or false"),
        (json!({"max_retry_after": "0s"}), "max_retry_after: \"0s\" is not from 1s to 366d"),
        (json!({"limits": 60}), "limits: is not a field here; did you mean \"limit\"?"),
        (
            json!({"colour": 1}),
            "colour: is not a field here; use one of \"name\", \"algorithm\", \"limit\", \"window\", \"period\", \"sub_windows\", \"strict\", \"burst\", \"scope\", \"tolerance\", \"on_error\", \"identity\", \"on_missing\", \"shadow\", \"max_retry_after\"",
        ),
    ];
    for (change, fault) in table {
        assert_eq!(faults(&with_policy(change.clone())), [format!("policies[0].{fault}")], "{change}");
    }
    assert_eq!(faults(&json!({"policies": [7]})), ["policies[0]: 7 is not an object"]);
    let mut null = with_policy(json!({}));
    null["policies"][0]["max_retry_after"] = Value::Null;
    assert_eq!(faults(&null), ["policies[0].max_retry_after: null is not a string"]);
}

#[test]
fn faults_of_limits_over_all_points_of_presence() {
    let global = |mut change: Value| {
        change["scope"] = json!("global");
        change
    };
    let table = [
        (
            global(json!({"algorithm": "sliding-window"})),
            "scope: \"global\" is for \"fixed-window\", \"token-bucket\", \"calendar-quota\"; where a \"sliding-window\" stands differs from one point of presence to the next",
        ),
        (
            global(json!({"algorithm": "sliding-log", "on_error": "local"})),
            "scope: \"global\" is for \"fixed-window\", \"token-bucket\", \"calendar-quota\"; where a \"sliding-log\" stands differs from one point of presence to the next",
        ),
        (
            json!({"on_error": "local"}),
            "on_error: \"local\" belongs to scope = \"global\": a counter that a point of presence keeps alone has no Ledger to lose; use \"open\" or \"closed\"",
        ),
        (
            json!({"algorithm": "sliding-window", "scope": "pop", "on_error": "local"}),
            "on_error: \"local\" belongs to scope = \"global\": a counter that a point of presence keeps alone has no Ledger to lose; use \"open\" or \"closed\"",
        ),
        (
            json!({"scope": "world", "on_error": "local"}),
            "scope: \"world\" is unknown; use one of \"pop\", \"global\"",
        ),
        (
            json!({"scope": "world", "tolerance": 0.1}),
            "scope: \"world\" is unknown; use one of \"pop\", \"global\"",
        ),
        (
            json!({"tolerance": 0.1}),
            "tolerance: belongs to scope = \"global\"; a point of presence alone counts exactly",
        ),
        (
            global(json!({"algorithm": "token-bucket", "tolerance": 0.1})),
            "tolerance: belongs to \"fixed-window\"; a \"token-bucket\" has no such option",
        ),
        (
            json!({"algorithm": "sliding-log", "tolerance": 0}),
            "tolerance: belongs to \"fixed-window\"; a \"sliding-log\" has no such option",
        ),
        (
            global(json!({"tolerance": 1.000_001})),
            "tolerance: 1.000001 is not a number from 0 to 1, such as 0.1 for a tenth",
        ),
        (
            global(json!({"tolerance": -0.1})),
            "tolerance: -0.1 is not a number from 0 to 1, such as 0.1 for a tenth",
        ),
        (
            global(json!({"tolerance": 10})),
            "tolerance: 10 is not a number from 0 to 1, such as 0.1 for a tenth",
        ),
        (
            global(json!({"tolerance": "0.1"})),
            "tolerance: \"0.1\" is not a number from 0 to 1, such as 0.1 for a tenth; write it without quotes",
        ),
        (global(json!({"tolerance": 0.123_456_7})), "tolerance: 0.1234567 has more than 6 decimals"),
        (global(json!({"tolerance": 1e-9})), "tolerance: 1e-9 has more than 6 decimals"),
        (
            json!({"period": {"unit": "month", "time_zone": "UTC"}}),
            "period: belongs to \"calendar-quota\"; a \"fixed-window\" has no such option",
        ),
    ];
    for (change, fault) in table {
        assert_eq!(faults(&with_policy(change.clone())), [format!("policies[0].{fault}")], "{change}");
    }
}

#[test]
fn faults_of_a_quota_name_the_field_and_why() {
    let exact = |word: &str| {
        format!(
            "on_error: \"{word}\" would let units through that nobody counts, and a \"calendar-quota\" is exact: its \
             leases in hand are spent, then it refuses; use \"closed\" or leave it out"
        )
    };
    let period = |period: Value| json!({ "period": period });
    let no_option =
        |option, owner| format!("{option}: belongs to \"{owner}\"; a \"calendar-quota\" has no such option");
    let table: [(Value, String); 20] = [
        (
            json!({"window": "1m"}),
            "window: does not belong to a \"calendar-quota\": a month has no constant length; write period = { unit = \"month\", time_zone = \"Europe/Paris\" }".into(),
        ),
        (
            json!({"scope": "pop"}),
            "scope: \"pop\" is not for a \"calendar-quota\", which is one quota over all points of presence; leave it out".into(),
        ),
        (json!({"scope": "world"}), "scope: \"world\" is unknown; use one of \"pop\", \"global\"".into()),
        (json!({"on_error": "open"}), exact("open")),
        (json!({"on_error": "local"}), exact("local")),
        (json!({"on_error": "close"}), "on_error: \"close\" is unknown; did you mean \"closed\"?".into()),
        (json!({"on_error": 1}), "on_error: 1 is not a string; use one of \"closed\"".into()),
        (json!({"sub_windows": 4}), no_option("sub_windows", "sliding-window")),
        (json!({"strict": true}), no_option("strict", "sliding-window")),
        (json!({"burst": 4}), no_option("burst", "token-bucket")),
        (json!({"tolerance": 0.1}), no_option("tolerance", "fixed-window")),
        (json!({"limit": null}), "limit: is missing; give a whole number of units per period".into()),
        (
            json!({"limit": 0.5}),
            "limit: 0.5 is not a whole number from 0 to 9007199254740991".into(),
        ),
        (
            json!({"period": null}),
            "period: is missing; write { unit = \"month\", time_zone = \"Europe/Paris\" }".into(),
        ),
        (period(json!("month")), "period: is not an object with unit and time zone".into()),
        (period(json!({"unit": "month"})), "period.time_zone: is required".into()),
        (
            period(json!({"unit": "hour", "time_zone": "UTC"})),
            "period.unit: \"hour\" is shorter than a day: such a rate is a duration, use a token bucket or a window".into(),
        ),
        (
            period(json!({"unit": "day", "time_zone": "UTC", "anchor_day": 3})),
            "period.anchor_day: does not belong to the unit \"day\"".into(),
        ),
        (
            period(json!({"unit": "day", "time_zone": "+05:30"})),
            "period.time_zone: \"+05:30\" is an offset, and an offset has no calendar rules; name an IANA time zone such as \"Asia/Kolkata\"".into(),
        ),
        (period(json!({"unit": "day", "timeZone": "UTC"})), "period.timeZone: is not a field of a period".into()),
    ];
    for (change, fault) in table {
        let value = json!({"policies": [quota(change.clone())]});
        assert_eq!(faults(&value), [format!("policies[0].{fault}")], "{change}");
    }
    let third = json!({"policies": [
        policy(json!({})), quota(json!({})), quota(json!({"name": "x", "period": {"unit": "month", "time_zone": "PST"}})),
    ]});
    assert_eq!(
        faults(&third),
        [
            "policies[2].period.time_zone: \"PST\" is not the name of a time zone; use an IANA name such as \"Europe/Paris\", or \"UTC\""
        ]
    );
    // Of a quota whose algorithm is misspelt nothing else is blamed.
    assert_eq!(
        faults(&json!({"policies": [quota(json!({"algorithm": "calender-quota"}))]})),
        ["policies[0].algorithm: \"calender-quota\" is unknown; did you mean \"calendar-quota\"?"]
    );
}

#[test]
fn faults_of_rules_settings_and_the_whole() {
    let rule = |rule: Value| with_rules(json!([rule]));
    let table = [
        (
            rule(json!({"policies": ["a", "x"]})),
            "rules[0].policies[1]: no policy is called \"x\"; there are \"a\", \"b\", \"c\"",
        ),
        (rule(json!({"policies": ["a", "b", "a"]})), "rules[0].policies[2]: \"a\" is already in this rule"),
        (
            rule(json!({"policies": []})),
            "rules[0].policies: names no policy; to let such requests through write allow = true instead",
        ),
        (
            rule(json!({"path": "/x"})),
            "rules[0].policies: names no policy; to let such requests through write allow = true instead",
        ),
        (
            rule(json!({"allow": false})),
            "rules[0].policies: names no policy; to let such requests through write allow = true instead",
        ),
        (
            rule(json!({"allow": true, "policies": ["a"]})),
            "rules[0].policies: does not go with allow = true, which lets everything through",
        ),
        (rule(json!({"allow": 1})), "rules[0].allow: 1 is not true or false"),
        (
            rule(json!({"allow": true, "method": "G T"})),
            "rules[0].method: \"G T\" is not a method such as GET",
        ),
        (
            rule(json!({"allow": true, "method": []})),
            "rules[0].method: names no method; leave it out to match any",
        ),
        (rule(json!({"allow": true, "path": "api"})), "rules[0].path: \"api\" does not begin with a slash"),
        (
            rule(json!({"allow": true, "path": "/api*"})),
            "rules[0].path: \"/api*\" has a * that is not its whole last segment; use one such as /api/*",
        ),
        (
            rule(json!({"allow": true, "path": "/*/x"})),
            "rules[0].path: \"/*/x\" has a * that is not its whole last segment; use one such as /api/*",
        ),
        (
            rule(json!({"allow": true, "path": "/a/../b"})),
            "rules[0].path: \"/a/../b\" has a . or .. segment; write the path that is meant",
        ),
        (
            rule(json!({"allow": true, "path": "/a?b=1"})),
            "rules[0].path: \"/a?b=1\" has a query or a fragment; rules match the path alone",
        ),
        (
            rule(json!({"allow": true, "paths": "/"})),
            "rules[0].paths: is not a field here; did you mean \"path\"?",
        ),
        (with_rules(json!({})), "rules: an object is not a list; in TOML write [[rules]]"),
        (json!({"policies": []}), "policies: are missing; without one there is nothing to decide"),
        (json!({}), "policies: are missing; without one there is nothing to decide"),
        (json!({"policies": "x"}), "policies: \"x\" is not a list; in TOML write [[policies]]"),
        (json!(null), "null is not an object"),
        (
            json!({"policies": [policy(json!({})), policy(json!({}))]}),
            "policies[1].name: \"per-ip\" is the name of policies[0] already",
        ),
    ];
    for (value, fault) in table {
        assert_eq!(faults(&value), [fault], "{value}");
    }
    for (change, fault) in [
        (
            json!({"prefix": "limits"}),
            "prefix: \"limits\" is not a plain path such as /_limits, without a slash at its end",
        ),
        (
            json!({"prefix": "/a/"}),
            "prefix: \"/a/\" is not a plain path such as /_limits, without a slash at its end",
        ),
        (
            json!({"prefix": "/.."}),
            "prefix: \"/..\" is not a plain path such as /_limits, without a slash at its end",
        ),
        (json!({"shards": 0}), "shards: 0 is not a whole number from 1 to 256"),
        (json!({"time_limit": "0s"}), "time_limit: \"0s\" is not from 10ms to 30s"),
        (json!({"flush_every": "2m"}), "flush_every: \"2m\" is not from 10ms to 5s"),
        (json!({"ledger_shards": 0}), "ledger_shards: 0 is not a whole number from 1 to 1024"),
        (json!({"ledger_shards": 1025}), "ledger_shards: 1025 is not a whole number from 1 to 1024"),
        (json!({"lease_chunk": 0}), "lease_chunk: 0 is not a whole number from 1 to 10000"),
        (json!({"lease_chunk": 10_001}), "lease_chunk: 10001 is not a whole number from 1 to 10000"),
        (json!({"ipv6_prefix": 129}), "ipv6_prefix: 129 is not a whole number from 32 to 128"),
        (json!({"header_draft": 11}), "header_draft: 11 is not a string; use one of \"11\", \"next\""),
        (json!({"tenant_header": "x tenant"}), "tenant_header: \"x tenant\" is not the name of a header"),
        (json!({"shard": 8}), "shard: is not a field here; did you mean \"shards\"?"),
    ] {
        let mut value = with_policy(json!({}));
        merge(&mut value, change);
        assert_eq!(faults(&value), [fault]);
    }
}

#[test]
fn all_faults_are_named_and_none_is_a_consequence_of_another() {
    let value = json!({
        "shards": "many",
        "policies": [
            policy(json!({"limit": -1, "window": "1x", "nam": 1})),
            policy(json!({"name": "b", "algorithm": "nothing"})),
        ],
        "rules": [{"policies": ["per-ip", "b", "c"]}, {"policies": ["b"], "path": "x"}],
    });
    let named: Vec<String> = faults(&value);
    let paths: Vec<&str> = named.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert_eq!(
        paths,
        [
            "shards",
            "policies[0].nam",
            "policies[0].limit",
            "policies[0].window",
            "policies[1].algorithm",
            "rules[0].policies[2]",
            "rules[1].path"
        ]
    );
}

#[test]
fn the_prefix_is_known_also_where_something_else_is_wrong() {
    let prefix_of = |config: Value| Config::prefix_in(&config.to_string());
    assert_eq!(prefix_of(json!({"prefix": "/_limits"})), "/_limits");
    assert_eq!(prefix_of(json!({"prefix": "/_limits", "shards": 0, "typo": 1, "policies": 7})), "/_limits");
    for faulty in [json!({}), json!({"prefix": "limits/"}), json!({"prefix": 1}), json!([]), json!(null)] {
        assert_eq!(prefix_of(faulty.clone()), "", "{faulty}");
    }
    assert_eq!(Config::prefix_in("{\"prefix\": \"/a\""), "");
    // Named twice: neither counts.
    assert_eq!(Config::prefix_in(r#"{"prefix": "/a", "prefix": "/b"}"#), "");
}
