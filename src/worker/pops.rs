//! The way from the edge to the counters of its point of presence.

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};
use worker::Env;

use super::js::{self, DurableObjectNamespace, Fetcher};
use super::{ASK_HEADER, REPLY_HEADER, log};
use crate::config::Settings;
use crate::counter::{Ask, Reply, WIRE_VERSION};
use crate::http::KeyHash;

/// The counters of one point of presence.
pub struct Pop {
    /// `POP_NAME` where it is set, else the data centre's code, else `XXX`.
    pub name: String,
    namespace: JsValue,
    shards: u32,
    time_limit_ms: u32,
}

/// A counter gave no answer, or none in time; the reason is in the log.
#[derive(Debug)]
pub struct Unreachable;

impl Pop {
    /// The counters near the edge that took `request`.
    pub fn near(request: &web_sys::Request, env: &Env, settings: &Settings) -> Self {
        let name = js::get(env, "POP_NAME").as_string().filter(|name| !name.is_empty());
        let colo = || js::get(&js::get(request, "cf"), "colo").as_string();
        let name = name.or_else(colo).unwrap_or_else(|| "XXX".to_owned());
        let time_limit_ms = u32::try_from(settings.time_limit_ms).unwrap_or(u32::MAX);
        Self { name, namespace: js::get(env, "POP_COUNTER"), shards: settings.shards.max(1), time_limit_ms }
    }

    /// Which of the counters holds this key. Policies that count by the same identity have the same.
    pub fn shard_of(&self, key: KeyHash) -> u32 {
        (key.get() % u128::from(self.shards)) as u32
    }

    /// Asks one counter, once. There is no second attempt here: the runtime itself repeats a request
    /// that never reached the object, an overloaded object only suffers from more, and the stub is
    /// made anew for every ask, since one that has failed stays broken.
    pub async fn ask(&self, shard: u32, ask: &Ask) -> Result<Reply, Unreachable> {
        let text = serde_json::to_string(ask).unwrap_or_default();
        let response = self.fetch(shard, Some(&text)).await.map_err(|error| self.failed(shard, &error))?;
        let reply = response.headers().get(REPLY_HEADER).ok().flatten();
        let reply = reply.and_then(|reply| serde_json::from_str::<Reply>(&reply).ok());
        match reply {
            Some(reply) if reply.v == WIRE_VERSION && reply.limits.len() == ask.limits.len() => Ok(reply),
            _ => {
                let status = response.status();
                Err(self
                    .failed(shard, &JsValue::from_str(&format!("status {status}, no reply of this version"))))
            }
        }
    }

    /// What one counter has done so far, as JSON.
    pub async fn report(&self, shard: u32) -> Result<serde_json::Value, Unreachable> {
        let read = async {
            let response = self.fetch(shard, None).await?;
            let text = JsFuture::from(response.text()?).await?;
            Ok::<_, JsValue>(text.as_string().unwrap_or_default())
        };
        let text = read.await.map_err(|error| self.failed(shard, &error))?;
        serde_json::from_str(&text)
            .map_err(|error| self.failed(shard, &JsValue::from_str(&error.to_string())))
    }

    async fn fetch(&self, shard: u32, ask: Option<&str>) -> Result<Response, JsValue> {
        let promise = self.start(shard, ask)?;
        JsFuture::from(promise).await?.dyn_into()
    }

    fn start(&self, shard: u32, ask: Option<&str>) -> Result<Promise, JsValue> {
        if self.namespace.is_undefined() {
            return Err(JsValue::from_str("there is no Durable Object binding called POP_COUNTER"));
        }
        let namespace: &DurableObjectNamespace = self.namespace.unchecked_ref();
        let stub: Fetcher = namespace.get_by_name(&format!("{}/{shard}", self.name))?;
        let init = RequestInit::new();
        if let Some(ask) = ask {
            let headers = Headers::new()?;
            headers.set(ASK_HEADER, ask)?;
            init.set_headers(&headers);
        }
        // The limit is set here, since an object's own timers stand still after a step back.
        init.set_signal(Some(&AbortSignal::timeout_with_u32(self.time_limit_ms)));
        stub.fetch_url("https://pop-counter/", &init)
    }

    fn failed(&self, shard: u32, error: &JsValue) -> Unreachable {
        let overloaded = js::get(error, "overloaded").is_truthy();
        let detail = js::describe(error);
        let counter = format!("{}/{shard}", self.name);
        log::warn(
            "counter-unreachable",
            &serde_json::json!({ "counter": counter, "overloaded": overloaded, "detail": detail }),
        );
        Unreachable
    }
}
