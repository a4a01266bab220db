//! The settings and the usage of tenants: `/v1/tenants/{id}`.

use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};
use worker::Env;

use super::ledgers::{Ledgers, TENANT_PATH};
use super::pops::Pop;
use super::setup::Setup;
use super::url::Normal;
use super::{admin, body, respond};
use crate::config::Config;
use crate::http::{MAX_BODY_BYTES, Problem, Status, TenantCall, TenantRoute};
use crate::ledger::{LedgerName, TenantAnswer};

/// Answers a route of the tenants API, by the Ledger of the tenant. What is no such route is no request for
/// the origin either: it would be handed an operator's token.
pub async fn tenants(
    request: &Request,
    env: &Env,
    setup: &Setup,
    url: &Normal,
    route: Option<TenantRoute<'_>>,
) -> Result<Response, JsValue> {
    if let Some(refused) = admin::authorise(request, setup)? {
        return Ok(refused);
    }
    let Some(route) = route else {
        let detail = "There is no such route below /v1/tenants; see the README for those there are.";
        return respond::problem(&Problem::new(Status::NotFound, detail));
    };
    let config = match &setup.config {
        Ok(config) => config,
        Err(errors) => return respond::problem(&Problem::configuration(errors)),
    };
    let call = match read(request, setup, config, url, route).await? {
        Ok(call) => call,
        Err(problem) => {
            let headers = Headers::new()?;
            if problem.status() == Status::MethodNotAllowed {
                headers.set("Allow", route.methods())?;
            }
            return respond::problem_with(&problem, &headers);
        }
    };
    let deadline = Pop::near(request, env, config.settings()).deadline();
    let ledger = LedgerName::Tenant(call.key);
    let answer = Ledgers::of(env).put(ledger, TENANT_PATH, &call.request, &deadline).await;
    match answer {
        Some(answer) => respond_with(&call, answer),
        None => respond::problem(&Problem::new(
            Status::ServiceUnavailable,
            "The ledger of this tenant is out of reach. Try again; a change may or may not have been made.",
        )),
    }
}

async fn read(
    request: &Request,
    setup: &Setup,
    config: &Config,
    url: &Normal,
    route: TenantRoute<'_>,
) -> Result<Result<TenantCall, Problem>, JsValue> {
    let method = request.method();
    let body =
        if route.has_body(&method) { body::read(request, MAX_BODY_BYTES).await? } else { Some(Vec::new()) };
    let Some(body) = body else {
        let detail = format!("The body is larger than {MAX_BODY_BYTES} bytes.");
        return Ok(Err(Problem::new(Status::ContentTooLarge, detail)));
    };
    Ok(route.read(config, &setup.hash_key, &method, url.query(), &body))
}

fn respond_with(call: &TenantCall, answer: TenantAnswer) -> Result<Response, JsValue> {
    let TenantCall { id, request, .. } = call;
    let shown = match answer {
        TenantAnswer::Settings(settings) => json!({ "tenant": id, "settings": settings }),
        TenantAnswer::Usage(usage) => return show(&usage),
        TenantAnswer::Audit(audit) => return show(&audit),
        TenantAnswer::Log(entries) => json!({ "tenant": id, "entries": entries }),
        TenantAnswer::Deleted => return respond::empty(204),
        TenantAnswer::Unknown => {
            let detail = format!(
                "The ledger knows no calendar quota {:?}: it runs on another configuration.",
                request.policy
            );
            return respond::problem(&Problem::new(Status::NotFound, detail));
        }
        TenantAnswer::Refused(faults) => {
            let errors = faults.into_iter().map(Into::into).collect();
            let detail = "The settings cannot be used. Nothing has changed.";
            return respond::problem(&Problem::invalid(Status::UnprocessableContent, detail, errors));
        }
        TenantAnswer::Unavailable { detail } => {
            return respond::problem(&Problem::new(Status::ServiceUnavailable, detail));
        }
    };
    show(&flat(shown))
}

/// Settings stand beside the tenant's name, not below it.
fn flat(mut shown: Value) -> Value {
    if let Some(Value::Object(settings)) = shown.as_object_mut().and_then(|shown| shown.remove("settings"))
        && let Some(shown) = shown.as_object_mut()
    {
        shown.extend(settings);
    }
    shown
}

fn show(value: &impl serde::Serialize) -> Result<Response, JsValue> {
    respond::json(200, &serde_json::to_string(value).unwrap_or_default())
}
