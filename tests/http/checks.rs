//! The check and its answer.

use crate::*;

fn one(change: Value) -> Value {
    let mut limit = json!({"policy": "per-ip", "key": "203.0.113.7"});
    for (name, value) in change.as_object().unwrap() {
        limit[name] = value.clone();
    }
    json!({"limits": [limit]})
}

#[test]
fn a_check_names_the_counters_of_the_gateway() {
    let request = check(&json!({"limits": [
        {"policy": "per-ip", "key": "::ffff:203.0.113.7", "cost": 3},
        {"policy": "per-key", "key": " abc "},
        {"policy": "combined", "key": ["203.0.113.7", "abc", "/a/"]},
        {"policy": "per-key", "key": ""},
    ], "peek": true}))
    .unwrap();
    assert!(request.peek);
    let config = config();
    let gateway = |name, header| subject(named(&config, name), Some("203.0.113.7"), header, "/a");
    let keys: Vec<_> = request.limits.iter().map(|limit| Subject::Counted(limit.key)).collect();
    assert_eq!(
        keys,
        [
            gateway("per-ip", None),
            gateway("per-key", Some("abc")),
            gateway("combined", Some("abc")),
            gateway("per-key", None)
        ]
    );
    assert_eq!(
        request.limits.iter().map(|limit| (limit.policy_index, limit.cost.get())).collect::<Vec<_>>(),
        [(0, 3), (1, 1), (4, 1), (1, 1)]
    );
}

