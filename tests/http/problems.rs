//! Problem details: what a refused caller is told.

use crate::*;

fn problem(of: &[(&str, Option<Refusal>)]) -> (u16, Option<u64>, Value) {
    let config = config();
    let problem = Problem::refusal(&results(&config, of)).unwrap();
    let body: Value = serde_json::from_str(&problem.body()).unwrap();
    assert_eq!(body["status"], problem.status().code());
    (problem.status().code(), problem.retry_after_seconds(), body)
}

#[test]
fn a_used_up_limit_says_which_and_for_how_long() {
    let (status, retry, body) = problem(&[("per-ip", limited(Some(41_250)))]);
    assert_eq!((status, retry), (429, Some(42)));
    assert_eq!(
        body,
        json!({
            "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
            "title": "Quota Exceeded",
            "status": 429,
            "detail": "\"per-ip\" allows 60 per minute, which are used up. Try again in 42 seconds.",
            "violated-policies": ["per-ip"],
            "refusal": "limit",
        })
    );
}

#[test]
fn waiting_is_advised_only_where_it_helps() {
    let (status, retry, body) = problem(&[("per-ip", Some(Refusal::CostExceedsLimit))]);
    assert_eq!((status, retry, &body["refusal"]), (403, None, &json!("cost-exceeds-limit")));
    assert_eq!(
        body["detail"],
        "The request costs more than \"per-ip\" ever lets through at once, which is 60. Waiting does not help."
    );
    let (status, retry, body) = problem(&[("per-ip", Some(Refusal::Blocked))]);
    assert_eq!(
        (status, retry, &body["type"], &body["title"]),
        (403, None, &json!("about:blank"), &json!("Forbidden"))
    );
    let (status, retry, body) = problem(&[("per-ip", Some(Refusal::Unavailable))]);
    assert_eq!((status, retry), (503, Some(5)));
    assert_eq!(body["type"], "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity");
    let (status, retry, _) = problem(&[("per-ip", limited(None))]);
    assert_eq!((status, retry), (429, None), "what never refills has no wait");
    let (_, retry, body) = problem(&[("per-ip", limited(Some(0)))]);
    assert_eq!(retry, Some(1), "never 0");
    assert!(body["detail"].as_str().unwrap().ends_with("Try again in 1 second."));
}

#[test]
fn of_several_refusals_the_least_curable_is_told_and_the_longest_wait() {
    let wait = |ms| limited(Some(ms));
    let table = [
        (vec![("per-ip", wait(1_000)), ("per-key", wait(9_001))], 429, Some(10), vec!["per-ip", "per-key"]),
        (vec![("per-ip", wait(1_000)), ("per-key", limited(None))], 429, None, vec!["per-ip", "per-key"]),
        (
            vec![("per-ip", wait(1_000)), ("per-key", Some(Refusal::CostExceedsLimit))],
            403,
            None,
            vec!["per-key"],
        ),
        (
            vec![("per-ip", Some(Refusal::CostExceedsLimit)), ("per-key", Some(Refusal::Blocked))],
            403,
            None,
            vec!["per-key"],
        ),
        (
            vec![("per-ip", wait(1_000)), ("per-key", Some(Refusal::Unavailable))],
            429,
            Some(5),
            vec!["per-ip"],
        ),
        (vec![("per-ip", None), ("per-key", wait(1))], 429, Some(1), vec!["per-key"]),
        (vec![("capped", wait(60_000))], 429, Some(10), vec!["capped"]),
        (vec![("capped", wait(9_001))], 429, Some(10), vec!["capped"]),
        (vec![("capped", wait(60_000)), ("per-ip", wait(11_000))], 429, Some(11), vec!["capped", "per-ip"]),
        (vec![("shadow", Some(Refusal::Blocked)), ("per-ip", wait(2_000))], 429, Some(2), vec!["per-ip"]),
    ];
    for (refusals, status, retry, violated) in table {
        let (got_status, got_retry, body) = problem(&refusals);
        assert_eq!((got_status, got_retry), (status, retry), "{refusals:?}");
        assert_eq!(body["violated-policies"], json!(violated), "{refusals:?}");
    }
    let config = config();
    assert!(Problem::refusal(&results(&config, &[("per-ip", None), ("shadow", limited(None))])).is_none());
    assert!(Problem::refusal(&[]).is_none());
}

#[test]
fn out_of_reach_is_what_on_error_says() {
    let config = config();
    let open = [LimitResult::out_of_reach(named(&config, "per-ip"))];
    assert!(all_allowed(&open) && Problem::refusal(&open).is_none());
    let closed = [LimitResult::out_of_reach(named(&config, "closed"))];
    assert_eq!(Problem::refusal(&closed).map(|problem| problem.status()), Some(Status::ServiceUnavailable));
}

#[test]
fn a_configuration_problem_lists_everything() {
    let errors = Config::from_value(&json!({"policies": [{"name": "a b"}]})).unwrap_err();
    let problem = Problem::configuration(&errors);
    let body: Value = serde_json::from_str(&problem.body()).unwrap();
    assert_eq!((problem.status().code(), &body["title"]), (503, &json!("Service Unavailable")));
    let paths: Vec<_> =
        body["errors"].as_array().unwrap().iter().map(|error| error["path"].clone()).collect();
    assert_eq!(
        paths,
        [
            "policies[0].name",
            "policies[0].algorithm",
            "policies[0].limit",
            "policies[0].window",
            "policies[0].identity"
        ]
    );
    assert_eq!(body["errors"][1]["code"], "invalid-spec");
}

#[test]
fn a_missing_identity_is_named() {
    let config = config();
    let problem = Problem::missing_identity(named(&config, "refuse"));
    assert_eq!(problem.status(), Status::BadRequest);
    assert_eq!(problem.detail(), "\"refuse\" counts by \"header:x-key\", and the request has no such value.");
}
