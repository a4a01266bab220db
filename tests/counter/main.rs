//! The counter of one point of presence: batches, memory, and what a crash may cost.

#![cfg(not(target_arch = "wasm32"))]

mod batches;
mod costs;
mod durability;
mod memory;
mod support;
