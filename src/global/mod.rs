//! One limit over many points of presence, without a clock that they share.
//!
//! The **Ledger** owns the limit and lives in one place; **points of presence** (PoPs) admit requests from
//! what it handed them. Two protocols do that, each a pair of messages that may be lost, repeated, delayed
//! and reordered. Both are pure: readings, randomness and messages come in, messages and what must be
//! stored go out.
//!
//! # Caps: window limits that say by how much they can be off
//!
//! A [`CapLedger`] gives each [`CapHolder`] an absolute **cap** per key and epoch: the most it may have
//! taken, net of refunds. The holder admits a request when that keeps it within its cap, and waits for the
//! Ledger otherwise. This is the demarcation protocol (Barbará and Garcia-Molina, 1992) in the form of
//! escrow (O'Neil, 1986) and of bounded counters (Balegas et al., 2015), with grow-only counts and caps
//! that merge by maximum.
//!
//! In any epoch at most `L + S` units are admitted, where `L` is the limit and `S` the tolerated part of
//! it, because the Ledger never lets the sum of the caps pass that. Traffic, delays, clocks, crashes and
//! the number of PoPs are not in that argument. The [rules] are one function each, and each has a
//! test in which it is broken and the limit with it.
//!
//! ```
//! use sluicegate::Cost;
//! use sluicegate::clock::SteadyMs;
//! use sluicegate::global::{
//!     CapAnswer, CapHolder, CapHolderSettings, CapKey, CapLedger, CapLedgerSettings, CapLimit,
//! };
//! use sluicegate::http::KeyHash;
//! use sluicegate::window::WindowMs;
//!
//! let limit = CapLimit::new(100, 100_000)?; // 100 per window, 10 % tolerated
//! let key = CapKey { policy: "api".into(), key: KeyHash::new(7), window_ms: WindowMs::new(60_000)? };
//! let mut ledger: CapLedger = CapLedger::new(CapLedgerSettings::default());
//! let mut pop: CapHolder = CapHolder::new(0x5eed, CapHolderSettings::default());
//!
//! // The two clocks have nothing to do with each other.
//! let (pop_now, ledger_now) = (SteadyMs(5), SteadyMs(1_000_000));
//! let CapAnswer::Wait(ticket) = pop.request("shard/0", &key, limit, Cost::ONE, pop_now) else { panic!() };
//! let ask = pop.next_ask("shard/0", pop_now).unwrap();
//! let outcome = ledger.answer(&ask, |_| Some(limit), ledger_now);
//! // ... here `outcome.store` is written, and only then does the reply leave ...
//! let settled = pop.reply("shard/0", &outcome.reply, pop_now);
//! assert!(settled[0].ticket == ticket && settled[0].verdict.decision.allowed());
//! # Ok::<(), sluicegate::Error>(())
//! ```
//!
//! # Tokens: a bucket that is never passed
//!
//! A [`TokenLedger`] owns a key's [token bucket](crate::bucket::TokenBucket) and leases tokens from it to each
//! [`TokenHolder`]. Tokens that are out count as still in the bucket, which refills no further than to
//! `capacity - out`; so in any T milliseconds at most `capacity + rate x T` are spent, over all points of
//! presence. A lease that the Ledger has not heard of for `max(60 s, capacity / rate)` counts as spent, and its
//! holder has stopped spending from it before, by its own clock: no clocks are compared, but none may run at
//! less than half speed. Its [rules](token_rules) are broken one by one as well.

mod books;
mod epochs;
mod holder;
mod lease;
mod ledger;
mod limit;
mod link;
mod message;
mod page;
mod pages;
pub mod rules;
mod token;
mod verdict;

pub use holder::{CapHolder, CapHolderSettings};
pub use lease::*;
pub use ledger::{CapLedger, CapLedgerSettings, CapOutcome, CapRow, CapStore, CapTotals};
pub use limit::CapLimit;
pub use message::{
    CAP_WIRE_VERSION, CapAsk, CapAskItem, CapBook, CapKey, CapNext, CapReply, CapReplyItem, HolderId,
    ParseHolderIdError,
};
pub use page::CapPage;
pub use token::*;
pub use verdict::{CapAnswer, CapReceipt, CapSettled, CapVerdict, Ticket};
