//! probe
use wasm_bindgen::prelude::*;
use crate::config::Config;
use crate::sim::{Pace, Place, Scenario, Simulation, Stream, Fault};

/// probe
#[wasm_bindgen(skip_typescript)]
#[derive(Debug)]
pub struct World { a: Simulation, b: Simulation }

#[wasm_bindgen]
impl World {
    /// probe
    #[wasm_bindgen(constructor)]
    pub fn new(spec: &str) -> Result<World, JsValue> {
        let make = |config: &str| {
            let config = Config::from_json(config).ok()?;
            let mut s = Scenario::new(config, 12);
            s.traffic = vec![Stream::new("api", 3_600_000, Pace::Random { gap_us: 20_000 }, Place::Anywhere)];
            Some(Simulation::new(s))
        };
        let f = || Some(World { a: make(spec)?, b: make(&spec.replace("0.1", "0"))? }); f().ok_or(JsValue::NULL)
    }
    /// probe
    pub fn advance(&mut self, to: f64) { self.a.run_until(to as u64); self.b.run_until(to as u64); }
    /// probe
    pub fn fail(&mut self, fault: &str) -> bool {
        let Ok(f) = serde_json::from_str::<Fault>(fault) else { return false };
        self.a.inject(f); self.b.inject(f); true
    }
    /// probe
    pub fn frame(&self) -> String {
        serde_json::to_string(&(self.a.report(), self.b.report(), self.a.pops(), self.a.ledgers())).unwrap_or_default()
    }
    /// probe
    pub fn samples(&self) -> Vec<f64> { vec![1.0] }
}
