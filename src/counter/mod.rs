//! What one `PopCounter` remembers and decides, without the object around it.
//!
//! A [`Counter`] owns the keys that its point of presence counts: it reads its [steady
//! clock](crate::clock::SteadyClock), opens epochs on it, decides batches of limits all or nothing,
//! and says which rows to write behind. It does no I/O, so that tests can crash it anywhere.

mod journal;
mod message;
mod state;
mod table;
mod totals;

pub use journal::{JournalRow, SLOTS};
pub use message::{Ask, AskLimit, Holder, Op, Receipt, Reply, ReplyLimit, WIRE_VERSION};
pub use state::{Collected, Counter, CounterSettings, Outcome};
pub use totals::{PolicyTotals, Totals};
