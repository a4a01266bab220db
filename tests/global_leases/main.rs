//! Leases of calendar quotas: every state of small worlds, random schedules of large ones, and the
//! schedules that broke simpler rules.

#![cfg(not(target_arch = "wasm32"))]

mod attack;
mod audit;
mod broken;
mod exhaustive;
mod messages;
mod model;
mod schedules;
mod search;
mod settings;
mod sim;
