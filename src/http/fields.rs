//! The header fields `RateLimit`, `RateLimit-Policy` and `Retry-After`.
//!
//! The first two are structured fields (RFC 9651) of draft-ietf-httpapi-ratelimit-headers-11.

use sfv::{Integer, KeyRef, ListSerializer, StringRef, key_ref};

use super::answer::LimitResult;
use crate::MAX_COUNT;

/// Which draft's parameters the `RateLimit` field has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderDraft {
    /// draft-ietf-httpapi-ratelimit-headers-11: `r` units remain for `t` seconds.
    #[default]
    Eleven,
    /// The working group's text after it: `a` units are available for `w` seconds.
    Next,
}

/// The value of `RateLimit-Policy`, such as `"per-ip";q=60;w=60`; `None` where there is nothing to say.
///
/// Shadow policies are left out, since no client has to keep to them. A token bucket announces its
/// refill, `limit` per window, and where it differs its capacity as `sluicegate-burst`. A calendar quota
/// has no window, since a month has no constant length, but `sluicegate-period="month"`; its `q` is the
/// tenant's own limit where that is known.
pub fn rate_limit_policy(results: &[LimitResult<'_>]) -> Option<String> {
    let mut list = ListSerializer::new();
    let mut listed: Vec<&str> = Vec::new();
    for result in results.iter().filter(|result| !result.policy.shadow) {
        let policy = result.policy;
        if listed.contains(&policy.name.as_str()) {
            continue;
        }
        listed.push(&policy.name);
        // Names are plain ASCII since the configuration was read.
        let Ok(name) = StringRef::from_str(&policy.name) else { continue };
        let mut item = list.bare_item(name).parameter(key_ref("q"), integer(result.limit_in_force()));
        if let Some(window) = policy.window_ms() {
            item = item.parameter(key_ref("w"), integer(window.get().div_ceil(1000)));
        }
        if let Some(burst) = policy.burst().filter(|burst| *burst != policy.limit) {
            item = item.parameter(key_ref("sluicegate-burst"), integer(burst));
        }
        if let Some(unit) = result.unit_in_force().and_then(|unit| StringRef::from_str(unit.name()).ok()) {
            let _ = item.parameter(key_ref("sluicegate-period"), unit);
        }
    }
    list.finish()
}

/// The value of `RateLimit`, such as `"per-ip";r=59;t=42`; `None` where there is nothing to say.
///
/// The seconds run until more units are free, rounded up; they are left out where the limit is whole.
/// Shadow policies are left out, and those whose counter was out of reach. Of a policy that was asked for
/// several keys the one with the least left is told.
pub fn rate_limit(results: &[LimitResult<'_>], draft: HeaderDraft) -> Option<String> {
    let (remaining, seconds): (&KeyRef, &KeyRef) = match draft {
        HeaderDraft::Eleven => (key_ref("r"), key_ref("t")),
        HeaderDraft::Next => (key_ref("a"), key_ref("w")),
    };
    let mut list = ListSerializer::new();
    let announced = || results.iter().enumerate().filter(|(_, result)| result.is_announced());
    for (index, result) in announced() {
        let tightness = |at: usize, one: &LimitResult<'_>| (one.decision.remaining, at);
        let same = announced().filter(|(_, other)| other.policy.name == result.policy.name);
        if same.map(|(at, other)| tightness(at, other)).min() != Some(tightness(index, result)) {
            continue;
        }
        let Ok(name) = StringRef::from_str(&result.policy.name) else { continue };
        let decision = &result.decision;
        let item = list.bare_item(name).parameter(remaining, integer(decision.remaining));
        let wait_ms = if decision.grows_ms > 0 { decision.grows_ms } else { decision.reset_ms };
        if wait_ms > 0 && wait_ms < MAX_COUNT {
            let _ = item.parameter(seconds, integer(wait_ms.div_ceil(1000)));
        }
    }
    list.finish()
}

/// The value of `Retry-After`: whole seconds, rounded up so that it is never early, and never 0.
///
/// # Example
///
/// ```
/// use sluicegate::http::retry_after_seconds;
///
/// assert_eq!((retry_after_seconds(0), retry_after_seconds(1), retry_after_seconds(1001)), (1, 1, 2));
/// ```
pub const fn retry_after_seconds(ms: u64) -> u64 {
    let seconds = ms.div_ceil(1000);
    if seconds == 0 { 1 } else { seconds }
}

/// An integer of a structured field: those have at most 15 digits.
fn integer(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(Integer::MAX)
}
