//! The configuration: policies, rules and settings, as they stand in `wrangler.toml` under
//! `[vars.LIMITS]`.
//!
//! A Worker gets that table as a JSON object. It is checked as a whole: [`ConfigErrors`] names every
//! fault with the path of its field, and nothing that has no effect is let pass.

mod counting;
mod duration;
pub(crate) mod json;
mod policies;
mod policy;
pub(crate) mod read;
mod rules;
mod settings;
mod warnings;

use std::fmt;

use serde_json::Value;

pub use crate::policy::OnError;
pub(crate) use duration::in_words;
pub use policy::{Counting, OnMissing, Policy, Rate, Scope, Subject};
pub use settings::Settings;

use crate::Error;
use crate::http::{RequestPath, Rule};
use read::{Fields, quote, show};

/// Policies, the rules that apply them, and settings.
///
/// # Example
///
/// ```
/// use sluicegate::config::Config;
/// use sluicegate::http::RequestPath;
///
/// let config = Config::from_json(
///     r#"{
///         "policies": [
///             {"name": "per-ip", "algorithm": "fixed-window", "limit": 60, "window": "1m", "identity": "ip"}
///         ],
///         "rules": [{"path": "/api/*", "policies": ["per-ip"]}]
///     }"#,
/// )?;
/// let rule = config.matching("GET", &RequestPath::parse("/api/users")).unwrap();
/// assert_eq!(config.policies()[rule.policies()[0]].limit, 60);
/// # Ok::<(), sluicegate::config::ConfigErrors>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    policies: Vec<Policy>,
    rules: Vec<Rule>,
    settings: Settings,
    warnings: Vec<String>,
}

impl Config {
    /// Reads a configuration from JSON text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn from_json(text: &str) -> Result<Self, ConfigErrors> {
        let value = json::parse(text.as_bytes()).map_err(|fault| {
            let detail = match fault.path {
                Some(_) => fault.detail,
                None => format!("is not JSON: {}", fault.detail),
            };
            ConfigErrors(vec![read::at(&fault.path.unwrap_or_default(), detail)])
        })?;
        Self::from_value(&value)
    }

    /// Reads a configuration from a JSON value.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn from_value(value: &Value) -> Result<Self, ConfigErrors> {
        let mut errors = Vec::new();
        let settings = read_settings(value, &mut errors);
        let (names, policies) = read_policies(value, &settings, &mut errors);
        let rules = read_rules(value, &names, &mut errors);
        if !errors.is_empty() {
            return Err(ConfigErrors(errors));
        }
        let warnings = warnings::warnings(&policies, &rules);
        Ok(Self { policies, rules, settings, warnings })
    }

    /// The prefix of sluicegate's own routes that JSON text names, whatever else is wrong with it; empty where it names
    /// none, or a faulty one. Without it nobody could say where those routes are.
    pub fn prefix_in(text: &str) -> String {
        let value = json::parse(text.as_bytes()).unwrap_or_default();
        read_settings(&value, &mut Vec::new()).prefix
    }

    /// The policies, in the order in which they were written.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The rules, in the order in which they are tried.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What holds for all policies.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What works, but hardly as it was meant: rules that are never reached, and such.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The policy with this name, and its index.
    pub fn policy(&self, name: &str) -> Option<(usize, &Policy)> {
        self.policies.iter().enumerate().find(|(_, policy)| policy.name == name)
    }

    /// True when some policy counts over all points of presence: Ledgers have to be bound.
    pub fn needs_ledger(&self) -> bool {
        self.policies.iter().any(Policy::is_global)
    }

    /// The first rule that matches; `None` when the request falls under none.
    pub fn matching(&self, method: &str, path: &RequestPath) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.matches(method, path))
    }
}

fn read_settings(value: &Value, errors: &mut Vec<Error>) -> Settings {
    let known: Vec<&str> = settings::FIELDS.iter().copied().chain(["policies", "rules"]).collect();
    match Fields::open(value, "", &known, errors) {
        Some(mut fields) => settings::read(&mut fields),
        None => Settings::default(),
    }
}

/// The policies that are sound, and the names of all.
fn read_policies(
    value: &Value,
    settings: &Settings,
    errors: &mut Vec<Error>,
) -> (Vec<Option<String>>, Vec<Policy>) {
    let (mut names, mut policies) = (Vec::new(), Vec::new());
    for (index, item) in list(value, "policies", errors).iter().enumerate() {
        let path = format!("policies[{index}]");
        let (name, policy) = policies::read(item, &path, settings, errors);
        if let Some(name) = &name
            && let Some(first) = names.iter().position(|earlier| earlier == &Some(name.clone()))
        {
            let detail = format!("{} is the name of policies[{first}] already", quote(name));
            errors.push(Error::spec(format!("{path}.name"), detail));
        }
        names.push(name);
        policies.extend(policy);
    }
    let is_missing =
        value.get("policies").is_none_or(|policies| policies.as_array().is_some_and(Vec::is_empty));
    if value.is_object() && is_missing {
        errors.push(Error::spec("policies", "are missing; without one there is nothing to decide"));
    }
    (names, policies)
}

fn read_rules(value: &Value, names: &[Option<String>], errors: &mut Vec<Error>) -> Vec<Rule> {
    let items = list(value, "rules", errors).iter().enumerate();
    items.filter_map(|(index, item)| rules::read(item, &format!("rules[{index}]"), names, errors)).collect()
}

/// The list of that name, which may be absent.
fn list<'a>(value: &'a Value, name: &str, errors: &mut Vec<Error>) -> &'a [Value] {
    match value.get(name) {
        Some(Value::Array(items)) => items,
        Some(other) => {
            errors
                .push(Error::spec(name, format!("{} is not a list; in TOML write [[{name}]]", show(other))));
            &[]
        }
        None => &[],
    }
}

/// Everything that is wrong with a configuration; at least one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(Vec<Error>);

impl ConfigErrors {
    /// These errors, if there are any: for what only an adapter can check.
    pub fn of(errors: Vec<Error>) -> Option<Self> {
        (!errors.is_empty()).then_some(Self(errors))
    }

    /// The errors, each with the path of its field.
    pub fn errors(&self) -> &[Error] {
        &self.0
    }
}

impl fmt::Display for ConfigErrors {
    /// One error a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
