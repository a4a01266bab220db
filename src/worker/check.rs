//! The decision service: `POST /v1/check`.

use wasm_bindgen::JsValue;
use web_sys::{Headers, Request, Response};
use worker::Env;

use super::admin::admit;
use super::body;
use super::decide::{Limit, decide};
use super::pops::Pop;
use super::respond;
use super::setup::Setup;
use crate::http::{MAX_BODY_BYTES, Problem, Status, all_allowed, check_response, parse_check};

/// Decides the limits in the body. 200 where they allow, 429, 403 or 503 where they refuse; a peek is
/// always 200.
pub async fn check(request: &Request, env: &Env, setup: &Setup) -> Result<Response, JsValue> {
    if let Some(refused) = admit(request, setup, "POST")? {
        return Ok(refused);
    }
    let config = match &setup.config {
        Ok(config) => config,
        Err(errors) => return respond::problem(&Problem::configuration(errors)),
    };
    let Some(body) = body::read(request, MAX_BODY_BYTES).await? else {
        let detail = format!("The body is larger than {MAX_BODY_BYTES} bytes.");
        return respond::problem(&Problem::new(Status::ContentTooLarge, detail));
    };
    let check = match parse_check(config, &setup.hash_key, &body) {
        Ok(check) => check,
        Err(problem) => return respond::problem(&problem),
    };
    let limits: Vec<Limit<'_>> = check
        .limits
        .iter()
        .filter_map(|limit| {
            let policy = config.policies().get(limit.policy_index)?;
            Some(Limit { policy, key: limit.key, cost: limit.cost })
        })
        .collect();
    let pop = Pop::near(request, env, config.settings());
    let results = decide(&pop, config.settings(), &limits, check.peek).await;
    let headers = Headers::new()?;
    respond::add_limit_fields(&headers, &results, config.settings())?;
    let mut status = 200;
    if let (false, Some(problem)) = (check.peek || all_allowed(&results), Problem::refusal(&results)) {
        status = problem.status().code();
        if let Some(seconds) = problem.retry_after_seconds() {
            headers.set("Retry-After", &seconds.to_string())?;
        }
    }
    respond::with_type(status, "application/json", &check_response(&results, Some(&pop.name)), &headers)
}
