//! Routes for machines and operators.

use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};
use worker::Env;

use super::pops::Pop;
use super::setup::Setup;
use super::{metrics, respond};
use crate::http::{Problem, Status, policies_response};

/// `GET /healthz`: 200 when requests can be decided, 503 with the reasons when they cannot.
pub fn healthz(setup: &Setup) -> Result<Response, JsValue> {
    match &setup.config {
        Ok(_) => respond::json(200, &json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") }).to_string()),
        Err(errors) => respond::problem(&Problem::configuration(errors)),
    }
}

/// `GET /v1/policies`: what can be asked for.
pub fn policies(request: &Request, setup: &Setup) -> Result<Response, JsValue> {
    if let Some(refused) = admit(request, setup, "GET")? {
        return Ok(refused);
    }
    match &setup.config {
        Ok(config) => respond::json(200, &policies_response(config)),
        Err(errors) => respond::problem(&Problem::configuration(errors)),
    }
}

/// `GET /v1/pop`: what the counters of this point of presence have done.
pub async fn pop(request: &Request, env: &Env, setup: &Setup) -> Result<Response, JsValue> {
    if let Some(refused) = admit(request, setup, "GET")? {
        return Ok(refused);
    }
    let (name, counters) = reports(request, env, setup).await;
    respond::json(200, &json!({ "pop": name, "counters": counters }).to_string())
}

/// `GET /metrics`: the same as Prometheus text.
pub async fn metrics(request: &Request, env: &Env, setup: &Setup) -> Result<Response, JsValue> {
    if let Some(refused) = admit(request, setup, "GET")? {
        return Ok(refused);
    }
    let (name, counters) = reports(request, env, setup).await;
    let headers = Headers::new()?;
    respond::with_type(200, metrics::CONTENT_TYPE, &metrics::text(&name, &counters), &headers)
}

async fn reports(request: &Request, env: &Env, setup: &Setup) -> (String, Vec<Value>) {
    let settings = setup.config.as_ref().map(|config| config.settings().clone()).unwrap_or_default();
    let pop = Pop::near(request, env, &settings);
    let reports = pop.reports().await.into_iter().map(|(shard, report)| {
        let mut report = report.unwrap_or_else(|| json!({ "unreachable": true }));
        if let Some(report) = report.as_object_mut() {
            report.insert("shard".to_owned(), json!(shard));
        }
        report
    });
    let counters = reports.collect();
    (pop.name, counters)
}

/// Lets a request with the bearer token and this method through (`None`), and answers every other one.
pub fn admit(request: &Request, setup: &Setup, method: &str) -> Result<Option<Response>, JsValue> {
    if let Some(refused) = authorise(request, setup)? {
        return Ok(Some(refused));
    }
    if request.method() != method {
        let headers = Headers::new()?;
        headers.set("Allow", method)?;
        let detail = format!("This route takes {method} only.");
        return respond::problem_with(&Problem::new(Status::MethodNotAllowed, detail), &headers).map(Some);
    }
    Ok(None)
}

/// Lets a request with the bearer token through (`None`), and answers every other one.
pub fn authorise(request: &Request, setup: &Setup) -> Result<Option<Response>, JsValue> {
    let headers = Headers::new()?;
    let Some(token) = &setup.token else {
        let detail = "This route is closed: the secret SLUICEGATE_TOKEN is not set.";
        return respond::problem(&Problem::new(Status::Forbidden, detail)).map(Some);
    };
    let given = request.headers().get("authorization")?.unwrap_or_default();
    let given = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    if !given.is_some_and(|(_, given)| same(given.trim(), token)) {
        headers.set("WWW-Authenticate", "Bearer realm=\"sluicegate\"")?;
        let detail = "The header Authorization has no bearer token, or a wrong one.";
        return respond::problem_with(&Problem::new(Status::Unauthorized, detail), &headers).map(Some);
    }
    Ok(None)
}

/// Compares without telling by the time it takes how much was right.
fn same(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    let differing =
        given.iter().zip(token).fold(given.len() ^ token.len(), |all, (a, b)| all | usize::from(a ^ b));
    differing == 0
}
