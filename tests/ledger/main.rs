//! One Ledger object: crashes, clocks, settings, calendars, hostile messages, and what it shows of itself.

#![cfg(not(target_arch = "wasm32"))]

mod admin;
mod caps;
mod clocks;
mod crashes;
mod fences;
mod hostile;
mod months;
mod rows;
mod settings;
mod support;
mod tokens;
