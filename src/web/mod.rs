//! The API for browsers and Node: the npm package `sluicegate` (feature `web`, wasm32 only).
//!
//! Everything here reads JavaScript values, asks the core, and writes JavaScript values. Names, shapes and
//! error codes are those of `npm/README.md`; the types are in `types.d.ts` beside this file.
//!
//! Two rules keep it whole whatever a caller's functions do. A clock, a reader or a listener is never called
//! while a borrow is held that a call back into the same object would need: what can be done then is done,
//! and what cannot is an error that says so. And an exception of theirs is passed on as it is, with nothing
//! half done.

mod anomaly;
mod fault;
mod js;
mod json;
mod limiter;
mod period;
mod read;
mod source;
mod tracker;

pub use fault::Fault;
pub use limiter::{Engine, LimiterCore, start};
pub use period::{period_for, periods};
pub use tracker::ClockTracker;

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");
