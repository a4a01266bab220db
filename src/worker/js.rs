//! The platform's objects, as far as they are used. Declared here rather than taken from the `worker`
//! crate, whose SQL cursor and alarm calls cannot report a JavaScript exception: one would unwind
//! through the wasm stack, run no destructor and leave the request hanging.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

use crate::clock::WallMs;

#[wasm_bindgen]
extern "C" {
    /// `ctx` of a Durable Object.
    pub type DurableObjectState;
    #[wasm_bindgen(method, getter)]
    pub fn storage(this: &DurableObjectState) -> DurableObjectStorage;

    #[derive(Clone)]
    pub type DurableObjectStorage;
    #[wasm_bindgen(method, getter)]
    pub fn sql(this: &DurableObjectStorage) -> SqlStorage;
    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    pub fn set_alarm(this: &DurableObjectStorage, at_wall_ms: f64) -> Result<Promise, JsValue>;

    /// Undoes everything that `writes` wrote if it throws, and throws that on.
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    pub fn transaction_sync(
        this: &DurableObjectStorage,
        writes: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;

    #[derive(Clone)]
    pub type SqlStorage;
    #[wasm_bindgen(method, catch, variadic)]
    pub fn exec(this: &SqlStorage, query: &str, bindings: &Array) -> Result<SqlCursor, JsValue>;

    pub type SqlCursor;
    #[wasm_bindgen(method, catch, js_name = toArray)]
    pub fn to_array(this: &SqlCursor) -> Result<Array, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn next(this: &SqlCursor) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, getter, js_name = rowsWritten)]
    pub fn rows_written(this: &SqlCursor) -> f64;

    /// A binding to a class of Durable Objects.
    pub type DurableObjectNamespace;
    #[wasm_bindgen(method, catch, js_name = getByName)]
    pub fn get_by_name(this: &DurableObjectNamespace, name: &str) -> Result<Fetcher, JsValue>;

    /// Anything with `fetch`: the stub of an object, or a service binding.
    pub type Fetcher;
    #[wasm_bindgen(method, catch, js_name = fetch)]
    pub fn fetch_url(this: &Fetcher, url: &str, init: &web_sys::RequestInit) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = fetch)]
    pub fn fetch_request(this: &Fetcher, request: &web_sys::Request) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_name = fetch)]
    pub fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;

    #[wasm_bindgen(catch, js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(into: &js_sys::Uint32Array) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = setTimeout)]
    pub fn set_timeout(callback: &JsValue, ms: f64) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = clearTimeout)]
    pub fn clear_timeout(id: &JsValue);
}

#[wasm_bindgen(module = "cloudflare:workers")]
extern "C" {
    /// Keeps the request's context alive until the promise is settled.
    #[wasm_bindgen(js_name = waitUntil)]
    pub fn wait_until(promise: &Promise);
}

/// `Date.now()`: in an object it stands still after a step back.
pub fn date_now() -> WallMs {
    WallMs(js_sys::Date::now() as i64)
}

/// A random number, for names that no two objects may share.
pub fn random() -> u64 {
    let halves = js_sys::Uint32Array::new_with_length(2);
    if get_random_values(&halves).is_err() {
        halves.set_index(0, (js_sys::Math::random() * 4_294_967_296.0) as u32);
        halves.set_index(1, (js_sys::Math::random() * 4_294_967_296.0) as u32);
    }
    u64::from(halves.get_index(0)) << 32 | u64::from(halves.get_index(1))
}

/// A property of a JavaScript value, or `undefined` where it has none or throws.
pub fn get(target: &JsValue, name: &str) -> JsValue {
    js_sys::Reflect::get(target, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// What a JavaScript error says, for a log line.
pub fn describe(error: &JsValue) -> String {
    get(error, "message").as_string().or_else(|| error.as_string()).unwrap_or_else(|| format!("{error:?}"))
}
