//! The way to Ledgers, from points of presence and from the edge.

use js_sys::Promise;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, RequestInit, Response};
use worker::Env;

use super::js::{self, DurableObjectNamespace};
use super::log;
use crate::ledger::{LedgerAsk, LedgerName, LedgerReply};

/// Where a Ledger takes the asks of points of presence.
pub const ASK_PATH: &str = "/ask";
/// Where it takes what operators ask about tenants.
pub const TENANT_PATH: &str = "/tenant";
/// Where it tells what it has done.
pub const REPORT_PATH: &str = "/report";

/// All Ledgers there are.
pub struct Ledgers(JsValue);

impl Ledgers {
    /// Those of the binding `LEDGER`.
    pub fn of(env: &Env) -> Self {
        Self(js::get(env, "LEDGER"))
    }

    /// Sends an ask; nothing where no reply came. Without a time limit of its own: an object's timers stand
    /// still after a step back, and the [`Pop`](crate::pop::Pop) that asks keeps the time.
    pub fn ask(&self, to: LedgerName, ask: &LedgerAsk) -> impl Future<Output = Option<LedgerReply>> + use<> {
        let sent = self.post(to, ASK_PATH, ask, None);
        async move { read(to, sent).await }
    }

    /// Puts something else to a Ledger, within a time limit.
    pub async fn put<T: DeserializeOwned>(
        &self,
        to: LedgerName,
        path: &str,
        body: &impl Serialize,
        deadline: &AbortSignal,
    ) -> Option<T> {
        let sent = self.post(to, path, body, Some(deadline));
        read(to, sent).await
    }

    fn post(
        &self,
        to: LedgerName,
        path: &str,
        body: &impl Serialize,
        deadline: Option<&AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let namespace: &DurableObjectNamespace = self.0.unchecked_ref();
        if self.0.is_falsy() {
            return Err(JsValue::from("LEDGER is not bound"));
        }
        // Made anew each time: a stub that has failed stays broken.
        let stub = namespace.get_by_name(&to.to_string())?;
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_body(&JsValue::from(serde_json::to_string(body).unwrap_or_default()));
        init.set_signal(deadline);
        stub.fetch_url(&format!("https://ledger{path}"), &init)
    }
}

async fn read<T: DeserializeOwned>(to: LedgerName, sent: Result<Promise, JsValue>) -> Option<T> {
    match read_json(sent).await {
        Ok(reply) => Some(reply),
        Err(error) => {
            let detail = js::describe(&error);
            log::warn(
                "ledger-unreachable",
                &serde_json::json!({ "ledger": to.to_string(), "detail": detail }),
            );
            None
        }
    }
}

async fn read_json<T: DeserializeOwned>(sent: Result<Promise, JsValue>) -> Result<T, JsValue> {
    let response: Response = JsFuture::from(sent?).await?.dyn_into()?;
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    let status = response.status();
    serde_json::from_str(&text).map_err(|error| JsValue::from(format!("status {status}: {error}")))
}
