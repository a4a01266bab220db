//! The timer of an object.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::js;

/// Calls back after a while. There is one call pending at most: were each that is no longer needed left to
/// come, each would ask for the next, and a busy object would do nothing else in the end.
pub struct Timer {
    /// Made once: each closure made per timer would leak.
    tick: Closure<dyn FnMut()>,
    pending: Rc<RefCell<Option<Pending>>>,
}

struct Pending {
    id: JsValue,
    /// When it is due, on the clock that timers have.
    due: f64,
}

impl Timer {
    pub fn new(mut call: impl FnMut() + 'static) -> Self {
        let pending = Rc::new(RefCell::new(None));
        let own = Rc::clone(&pending);
        let tick = Closure::new(move || {
            own.take();
            call();
        });
        Self { tick, pending }
    }

    /// Calls back after `ms`, unless a call is due before that. A failure to set it is nothing that a
    /// request could cure: requests drive the object too.
    pub fn set(&self, ms: u64) {
        let due = js_sys::Date::now() + ms as f64;
        if self.pending.borrow().as_ref().is_some_and(|pending| pending.due <= due) {
            return;
        }
        if let Some(later) = self.pending.take() {
            js::clear_timeout(&later.id);
        }
        if let Ok(id) = js::set_timeout(self.tick.as_ref(), ms as f64) {
            self.pending.replace(Some(Pending { id, due }));
        }
    }
}
