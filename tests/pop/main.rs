#![cfg(not(target_arch = "wasm32"))]
//! One point of presence against real Ledgers, on a clock, a storage and a network that the tests hold in
//! their hands.

mod batches;
mod bucket_runs;
mod buckets;
mod crashes;
mod errors;
mod host;
mod idle;
mod metrics;
mod quotas;
mod random;
mod replies;
mod world;
