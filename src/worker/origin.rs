//! The way to the origin.

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, RequestInit, Response, Url};
use worker::Env;

use super::js::{self, Fetcher};
use super::url::Normal;
use super::{log, respond};
use crate::http::{Problem, Status};

/// Sends the request to `ORIGIN`: a URL or a service binding. With neither, answers itself. `headers`
/// take the place of those that the request has.
pub async fn forward(
    request: &Request,
    env: &Env,
    url: &Normal,
    headers: &[(String, String)],
) -> Result<Response, JsValue> {
    let origin = js::get(env, "ORIGIN");
    if origin.is_falsy() {
        return respond::json(200, &own_answer(request, url));
    }
    let answered = match send(request, &origin, url, headers) {
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

/// True where requests that are let through go on to somebody.
pub fn is_set(env: &Env) -> bool {
    !js::get(env, "ORIGIN").is_falsy()
}

/// What is wrong with `ORIGIN`, where anything is.
pub fn fault(origin: &JsValue) -> Option<String> {
    if origin.is_falsy() || js::get(origin, "fetch").is_function() {
        return None;
    }
    let Some(text) = origin.as_string() else {
        return Some("is neither an address nor a service binding".to_owned());
    };
    let usable = Url::new(&text).is_ok_and(|url| {
        matches!(url.protocol().as_str(), "http:" | "https:")
            && url.search().is_empty()
            && url.hash().is_empty()
    });
    (!usable)
        .then(|| format!("{text:?} is not the address of an origin; use https://host or https://host/path"))
}

fn send(
    request: &Request,
    origin: &JsValue,
    url: &Normal,
    headers: &[(String, String)],
) -> Result<Promise, JsValue> {
    let base = origin.as_string();
    let target = match &base {
        Some(base) => format!("{}{}", base.trim_end_matches('/'), url.path_and_query()),
        None => url.as_str().to_owned(),
    };
    if base.is_none() && !url.changed && headers.is_empty() {
        return origin.unchecked_ref::<Fetcher>().fetch_request(request);
    }
    // A request is a valid init: method, headers, body and redirect mode are taken from it.
    let sent = Request::new_with_str_and_init(&target, request.unchecked_ref::<RequestInit>())?;
    for (name, value) in headers {
        sent.headers().set(name, value)?;
    }
    match base {
        Some(_) => js::fetch(&sent),
        None => origin.unchecked_ref::<Fetcher>().fetch_request(&sent),
    }
}

fn own_answer(request: &Request, url: &Normal) -> String {
    serde_json::json!({
        "ok": true,
        "answered_by": "sluicegate",
        "note": "This request is within its limits. Set ORIGIN to pass such requests on.",
        "method": request.method(),
        "path": url.path(),
    })
    .to_string()
}
