//! The Cloudflare Worker: the edge handler and its Durable Objects, thin shells around the core.
//!
//! One wasm instance serves the Worker and every object of an isolate, so nothing here is kept in a
//! static but the configuration, which is the same for all of them.

mod admin;
mod body;
mod check;
mod decide;
mod gateway;
mod js;
mod ledger;
mod ledgers;
mod log;
mod metrics;
mod origin;
mod page;
mod pop_counter;
mod pop_rows;
mod pops;
mod respond;
mod setup;
mod sql;
mod tenants;
mod timer;
mod url;
mod visits;

pub use ledger::Ledger;
pub use pop_counter::PopCounter;

use wasm_bindgen::JsValue;
use web_sys::{Request, Response};
use worker::{Context, Env, event};

use crate::http::{PageRoute, Problem, Status, TenantRoute};
use setup::{Setup, setup};

/// Carries a [`PopAsk`](crate::pop::PopAsk) from the edge to a counter.
const ASK_HEADER: &str = "sluicegate-ask";
/// Carries the [`PopReply`](crate::pop::PopReply) back.
const REPLY_HEADER: &str = "sluicegate-reply";

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    let answered = match answer(&request, &env).await {
        Ok(response) => Ok(response),
        Err(error) => {
            log::error("request", &js::describe(&error));
            respond::problem(&Problem::new(Status::InternalServerError, "The limiter failed; see its log."))
        }
    };
    answered.map_err(|error| worker::Error::RustError(js::describe(&error)))
}

async fn answer(request: &Request, env: &Env) -> Result<Response, JsValue> {
    let setup = setup(env);
    let url = url::Normal::of(request);
    let route = setup.own_route(url.path());
    match route {
        Some("/healthz") => admin::healthz(&setup),
        Some("/v1/check") => check::check(request, env, &setup).await,
        Some("/v1/policies") => admin::policies(request, &setup),
        Some("/v1/pop") => admin::pop(request, env, &setup).await,
        Some("/metrics") => admin::metrics(request, env, &setup).await,
        Some(path) if TenantRoute::is_below(path) => {
            tenants::tenants(request, env, &setup, &url, TenantRoute::parse(path)).await
        }
        _ => match route.and_then(PageRoute::parse).filter(|_| page::is_bound(env)) {
            Some(route) => page::page(request, env, &setup, route).await,
            None => gateway::gateway(request, env, &setup, &url).await,
        },
    }
}

impl Setup {
    /// The part of `path` after the prefix, where it has that.
    fn own_route<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.prefix.as_str())
    }
}
