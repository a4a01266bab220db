use serde::{Deserialize, Serialize};

use crate::bucket::BucketState;
use crate::fence::Fence;
use crate::global::HolderId;
use crate::http::KeyHash;

/// The version of [`TokenAsk`] and [`TokenReply`]. During a deployment the two sides differ for minutes: a
/// field may be added under the same version, where it is ignored or takes its default; a changed meaning
/// takes the next.
pub const TOKEN_WIRE_VERSION: u8 = 1;

/// What is counted: whom, by which policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TokenKey {
    /// The policy's name.
    pub policy: String,
    /// The identity.
    pub key: KeyHash,
}

/// What became of the tokens of one lease: three counts that only grow, so that reports merge by maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenBook {
    /// Which lease.
    pub fence: Fence,
    /// Tokens spent on requests.
    #[serde(default)]
    pub spent: u64,
    /// Tokens that were not spent and are not going to be: they go back into the bucket.
    #[serde(default)]
    pub returned: u64,
    /// Tokens spent and given back by their requests: they go back into the bucket as well.
    #[serde(default)]
    pub given: u64,
}

impl TokenBook {
    /// The book of a lease that nothing was taken from.
    pub const fn new(fence: Fence) -> Self {
        Self { fence, spent: 0, returned: 0, given: 0 }
    }

    /// Tokens that are no longer in hand.
    pub const fn gone(&self) -> u64 {
        self.spent.saturating_add(self.returned)
    }
}

/// A lease of tokens, as the Ledger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenLease {
    /// What became of it, as far as was reported.
    #[serde(flatten)]
    pub book: TokenBook,
    /// Tokens granted under this fence, all together.
    pub granted: u64,
}

impl TokenLease {
    /// Tokens granted that are neither spent nor returned.
    pub const fn out(&self) -> u64 {
        self.granted.saturating_sub(self.book.gone())
    }
}

/// What a holder tells and asks a Ledger: many keys in one message. Safe to lose, repeat, delay and
/// reorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenAsk {
    /// [`TOKEN_WIRE_VERSION`].
    pub v: u8,
    /// Who asks.
    pub holder: HolderId,
    /// Numbers the asks of one holder, from 1.
    pub n: u64,
    /// The keys, each once.
    pub items: Vec<TokenAskItem>,
}

/// One key of a [`TokenAsk`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenAskItem {
    /// The key.
    #[serde(flatten)]
    pub key: TokenKey,
    /// The lease that the holder has; `None` where it knows of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<TokenBook>,
    /// The sum of the costs of the requests that wait for this ask.
    #[serde(default)]
    pub wait: u64,
    /// The smallest of these costs: fewer tokens than it lacks help nobody.
    #[serde(default)]
    pub least: u64,
    /// Tokens spent since the last ask.
    #[serde(default)]
    pub rate: u64,
}

/// What the Ledger answers to a [`TokenAsk`]. Safe to lose, repeat, delay and reorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReply {
    /// [`TOKEN_WIRE_VERSION`].
    pub v: u8,
    /// The number of the ask.
    pub n: u64,
    /// The keys of the ask that the Ledger counts.
    pub items: Vec<TokenReplyItem>,
}

/// One key of a [`TokenReply`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReplyItem {
    /// The key.
    #[serde(flatten)]
    pub key: TokenKey,
    /// The holder's lease. `None` where it has none: what it may think it holds counts as spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<TokenLease>,
    /// What is left in the bucket: for how long to wait, never for a decision to admit.
    #[serde(default)]
    pub level: BucketState,
    /// Tokens that other holders have: the bucket does not refill past the rest.
    #[serde(default)]
    pub out: u64,
    /// The Ledger keeps the lease for so long after it has heard of it. Absent, it promises nothing.
    #[serde(default)]
    pub keep_ms: u64,
}
