//! The JavaScript half: values made or read in one call across the border each, and the clock sources.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// An array. (The crate `js-sys` has it too, and much besides that would end up in the package.)
    #[wasm_bindgen(js_name = Array)]
    pub type List;
    #[wasm_bindgen(constructor, js_class = "Array")]
    pub(super) fn new() -> List;
    #[wasm_bindgen(method)]
    pub(super) fn push(this: &List, item: &JsValue) -> u32;
    #[wasm_bindgen(method, getter)]
    pub(super) fn length(this: &List) -> u32;
    #[wasm_bindgen(method, indexing_getter)]
    pub(super) fn at(this: &List, index: u32) -> JsValue;
}

impl<T: AsRef<JsValue>> FromIterator<T> for List {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let list = Self::new();
        for item in items {
            list.push(item.as_ref());
        }
        list
    }
}

#[wasm_bindgen(module = "/src/web/js/values.js")]
extern "C" {
    pub(super) fn fault(code: &str, path: Option<&str>, message: &str) -> JsValue;
    #[wasm_bindgen(js_name = withCause)]
    pub(super) fn with_cause(error: JsValue, cause: JsValue) -> JsValue;
    pub(super) fn describe(value: &JsValue) -> String;
    pub(super) fn brief(text: &JsValue) -> String;
    #[wasm_bindgen(js_name = isPlain)]
    pub(super) fn is_plain(value: &JsValue) -> bool;
    #[wasm_bindgen(catch, js_name = namesOf)]
    pub(super) fn names_of(object: &JsValue) -> Result<List, JsValue>;
    #[wasm_bindgen(catch)]
    pub(super) fn get(object: &JsValue, name: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(js_name = objectOf)]
    pub(super) fn object_of(names: List, values: List) -> JsValue;

    pub(super) fn period(slot: &str, start_ms: f64, end_ms: f64, start_kind: &str, end_kind: &str)
    -> JsValue;
    #[allow(clippy::too_many_arguments)] // The fields of a decision.
    pub(super) fn decision(
        allowed: bool,
        tokens_remaining: f64,
        quota_remaining: Option<f64>,
        retry_after_ms: Option<f64>,
        retry_after_basis: Option<&str>,
        refusal: Option<&str>,
        period: &JsValue,
        skipped_periods: u8,
    ) -> JsValue;
    pub(super) fn anomaly(
        kind: &str,
        detail: &str,
        suspended_ms: Option<f64>,
        stepped_ms: Option<f64>,
    ) -> JsValue;
    pub(super) fn observation(elapsed_ms: f64, anomalies: List) -> JsValue;

    #[wasm_bindgen(catch, js_name = monotonicMs)]
    pub(super) fn monotonic_ms(clock: &JsValue) -> Result<f64, JsValue>;
    #[wasm_bindgen(catch, js_name = wallMs)]
    pub(super) fn wall_ms(clock: &JsValue) -> Result<f64, JsValue>;
    #[wasm_bindgen(catch, js_name = elapsedRealtimeMs)]
    pub(super) fn elapsed_realtime_ms(clock: &JsValue) -> Result<f64, JsValue>;
    #[wasm_bindgen(catch, js_name = hasReader)]
    pub(super) fn has_reader(clock: &JsValue) -> Result<bool, JsValue>;
    #[wasm_bindgen(catch, js_name = callReader)]
    pub(super) fn call_reader(read: &JsValue) -> Result<f64, JsValue>;
    #[wasm_bindgen(catch)]
    pub(super) fn tell(listener: &JsValue, seen: JsValue) -> Result<(), JsValue>;
}

#[wasm_bindgen(module = "/src/web/js/limiter.js")]
extern "C" {
    /// The class, as the package exports it. (As a function, because the types of a class that is exported
    /// again cannot be left to `types.d.ts`.)
    #[wasm_bindgen(reexport, skip_typescript, js_name = QuotaClock)]
    fn quota_clock() -> JsValue;
    pub(super) fn install(engine: super::limiter::Engine);
}

/// The clock sources, as the package exports them. Nothing in Rust calls them.
#[wasm_bindgen(module = "/src/web/js/clocks.js")]
extern "C" {
    #[wasm_bindgen(reexport, skip_typescript, js_name = systemClock)]
    fn system_clock() -> JsValue;
    #[wasm_bindgen(reexport, skip_typescript, js_name = manualClock)]
    fn manual_clock(hands: &JsValue) -> JsValue;
    #[wasm_bindgen(reexport, skip_typescript, js_name = procUptimeElapsedRealtime)]
    fn proc_uptime_elapsed_realtime() -> JsValue;
}
