//! What is said about calendar quotas, and about limits over many points of presence.

use crate::*;

const MARCH: (i64, i64) = (1_772_323_200_000, 1_775_001_600_000);

/// A quota and a global window; `change` is made to the quota.
fn config_with(change: Value) -> Config {
    let mut quota = json!({"name": "monthly", "algorithm": "calendar-quota", "limit": 10_000,
        "identity": "header:x-key", "period": {"unit": "month", "time_zone": "UTC"}});
    for (name, value) in change.as_object().unwrap() {
        quota[name] = value.clone();
    }
    Config::from_value(&json!({"policies": [
        quota,
        {"name": "api", "algorithm": "fixed-window", "limit": 600, "window": "1m", "identity": "header:x-key",
         "scope": "global", "on_error": "local"},
    ]}))
    .unwrap()
}

fn config() -> Config {
    config_with(json!({}))
}

fn march() -> OpenTerms {
    OpenTerms { serial: 3, slot: "2026-03".to_owned(), start_ms: MARCH.0, end_ms: MARCH.1 }
}

fn used_up(limit: u64, wait_ms: u64) -> Decision {
    let basis = RetryAfterBasis::WallPeriod;
    let refusal = Some(Refusal::Limit { retry_after_ms: Some(wait_ms), basis });
    Decision { limit, remaining: 0, reset_ms: wait_ms, grows_ms: wait_ms, refusal }
}

fn result<'a>(
    config: &'a Config,
    decision: Decision,
    decided_by: DecidedBy,
    period: Option<OpenTerms>,
) -> LimitResult<'a> {
    let reply = PopReplyLimit { decision, decided_by, epoch: None, period, receipt: None };
    LimitResult::counted(named(config, "monthly"), reply)
}

