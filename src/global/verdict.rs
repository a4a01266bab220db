use serde::{Deserialize, Serialize};

use super::limit::CapLimit;
use super::message::{CapKey, HolderId};
use super::page::Page;
use crate::window::Epoch;
use crate::{Cost, Decision, Refusal, RetryAfterBasis};

/// Names a request that waits at one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a holder says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapAnswer {
    /// It is decided.
    Decided(CapVerdict),
    /// It waits for the Ledger: [`next_ask`](super::CapHolder::next_ask) is due, or one is in flight.
    Wait(Ticket),
}

/// A request that waited, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapSettled {
    /// Which one.
    pub ticket: Ticket,
    /// What it is told.
    pub verdict: CapVerdict,
}

/// A decision by a holder, with what a refund needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapVerdict {
    /// What the client is told. After a take, `remaining` is without its cost.
    pub decision: Decision,
    /// The epoch it was decided in, if one is open at this holder.
    pub epoch: Option<Epoch>,
    /// Present when something was taken.
    pub receipt: Option<CapReceipt>,
}

/// Names the units of one take, so that they can be given back: to the holder that took them, in the epoch
/// they were taken in, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapReceipt {
    /// Who took.
    pub holder: HolderId,
    /// What was counted.
    #[serde(flatten)]
    pub key: CapKey,
    /// The key's generation.
    pub r#gen: u64,
    /// The epoch.
    pub epoch: Epoch,
    /// Where the units lie in the count of what was taken.
    pub from: u64,
    /// How many there are.
    pub cost: Cost,
}

impl CapVerdict {
    /// The verdict where a page of `epoch` is open, with `left_ms` of it left.
    pub(super) fn on_page(limit: CapLimit, epoch: Epoch, page: &Page, left_ms: u64) -> Self {
        let remaining = page.remaining(limit.limit());
        let reset_ms = left_ms.max(1);
        let grows_ms = if remaining >= limit.limit() { 0 } else { reset_ms };
        let decision = Decision { limit: limit.limit(), remaining, reset_ms, grows_ms, refusal: None };
        Self { decision, epoch: Some(epoch), receipt: None }
    }

    /// The verdict where no epoch is open; it could last for `window_ms`.
    pub(super) const fn without_page(limit: CapLimit, window_ms: u64) -> Self {
        let (reset_ms, grows_ms) = (window_ms, window_ms);
        let decision = Decision { limit: limit.limit(), remaining: 0, reset_ms, grows_ms, refusal: None };
        Self { decision, epoch: None, receipt: None }
    }

    /// The same, refused until the epoch is over: nothing else is sure to make room.
    pub(super) const fn refused(mut self) -> Self {
        let retry_after_ms = Some(self.decision.reset_ms);
        self.decision.refusal = Some(Refusal::Limit { retry_after_ms, basis: RetryAfterBasis::EpochWindow });
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
