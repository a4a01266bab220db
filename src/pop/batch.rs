use super::holders::Place;
use super::message::{Measure, PopAsk, PopLimit, PopReceipt, PopReply, PopReplyLimit};
use super::{AskId, POP_VERSION};
use crate::counter::{Ask, AskLimit, Op, Receipt, ReplyLimit, WIRE_VERSION};
use crate::decision::DecidedBy;
use crate::ledger::{LedgerName, QuotaName};
use crate::policy::Algorithm;
use crate::{Decision, Refusal};

/// A request that is being decided.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub op: Op,
    pub limits: Vec<PopLimit>,
    /// How far each limit has come.
    pub parts: Vec<Part>,
    /// The joined limits, as they are taken.
    order: Vec<usize>,
    /// How many of them are decided.
    at: usize,
    /// What the next of them waits for.
    pub wait: Option<Wait>,
}

/// How far a limit has come.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A joined one that was not reached.
    Open,
    /// The point of presence counts it, in the last turn.
    Local(Algorithm, DecidedBy),
    /// A joined one that is decided; with a receipt where something was taken.
    Joined(Box<PopReplyLimit>),
}

/// What a request waits for.
#[derive(Clone, Debug)]
pub(super) enum Wait {
    /// For a cap, or for tokens.
    Held { ledger: LedgerName, place: Place },
    /// For units of a quota, or for its numbers.
    Quota {
        quota: QuotaName,
        /// Replies that it has waited for.
        asked: u32,
        /// The ask that it is part of.
        part: Option<AskId>,
    },
}

/// What a joined limit says.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// This.
    Decided(Box<PopReplyLimit>),
    /// Nothing: the policy's `on_error` decides.
    OutOfReach,
}

/// The batch for the counter, where all limits of an ask are counted by it.
pub(super) fn all_local(ask: &PopAsk) -> Option<Ask> {
    let local = |limit: &PopLimit| match limit.measure {
        Measure::Pop(algorithm) => Some(ask_limit(limit, algorithm)),
        _ => None,
    };
    let limits = ask.limits.iter().map(local).collect::<Option<_>>()?;
    Some(Ask { v: WIRE_VERSION, op: ask.op, limits })
}

pub(super) fn ask_limit(limit: &PopLimit, algorithm: Algorithm) -> AskLimit {
    let receipt = match limit.receipt {
        Some(PopReceipt::Pop { holder, at }) => Some(Receipt { holder, at }),
        _ => None,
    };
    let PopLimit { policy, key, cost, shadow, .. } = limit;
    AskLimit { policy: policy.clone(), algorithm, key: *key, cost: *cost, shadow: *shadow, receipt }
}

/// What the counter says to one limit.
pub(super) fn counted(said: ReplyLimit, decided_by: DecidedBy) -> PopReplyLimit {
    let ReplyLimit { mut decision, epoch, receipt } = said;
    // Larger than this point's part of the limit, not than the limit: the Ledger's return cures it.
    if decided_by == DecidedBy::Local && decision.refusal == Some(Refusal::CostExceedsLimit) {
        decision.refusal = Some(Refusal::Unavailable);
    }
    let receipt = receipt.map(|Receipt { holder, at }| PopReceipt::Pop { holder, at });
    PopReplyLimit { decision, decided_by, epoch, period: None, receipt }
}

/// A decision without anything around it.
pub(super) const fn plain(decision: Decision) -> PopReplyLimit {
    PopReplyLimit { decision, decided_by: DecidedBy::Counter, epoch: None, period: None, receipt: None }
}

pub(super) const fn reply(allowed: bool, limits: Vec<PopReplyLimit>) -> PopReply {
    PopReply { v: POP_VERSION, allowed, limits }
}

impl Batch {
    pub fn new(ask: &PopAsk) -> Self {
        let part = |limit: &PopLimit| match limit.measure {
            Measure::Pop(algorithm) => Part::Local(algorithm, DecidedBy::Counter),
            _ => Part::Open,
        };
        let parts: Vec<Part> = ask.limits.iter().map(part).collect();
        // Enforced ones before shadow ones. And windows before quotas: units of a lease that the Ledger has
        // been told is used up stay spent, so a quota is taken when least can come in between.
        let rank = |limit: &PopLimit| (limit.shadow, matches!(limit.measure, Measure::Quota));
        let joined = ask.limits.iter().zip(&parts).enumerate();
        let joined = joined.filter(|(_, (_, part))| matches!(part, Part::Open));
        let mut ranked: Vec<_> = joined.map(|(index, (limit, _))| (rank(limit), index)).collect();
        ranked.sort_unstable();
        let order = ranked.into_iter().map(|(_, index)| index).collect();
        Self { op: ask.op, limits: ask.limits.clone(), parts, order, at: 0, wait: None }
    }

    /// The joined limit whose turn it is.
    pub fn next(&self) -> Option<&PopLimit> {
        self.limits.get(*self.order.get(self.at)?)
    }

    /// Notes what the limit says whose turn it is.
    pub fn hear(&mut self, part: Part) {
        if let Some(place) = self.order.get(self.at).and_then(|index| self.parts.get_mut(*index)) {
            *place = part;
        }
        self.at = self.at.saturating_add(1);
    }

    /// True when an enforced limit over many points of presence refuses.
    pub fn is_refused(&self) -> bool {
        let refused = |(limit, part): (&PopLimit, &Part)| {
            !limit.shadow && matches!(part, Part::Joined(said) if !said.decision.allowed())
        };
        self.limits.iter().zip(&self.parts).any(refused)
    }

    /// True when every enforced limit was asked.
    pub fn is_complete(&self) -> bool {
        !self.limits.iter().zip(&self.parts).any(|(limit, part)| !limit.shadow && matches!(part, Part::Open))
    }

    /// The limits that the point of presence counts.
    pub fn local(&self) -> Vec<AskLimit> {
        let local = |(limit, part): (&PopLimit, &Part)| match part {
            Part::Local(algorithm, _) => Some(ask_limit(limit, *algorithm)),
            _ => None,
        };
        self.limits.iter().zip(&self.parts).filter_map(local).collect()
    }
}

/// The answer to limits that cannot be decided: what they mean is not known, or the outcome could not be stored.
pub(super) fn unavailable(limits: &[PopLimit]) -> PopReply {
    let refused =
        Decision { limit: 0, remaining: 0, reset_ms: 0, grows_ms: 0, refusal: Some(Refusal::Unavailable) };
    let limits = limits.iter().map(|_| PopReplyLimit { decided_by: DecidedBy::OnError, ..plain(refused) });
    reply(false, limits.collect())
}
