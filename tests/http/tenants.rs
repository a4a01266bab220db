//! The tenants API: which tenant, which quota, what to do.

use sluicegate::calendar::{PeriodSpec, Unit};
use sluicegate::http::{TenantCall, TenantRoute};
use sluicegate::ledger::TenantOp;

use crate::*;

/// `named` quotas beside a window.
fn config(named: &[&str]) -> Config {
    let quota = |name: &&str| {
        json!({"name": name, "algorithm": "calendar-quota", "limit": 10_000, "identity": "header:x-key",
               "period": {"unit": "month", "time_zone": "UTC"}})
    };
    let window =
        json!({"name": "api", "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": "ip"});
    let mut policies = vec![window];
    policies.extend(named.iter().map(quota));
    Config::from_value(&json!({ "policies": policies })).unwrap()
}

fn read(config: &Config, method: &str, url: &str, body: &str) -> Result<TenantCall, Problem> {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let route = TenantRoute::parse(path).unwrap();
    route.read(config, &HashKey::default(), method, query, body.as_bytes())
}

/// The status, and the faults.
fn refused(config: &Config, method: &str, url: &str, body: &str) -> (u16, Vec<String>) {
    let problem = read(config, method, url, body).unwrap_err();
    (problem.status().code(), faults(&problem))
}

#[test]
fn routes_are_told_apart() {
    for (path, methods) in [
        ("/v1/tenants/acme", Some("GET, PUT, DELETE")),
        ("/v1/tenants/acme/usage", Some("GET")),
        ("/v1/tenants/acme/audit", Some("GET")),
        ("/v1/tenants/acme/log", Some("GET")),
        ("/v1/tenants/acme/reopen", Some("POST")),
        ("/v1/tenants/usage", Some("GET, PUT, DELETE")),
        ("/v1/tenants/a%2Fusage", Some("GET, PUT, DELETE")),
        ("/v1/tenants/", Some("GET, PUT, DELETE")),
        ("/v1/tenants//usage", Some("GET")),
        ("/v1/tenants", None),
        ("/v1/tenants/acme/", None),
        ("/v1/tenants/acme/usage/", None),
        ("/v1/tenants/acme/use", None),
        ("/v1/tenants/acme/usage/x", None),
        ("/V1/tenants/acme", None),
        ("/x/v1/tenants/acme", None),
        ("v1/tenants/acme", None),
    ] {
        assert_eq!(TenantRoute::parse(path).map(|route| route.methods()), methods, "{path}");
    }
}

