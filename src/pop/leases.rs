use std::collections::VecDeque;

use super::host::{AskId, RequestId};
use super::message::{OpenTerms, PopReplyLimit};
use super::{batch, earlier};
use crate::clock::SteadyMs;
use crate::global::{HolderStart, LeaseHolder, Terms, Waiting};
use crate::ledger::QuotaName;
use crate::ordered::{Map, Set};
use crate::{Cost, DecidedBy, Decision, MAX_COUNT, Refusal, RetryAfterBasis};

/// Quotas in memory. Past it, and while none of them is idle, requests of others are told
/// [`Unavailable`](crate::Refusal::Unavailable): a quota that is not counted is not exact.
pub(super) const MOST_QUOTAS: usize = 10_000;
/// A quota without leases that was not used for so long is forgotten.
const FORGET_MS: u64 = 60_000;

/// The leases of one life of the object. They are started when the first of them is needed.
#[derive(Debug, Default)]
pub(super) struct Leases {
    /// The newest start; none before the first quota.
    pub start: Option<HolderStart>,
    pub quotas: Map<QuotaName, Quota>,
    /// A quota was forgotten: should it come back, its asks need a newer start to be heard.
    pub forgot: bool,
    /// Quotas that were in memory when storage failed: the Ledger may have granted what was not stored.
    pub lost: Set<QuotaName>,
    /// When the first of them wants to be looked at, or earlier.
    pub due: Option<SteadyMs>,
}

/// One quota.
#[derive(Debug)]
pub(super) struct Quota {
    pub holder: LeaseHolder,
    /// The requests that wait, in the order they came.
    pub queue: VecDeque<RequestId>,
    /// The ask in flight that it is part of.
    pub flight: Option<AskId>,
    /// When a request came last; none in this life where it was read from storage.
    pub used_at: Option<SteadyMs>,
}

impl Quota {
    pub const fn new(holder: LeaseHolder) -> Self {
        Self { holder, queue: VecDeque::new(), flight: None, used_at: None }
    }

    /// What is left, without a word to anyone: zeros before anything is known.
    pub fn says(&self, now: SteadyMs) -> PopReplyLimit {
        let Some(terms) = self.holder.terms() else { return unknown() };
        let (limit, remaining) = (terms.limit, self.holder.in_reach().min(terms.limit));
        let reset_ms = self.left_ms(now);
        let grows_ms = if remaining >= limit { 0 } else { reset_ms };
        let decision = Decision { limit, remaining, reset_ms, grows_ms, refusal: None };
        PopReplyLimit { period: Some(open_terms(terms)), ..batch::plain(decision) }
    }

    /// What a request of this cost would be told, where that is known.
    pub fn would_say(&self, cost: Cost, now: SteadyMs) -> PopReplyLimit {
        let mut said = self.says(now);
        let whole = self.holder.terms().map_or(0, |terms| terms.whole.max(terms.limit));
        // A limit of 0 lets nothing through, not even what costs nothing.
        let (retry_after_ms, basis) = (Some(self.left_ms(now)), RetryAfterBasis::WallPeriod);
        said.decision.refusal = if whole == 0 || cost.get() > whole {
            Some(Refusal::CostExceedsLimit)
        } else {
            (cost.get() > said.decision.remaining).then_some(Refusal::Limit { retry_after_ms, basis })
        };
        said
    }

    fn left_ms(&self, now: SteadyMs) -> u64 {
        self.holder.left_ms(now).unwrap_or(0).clamp(1, MAX_COUNT)
    }

    /// True when it was not used for so long, or not in this life.
    pub fn is_idle(&self, now: SteadyMs, for_ms: u64) -> bool {
        self.queue.is_empty() && self.used_at.is_none_or(|used| now.since(used) >= for_ms)
    }

    fn can_forget(&self, now: SteadyMs, after_ms: u64) -> bool {
        self.is_idle(now, after_ms) && self.flight.is_none() && self.holder.next_tick().is_none()
    }
}

/// What is told of a quota of which nothing is known.
pub(super) fn unknown() -> PopReplyLimit {
    let decision = Decision { limit: 0, remaining: 0, reset_ms: 0, grows_ms: 0, refusal: None };
    PopReplyLimit { decided_by: DecidedBy::Nobody, ..batch::plain(decision) }
}

fn open_terms(terms: &Terms) -> OpenTerms {
    let Terms { serial, start, end, .. } = *terms;
    OpenTerms { serial, slot: terms.slot.clone(), start_ms: start.0, end_ms: end.0 }
}

/// The costs that wait, all together. A request that only wants to know the numbers lacks nothing.
pub(super) fn waiting(costs: impl IntoIterator<Item = Cost>) -> Waiting {
    costs.into_iter().filter(|cost| *cost > Cost::ZERO).fold(Waiting::default(), Waiting::and)
}

impl Leases {
    /// What is left when storage has failed: names, to begin anew with at `at`.
    pub fn lose(&mut self, at: SteadyMs) {
        let Self { quotas, mut lost, .. } = std::mem::take(self);
        lost.extend(quotas.into_keys());
        let due = (!lost.is_empty()).then_some(at);
        *self = Self { lost, due, ..Self::default() };
    }

    /// Notes when a quota wants to be looked at.
    pub fn expect(&mut self, at: Option<SteadyMs>) {
        self.due = earlier(self.due, at);
    }

    /// Forgets quotas that have nothing and that nobody asked for lately.
    pub fn forget_idle(&mut self, now: SteadyMs) {
        self.forget(now, FORGET_MS);
    }

    /// Forgets every quota that has nothing, so that invented ones do not keep others out.
    pub fn make_room(&mut self, now: SteadyMs) {
        self.forget(now, 0);
    }

    fn forget(&mut self, now: SteadyMs, after_ms: u64) {
        let before = self.quotas.len();
        self.quotas.retain(|_, quota| !quota.can_forget(now, after_ms));
        self.forgot |= self.quotas.len() < before;
    }

    /// The quotas that want to be looked at by then.
    pub fn due_by(&self, until: SteadyMs) -> Vec<QuotaName> {
        let due = |quota: &Quota| quota.holder.next_tick().is_some_and(|at| at <= until);
        self.quotas.iter().filter(|(_, quota)| due(quota)).map(|(name, _)| name.clone()).collect()
    }

    /// When the first of them wants to be looked at.
    pub fn next_due(&self) -> Option<SteadyMs> {
        self.quotas.values().filter_map(|quota| quota.holder.next_tick()).min()
    }
}
