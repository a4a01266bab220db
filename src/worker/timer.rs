//! The timer of an object.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::js;

/// Calls back after a while. Several can be pending: one that is no longer needed costs a call that finds
/// nothing to do.
pub struct Timer {
    /// Made once: each closure made per timer would leak.
    tick: Closure<dyn FnMut()>,
    /// When the soonest pending call is due, on the clock that timers have.
    due: Rc<Cell<Option<f64>>>,
}

impl Timer {
    pub fn new(mut call: impl FnMut() + 'static) -> Self {
        let due = Rc::new(Cell::new(None));
        let pending = Rc::clone(&due);
        let tick = Closure::new(move || {
            pending.set(None);
            call();
        });
        Self { tick, due }
    }

    /// Calls back after `ms`, unless a call is due before that. A failure to set it is nothing that a
    /// request could cure: requests drive the object too.
    pub fn set(&self, ms: u64) {
        let due = js_sys::Date::now() + ms as f64;
        if self.due.get().is_some_and(|earlier| earlier <= due) {
            return;
        }
        if js::set_timeout(self.tick.as_ref(), ms as f64).is_ok() {
            self.due.set(Some(due));
        }
    }
}
