//! Points of presence and Ledgers joined in a simulated world: the bounds over random schedules, what the
//! earlier drafts of the protocols failed at, and limiters that break theirs on the same traffic.
#![cfg(not(target_arch = "wasm32"))]

mod buckets;
mod comparison;
mod epochs;
mod naive;
mod pinned;
mod quotas;

mod replay;
mod stories;
mod support;
mod windows;
mod worlds;
