use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::fault::Fault;
use super::source::with_reader;
use super::{anomaly, js, json, read};
use crate::calendar::Naming;
use crate::clock::{self, Readings, TrackerConfig};

/// `ClockTracker`: turns pairs of readings into the time that really passed.
#[wasm_bindgen(skip_typescript)]
#[derive(Debug)]
pub struct ClockTracker(RefCell<clock::ClockTracker>);

#[wasm_bindgen]
impl ClockTracker {
    /// `new ClockTracker({ suspendPolicy, tolerance?, earliestPlausibleWallMs? })`.
    ///
    /// # Errors
    ///
    /// `invalid-spec`, with the path of the option.
    #[wasm_bindgen(constructor, skip_typescript)]
    pub fn new(options: &JsValue) -> Result<ClockTracker, Fault> {
        let config = TrackerConfig::from_json(&json::read(options)?, Naming::Camel)?;
        Ok(Self(RefCell::new(clock::ClockTracker::new(config))))
    }

    /// `observe({ monotonicMs, wallMs }, readElapsedRealtimeMs?)`.
    ///
    /// # Errors
    ///
    /// A refused reading, or what the reader throws. Nothing has changed then, except that a jump that the
    /// policy refuses is the new base.
    #[wasm_bindgen(skip_typescript)]
    pub fn observe(&self, readings: &JsValue, reader: &JsValue) -> Result<JsValue, Fault> {
        let has_reader = read::function("readElapsedRealtimeMs", reader)?;
        let readings = readings_of(readings)?;
        let mut tracker = self.0.try_borrow_mut().map_err(|_| {
            Fault::Reentrant("a reader must not call observe() of the tracker that is asking it")
        })?;
        let seen = if has_reader {
            with_reader(|| js::call_reader(reader), |ask| tracker.observe(readings, Some(ask)))?
        } else {
            tracker.observe(readings, None)?
        };
        drop(tracker);
        Ok(anomaly::observation(&seen))
    }
}

/// `{ monotonicMs, wallMs }`. Anything else has no readings in it, and that is no finite reading either.
fn readings_of(value: &JsValue) -> Result<Readings, Fault> {
    let get = |name| match value.is_object() {
        true => js::get(value, &JsValue::from_str(name)).map(|reading| read::reading(&reading)),
        false => Ok(f64::NAN),
    };
    Ok(Readings::try_from_f64(get("monotonicMs")?, get("wallMs")?)?)
}
