//! Paths, identities, header fields, problems and the check, as an adapter uses them.

#![cfg(not(target_arch = "wasm32"))]

mod checks;
mod fields;
mod identities;
mod page;
mod paths;
mod policies;
mod problems;
mod quotas;
mod tenants;

use proptest::prelude::*;
use serde_json::{Value, json};
use sfv::{BareItem, List, ListEntry, Parser};
use sluicegate::config::{Config, Policy, Subject};
use sluicegate::http::{
    CheckRequest, HashKey, HeaderDraft, LimitResult, MAX_BODY_BYTES, PathPattern, Problem, RequestFacts,
    RequestPath, Status, all_allowed, check_response, parse_check, rate_limit, rate_limit_policy,
};
use sluicegate::pop::{OpenTerms, PopReplyLimit};
use sluicegate::{Cost, DecidedBy, Decision, MAX_COUNT, Refusal, RetryAfterBasis};

/// One policy for each way to count by something.
fn config() -> Config {
    let policy = |name: &str, identity: Value| json!({"name": name, "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": identity});
    let mut refuse = policy("refuse", json!("header:x-key"));
    refuse["on_missing"] = json!("refuse");
    let mut skip = policy("skip", json!("header:x-key"));
    skip["on_missing"] = json!("skip");
    let mut shadow = policy("shadow", json!("ip"));
    shadow["shadow"] = json!(true);
    let mut capped = policy("capped", json!("ip"));
    capped["max_retry_after"] = json!("10s");
    let mut closed = policy("closed", json!("ip"));
    closed["on_error"] = json!("closed");
    let mut bucket = policy("bucket", json!("ip"));
    bucket["algorithm"] = json!("token-bucket");
    bucket["burst"] = json!(20);
    Config::from_value(&json!({"tenant_header": "x-tenant", "policies": [
        policy("per-ip", json!("ip")), policy("per-key", json!("header:X-Key")), policy("per-path", json!("path")),
        policy("per-tenant", json!("tenant")), policy("combined", json!(["ip", "header:x-key", "path"])),
        refuse, skip, shadow, capped, closed, bucket,
    ]}))
    .unwrap()
}

fn named<'a>(config: &'a Config, name: &str) -> &'a Policy {
    config.policy(name).unwrap().1
}

/// Whom a request with these facts is counted as.
fn subject(policy: &Policy, ip: Option<&str>, header: Option<&str>, path: &str) -> Subject {
    let path = RequestPath::parse(path);
    let header = |name: &str| header.filter(|_| name == "x-key" || name == "x-tenant").map(str::to_owned);
    policy.subject(&HashKey::default(), &RequestFacts { ip, path: &path, header: &header })
}

fn check(body: &Value) -> Result<CheckRequest, Problem> {
    check_text(&body.to_string())
}

fn check_text(body: &str) -> Result<CheckRequest, Problem> {
    parse_check(&config(), &HashKey::default(), body.as_bytes())
}

/// `path: detail` of each fault of a check.
fn faults(problem: &Problem) -> Vec<String> {
    problem.errors().iter().map(ToString::to_string).collect()
}

fn decision(refusal: Option<Refusal>) -> Decision {
    Decision { limit: 60, remaining: 59, reset_ms: 41_250, grows_ms: 41_250, refusal }
}

fn limited(retry_after_ms: Option<u64>) -> Option<Refusal> {
    Some(Refusal::Limit { retry_after_ms, basis: RetryAfterBasis::EpochWindow })
}

/// What a counter says.
fn counted(policy: &Policy, decision: Decision, epoch: Option<u64>) -> LimitResult<'_> {
    let decided_by = DecidedBy::Counter;
    LimitResult::counted(policy, PopReplyLimit { decision, decided_by, epoch, period: None, receipt: None })
}

/// Results of these policies with these refusals.
fn results<'a>(config: &'a Config, of: &[(&str, Option<Refusal>)]) -> Vec<LimitResult<'a>> {
    let result =
        |(name, refusal): &(&str, _)| counted(named(config, name), decision(*refusal), Some(29_934_012));
    of.iter().map(result).collect()
}
