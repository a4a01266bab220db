use serde::{Deserialize, Serialize};

use super::message::TokenKey;
use crate::bucket::{BucketState, TokenBucket};
use crate::fence::Fence;
use crate::global::{HolderId, Ticket};
use crate::window::{Counting, Position};
use crate::{Cost, Decision, Refusal, RetryAfterBasis};

/// What a [`TokenHolder`](super::TokenHolder) says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenAnswer {
    /// It is decided.
    Decided(TokenVerdict),
    /// It waits for the Ledger: [`next_ask`](super::TokenHolder::next_ask) is due, or one is in flight.
    Wait(Ticket),
}

/// A request that waited, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettled {
    /// Which one.
    pub ticket: Ticket,
    /// What it is told.
    pub verdict: TokenVerdict,
}

/// A decision by a holder, with what a refund needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenVerdict {
    /// What the client is told. After a take, `remaining` is without its cost; it is what this holder has
    /// and what the bucket had when it last heard of it, and refilled since.
    pub decision: Decision,
    /// Present when something was taken.
    pub receipt: Option<TokenReceipt>,
}

/// Names the tokens of one take, so that they can be given back: by the holder that took them, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenReceipt {
    /// Who took.
    pub holder: HolderId,
    /// What was counted.
    #[serde(flatten)]
    pub key: TokenKey,
    /// The lease they came from.
    pub fence: Fence,
    /// Where the tokens lie in the count of what was spent.
    pub from: u64,
    /// How many there are.
    pub cost: Cost,
}

impl TokenVerdict {
    /// The verdict where so much is left, allowed as it stands.
    pub(super) fn of(bucket: TokenBucket, left: &BucketState) -> Self {
        let decision = bucket.look(left, Position::default(), Cost::ZERO);
        Self { decision: Decision { refusal: None, ..decision }, receipt: None }
    }

    /// The verdict where nothing is known to be left.
    pub(super) fn empty(bucket: TokenBucket) -> Self {
        Self::of(bucket, &bucket.fresh(0))
    }

    /// The same, refused for that long; `None` is for ever.
    pub(super) const fn refused(mut self, retry_after_ms: Option<u64>) -> Self {
        let basis = RetryAfterBasis::MonotonicRefill;
        self.decision.refusal = Some(Refusal::Limit { retry_after_ms, basis });
        self
    }

    /// The same, refused because the Ledger cannot be reached, does not count this, or is not asked because
    /// too many wait already.
    pub(super) const fn unavailable(mut self) -> Self {
        self.decision.refusal = Some(Refusal::Unavailable);
        self
    }

    /// The same, refused because no wait makes such a cost fit.
    pub(super) const fn too_large(mut self) -> Self {
        self.decision.refusal = Some(Refusal::CostExceedsLimit);
        self
    }
}