#[test]
fn costs_are_whole_numbers() {
    for (written, cost) in [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("1.0", 1),
        ("1e0", 1),
        ("1E2", 100),
        ("9007199254740991", MAX_COUNT),
        ("1e-400", 0),
    ] {
        let body = format!(r#"{{"limits":[{{"policy":"per-ip","key":"203.0.113.7","cost":{written}}}]}}"#);
        assert_eq!(check_text(&body).unwrap().limits[0].cost.get(), cost, "{written}");
    }
    assert_eq!(check(&one(json!({}))).unwrap().limits[0].cost, Cost::ONE);
    for bad in [
        "-1",
        "1.5",
        "9007199254740992",
        "18446744073709551616",
        "1e300",
        "1e400",
        "-1e400",
        "\"1\"",
        "null",
        "true",
        "[1]",
        "{}",
        "1e-300",
    ] {
        let body = format!(r#"{{"limits":[{{"policy":"per-ip","key":"203.0.113.7","cost":{bad}}}]}}"#);
        let problem = check_text(&body).unwrap_err();
        assert_eq!(problem.status(), Status::UnprocessableContent, "{bad}");
        let [error] = problem.errors() else { panic!("{bad}: {problem:?}") };
        assert_eq!((error.path(), error.code()), (Some("limits[0].cost"), "invalid-cost"), "{bad}");
    }
}

#[test]
fn faults_name_the_field() {
    let limit = |limit: Value| json!({"limits": [limit]});
    let long = "x".repeat(1025);
    let many = vec![json!({"policy": "per-ip", "key": "203.0.113.7"}); 17];
    let table = [
        (
            one(json!({"policy": "per-op"})),
            "limits[0].policy: no policy is called \"per-op\"; there are \"per-ip\", \"per-key\", \"per-path\", \"per-tenant\", \"combined\", \"refuse\", \"skip\", \"shadow\", \"capped\", \"closed\", \"bucket\"",
        ),
        (one(json!({"policy": 1})), "limits[0].policy: 1 is not a string"),
        (limit(json!({"key": "203.0.113.7"})), "limits[0].policy: is missing; name one"),
        (limit(json!({"policy": "per-ip"})), "limits[0].key: is missing"),
        (one(json!({"key": "x"})), "limits[0].key: \"x\" is not an IPv4 or IPv6 address"),
        (one(json!({"key": 7})), "limits[0].key: 7 is not one string, the \"ip\""),
        (one(json!({"key": null})), "limits[0].key: null is not one string, the \"ip\""),
        (one(json!({"key": ["a", "b"]})), "limits[0].key: is not one string, the \"ip\""),
        (
            one(json!({"policy": "combined", "key": "a"})),
            "limits[0].key: is not a list of 3 strings: \"ip\", \"header:x-key\", \"path\"",
        ),
        (
            one(json!({"policy": "combined", "key": ["203.0.113.7", "k", 3]})),
            "limits[0].key[2]: 3 is not a string",
        ),
        (
            one(json!({"policy": "combined", "key": ["203.0.113.7", long, "/"]})),
            "limits[0].key[1]: is longer than 1024 bytes",
        ),
        (one(json!({"policy": "per-key", "key": long})), "limits[0].key: is longer than 1024 bytes"),
        (
            one(json!({"policy": "refuse", "key": " "})),
            "limits[0].key: is blank, which the policy refuses (on_missing)",
        ),
        (
            one(json!({"policy": "skip", "key": ""})),
            "limits[0].key: is blank, which the policy does not count (on_missing); leave the limit out",
        ),
        (one(json!({"costs": 1})), "limits[0].costs: is not a field here; did you mean \"cost\"?"),
        (limit(json!("per-ip")), "limits[0]: \"per-ip\" is not an object"),
        (json!({"limits": []}), "limits: is empty; list at least one"),
        (json!({"limits": {}}), "limits: an object is not a list"),
        (json!({"limits": many}), "limits: has 17 entries; 16 is the most"),
        (json!({}), "limits: is missing; list at least one"),
        (json!([]), "a list is not an object"),
        (
            json!({"limits": [{"policy": "per-ip", "key": "203.0.113.7"}], "peek": 1}),
            "peek: 1 is not true or false",
        ),
        (
            json!({"limits": [{"policy": "per-ip", "key": "203.0.113.7"}], "dry_run": true}),
            "dry_run: is not a field here; use one of \"limits\", \"peek\"",
        ),
    ];
    for (body, fault) in table {
        let problem = check(&body).unwrap_err();
        assert_eq!(
            (problem.status(), faults(&problem)),
            (Status::UnprocessableContent, vec![fault.to_owned()]),
            "{body}"
        );
    }
}

#[test]
fn all_faults_are_collected_and_an_answer_stays_small() {
    let problem = check(&json!({"limits": [
        {"policy": "per-ip", "key": "x", "cost": -1},
        {"policy": "nobody", "key": "x", "cost": 0.5},
        {"policy": "per-ip", "key": "203.0.113.7"},
        {"policy": "per-key", "key": "203.0.113.7"},
        {"policy": "per-ip", "key": "::ffff:203.0.113.7"},
    ]}))
    .unwrap_err();
    let paths: Vec<_> = problem.errors().iter().filter_map(|error| error.path()).collect();
    assert_eq!(paths, ["limits[0].cost", "limits[0].key", "limits[1].policy", "limits[1].cost", "limits[4]"]);
    assert_eq!(faults(&problem)[4], "limits[4]: repeats limits[2]");
    let members: Vec<String> = (0..5000).map(|n| format!("\"{n}\":0")).collect();
    let problem = check_text(&format!("{{{}}}", members.join(","))).unwrap_err();
    assert_eq!(problem.errors().len(), 32);
    assert_eq!(problem.detail(), "The check has 5001 faults. Nothing was counted.");
}

#[test]
fn what_is_not_json_or_too_large_or_ambiguous() {
    for bad in ["", "{", "[1,]", "{}{}", "{\"limits\":[}", "\u{feff}{}", &"[".repeat(MAX_BODY_BYTES)] {
        let problem = check_text(bad).unwrap_err();
        assert_eq!((problem.status(), problem.errors().len()), (Status::BadRequest, 0));
    }
    let problem =
        parse_check(&config(), &HashKey::default(), b"{\"limits\":[{\"key\":\"\xff\"}]}").unwrap_err();
    assert_eq!(problem.status(), Status::BadRequest);
    let problem = check_text(&" ".repeat(MAX_BODY_BYTES + 1)).unwrap_err();
    assert_eq!(problem.status(), Status::ContentTooLarge);
    let body = one(json!({})).to_string();
    let padded = format!("{body}{}", " ".repeat(MAX_BODY_BYTES - body.len()));
    assert!(check_text(&padded).is_ok());
    let twice = body.replacen("\"policy\"", "\"policy\":\"per-key\",\"policy\"", 1);
    let problem = check_text(&twice).unwrap_err();
    assert_eq!(problem.status(), Status::UnprocessableContent);
    assert!(faults(&problem)[0].starts_with("limits[0]: \"policy\" is given twice"), "{problem:?}");
}

#[test]
fn the_answer_has_one_shape() {
    let config = config();
    let answer = |results: &[LimitResult<'_>]| -> Value {
        serde_json::from_str(&check_response(results, Some("DFW"))).unwrap()
    };
    assert_eq!(
        answer(&results(&config, &[("per-ip", None)])),
        json!({"allowed": true, "results": [{
            "policy": "per-ip", "allowed": true, "limit": 60, "remaining": 59, "reset_ms": 41250,
            "retry_after_ms": null, "retry_after_basis": null, "refusal": null, "decided_by": "counter",
            "epoch": 29934012, "pop": "DFW",
        }]})
    );
    let refused =
        answer(&results(&config, &[("per-ip", limited(Some(41_250))), ("shadow", limited(Some(7)))]));
    assert_eq!(refused["allowed"], false);
    let [first, shadow] = refused["results"].as_array().unwrap().as_slice() else { panic!("two") };
    assert_eq!(first["allowed"], false);
    assert_eq!(
        (&first["retry_after_ms"], &first["retry_after_basis"], &first["refusal"]),
        (&json!(41250), &json!("epoch-window"), &json!("limit"))
    );
    assert!(first.get("would_refuse").is_none());
    assert_eq!(
        (&shadow["allowed"], &shadow["would_refuse"], &shadow["refusal"], &shadow["retry_after_ms"]),
        (&json!(true), &json!(true), &json!(null), &json!(null))
    );
    assert_eq!(answer(&results(&config, &[("shadow", None)]))["results"][0]["would_refuse"], false);
    let open = answer(&[LimitResult::out_of_reach(named(&config, "bucket"))]);
    assert_eq!((&open["allowed"], &open["results"][0]["decided_by"]), (&json!(true), &json!("on-error")));
    assert_eq!((&open["results"][0]["remaining"], &open["results"][0]["limit"]), (&json!(null), &json!(20)));
    let huge = Decision {
        limit: u64::MAX,
        remaining: u64::MAX,
        reset_ms: u64::MAX,
        grows_ms: u64::MAX,
        refusal: limited(Some(u64::MAX)),
    };
    let huge = answer(&[counted(named(&config, "per-ip"), huge, Some(u64::MAX))]);
    for name in ["limit", "remaining", "reset_ms", "retry_after_ms", "epoch"] {
        assert_eq!(huge["results"][0][name], MAX_COUNT, "{name}");
    }
}

/// JSON-like text with the words of a check in it.
fn body() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"limits\"",
        "\"policy\"",
        "\"key\"",
        "\"cost\"",
        "\"peek\"",
        "\"per-ip\"",
        "\"combined\"",
        "\"203.0.113.7\"",
        "1",
        "-0",
        "1e999",
        "1.5",
        "null",
        "true",
        "\"\\ud800\"",
        " ",
    ]);
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn no_text_panics(body in prop_oneof![body(), ".{0,64}".prop_map(String::from)]) {
        if let Err(problem) = check_text(&body) {
            prop_assert!(matches!(problem.status().code(), 400 | 422));
            prop_assert!(serde_json::from_str::<Value>(&problem.body()).is_ok());
        }
    }

    #[test]
    fn no_value_of_a_field_panics(
        field in prop::sample::select(vec!["policy", "key", "cost", "peek"]),
        value in prop_oneof![any::<f64>().prop_map(Value::from), any::<i64>().prop_map(Value::from), ".{0,16}".prop_map(Value::from),
            prop::collection::vec(".{0,4}", 0..5).prop_map(Value::from)],
    ) {
        let result = check(&one(json!({field: value})));
        if let Err(problem) = result {
            prop_assert!(!problem.errors().is_empty());
        }
    }
}
