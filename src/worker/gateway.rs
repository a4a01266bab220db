//! The gateway: rules, limits, and then the origin.

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, RequestInit, Response, ResponseInit};
use worker::Env;

use super::decide::{Limit, decide};
use super::js::{self, Fetcher};
use super::pops::Pop;
use super::setup::Setup;
use super::{log, respond};
use crate::Cost;
use crate::config::{Config, Subject};
use crate::http::{LimitResult, Problem, RequestFacts, RequestPath, Rule, Status};

/// Answers a request that is for the origin: refuses it, or passes it on.
pub async fn gateway(request: &Request, env: &Env, setup: &Setup, path: &str) -> Result<Response, JsValue> {
    let config = match &setup.config {
        Ok(config) => config,
        // A wrong rule never means "no limit".
        Err(errors) => return respond::problem(&Problem::configuration(errors)),
    };
    let path = RequestPath::parse(path);
    if path.hides_dots() {
        return respond::problem(&Problem::hidden_dots());
    }
    let rule = config.matching(&request.method(), &path);
    let Some(rule) = rule.filter(|rule| !rule.is_allow()) else {
        return forward(request, env).await;
    };
    let limits = match subjects(request, setup, config, rule, &path)? {
        Ok(limits) => limits,
        Err(problem) => return respond::problem(&problem),
    };
    let pop = Pop::near(request, env, config.settings());
    let results = decide(&pop, &limits, false).await;
    if let Some(problem) = Problem::refusal(&results) {
        return respond::refusal(&problem, &results, config.settings());
    }
    let response = forward(request, env).await?;
    announce(response, &results, config)
}

/// Whom each policy of `rule` counts this request as; a problem if one insists on an identity that
/// the request does not have.
fn subjects<'a>(
    request: &Request,
    setup: &Setup,
    config: &'a Config,
    rule: &Rule,
    path: &RequestPath,
) -> Result<Result<Vec<Limit<'a>>, Problem>, JsValue> {
    let headers = request.headers();
    let header = |name: &str| headers.get(name).ok().flatten();
    let ip = header("cf-connecting-ip");
    let facts = RequestFacts { ip: ip.as_deref(), path, header: &header };
    let mut limits = Vec::with_capacity(rule.policies().len());
    for policy in rule.policies().iter().filter_map(|index| config.policies().get(*index)) {
        match policy.subject(&setup.hash_key, &facts) {
            Subject::Counted(key) => limits.push(Limit { policy, key, cost: Cost::ONE }),
            Subject::Skipped => {}
            Subject::Refused => return Ok(Err(Problem::missing_identity(policy))),
        }
    }
    Ok(Ok(limits))
}

/// Sends the request to `ORIGIN`: a URL or a service binding. With neither, answers itself.
async fn forward(request: &Request, env: &Env) -> Result<Response, JsValue> {
    let origin = js::get(env, "ORIGIN");
    if origin.is_falsy() {
        return respond::json(200, &own_answer(request));
    }
    let sent = match origin.as_string() {
        Some(base) => send(request, &base),
        None => origin.unchecked_ref::<Fetcher>().fetch_request(request),
    };
    let answered = match sent {
        Ok(promise) => JsFuture::from(promise).await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(response) => response.dyn_into(),
        Err(error) => {
            log::error("origin", &js::describe(&error));
            respond::problem(&Problem::new(Status::BadGateway, "The origin did not answer."))
        }
    }
}

/// The same request to the same path and query below another base.
fn send(request: &Request, base: &str) -> Result<Promise, JsValue> {
    let url = request.url();
    let rest =
        url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or("/");
    let url = format!("{}{rest}", base.trim_end_matches('/'));
    // A request is a valid init: method, headers, body and redirect mode are taken from it.
    let request = Request::new_with_str_and_init(&url, request.unchecked_ref::<RequestInit>())?;
    js::fetch(&request)
}

fn own_answer(request: &Request) -> String {
    serde_json::json!({
        "ok": true,
        "answered_by": "sluicegate",
        "note": "This request is within its limits. Set ORIGIN to pass such requests on.",
        "method": request.method(),
        "path": super::path_of(&request.url()),
    })
    .to_string()
}

/// Adds the limit fields to an origin's answer, beside any that it has itself.
fn announce(response: Response, results: &[LimitResult<'_>], config: &Config) -> Result<Response, JsValue> {
    // A switch to another protocol has no answer to put fields on.
    if response.status() == 101 || results.is_empty() {
        return Ok(response);
    }
    // An origin's answer has immutable headers; a copy of it has not, and streams the same body.
    let init: &ResponseInit = response.unchecked_ref();
    let copy = Response::new_with_opt_readable_stream_and_init(response.body().as_ref(), init)?;
    respond::add_limit_fields(&copy.headers(), results, config.settings())?;
    Ok(copy)
}
