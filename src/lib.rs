//! A rate limiter and calendar-quota ledger that counts where the requests arrive, and trusts no clock
//! but its own.
//!
//! The crate is a pure core with thin adapters around it. The core decides: it has no clock, no
//! storage and no network in it, so it runs natively, in a browser and on Cloudflare Workers alike.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`window`], [`bucket`] | the algorithms: fixed and sliding windows, sliding log, token bucket |
//! | [`policy`] | which algorithm a limit uses, as one type |
//! | [`counter`] | the keys of one point of presence: batches, bounded memory, a write-behind journal |
//! | [`clock`] | readings, the steady clock, the two-clock tracker, skew, hybrid logical stamps |
//! | [`global`] | one limit over many points of presence: caps for windows, leases for quotas |
//! | [`pop`], [`ledger`] | the two rooms behind the edge: a point of presence, and the owner of limits over many |
//! | [`fence`] | names of leases that match exactly or not at all |
//! | [`calendar`], [`mod@quota`] | days to years in a tenant's own time zone, and quotas over them |
//! | [`limiter`] | `QuotaClock`: a bucket and a calendar quota in one process, as one decision |
//! | [`sim`] | many points of presence and their Ledgers in virtual time, for tests and to watch |
//! | [`config`], [`http`] | the configuration, rules, identities, header fields, problem details |
//! | `web` | the npm package for browsers and Node (feature `web`, wasm32 only) |
//! | `page` | the simulator for the demo page (feature `page`, wasm32 only) |
//! | `worker` | the Cloudflare Worker (feature `worker`, wasm32 only) |
//!
//! # Example
//!
//! Five requests a second with bursts of ten, for one key, on a clock of your own:
//!
//! ```
//! use sluicegate::Cost;
//! use sluicegate::bucket::{BucketState, Refill, TokenBucket};
//!
//! let bucket = TokenBucket::new(10, Refill::new(5, 1_000)?)?;
//! let mut state = BucketState::default();
//! assert!(bucket.try_take(&mut state, Cost::new(10)?));
//! assert_eq!(bucket.wait_ms(&state, Cost::ONE), Some(200));
//! bucket.credit(&mut state, 200);
//! assert!(bucket.try_take(&mut state, Cost::ONE));
//! # Ok::<(), sluicegate::Error>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs, missing_debug_implementations)]

pub mod bucket;
pub mod calendar;
pub mod clock;
pub mod config;
pub mod counter;
mod decision;
mod error;
pub mod fence;
pub mod global;
pub mod http;
#[cfg(all(any(feature = "web", feature = "worker"), target_arch = "wasm32"))]
mod intl;
pub mod ledger;
pub mod limiter;
mod ordered;
#[cfg(all(feature = "page", target_arch = "wasm32"))]
pub mod page;
pub mod policy;
pub mod pop;
pub mod quota;
pub mod sim;
#[cfg(all(feature = "web", target_arch = "wasm32"))]
pub mod web;
pub mod window;
#[cfg(all(feature = "worker", target_arch = "wasm32"))]
pub mod worker;

pub use decision::{Cost, DecidedBy, Decision, MAX_COUNT, Refusal, RetryAfterBasis};
pub use error::Error;
pub use limiter::{QuotaClock, QuotaClockConfig, QuotaClockDecision, QuotaClockRefusal, QuotaClockSnapshot};
