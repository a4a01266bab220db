//! Leases: units of a calendar quota that a ledger escrows for the points of presence.
//!
//! The ledger hands out units before they are spent, and counts them as gone until it is told
//! otherwise. So no two machines need to agree about anything for the limit to hold: not about the time,
//! not about who is alive, not about which messages have arrived. The names of leases are fences
//! ([`Fence`](crate::fence::Fence)): matched exactly, never compared.
//!
//! * [`LeaseHolder`] is the side of a point of presence, [`LeaseBook`] the ledger's, [`QuotaLedger`] the
//!   book together with the tenant's calendar.
//! * [`LeaseAsk`] and [`LeaseReply`] are all that passes between them, and both may be lost, repeated,
//!   delayed and reordered.
//! * None of it does I/O: what is to be stored is returned, and is durable before anything leaves.
//!
//! Per serial (a period that the ledger has opened) the book keeps
//! `granted = spent + returned + forfeited + outstanding`, and grants nothing unless
//! `spent + forfeited + outstanding + grant <= limit`.

mod audit;
mod book;
mod entries;
mod grant;
mod holder;
mod message;
mod pace;
mod purse;
mod quota;
mod row;
mod totals;

pub use audit::{AuditedLease, LeaseAudit};
pub use book::{BookAnswer, BookCounts, LeaseBook};
pub use entries::{BookKey, BookRow, BookWrite, HolderEntry, HolderName, LedgerLease, SettledLeases};
pub use holder::{HolderSettings, LeaseHolder, LeaseReceipt, Spend, SpentUnits, Tick, Waiting};
pub use message::{
    AskNumber, Birth, Grant, LEASE_VERSION, LeaseAsk, LeaseAskItem, LeaseReply, LeaseReplyItem, ListedLease,
    Terms,
};
pub use quota::{LedgerAnswer, QuotaLedger, QuotaUsage};
pub use row::{HolderStart, LeaseRow, LeaseWrite};
pub use totals::SerialTotals;
