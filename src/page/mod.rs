//! The demo page's view of the simulator (feature `page`, wasm32 only).
//!
//! A [`World`] is a [`Comparison`] behind JSON and numbers, which cross the border in one call each. The shapes
//! are in `types.d.ts` beside this file. All that can be tested natively is in [`sim::compare`](crate::sim::compare).

use wasm_bindgen::prelude::*;

use crate::Error;
use crate::sim::compare::{Comparison, WorldSpec};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen(module = "/src/page/js/fault.js")]
extern "C" {
    fn fault(code: &str, path: &str, message: &str) -> JsValue;
}

/// Many points of presence in virtual time, twice on the same requests.
#[wasm_bindgen(skip_typescript)]
#[derive(Debug)]
pub struct World(Comparison);

#[wasm_bindgen]
impl World {
    /// The world of a `WorldSpec` in JSON, at time 0.
    ///
    /// # Errors
    ///
    /// `invalid-spec`, with the path of the field.
    #[wasm_bindgen(constructor, skip_typescript)]
    pub fn new(spec: &str) -> Result<Self, JsValue> {
        let comparison = WorldSpec::from_json(spec).and_then(Comparison::new);
        comparison.map(Self).map_err(|error| thrown(&error))
    }

    /// Lets everything happen up to that true time.
    #[wasm_bindgen(skip_typescript)]
    pub fn advance(&mut self, to_ms: f64) {
        // What is no time, or before the start, is 0: the past.
        self.0.advance(to_ms as u64);
    }

    /// A `Fault` in JSON happens now.
    ///
    /// # Errors
    ///
    /// `invalid-spec`, with the path of the field.
    #[wasm_bindgen(skip_typescript)]
    pub fn fail(&mut self, what: &str) -> Result<(), JsValue> {
        let fault = self.0.spec().fault_from_json(what).map_err(|error| thrown(&error))?;
        self.0.fail(fault);
        Ok(())
    }

    /// A `Frame` in JSON.
    #[wasm_bindgen(skip_typescript)]
    pub fn frame(&mut self) -> String {
        // Nothing in a frame fails to be written as JSON.
        serde_json::to_string(&self.0.frame()).unwrap_or_default()
    }

    /// The samples since the last call, row by row.
    #[wasm_bindgen(skip_typescript)]
    pub fn samples(&mut self) -> Vec<f64> {
        self.0.take_samples().iter().flat_map(|sample| sample.row()).collect()
    }
}

fn thrown(error: &Error) -> JsValue {
    fault(error.code(), error.path().unwrap_or_default(), &error.to_string())
}
