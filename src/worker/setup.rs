//! What the Worker is configured with, read once per isolate.

use std::cell::OnceCell;
use std::rc::Rc;

use wasm_bindgen::JsValue;
use worker::Env;

use super::{js, log, origin};
use crate::Error;
use crate::config::{Config, ConfigErrors, Policy, Settings};
use crate::counter::CounterSettings;
use crate::global::HolderSettings;
use crate::http::HashKey;
use crate::ledger::is_pop_name;
use crate::pop::PopSettings;

/// Everything that is read from the environment. It cannot change while the isolate lives.
pub struct Setup {
    /// The configuration, or everything that is wrong with it.
    pub config: Result<Config, ConfigErrors>,
    /// What sluicegate's own routes begin with, also where the configuration is wrong.
    pub prefix: String,
    /// What identities are hashed with.
    pub hash_key: HashKey,
    /// The secret that opens the routes for machines; without it they are closed.
    pub token: Option<String>,
}

thread_local! {
    static SETUP: OnceCell<Rc<Setup>> = const { OnceCell::new() };
}

/// The Worker's configuration.
pub fn setup(env: &Env) -> Rc<Setup> {
    SETUP.with(|cell| Rc::clone(cell.get_or_init(|| Rc::new(read(env)))))
}

/// How much a point of presence may lose and remember, and how long it waits; the defaults where the
/// configuration is broken, since then the edge lets nothing through to it.
pub fn pop_settings(env: &Env) -> PopSettings {
    let settings = settings(env);
    let counter = CounterSettings {
        flush_hits: settings.flush_hits,
        flush_every_ms: settings.flush_every_ms,
        max_keys: settings.max_keys,
    };
    PopSettings {
        leases: HolderSettings { chunk: settings.lease_chunk, ..HolderSettings::default() },
        // An answer that says what was out of reach is worth more than none: it has to leave in time.
        ask_limit_ms: settings.time_limit_ms - settings.time_limit_ms / 5,
        ..PopSettings::new(counter)
    }
}

/// What a Ledger counts by. None where the configuration is broken: it then grants nothing.
pub fn policies(env: &Env) -> Vec<Policy> {
    let setup = setup(env);
    setup.config.as_ref().map(|config| config.policies().to_vec()).unwrap_or_default()
}

fn settings(env: &Env) -> Settings {
    let setup = setup(env);
    setup.config.as_ref().map(|config| config.settings().clone()).unwrap_or_default()
}

fn read(env: &Env) -> Setup {
    let limits = limits_text(env);
    let config = Config::from_json(&limits).and_then(|config| match ConfigErrors::of(faults(env, &config)) {
        Some(errors) => Err(errors),
        None => Ok(config),
    });
    let prefix = match &config {
        Ok(config) => {
            for warning in config.warnings() {
                log::warn("configuration", &serde_json::json!({ "detail": warning }));
            }
            config.settings().prefix.clone()
        }
        Err(errors) => {
            for error in errors.errors() {
                log::error("configuration", &error.to_string());
            }
            Config::prefix_in(&limits)
        }
    };
    let text = |name| js::get(env, name).as_string().filter(|text| !text.is_empty());
    let hash_key =
        text("SLUICEGATE_HASH_KEY").map(|secret| HashKey::from_secret(&secret)).unwrap_or_default();
    // Secrets are often piped in, with a line's end.
    let token =
        text("SLUICEGATE_TOKEN").map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
    Setup { config, prefix, hash_key, token }
}

/// What is wrong around the configuration. Without its counters a gateway would be wide open.
fn faults(env: &Env, config: &Config) -> Vec<Error> {
    let mut needed = vec!["POP_COUNTER"];
    if config.needs_ledger() {
        needed.push("LEDGER");
    }
    let is_missing = |name: &&str| !js::get(&js::get(env, name), "getByName").is_function();
    let detail = "is not bound: add the Durable Object binding of the shipped wrangler.toml";
    let mut faults: Vec<Error> =
        needed.into_iter().filter(is_missing).map(|name| Error::spec(name, detail)).collect();
    let name = js::get(env, "POP_NAME").as_string().filter(|name| !name.is_empty());
    if name.is_some_and(|name| !is_pop_name(&name)) {
        faults.push(Error::spec("POP_NAME", "is not 1 to 64 visible ASCII characters"));
    }
    faults.extend(origin::fault(&js::get(env, "ORIGIN")).map(|detail| Error::spec("ORIGIN", detail)));
    faults
}

/// `[vars.LIMITS]` arrives as an object; a variable set in the dashboard arrives as text.
fn limits_text(env: &Env) -> String {
    let limits = js::get(env, "LIMITS");
    if let Some(text) = limits.as_string() {
        return text;
    }
    let text = js_sys::JSON::stringify(&limits).ok().map(JsValue::from).and_then(|text| text.as_string());
    text.unwrap_or_else(|| "{}".to_owned())
}
