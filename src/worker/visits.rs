//! Visits to counters that hold leases, a while after a request for a quota.
//!
//! A counter returns what is idle by a timer of its own. After the wall clock was set back a Durable Object's
//! timers and alarms stand still until it has caught up, and units would be stuck there if nobody asked. The
//! edge's timers go on: a visit drives the counter as a request does.

use std::cell::RefCell;
use std::collections::HashMap;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::js;
use super::pops::Pop;

/// An idle lease is returned after ten seconds; this long after a visit was planned, the requests that came
/// meanwhile and planned none are older than that.
const AFTER_MS: f64 = 16_000.0;
/// Visits to one counter are planned no more often than this.
const EVERY_MS: f64 = 5_000.0;
/// Counters that are remembered: an isolate serves one point of presence, which has no more.
const MOST_COUNTERS: usize = 1_024;

thread_local! {
    /// When a visit to a counter was planned last.
    static PLANNED: RefCell<HashMap<u32, f64>> = RefCell::default();
}

/// Plans a visit to a counter that has decided about a quota. It costs no request any time.
pub fn plan(pop: &Pop, shard: u32) {
    if !is_due(shard) {
        return;
    }
    let pop = pop.clone();
    js::wait_until(&future_to_promise(async move {
        JsFuture::from(after(AFTER_MS)).await?;
        pop.visit(shard).await;
        Ok(JsValue::UNDEFINED)
    }));
}

fn is_due(shard: u32) -> bool {
    let now = js_sys::Date::now();
    PLANNED.with_borrow_mut(|planned| {
        // Either way: this clock can go back.
        if planned.get(&shard).is_some_and(|at| (now - at).abs() < EVERY_MS) {
            return false;
        }
        if planned.len() >= MOST_COUNTERS {
            planned.clear();
        }
        planned.insert(shard, now);
        true
    })
}

fn after(ms: f64) -> Promise {
    Promise::new(&mut |resolve, _reject| {
        // Where it cannot be set the visit comes at once, which does no harm.
        if js::set_timeout(&resolve, ms).is_err() {
            let _resolved = resolve.call0(&JsValue::UNDEFINED);
        }
    })
}
