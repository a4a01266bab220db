//! Answers, built on the platform's own `Response`.

use wasm_bindgen::JsValue;
use web_sys::{Headers, Response, ResponseInit};

use crate::config::Settings;
use crate::http::{LimitResult, PROBLEM_CONTENT_TYPE, Problem, rate_limit, rate_limit_policy};

/// A plain text answer.
pub fn text(status: u16, body: &str) -> Result<Response, JsValue> {
    with_type(status, "text/plain; charset=utf-8", body, &Headers::new()?)
}

/// A JSON answer.
pub fn json(status: u16, body: &str) -> Result<Response, JsValue> {
    with_type(status, "application/json", body, &Headers::new()?)
}

/// An answer without a body.
pub fn empty(status: u16) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    headers.set("Cache-Control", "no-store")?;
    Response::new_with_opt_str_and_init(None, &init(status, &headers))
}

/// Problem details (RFC 9457).
pub fn problem(problem: &Problem) -> Result<Response, JsValue> {
    problem_with(problem, &Headers::new()?)
}

/// Problem details, with these headers too.
pub fn problem_with(problem: &Problem, headers: &Headers) -> Result<Response, JsValue> {
    if let Some(seconds) = problem.retry_after_seconds() {
        headers.set("Retry-After", &seconds.to_string())?;
    }
    with_type(problem.status().code(), PROBLEM_CONTENT_TYPE, &problem.body(), headers)
}

/// A refusal, with the limit fields.
pub fn refusal(
    problem: &Problem,
    results: &[LimitResult<'_>],
    settings: &Settings,
) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    add_limit_fields(&headers, results, settings)?;
    problem_with(problem, &headers)
}

/// Adds `RateLimit` and `RateLimit-Policy`. Both are lists: what is there already stays.
pub fn add_limit_fields(
    headers: &Headers,
    results: &[LimitResult<'_>],
    settings: &Settings,
) -> Result<(), JsValue> {
    if let Some(policies) = rate_limit_policy(results) {
        headers.append("RateLimit-Policy", &policies)?;
    }
    if let Some(limits) = rate_limit(results, settings.header_draft) {
        headers.append("RateLimit", &limits)?;
    }
    Ok(())
}

/// An answer with a body of this media type, and these headers.
pub fn with_type(status: u16, media_type: &str, body: &str, headers: &Headers) -> Result<Response, JsValue> {
    headers.set("Content-Type", media_type)?;
    // What a limiter says is about this request at this moment.
    headers.set("Cache-Control", "no-store")?;
    Response::new_with_opt_str_and_init(Some(body), &init(status, headers))
}

/// An answer that is one header and no body.
pub fn with_header(name: &str, value: &str) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    headers.set(name, value)?;
    Response::new_with_opt_str_and_init(None, &init(200, &headers))
}

fn init(status: u16, headers: &Headers) -> ResponseInit {
    let init = ResponseInit::new();
    init.set_status(status);
    init.set_headers(headers);
    init
}
