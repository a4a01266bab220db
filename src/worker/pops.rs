//! The way from the edge to the counters of its point of presence.

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};
use worker::Env;

use super::js::{self, DurableObjectNamespace, Fetcher};
use super::{ASK_HEADER, REPLY_HEADER, log};
use crate::config::Settings;
use crate::http::KeyHash;
use crate::pop::{POP_VERSION, PopAsk, PopReply};

/// The counters of one point of presence.
#[derive(Clone)]
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

    /// A time limit for one decision, however many counters it asks. It is set here, since an object's own
    /// timers stand still after a step back.
    pub fn deadline(&self) -> AbortSignal {
        AbortSignal::timeout_with_u32(self.time_limit_ms)
    }

    /// Asks one counter, once. There is no second attempt here: the runtime itself repeats a request
    /// that never reached the object, an overloaded object only suffers from more, and the stub is
    /// made anew for every ask, since one that has failed stays broken.
    pub async fn ask(
        &self,
        shard: u32,
        ask: &PopAsk,
        deadline: &AbortSignal,
    ) -> Result<PopReply, Unreachable> {
        let text = serde_json::to_string(ask).unwrap_or_default();
        let asked = self.start(shard, Some(&text), deadline);
        let response = finish(asked).await.map_err(|error| self.failed(shard, &error))?;
        let reply = response.headers().get(REPLY_HEADER).ok().flatten();
        let reply = reply.and_then(|reply| serde_json::from_str::<PopReply>(&reply).ok());
        match reply {
            Some(reply) if reply.v == POP_VERSION && reply.limits.len() == ask.limits.len() => Ok(reply),
            _ => {
                let status = response.status();
                Err(self
                    .failed(shard, &JsValue::from_str(&format!("status {status}, no reply of this version"))))
            }
        }
    }

    /// Asks a counter for nothing, so that it does what is due: what its own timers would do, if they ran.
    pub async fn visit(&self, shard: u32) {
        let asked = self.start(shard, None, &self.deadline());
        if let Err(error) = finish(asked).await {
            let Unreachable = self.failed(shard, &error);
        }
    }

    /// What each counter has done so far, as JSON; nothing of those that do not answer in time.
    pub async fn reports(&self) -> Vec<(u32, Option<serde_json::Value>)> {
        let deadline = self.deadline();
        let asked: Vec<_> =
            (0..self.shards).map(|shard| (shard, self.start(shard, None, &deadline))).collect();
        let mut reports = Vec::with_capacity(asked.len());
        for (shard, asked) in asked {
            let report = read_report(asked).await.map_err(|error| self.failed(shard, &error));
            reports.push((shard, report.ok()));
        }
        reports
    }

    fn start(&self, shard: u32, ask: Option<&str>, deadline: &AbortSignal) -> Result<Promise, JsValue> {
        let namespace: &DurableObjectNamespace = self.namespace.unchecked_ref();
        let stub: Fetcher = namespace.get_by_name(&format!("{}/{shard}", self.name))?;
        let init = RequestInit::new();
        if let Some(ask) = ask {
            let headers = Headers::new()?;
            headers.set(ASK_HEADER, ask)?;
            init.set_headers(&headers);
        }
        init.set_signal(Some(deadline));
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

async fn finish(asked: Result<Promise, JsValue>) -> Result<Response, JsValue> {
    JsFuture::from(asked?).await?.dyn_into()
}

async fn read_report(asked: Result<Promise, JsValue>) -> Result<serde_json::Value, JsValue> {
    let text = JsFuture::from(finish(asked).await?.text()?).await?.as_string().unwrap_or_default();
    serde_json::from_str(&text).map_err(|error| JsValue::from_str(&error.to_string()))
}
