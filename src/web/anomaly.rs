use wasm_bindgen::JsValue;

use super::js;
use crate::clock::{Anomaly, Elapsed};

/// An anomaly as JavaScript sees it.
pub(super) fn shown(anomaly: &Anomaly) -> JsValue {
    js::anomaly(
        anomaly.kind.name(),
        &anomaly.to_string(),
        anomaly.suspended_ms.map(|ms| ms as f64),
        anomaly.stepped_ms.map(|ms| ms as f64),
    )
}

/// An observation as JavaScript sees it.
pub(super) fn observation(seen: &Elapsed) -> JsValue {
    js::observation(seen.elapsed.0 as f64, seen.anomalies.iter().map(shown).collect())
}