fn first(results: &[LimitResult<'_>]) -> Value {
    let answer: Value = serde_json::from_str(&check_response(results, Some("DFW"))).unwrap();
    answer["results"][0].clone()
}

#[test]
fn a_check_of_a_quota_names_the_period() {
    let config = config();
    let spent = Decision { remaining: 9_999, refusal: None, ..used_up(10_000, 86_400_000) };
    assert_eq!(
        first(&[result(&config, spent, DecidedBy::Counter, Some(march()))]),
        json!({
            "policy": "monthly", "allowed": true, "limit": 10_000, "remaining": 9_999, "reset_ms": 86_400_000,
            "retry_after_ms": null, "retry_after_basis": null, "refusal": null, "decided_by": "counter",
            "epoch": null, "slot": "2026-03", "serial": 3, "start_ms": MARCH.0, "end_ms": MARCH.1, "pop": "DFW",
        })
    );
    let refused = first(&[result(&config, used_up(10_000, 5), DecidedBy::Counter, Some(march()))]);
    assert_eq!(
        (&refused["retry_after_ms"], &refused["retry_after_basis"]),
        (&json!(5), &json!("wall-period"))
    );
    let unknown = first(&[LimitResult::out_of_reach(named(&config, "monthly"))]);
    let window = first(&results(&crate::config(), &[("per-ip", None)]));
    for name in ["slot", "serial", "start_ms", "end_ms"] {
        assert!(unknown.get(name).is_none() && window.get(name).is_none(), "{name}");
    }
}

#[test]
fn a_place_on_its_own_has_numbers_too() {
    let config = config();
    let api = named(&config, "api");
    let decision = Decision { limit: 75, remaining: 74, reset_ms: 30_000, grows_ms: 30_000, refusal: None };
    let reply = |decided_by| PopReplyLimit { decision, decided_by, epoch: None, period: None, receipt: None };
    let local = [LimitResult::counted(api, reply(DecidedBy::Local))];
    let told = first(&local);
    assert_eq!(
        (&told["decided_by"], &told["remaining"], &told["reset_ms"], &told["limit"]),
        (&json!("local"), &json!(74), &json!(30_000), &json!(75))
    );
    assert_eq!(rate_limit(&local, HeaderDraft::Eleven).as_deref(), Some("\"api\";r=74;t=30"));
    let open = [LimitResult::counted(api, reply(DecidedBy::OnError))];
    assert_eq!((&first(&open)["decided_by"], &first(&open)["remaining"]), (&json!("on-error"), &json!(null)));
    assert_eq!(rate_limit(&open, HeaderDraft::Eleven), None);
}

#[test]
fn the_fields_of_a_quota_have_a_period_and_no_window() {
    let config = config();
    let spent = Decision { remaining: 9_999, refusal: None, ..used_up(12_000, 86_400_001) };
    let known = [result(&config, spent, DecidedBy::Counter, Some(march()))];
    assert_eq!(rate_limit(&known, HeaderDraft::Eleven).as_deref(), Some("\"monthly\";r=9999;t=86401"));
    let policy = |results: &[LimitResult<'_>]| rate_limit_policy(results).unwrap();
    assert_eq!(policy(&known), "\"monthly\";q=12000;sluicegate-period=\"month\"", "the tenant's own limit");
    let unknown = [LimitResult::out_of_reach(named(&config, "monthly"))];
    assert_eq!(policy(&unknown), "\"monthly\";q=10000;sluicegate-period=\"month\"");
    let closed = Decision { refusal: Some(Refusal::Unavailable), ..used_up(0, 0) };
    let closed = [result(&config, closed, DecidedBy::OnError, Some(march()))];
    assert_eq!(policy(&closed), "\"monthly\";q=10000;sluicegate-period=\"month\"");
    assert_eq!(rate_limit(&closed, HeaderDraft::Eleven), None);
    let api = [counted(named(&config, "api"), decision(None), Some(1))];
    assert_eq!(policy(&api), "\"api\";q=600;w=60");
    let parsed: List = Parser::new(&policy(&known)).parse().unwrap();
    assert_eq!(parsed.len(), 1);
}

#[test]
fn the_unit_is_that_of_the_open_period() {
    let hour = 3_600_000;
    for (unit, slot, hours, name) in [
        ("month", "2026-03", 744, "month"),
        ("month", "2026", 8_760, "year"),
        ("month", "2026-03-02", 168, "week"),
        ("month", "2026-03-02", 25, "day"),
        ("week", "2026-03-02", 9, "week"),
        ("day", "2026-03-02", 23, "day"),
        ("year", "2026-03", 744, "month"),
    ] {
        let config = config_with(json!({"period": {"unit": unit, "time_zone": "UTC"}}));
        let open = OpenTerms { serial: 1, slot: slot.to_owned(), start_ms: 0, end_ms: hours * hour };
        let results = [result(&config, used_up(10, 1), DecidedBy::Counter, Some(open))];
        let field = format!("\"monthly\";q=10;sluicegate-period=\"{name}\"");
        assert_eq!(rate_limit_policy(&results).as_deref(), Some(field.as_str()), "{unit} {slot}");
    }
}

#[test]
fn a_used_up_quota_says_how_much_per_what() {
    let config = config_with(json!({"max_retry_after": "1h"}));
    let monthly = |decision, period| {
        let problem = Problem::refusal(&[result(&config, decision, DecidedBy::Counter, period)]).unwrap();
        (problem.status(), problem.retry_after_seconds(), problem.detail().to_owned())
    };
    let (status, retry, detail) = monthly(used_up(12_000, 41_250), Some(march()));
    assert_eq!((status, retry), (Status::TooManyRequests, Some(42)), "never early");
    assert_eq!(
        detail,
        "\"monthly\" allows 12000 per month (2026-03), which are used up. Try again in 42 seconds."
    );
    assert_eq!(monthly(used_up(1, 90_000_000), Some(march())).1, Some(3_600), "the operator's cap");
    let (_, _, detail) = monthly(used_up(0, 41_250), None);
    assert_eq!(detail, "\"monthly\" allows 10000 per month, which are used up. Try again in 42 seconds.");
    let api = named(&config, "api");
    let reply = PopReplyLimit {
        decision: decision(limited(Some(1_001))),
        decided_by: DecidedBy::Local,
        epoch: None,
        period: None,
        receipt: None,
    };
    let problem = Problem::refusal(&[LimitResult::counted(api, reply)]).unwrap();
    assert_eq!(
        problem.detail(),
        "\"api\" allows 600 per minute, and this place's part of them is used up. Try again in 2 seconds."
    );
}

#[test]
fn out_of_reach_a_quota_is_closed_and_local_lets_through() {
    let config = config();
    let open = [LimitResult::out_of_reach(named(&config, "api"))];
    assert!(all_allowed(&open) && open[0].decided_by == DecidedBy::OnError);
    let quota = [LimitResult::out_of_reach(named(&config, "monthly"))];
    let problem = Problem::refusal(&quota).unwrap();
    assert_eq!((problem.status(), problem.retry_after_seconds()), (Status::ServiceUnavailable, Some(5)));
    let mut careless = named(&config, "monthly").clone();
    careless.on_error = sluicegate::config::OnError::Open;
    assert!(!all_allowed(&[LimitResult::out_of_reach(&careless)]), "whatever on_error says");
}

#[test]
fn a_check_of_a_quota_is_counted_as_its_tenant() {
    let config = config();
    let body = br#"{"limits": [{"policy": "monthly", "key": " acme "}, {"policy": "api", "key": "acme"}]}"#;
    let check = parse_check(&config, &HashKey::default(), body).unwrap();
    assert_eq!(check.limits[0].key, check.limits[1].key, "limits of one identity meet in one object");
    assert_eq!(
        subject(named(&config, "monthly"), None, Some("acme"), "/"),
        Subject::Counted(check.limits[0].key)
    );
}

/// Another limit of the request has refused before the quota was asked: nothing is known of it then, and it
/// is not told as empty.
#[test]
fn a_quota_that_was_not_asked_has_the_policys_limit_and_no_numbers() {
    let config = config();
    let unknown = Decision { limit: 0, remaining: 0, reset_ms: 0, grows_ms: 0, refusal: None };
    let api = counted(named(&config, "api"), decision(limited(Some(1_000))), Some(1));
    let results = [result(&config, unknown, DecidedBy::Nobody, None), api];
    assert_eq!(
        first(&results),
        json!({
            "policy": "monthly", "allowed": true, "limit": 10_000, "remaining": null, "reset_ms": null,
            "retry_after_ms": null, "retry_after_basis": null, "refusal": null, "decided_by": "nobody",
            "epoch": null, "pop": "DFW",
        })
    );
    for draft in [HeaderDraft::Eleven, HeaderDraft::Next] {
        let field = rate_limit(&results, draft).unwrap();
        assert!(field.starts_with("\"api\";") && !field.contains("monthly"), "{field}");
        assert_eq!(rate_limit(&results[..1], draft), None);
    }
    let policies = "\"monthly\";q=10000;sluicegate-period=\"month\", \"api\";q=600;w=60";
    assert_eq!(rate_limit_policy(&results).as_deref(), Some(policies), "that there is one is known");
    let problem = Problem::refusal(&results).unwrap();
    assert_eq!((problem.status(), problem.retry_after_seconds()), (Status::TooManyRequests, Some(1)));
    assert!(!problem.detail().contains("monthly"), "{}", problem.detail());
}

proptest! {
    #[test]
    fn no_terms_panic(
        slot in prop_oneof![".{0,12}".prop_map(String::from), "[0-9]{4}(-[0-9]{2}){0,2}".prop_map(String::from)],
        serial: u64, start_ms: i64, end_ms: i64, limit: u64, wait_ms: u64,
    ) {
        let config = config();
        let open = OpenTerms { serial, slot: slot.clone(), start_ms, end_ms };
        let results = [result(&config, used_up(limit, wait_ms), DecidedBy::Counter, Some(open))];
        let said = first(&results);
        prop_assert_eq!(&said["slot"], &json!(slot));
        prop_assert_eq!(&said["serial"], &json!(serial.min(MAX_COUNT)));
        let field = rate_limit_policy(&results).unwrap();
        let parsed: Result<List, _> = Parser::new(&field).parse();
        prop_assert!(parsed.is_ok(), "{}", field);
        let detail = Problem::refusal(&results).unwrap().detail().to_owned();
        let start = format!("\"monthly\" allows {limit} per ");
        prop_assert!(detail.starts_with(&start), "{}", detail);
    }
}
