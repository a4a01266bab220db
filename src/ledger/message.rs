use serde::{Deserialize, Serialize};

use crate::global::{CapAsk, CapReply, LeaseAsk, LeaseReply, TokenAsk, TokenReply};

/// The version of the envelopes [`LedgerAsk`] and [`LedgerReply`]; what they carry has versions of its own.
/// During a deployment the two sides differ for minutes: a field may be added under the same version, a
/// changed meaning takes the next.
pub const LEDGER_VERSION: u8 = 1;

/// What a point of presence sends to a [`Ledger`](super::Ledger): everything that is due for it, in one
/// message. Safe to lose, repeat, delay and reorder, as each of its parts is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerAsk {
    /// [`LEDGER_VERSION`].
    pub v: u8,
    /// The name of the point of presence: for the count of those that are known, and for the audit.
    pub pop: String,
    /// About window limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caps: Option<CapAsk>,
    /// About token buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenAsk>,
    /// About calendar quotas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leases: Option<LeaseAsk>,
}

/// A Ledger's answer to a [`LedgerAsk`]: a part for each of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerReply {
    /// [`LEDGER_VERSION`].
    pub v: u8,
    /// How many points of presence the Ledger has heard of lately, this one included. What each of them
    /// may let through alone where the policy's `on_error` is `local` follows from it; nothing else does.
    #[serde(default)]
    pub pops: u32,
    /// About window limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caps: Option<CapReply>,
    /// About token buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenReply>,
    /// About calendar quotas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leases: Option<LeaseReply>,
    /// Reports in the ask of leases that no book knows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fences_rejected: u64,
    /// Reports in the ask of leases that the open book did not know, and took in.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fences_adopted: u64,
}

impl LedgerReply {
    /// One that says nothing yet, not even how many points of presence there are.
    pub(super) const fn empty() -> Self {
        Self {
            v: LEDGER_VERSION,
            pops: 0,
            caps: None,
            tokens: None,
            leases: None,
            fences_rejected: 0,
            fences_adopted: 0,
        }
    }
}

const fn is_zero(value: &u64) -> bool {
    *value == 0
}