#[test]
fn each_route_asks_for_its_own() {
    let config = config(&["monthly"]);
    let period = PeriodSpec::new(Unit::Week, "Europe/Paris").unwrap().with_anchor_weekday(3).unwrap();
    let put = r#"{"policy": "monthly", "limit": 500,
                  "period": {"unit": "week", "time_zone": "Europe/Paris", "anchor_weekday": 3}}"#;
    for (method, url, body, op) in [
        ("GET", "/v1/tenants/acme", "", TenantOp::Get),
        ("DELETE", "/v1/tenants/acme", "", TenantOp::Delete),
        ("PUT", "/v1/tenants/acme", put, TenantOp::Put { limit: Some(500), period: Some(period) }),
        ("PUT", "/v1/tenants/acme", "{}", TenantOp::Put { limit: None, period: None }),
        ("PUT", "/v1/tenants/acme", r#"{"limit": 0}"#, TenantOp::Put { limit: Some(0), period: None }),
        ("GET", "/v1/tenants/acme/usage", "", TenantOp::Usage),
        ("GET", "/v1/tenants/acme/audit", "", TenantOp::Audit),
        ("GET", "/v1/tenants/acme/log", "", TenantOp::Log),
        ("POST", "/v1/tenants/acme/reopen", r#"{"used": 7}"#, TenantOp::Reopen { used: 7 }),
        (
            "POST",
            "/v1/tenants/acme/reopen",
            r#"{"used": 0, "policy": "monthly"}"#,
            TenantOp::Reopen { used: 0 },
        ),
        ("GET", "/v1/tenants/acme", "not json", TenantOp::Get),
    ] {
        let call = read(&config, method, url, body).unwrap();
        assert_eq!((call.policy_index, call.request.policy.as_str()), (1, "monthly"), "{method} {url}");
        assert_eq!((call.id.as_str(), call.request.op), ("acme", op), "{method} {url}");
        let gateway = subject(named(&config, "monthly"), None, Some("acme"), "/");
        assert_eq!(Subject::Counted(call.key), gateway, "the tenant that requests are counted as");
    }
}

#[test]
fn a_wrong_method_is_named() {
    let config = config(&["monthly"]);
    for (method, url, allowed) in [
        ("POST", "/v1/tenants/acme", "GET, PUT, DELETE"),
        ("put", "/v1/tenants/acme", "GET, PUT, DELETE"),
        ("PUT", "/v1/tenants/acme/usage", "GET"),
        ("DELETE", "/v1/tenants/acme/log", "GET"),
        ("GET", "/v1/tenants/acme/reopen", "POST"),
        ("", "/v1/tenants/acme/audit", "GET"),
        ("GET, PUT", "/v1/tenants/acme", "GET, PUT, DELETE"),
    ] {
        let problem = read(&config, method, url, "{}").unwrap_err();
        assert_eq!(problem.status(), Status::MethodNotAllowed, "{method} {url}");
        assert_eq!(problem.detail(), format!("This route takes {allowed} only."));
    }
    let route = TenantRoute::parse("/v1/tenants/acme").unwrap();
    let reopen = TenantRoute::parse("/v1/tenants/acme/reopen").unwrap();
    assert_eq!(["GET", "PUT", "DELETE"].map(|method| route.has_body(method)), [false, true, false]);
    assert!(reopen.has_body("POST") && !reopen.has_body("PUT"));
}

#[test]
fn a_tenant_is_decoded_once() {
    let config = config(&["monthly"]);
    let id = |encoded: &str| read(&config, "GET", &format!("/v1/tenants/{encoded}"), "").map(|call| call.id);
    for (encoded, decoded) in [
        ("acme", "acme"),
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("a+b", "a+b"),
        ("%C3%BC", "ü"),
        ("100%", "100%"),
        ("a%3Fb", "a?b"),
        ("%zz", "%zz"),
    ] {
        assert_eq!(id(encoded).as_deref().ok(), Some(decoded), "{encoded}");
    }
    let longest = "x".repeat(1024);
    assert_eq!(id(&longest).unwrap(), longest);
    assert_eq!(id("%FF").unwrap_err().status(), Status::BadRequest);
    let fault = |encoded: &str| refused(&config, "GET", &format!("/v1/tenants/{encoded}/usage"), "");
    assert_eq!(fault(""), (422, vec!["id: has 0 bytes; a tenant is named by 1 to 1024".to_owned()]));
    let long = "%C3%BC".repeat(513);
    assert_eq!(fault(&long), (422, vec!["id: has 1026 bytes; a tenant is named by 1 to 1024".to_owned()]));
}

#[test]
fn a_tenant_is_one_that_a_request_could_have() {
    let quota = |name: &str, identity: Value, on_missing: &str| {
        json!({"name": name, "algorithm": "calendar-quota", "limit": 1, "identity": identity, "on_missing": on_missing,
               "period": {"unit": "day", "time_zone": "UTC"}})
    };
    let config = Config::from_value(&json!({"policies": [
        quota("address", json!("ip"), "shared"), quota("refuse", json!("header:x-key"), "refuse"),
        quota("two", json!(["ip", "header:x-key"]), "shared"),
    ]}))
    .unwrap();
    let fault =
        |policy: &str, id: &str| refused(&config, "GET", &format!("/v1/tenants/{id}?policy={policy}"), "");
    assert_eq!(fault("address", "x").1, ["id: \"x\" is not an IPv4 or IPv6 address"]);
    assert_eq!(fault("refuse", "%20").1, ["id: is blank, which \"refuse\" does not count"]);
    assert_eq!(
        fault("two", "x").1,
        ["id: is one string, and \"two\" counts by several: such tenants have no settings of their own"]
    );
    let key = |id: &str| read(&config, "GET", &format!("/v1/tenants/{id}?policy=address"), "").unwrap().key;
    assert_eq!(key("::ffff:203.0.113.7"), key("203.0.113.7"));
    assert_ne!(key("203.0.113.7"), key("203.0.113.8"));
}

#[test]
fn the_quota_is_named_or_the_only_one() {
    let two = config(&["monthly", "weekly"]);
    let url = "/v1/tenants/acme";
    let chosen = |url: &str, method: &str, body: &str| {
        read(&two, method, url, body).map(|call| (call.policy_index, call.request.policy))
    };
    assert_eq!(chosen("/v1/tenants/acme?policy=weekly", "GET", ""), Ok((2, "weekly".to_owned())));
    assert_eq!(chosen("/v1/tenants/acme?&policy=%77eekly&", "GET", ""), Ok((2, "weekly".to_owned())));
    assert_eq!(chosen(url, "PUT", r#"{"policy": "weekly"}"#), Ok((2, "weekly".to_owned())));
    let both = chosen("/v1/tenants/acme?policy=weekly", "PUT", r#"{"policy": "weekly"}"#);
    assert_eq!(both, Ok((2, "weekly".to_owned())));
    for (query, method, body, fault) in [
        ("", "GET", "", "policy: is missing; write ?policy= and one of \"monthly\", \"weekly\""),
        ("", "PUT", "{}", "policy: is missing; write ?policy= and one of \"monthly\", \"weekly\""),
        (
            "policy=api",
            "GET",
            "",
            "policy: \"api\" is no \"calendar-quota\"; there are \"monthly\", \"weekly\"",
        ),
        ("policy=x", "GET", "", "policy: no policy is called \"x\"; there are \"monthly\", \"weekly\""),
        ("policy=", "GET", "", "policy: no policy is called \"\"; there are \"monthly\", \"weekly\""),
        ("policy=monthly&policy=monthly", "GET", "", "policy: is given twice"),
        ("polcy=monthly", "GET", "", "polcy: is not a parameter here; use \"policy\""),
        ("policy=monthly&x=1", "GET", "", "x: is not a parameter here; use \"policy\""),
        (
            "policy=monthly",
            "PUT",
            r#"{"policy": "weekly"}"#,
            "policy: is \"weekly\" in the body and \"monthly\" in the query",
        ),
        ("", "PUT", r#"{"policy": 7}"#, "policy: 7 is not a string"),
    ] {
        let url = format!("{url}?{query}");
        assert_eq!(refused(&two, method, &url, body), (422, vec![fault.to_owned()]), "{method} {url}");
    }
    let none = config(&[]);
    assert_eq!(
        refused(&none, "GET", "/v1/tenants/acme?policy=api", "").1,
        ["policy: no policy is a \"calendar-quota\", and only those have tenants"]
    );
}

#[test]
fn a_body_is_read_strictly() {
    let config = config(&["monthly"]);
    let put = |body: &str| refused(&config, "PUT", "/v1/tenants/acme", body);
    assert_eq!(put(""), (400, vec![]));
    assert_eq!(put("{"), (400, vec![]));
    assert_eq!(put(&" ".repeat(MAX_BODY_BYTES + 1)).0, 413);
    assert_eq!(put("[]"), (422, vec!["a list is not an object".to_owned()]));
    let (status, twice) = put(r#"{"limit": 1, "limit": 2}"#);
    assert_eq!((status, twice.len()), (422, 1));
    assert!(twice[0].starts_with("\"limit\" is given twice"), "{twice:?}");
    let (status, twice) = put(r#"{"period": {"unit": "day", "unit": "day"}}"#);
    assert!(status == 422 && twice[0].starts_with("period: \"unit\" is given twice"), "{twice:?}");
    let paths = |body: &str| -> Vec<String> {
        let problem = read(&config, "PUT", "/v1/tenants/acme", body).unwrap_err();
        assert_eq!(problem.status(), Status::UnprocessableContent);
        problem.errors().iter().map(|error| error.path().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(
        paths(r#"{"limit": 1.5, "period": {"unit": "month", "time_zone": "PST"}}"#),
        ["limit", "period.time_zone"]
    );
    assert_eq!(paths(r#"{"limits": 1}"#), ["limits"]);
    assert_eq!(paths(r#"{"policy": "api", "limit": -1}"#), ["policy", "limit"]);
    assert_eq!(paths(r#"{"period": {"unit": "hour", "time_zone": "UTC"}}"#), ["period.unit"]);
    assert_eq!(paths(r#"{"limit": 1e400}"#), ["limit"]);
    let reopen = |body: &str| refused(&config, "POST", "/v1/tenants/acme/reopen", body).1;
    assert_eq!(
        reopen("{}"),
        ["used: is missing; say how many units count as used; 0 gives the whole limit again"]
    );
    assert_eq!(reopen(r#"{"used": -1}"#), ["used: -1 is not a whole number from 0 to 9007199254740991"]);
    assert_eq!(reopen(r#"{"used": 1, "limit": 2}"#).len(), 1);
}

proptest! {
    #[test]
    fn no_request_panics(
        path in "/v1/tenants/([a%2Ff/ü]{0,6}|.{0,8})(/(usage|audit|log|reopen))?",
        query in "((policy|%70olicy|x|)(=(monthly|%|[a-z%2+]{0,4}))?&?){0,3}",
        method in prop::sample::select(vec!["GET", "PUT", "DELETE", "POST", "HEAD"]),
        body in r#"(\{|\}|"policy"|"limit"|"period"|"used"|:|,|"monthly"|1|null|\[|\]){0,12}"#,
    ) {
        let config = config(&["monthly"]);
        if let Some(route) = TenantRoute::parse(&path)
            && let Err(problem) = route.read(&config, &HashKey::default(), method, &query, body.as_bytes())
        {
            prop_assert!(matches!(problem.status().code(), 400 | 405 | 422));
            prop_assert!(serde_json::from_str::<Value>(&problem.body()).is_ok());
        }
    }

    /// An identity that is encoded as a URL does it comes back, and is who a request with it is.
    #[test]
    fn an_encoded_tenant_comes_back(id in "[ -~ü]{1,12}") {
        let config = config(&["monthly"]);
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let call = read(&config, "GET", &format!("/v1/tenants/{encoded}/usage"), "").unwrap();
        prop_assert_eq!(&call.id, &id);
        prop_assert_eq!(Subject::Counted(call.key), subject(named(&config, "monthly"), None, Some(&id), "/"));
    }
}
