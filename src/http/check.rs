//! The check: a decision that somebody else asks for, with `POST /v1/check`.

use serde_json::Value;

use super::body;
use super::key::{HashKey, KeyHash};
use super::problem::Problem;
use crate::config::read::{Fields, flag, no_such_policy, show, text};
use crate::config::{Config, Policy, Subject};
use crate::{Cost, Error};

/// The most limits of one check, and policies of one rule.
pub const MAX_LIMITS: usize = 16;
/// The longest key of a check, and the longest part of one that has several.
pub const MAX_KEY_BYTES: usize = 1024;

/// A check: several limits, all or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRequest {
    /// The limits, from 1 to [`MAX_LIMITS`], no two of them the same counter.
    pub limits: Vec<CheckLimit>,
    /// Only asks, and takes nothing.
    pub peek: bool,
}

/// One limit of a [`CheckRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckLimit {
    /// The policy's index in [`Config::policies`].
    pub policy_index: usize,
    /// The counter.
    pub key: KeyHash,
    /// How many units.
    pub cost: Cost,
}

/// Reads the body of a check: the whole of it, or nothing.
///
/// # Errors
///
/// The problem to answer with: 413 for a body that is too large, 400 for one that is not JSON, else 422
/// with every fault. JSON with a member given twice is 422: programs disagree about which one counts.
///
/// # Example
///
/// ```
/// use sluicegate::config::Config;
/// use sluicegate::http::{HashKey, parse_check};
///
/// # let config = Config::from_json(r#"{"policies": [{"name": "per-ip", "algorithm": "fixed-window",
/// #     "limit": 60, "window": "1m", "identity": "ip"}]}"#)?;
/// let body = br#"{"limits": [{"policy": "per-ip", "key": "203.0.113.7", "cost": -1}]}"#;
/// let problem = parse_check(&config, &HashKey::default(), body).unwrap_err();
/// assert_eq!(problem.status().code(), 422);
/// assert_eq!(problem.errors()[0].path(), Some("limits[0].cost"));
/// # Ok::<(), sluicegate::config::ConfigErrors>(())
/// ```
pub fn parse_check(config: &Config, key: &HashKey, body: &[u8]) -> Result<CheckRequest, Problem> {
    let mut errors = Vec::new();
    let request = match body::read(body)? {
        Ok(value) => read_request(config, key, &value, &mut errors),
        Err(error) => {
            errors.push(cost_error(error));
            None
        }
    };
    match request {
        Some(request) if errors.is_empty() => Ok(request),
        _ => Err(body::invalid("The check", "Nothing was counted.", errors)),
    }
}

/// A number that is too large for JSON, where a cost was meant, is a faulty cost.
fn cost_error(error: Error) -> Error {
    match error.path() {
        Some(path) if path.starts_with("limits[") && path.ends_with("].cost") => {
            Error::cost(error.detail()).under(path)
        }
        _ => error,
    }
}

fn read_request(
    config: &Config,
    key: &HashKey,
    value: &Value,
    errors: &mut Vec<Error>,
) -> Option<CheckRequest> {
    let mut fields = Fields::open(value, "", &["limits", "peek"], errors)?;
    let peek = fields.optional("peek", flag).unwrap_or_default();
    let items = fields.required("limits", "list at least one", |value| {
        let items = value.as_array().ok_or_else(|| format!("{} is not a list", show(value)))?;
        match items.len() {
            0 => Err("is empty; list at least one".to_owned()),
            1..=MAX_LIMITS => Ok(items),
            count => Err(format!("has {count} entries; {MAX_LIMITS} is the most")),
        }
    })?;
    let mut limits: Vec<(usize, CheckLimit)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("limits[{index}]");
        let Some(limit) = read_limit(config, key, item, &path, errors) else { continue };
        let same = |other: &CheckLimit| (other.policy_index, other.key) == (limit.policy_index, limit.key);
        if let Some((first, _)) = limits.iter().find(|(_, other)| same(other)) {
            errors.push(Error::spec(path, format!("repeats limits[{first}]")));
        }
        limits.push((index, limit));
    }
    Some(CheckRequest { limits: limits.into_iter().map(|(_, limit)| limit).collect(), peek })
}

fn read_limit(
    config: &Config,
    key: &HashKey,
    value: &Value,
    path: &str,
    errors: &mut Vec<Error>,
) -> Option<CheckLimit> {
    let mut fields = Fields::open(value, path, &["policy", "key", "cost"], errors)?;
    let policy = fields.required("policy", "name one", |value| {
        let name = text(value)?;
        let names = config.policies().iter().map(|policy| policy.name.as_str());
        config.policy(name).ok_or_else(|| no_such_policy(name, names))
    });
    let cost = read_cost(&mut fields);
    let (policy_index, key) = match policy {
        Some((index, policy)) => (index, read_key(&mut fields, policy, key)),
        None => return None,
    };
    Some(CheckLimit { policy_index, key: key?, cost: cost? })
}

fn read_cost(fields: &mut Fields<'_, '_>) -> Option<Cost> {
    let Some(value) = fields.get("cost") else {
        return Some(Cost::ONE);
    };
    let cost = match (value.as_u64(), value.as_f64()) {
        (Some(units), _) => Cost::new(units),
        (None, Some(units)) => Cost::try_from_f64(units),
        (None, None) => {
            Err(Error::cost(format!("{} is not a whole number from 0 to 9007199254740991", show(value))))
        }
    };
    cost.map_err(|error| fields.note(error.under("cost"))).ok()
}

fn read_key(fields: &mut Fields<'_, '_>, policy: &Policy, key: &HashKey) -> Option<KeyHash> {
    let expected = policy.identity.expected();
    match fields.get("key") {
        Some(Value::String(_) | Value::Array(_)) => {}
        Some(other) => {
            fields.fail("key", format!("{} {expected}", show(other)));
            return None;
        }
        None => {
            fields.fail("key", "is missing");
            return None;
        }
    }
    let parts = fields.strings("key")?;
    if let Some((path, _)) = parts.iter().find(|(_, text)| text.len() > MAX_KEY_BYTES) {
        fields.fail(path, format!("is longer than {MAX_KEY_BYTES} bytes"));
        return None;
    }
    let texts: Vec<&str> = parts.iter().map(|(_, text)| *text).collect();
    match policy.subject_given(key, &texts) {
        Ok(Subject::Counted(hash)) => Some(hash),
        Ok(Subject::Refused) => {
            fields.fail("key", "is blank, which the policy refuses (on_missing)");
            None
        }
        Ok(Subject::Skipped) => {
            fields.fail("key", "is blank, which the policy does not count (on_missing); leave the limit out");
            None
        }
        Err(error) => {
            fields.note(error);
            None
        }
    }
}
