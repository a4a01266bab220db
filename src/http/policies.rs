//! `GET /v1/policies`: what can be asked for, for people and programs that choose a limit.

use serde::Serialize;

use super::identity::{Identity, Part};
use super::rules::Rule;
use crate::calendar::PeriodSpec;
use crate::config::{Config, Counting, OnError, Policy, Rate, Scope};
use crate::policy::Algorithm;

/// The body that lists policies and rules, as `application/json`: the configuration as it counts, with the defaults
/// filled in. What a policy has no use for is null.
///
/// # Example
///
/// ```
/// use sluicegate::config::Config;
/// use sluicegate::http::policies_response;
///
/// let config = Config::from_json(
///     r#"{"policies": [
///         {"name": "per-ip", "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": "ip"}
///     ]}"#,
/// )?;
/// let body: serde_json::Value = serde_json::from_str(&policies_response(&config))?;
/// assert_eq!(body["policies"][0]["window_ms"], 60_000);
/// assert_eq!(body["policies"][0]["on_error"], "open");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn policies_response(config: &Config) -> String {
    let body = Body {
        policies: config.policies().iter().map(PolicyView::new).collect(),
        rules: config.rules().iter().map(|rule| RuleView::new(rule, config)).collect(),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

#[derive(Serialize)]
struct Body<'a> {
    policies: Vec<PolicyView<'a>>,
    rules: Vec<RuleView<'a>>,
}

#[derive(Serialize)]
struct PolicyView<'a> {
    name: &'a str,
    algorithm: &'static str,
    scope: &'static str,
    limit: u64,
    window_ms: Option<u64>,
    period: Option<&'a PeriodSpec>,
    tolerance_ppm: Option<u32>,
    burst: Option<u64>,
    identity: Names,
    on_error: OnError,
    shadow: bool,
}

/// One name, or the list of several: keys of a check have the same form.
#[derive(Serialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl<'a> PolicyView<'a> {
    fn new(policy: &'a Policy) -> Self {
        Self {
            name: &policy.name,
            algorithm: algorithm(policy),
            scope: if policy.is_global() { "global" } else { "pop" },
            limit: policy.limit,
            window_ms: policy.window_ms().map(|window| window.get()),
            period: policy.period(),
            tolerance_ppm: tolerance_ppm(policy),
            burst: policy.burst(),
            identity: Names::of(&policy.identity),
            on_error: policy.on_error,
            shadow: policy.shadow,
        }
    }
}

/// As the configuration names it.
const fn algorithm(policy: &Policy) -> &'static str {
    match &policy.counting {
        Counting::Quota(_) => "calendar-quota",
        Counting::Rate(rate) => match rate.algorithm {
            Algorithm::FixedWindow(_) => "fixed-window",
            Algorithm::SlidingWindow(_) => "sliding-window",
            Algorithm::SlidingLog(_) => "sliding-log",
            Algorithm::TokenBucket(_) => "token-bucket",
        },
    }
}

/// Only a window over all points of presence can be passed; a bucket over all of them is exact.
fn tolerance_ppm(policy: &Policy) -> Option<u32> {
    match policy.rate()? {
        Rate { algorithm: Algorithm::FixedWindow(_), scope: Scope::Global { tolerance_ppm }, .. } => {
            Some(*tolerance_ppm)
        }
        _ => None,
    }
}

impl Names {
    fn of(identity: &Identity) -> Self {
        match identity.parts() {
            [part] => Self::One(part.name()),
            parts => Self::Several(parts.iter().map(Part::name).collect()),
        }
    }
}

#[derive(Serialize)]
struct RuleView<'a> {
    /// Null for any.
    method: Option<&'a [String]>,
    /// Null for any.
    path: Option<String>,
    policies: Vec<&'a str>,
    allow: bool,
}

impl<'a> RuleView<'a> {
    fn new(rule: &'a Rule, config: &'a Config) -> Self {
        let policies = rule.policies().iter().filter_map(|index| config.policies().get(*index));
        Self {
            method: rule.methods(),
            path: rule.path().map(ToString::to_string),
            policies: policies.map(|policy| policy.name.as_str()).collect(),
            allow: rule.is_allow(),
        }
    }
}
