//! The token protocol: searched through, broken rule by rule, and run on random schedules.

#![cfg(not(target_arch = "wasm32"))]

mod hostile;
mod liveness;
mod messages;
mod model;
mod mutations;
mod random;
#[path = "../global_caps/search.rs"]
mod search;
mod searches;
mod setup;
mod support;
