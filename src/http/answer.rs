//! What a limit said, as answers report it.

use serde::Serialize;

use crate::calendar::Unit;
use crate::config::{OnError, Policy};
use crate::pop::{OpenTerms, PopReplyLimit};
use crate::{DecidedBy, Decision, MAX_COUNT, Refusal};

/// What one policy said to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitResult<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its decision, after the request was taken where it was.
    pub decision: Decision,
    /// The window that was counted in, where the algorithm has such.
    pub epoch: Option<u64>,
    /// The period of a calendar quota that was counted in, where it is known.
    pub period: Option<OpenTerms>,
    /// Whether anything was counted at all.
    pub decided_by: DecidedBy,
}

impl<'a> LimitResult<'a> {
    /// What a point of presence decided.
    pub fn counted(policy: &'a Policy, reply: PopReplyLimit) -> Self {
        let PopReplyLimit { mut decision, decided_by, epoch, period, receipt: _ } = reply;
        // A point of presence that knows nothing of a quota does not know its limit either.
        if !decided_by.is_counted() && decision.limit == 0 {
            decision.limit = policy.most_at_once();
        }
        Self { policy, decision, epoch, period, decided_by }
    }

    /// What the policy's `on_error` decides when its point of presence is out of reach: then nobody can
    /// count a part of the limit either, so `local` lets through as `open` does.
    pub fn out_of_reach(policy: &'a Policy) -> Self {
        // A calendar quota never lets a unit through that nobody counts.
        let is_closed = policy.on_error == OnError::Closed || policy.period().is_some();
        let refusal = is_closed.then_some(Refusal::Unavailable);
        let limit = policy.most_at_once();
        let decision = Decision { limit, remaining: 0, reset_ms: 0, grows_ms: 0, refusal };
        Self { policy, decision, epoch: None, period: None, decided_by: DecidedBy::OnError }
    }

    /// Why the request is refused. A shadow policy never refuses.
    pub fn refusal(&self) -> Option<Refusal> {
        self.decision.refusal.filter(|_| !self.policy.shadow)
    }

    /// True when somebody counted, so that the numbers say something.
    pub(super) fn is_counted(&self) -> bool {
        self.decided_by.is_counted()
    }

    /// True when the numbers say something, and the client is bound by them.
    pub(super) fn is_announced(&self) -> bool {
        self.is_counted() && !self.policy.shadow
    }

    /// Units per window or period: of a calendar quota those that the tenant has in the open period, where
    /// that is known.
    pub(super) fn limit_in_force(&self) -> u64 {
        if self.period.is_some() && self.is_counted() { self.decision.limit } else { self.policy.limit }
    }

    /// How long the periods of a calendar quota are: as the open one is named, where that is known, since a
    /// tenant can have others than the policy.
    pub(super) fn unit_in_force(&self) -> Option<Unit> {
        let own = self.policy.period()?.unit();
        let Some(open) = &self.period else { return Some(own) };
        let is_long = open.end_ms.saturating_sub(open.start_ms) > LONGEST_DAY_MS;
        Some(match open.slot.split('-').count() {
            1 => Unit::Year,
            2 => Unit::Month,
            // A day and a week are both named by a date.
            _ if matches!(own, Unit::Day | Unit::Week) => own,
            _ if is_long => Unit::Week,
            _ => Unit::Day,
        })
    }
}

/// No day is longer, wherever clocks are set back.
const LONGEST_DAY_MS: i64 = 50 * 3_600_000;

/// True when no policy refuses.
pub fn all_allowed(results: &[LimitResult<'_>]) -> bool {
    results.iter().all(|result| result.refusal().is_none())
}

/// The body that answers a check, as `application/json`.
///
/// `remaining` and `reset_ms` are null where no counter was asked; `would_refuse` is there for shadow
/// policies only, and `slot`, `serial`, `start_ms` and `end_ms` for calendar quotas whose period is known.
/// Waits are as they are: `max_retry_after` is for the `Retry-After` field alone. `pop` is the point of
/// presence that counted.
pub fn check_response(results: &[LimitResult<'_>], pop: Option<&str>) -> String {
    let items = results.iter().map(|result| Item::new(result, pop)).collect();
    let body = Body { allowed: all_allowed(results), results: items };
    serde_json::to_string(&body).unwrap_or_default()
}

#[derive(Serialize)]
struct Body<'a> {
    allowed: bool,
    results: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Item<'a> {
    policy: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_refuse: Option<bool>,
    limit: u64,
    remaining: Option<u64>,
    reset_ms: Option<u64>,
    retry_after_ms: Option<u64>,
    retry_after_basis: Option<&'static str>,
    refusal: Option<&'static str>,
    decided_by: &'static str,
    epoch: Option<u64>,
    #[serde(flatten)]
    period: Option<Terms<'a>>,
    pop: Option<&'a str>,
}

/// The period of a calendar quota.
#[derive(Serialize)]
struct Terms<'a> {
    slot: &'a str,
    serial: u64,
    start_ms: i64,
    end_ms: i64,
}

impl<'a> Item<'a> {
    fn new(result: &'a LimitResult<'_>, pop: Option<&'a str>) -> Self {
        let decision = &result.decision;
        let refusal = result.refusal();
        let is_counted = result.is_counted();
        // JavaScript rounds numbers above this.
        let exact = |number: u64| number.min(MAX_COUNT);
        Self {
            policy: &result.policy.name,
            allowed: refusal.is_none(),
            would_refuse: result.policy.shadow.then_some(!decision.allowed()),
            limit: exact(decision.limit),
            remaining: is_counted.then_some(exact(decision.remaining)),
            reset_ms: is_counted.then_some(exact(decision.reset_ms)),
            retry_after_ms: refusal.and_then(|refusal| refusal.retry_after_ms()).map(exact),
            retry_after_basis: refusal.and_then(|refusal| refusal.basis()).map(|basis| basis.name()),
            refusal: refusal.map(|refusal| refusal.name()),
            decided_by: result.decided_by.name(),
            epoch: result.epoch.map(exact),
            period: result.period.as_ref().map(|open| Terms {
                slot: &open.slot,
                serial: exact(open.serial),
                start_ms: open.start_ms,
                end_ms: open.end_ms,
            }),
            pop,
        }
    }
}
