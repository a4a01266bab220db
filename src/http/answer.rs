//! What a limit said, as answers report it.

use serde::Serialize;

use crate::config::{OnError, Policy};
use crate::{DecidedBy, Decision, MAX_COUNT, Refusal};

/// What one policy said to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitResult<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Its decision, after the request was taken where it was.
    pub decision: Decision,
    /// The window that was counted in, where the algorithm has such.
    pub epoch: Option<u64>,
    /// Whether anything was counted at all.
    pub decided_by: DecidedBy,
}

impl<'a> LimitResult<'a> {
    /// What a counter decided.
    pub const fn counted(policy: &'a Policy, decision: Decision, epoch: Option<u64>) -> Self {
        Self { policy, decision, epoch, decided_by: DecidedBy::Counter }
    }

    /// What the policy's `on_error` decides when its counter is out of reach.
    pub fn out_of_reach(policy: &'a Policy) -> Self {
        let refusal = match policy.on_error {
            OnError::Open | OnError::Local => None,
            OnError::Closed => Some(Refusal::Unavailable),
        };
        let limit = policy.burst.unwrap_or(policy.limit);
        let decision = Decision { limit, remaining: 0, reset_ms: 0, grows_ms: 0, refusal };
        Self { policy, decision, epoch: None, decided_by: DecidedBy::OnError }
    }

    /// Why the request is refused. A shadow policy never refuses.
    pub fn refusal(&self) -> Option<Refusal> {
        self.decision.refusal.filter(|_| !self.policy.shadow)
    }

    /// True when the numbers say something, and the client is bound by them.
    pub(super) fn is_announced(&self) -> bool {
        self.decided_by == DecidedBy::Counter && !self.policy.shadow
    }
}

/// True when no policy refuses.
pub fn all_allowed(results: &[LimitResult<'_>]) -> bool {
    results.iter().all(|result| result.refusal().is_none())
}

/// The body that answers a check, as `application/json`.
///
/// `remaining` and `reset_ms` are null where no counter was asked; `would_refuse` is there for shadow
/// policies only. Waits are as they are: `max_retry_after` is for the `Retry-After` field alone. `pop`
/// is the point of presence that counted.
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
    pop: Option<&'a str>,
}

impl<'a> Item<'a> {
    fn new(result: &LimitResult<'a>, pop: Option<&'a str>) -> Self {
        let decision = &result.decision;
        let refusal = result.refusal();
        let is_counted = result.decided_by == DecidedBy::Counter;
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
            pop,
        }
    }
}
