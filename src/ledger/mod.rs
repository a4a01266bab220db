//! What one `Ledger` keeps and answers, without the object around it.

mod host;
mod message;
mod name;

pub use host::{LedgerHost, LedgerWrite};
pub use message::{LEDGER_VERSION, LedgerAsk, LedgerReply};
pub use name::{LedgerName, QuotaName};
