//! The Durable Object of one point of presence and shard.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::{Request, Response};
use worker::Env;

use super::js::{self, DurableObjectState, DurableObjectStorage};
use super::storage::Rows;
use super::{ASK_HEADER, REPLY_HEADER, log, respond, setup};
use crate::clock::WallMs;
use crate::counter::{Ask, Collected, Counter, CounterSettings, Holder, JournalRow};

/// Counts the keys of one point of presence and shard.
///
/// The object is a thin shell: a [`Counter`] decides, this reads the clock, writes the rows it is
/// given, and sets timers. Its `fetch` is one synchronous turn, so nothing can come between a look
/// and a take, and no borrow lives across an await.
#[wasm_bindgen]
#[allow(missing_debug_implementations)]
pub struct PopCounter {
    inner: Rc<RefCell<Inner>>,
    /// Called by the flush timer; made once, since each closure made per timer would leak.
    tick: Closure<dyn FnMut()>,
}

struct Inner {
    counter: Counter,
    rows: Rows,
    storage: DurableObjectStorage,
    flush_every_ms: u64,
    timer_pending: bool,
}

#[wasm_bindgen]
impl PopCounter {
    /// Reads the stored rows back: after an eviction, a restart or a crash.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Result<PopCounter, JsValue> {
        let storage = state.storage();
        let rows = Rows::open(storage.sql())?;
        let settings = setup::counter_settings(&env);
        let wall = rows.wall(date_now());
        let holder = Holder((js_sys::Math::random() * f64::from(u32::MAX)) as u32);
        let counter = Counter::restore(holder, settings, rows.read()?, wall);
        let CounterSettings { flush_every_ms, .. } = settings;
        let inner =
            Rc::new(RefCell::new(Inner { counter, rows, storage, flush_every_ms, timer_pending: false }));
        let ticking = Rc::downgrade(&inner);
        let tick = Closure::new(move || {
            if let Some(inner) = ticking.upgrade() {
                inner.borrow_mut().on_timer();
            }
        });
        Ok(Self { inner, tick })
    }

    /// Answers the edge: an [`Ask`] in a header, so that no body has to be streamed, or a question
    /// for the totals.
    pub fn fetch(&self, request: Request) -> Result<Response, JsValue> {
        let Some(text) = request.headers().get(ASK_HEADER)? else {
            return self.report();
        };
        let ask: Ask = match serde_json::from_str(&text) {
            Ok(ask) => ask,
            Err(error) => return respond::text(400, &format!("not an ask of this version: {error}")),
        };
        let mut inner = self.inner.borrow_mut();
        let reply = inner.decide(&ask)?;
        inner.arm_timer(&self.tick)?;
        let reply = serde_json::to_string(&reply).unwrap_or_default();
        respond::with_header(REPLY_HEADER, &reply)
    }

    /// Gives memory back when nothing asks for it any more.
    pub fn alarm(&self) -> Result<(), JsValue> {
        self.inner.borrow_mut().collect()
    }

    fn report(&self) -> Result<Response, JsValue> {
        let inner = self.inner.borrow();
        let mut report = serde_json::to_value(inner.counter.totals()).unwrap_or_default();
        if let Some(report) = report.as_object_mut() {
            report.insert("keys".to_owned(), inner.counter.keys().into());
        }
        respond::json(200, &report.to_string())
    }
}

impl Inner {
    fn decide(&mut self, ask: &Ask) -> Result<crate::counter::Reply, JsValue> {
        let cheap = date_now();
        let rows = &self.rows;
        let outcome = self.counter.decide(ask, cheap, || rows.wall(cheap));
        self.log_step();
        self.set_alarm(outcome.alarm)?;
        self.write(&outcome.rows)?;
        Ok(outcome.reply)
    }

    /// Sets the timer that writes what changed, should no request come to do it.
    fn arm_timer(&mut self, tick: &Closure<dyn FnMut()>) -> Result<(), JsValue> {
        if !self.timer_pending && self.counter.has_unwritten() {
            js::set_timeout(tick.as_ref(), self.flush_every_ms as f64)?;
            self.timer_pending = true;
        }
        Ok(())
    }

    fn set_alarm(&self, due: Option<WallMs>) -> Result<(), JsValue> {
        if let Some(due) = due {
            // Not awaited: the object's output gate holds the answer until it is stored.
            let _stored = self.storage.set_alarm(due.0 as f64)?;
        }
        Ok(())
    }

    fn on_timer(&mut self) {
        self.timer_pending = false;
        let cheap = date_now();
        let rows = &self.rows;
        let pending = self.counter.flush_now(cheap, || rows.wall(cheap));
        self.log_step();
        if let Err(error) = self.write(&pending) {
            log::error("flush", &js::describe(&error));
        }
    }

    fn collect(&mut self) -> Result<(), JsValue> {
        let cheap = date_now();
        let rows = &self.rows;
        let collected = self.counter.collect(cheap, || rows.wall(cheap));
        self.log_step();
        match collected {
            Collected::Later(due) => self.set_alarm(Some(due)),
            Collected::Nothing => Ok(()),
            Collected::Empty { rows, delete } => {
                self.write(&rows)?;
                let billed = self.rows.delete(&delete)?;
                self.counter.wrote(billed);
                Ok(())
            }
        }
    }

    fn log_step(&mut self) {
        if let Some(step) = self.counter.take_step() {
            let fields = serde_json::json!({ "kind": step.kind(), "stepped_ms": step.stepped_ms });
            log::warn("clock-step", &fields);
        }
    }

    fn write(&mut self, rows: &[JournalRow]) -> Result<(), JsValue> {
        match self.rows.write(rows) {
            Ok(billed) => {
                self.counter.wrote(billed);
                Ok(())
            }
            Err(error) => {
                self.counter.unwritten(rows);
                Err(error)
            }
        }
    }
}

fn date_now() -> WallMs {
    WallMs(js_sys::Date::now() as i64)
}
