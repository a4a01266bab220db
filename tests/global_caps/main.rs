//! The cap protocol: searched through, broken rule by rule, run on random schedules, and shown beside the
//! simpler rules that fail.

#![cfg(not(target_arch = "wasm32"))]

mod hostile;
mod liveness;
mod messages;
mod model;
mod mutations;
mod random;
mod schedules;
mod search;
mod searches;
mod setup;
mod support;
