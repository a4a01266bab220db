//! `[[rules]]`: which requests fall under which policies.

use serde_json::Value;

use super::read::{Fields, flag, no_such_policy, quote, text};
use crate::Error;
use crate::http::{MAX_LIMITS, PathPattern, Rule};

const FIELDS: [&str; 4] = ["method", "path", "policies", "allow"];

/// Reads one rule. `names` are those of the policies, in order; `None` is a policy with a faulty name.
pub(super) fn read(
    value: &Value,
    path: &str,
    names: &[Option<String>],
    errors: &mut Vec<Error>,
) -> Option<Rule> {
    let mut fields = Fields::open(value, path, &FIELDS, errors)?;
    let methods = read_methods(&mut fields);
    let pattern = fields.optional("path", |value| {
        PathPattern::parse(text(value)?).map_err(|error| error.detail().to_owned())
    });
    let policies = read_policies(&mut fields, names);
    Some(Rule::new(methods, pattern, policies))
}

/// The methods in capitals; none for any.
fn read_methods(fields: &mut Fields<'_, '_>) -> Vec<String> {
    let named = fields.strings("method").unwrap_or_default();
    if named.is_empty() && fields.get("method").is_some_and(Value::is_array) {
        fields.fail("method", "names no method; leave it out to match any");
    }
    let mut methods = Vec::new();
    for (path, name) in named {
        let is_plain =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        if is_plain {
            methods.push(name.to_ascii_uppercase());
        } else {
            fields.fail(&path, format!("{} is not a method such as GET", quote(name)));
        }
    }
    methods
}

fn read_policies(fields: &mut Fields<'_, '_>, names: &[Option<String>]) -> Vec<usize> {
    let allow = fields.optional("allow", flag).unwrap_or_default();
    let is_given = fields.get("policies").is_some();
    if allow {
        if is_given {
            fields.fail("policies", "does not go with allow = true, which lets everything through");
        }
        return Vec::new();
    }
    // A faulty `allow` was named already.
    let is_empty = fields.get("policies").and_then(Value::as_array).is_some_and(Vec::is_empty);
    if is_empty || (!is_given && fields.get("allow").is_none_or(Value::is_boolean)) {
        fields.fail("policies", "names no policy; to let such requests through write allow = true instead");
    }
    let named = fields.strings("policies").unwrap_or_default();
    if named.len() > MAX_LIMITS {
        fields.fail("policies", format!("names {} policies; {MAX_LIMITS} is the most", named.len()));
    }
    let mut policies: Vec<usize> = Vec::new();
    for (path, name) in named {
        match names.iter().position(|own| own.as_deref() == Some(name)) {
            Some(index) if policies.contains(&index) => {
                fields.fail(&path, format!("{} is already in this rule", quote(name)));
            }
            Some(index) => policies.push(index),
            None => fields.fail(&path, no_such_policy(name, names.iter().flatten().map(String::as_str))),
        }
    }
    policies
}
