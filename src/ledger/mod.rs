//! What one `Ledger` keeps and answers, without the object around it.
//!
//! A [`Ledger`] owns limits over many points of presence. It opens epochs on its own [steady
//! clock](crate::clock::SteadyClock) and periods by its own wall reading, joins the books of caps
//! ([`CapLedger`](crate::global::CapLedger)), of tokens ([`TokenLedger`](crate::global::TokenLedger)) and of
//! leases ([`QuotaLedger`](crate::global::QuotaLedger)), keeps a tenant's settings and an audit log, and says which rows to write. It does no I/O: its
//! [`LedgerHost`] does, so that tests can crash it anywhere.
//!
//! # Rows
//!
//! | key | row |
//! | --- | --- |
//! | `head` | the clock, the epochs, the totals, the end of the audit log; written with whatever needs any of them |
//! | `log/0` to `log/7` | the audit log before that, 32 entries each |
//! | `cap/POLICY/HASH/WINDOW_MS` | units that the caps of a key stay within |
//! | `token/POLICY/HASH` | the bucket of a key, and the leases from it; written with the head |
//! | `settings/POLICY` | a tenant's own settings |
//! | `quota/POLICY/open` | the open period |
//! | `quota/POLICY/book/...` | totals per period, and the leases of each holder |
//!
//! So a grant of a lease costs three rows: the holder's, the totals and the head. A report without a grant
//! costs one or two, a repeated ask none.

mod admin;
mod host;
mod leases;
mod log;
mod message;
mod name;
mod policies;
mod pops;
mod quota;
mod row;
mod rows;
mod state;
mod tenant;
mod tokens;
mod totals;
mod upkeep;

pub use host::{LedgerEvent, LedgerHost, LedgerWrite};
pub use log::{LogEntry, LogEvent, LoggedEntry};
pub use message::{LEDGER_VERSION, LedgerAsk, LedgerReply};
pub use name::{LedgerName, QuotaName};
#[cfg(all(feature = "worker", target_arch = "wasm32"))]
pub(crate) use pops::is_name as is_pop_name;
pub use row::LedgerRow;
pub use state::{Ledger, LedgerSettings};
pub use tenant::{TenantAnswer, TenantFault, TenantOp, TenantRequest, TenantSettings, TenantUsage};
pub use totals::{LedgerReport, LedgerTotals};
