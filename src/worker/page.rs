//! The page: static files of the binding `ASSETS`, below `/page/`. It needs no configuration, so that it can say what
//! is wrong with one.

use serde_json::json;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, Request, RequestInit, Response, ResponseInit};
use worker::Env;

use super::js::{self, Fetcher};
use super::setup::Setup;
use super::url::Normal;
use super::{log, origin, respond};
use crate::http::{PageFile, PageRoute, Problem, Status};

/// On every answer of the page: nothing of another host, nothing inline, in nobody's frame.
const HEADERS: [(&str, &str); 5] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
];

/// The binding looks at the path alone.
const HOST: &str = "https://assets.local";

/// True where a deployment has the page.
pub fn is_bound(env: &Env) -> bool {
    js::get(&js::get(env, "ASSETS"), "fetch").is_function()
}

/// True for a visit of `/` that nobody else would answer: the page is there, and there is no origin.
pub fn is_home(request: &Request, env: &Env, url: &Normal) -> bool {
    url.path() == "/" && is_read(request) && is_bound(env) && !origin::is_set(env)
}

/// Answers a request below `/page`.
pub async fn page(
    request: &Request,
    env: &Env,
    setup: &Setup,
    route: PageRoute<'_>,
) -> Result<Response, JsValue> {
    if !is_read(request) {
        let headers = Headers::new()?;
        headers.set("Allow", "GET, HEAD")?;
        let problem = Problem::new(Status::MethodNotAllowed, "The page takes GET and HEAD only.");
        return guarded(respond::problem_with(&problem, &headers)?);
    }
    match route {
        PageRoute::Bare => redirect(setup),
        PageRoute::Limiter => guarded(respond::json(200, &limiter(setup))?),
        PageRoute::File(file) => guarded(serve(request, env, &file).await?),
        PageRoute::Unknown => guarded(unknown()?),
    }
}

/// Leads to the page. For now only: another deployment may not have it.
pub fn redirect(setup: &Setup) -> Result<Response, JsValue> {
    let response = respond::empty(302)?;
    response.headers().set("Location", &format!("{}/page/", setup.prefix))?;
    guarded(response)
}

/// Who serves the page, and where its routes are.
fn limiter(setup: &Setup) -> String {
    let mut told = json!({ "api": setup.prefix, "version": env!("CARGO_PKG_VERSION") });
    if let (Err(_), Some(told)) = (&setup.config, told.as_object_mut()) {
        told.insert("error".to_owned(), json!(true));
    }
    told.to_string()
}

/// Fetches a file. Of the request nothing goes on but what the browser's copy is.
async fn serve(request: &Request, env: &Env, file: &PageFile<'_>) -> Result<Response, JsValue> {
    let answered = match ask(request, env, file) {
        Ok(promise) => JsFuture::from(promise).await.and_then(JsCast::dyn_into::<Response>),
        Err(error) => Err(error),
    };
    let found = match answered {
        Ok(response) => response,
        Err(error) => {
            log::error("page", &js::describe(&error));
            return out_of_reach();
        }
    };
    match found.status() {
        200 | 304 => as_page(&found, file),
        404 => unknown(),
        status => {
            log::error("page", &format!("ASSETS answered {status} for {}", file.path()));
            out_of_reach()
        }
    }
}

fn ask(request: &Request, env: &Env, file: &PageFile<'_>) -> Result<js_sys::Promise, JsValue> {
    let headers = Headers::new()?;
    if let Some(known) = request.headers().get("if-none-match")? {
        headers.set("If-None-Match", &known)?;
    }
    let init = RequestInit::new();
    init.set_method(&request.method());
    init.set_headers(&headers);
    let assets = js::get(env, "ASSETS");
    assets.unchecked_ref::<Fetcher>().fetch_url(&format!("{HOST}{}", file.path()), &init)
}

/// A copy of the binding's answer, whose headers can be changed.
fn as_page(found: &Response, file: &PageFile<'_>) -> Result<Response, JsValue> {
    let init: &ResponseInit = found.unchecked_ref();
    let copy = Response::new_with_opt_readable_stream_and_init(found.body().as_ref(), init)?;
    // Chunks are named by their content. All others are asked for each time, and seldom sent twice.
    let caching = if file.is_immutable() { "public, max-age=31536000, immutable" } else { "no-cache" };
    copy.headers().set("Cache-Control", caching)?;
    Ok(copy)
}

fn unknown() -> Result<Response, JsValue> {
    respond::problem(&Problem::new(Status::NotFound, "The page has no such file."))
}

fn out_of_reach() -> Result<Response, JsValue> {
    respond::problem(&Problem::new(Status::ServiceUnavailable, "The files of the page are out of reach."))
}

fn guarded(response: Response) -> Result<Response, JsValue> {
    let headers = response.headers();
    for (name, value) in HEADERS {
        headers.set(name, value)?;
    }
    Ok(response)
}

fn is_read(request: &Request) -> bool {
    matches!(request.method().as_str(), "GET" | "HEAD")
}
