//! What one `PopCounter` decides, without the object around it.
//!
//! A [`Pop`] joins the [`Counter`](crate::counter::Counter) of its point of presence with what Ledgers gave
//! it: caps of window limits, tokens of buckets, and leases of calendar quotas. It decides a batch of limits all or nothing:
//! first it looks at the limits that it counts alone, then it takes the others one after the other, each of
//! which can have to wait for its Ledger, and then its own in one turn. What was taken is given back when a
//! later one refuses.
//!
//! It does no I/O: a [`PopHost`] does, so that tests can crash it anywhere.

mod asks;
mod batch;
mod beat;
mod decide;
mod given;
mod held;
mod holders;
mod host;
mod leases;
mod links;
mod message;
mod quotas;
mod settings;
mod state;
mod times;

pub use held::PopHeld;
pub use host::{AskId, PopEvent, PopHost, RequestId, StoredStart};
pub use message::{Measure, OpenTerms, POP_VERSION, PopAsk, PopLimit, PopReceipt, PopReply, PopReplyLimit};
pub use settings::{PopReport, PopSettings};
pub use state::Pop;

use crate::clock::SteadyMs;

/// The earlier of two times, where there are any.
fn earlier(one: Option<SteadyMs>, other: Option<SteadyMs>) -> Option<SteadyMs> {
    one.into_iter().chain(other).min()
}
