//! The rules of the token protocol, one function each.
//!
//! What a rule is for shows when it is broken: the tests replace one at a time, and search for the
//! schedule of messages, clocks, crashes and restarts that passes the bound. Nothing else implements
//! [`TokenRules`] but [`StandardTokens`], and a different rule is a different type: there is no switch to
//! leave on.

use std::fmt::Debug;

use crate::fence::Fence;
pub use crate::global::rules::Spans;

/// Sooner than this the Ledger forgets no lease.
const SHORTEST_KEEP_MS: u64 = 60_000;

/// The rules of both sides. The numbers are those of one key.
pub trait TokenRules: Clone + Debug + PartialEq + Eq {
    /// A holder admits what it has tokens for, and nothing else.
    fn fits(granted: u64, gone: u64, cost: u64) -> bool {
        gone.checked_add(cost).is_some_and(|gone| gone <= granted)
    }

    /// The ask under way is the only one whose reply counts: an older reply may speak of a lease that is
    /// over, and was asked for longer ago than the holder remembers.
    fn obeys(in_flight: Option<u64>, n: u64) -> bool {
        in_flight == Some(n)
    }

    /// What is granted is told as a sum, so that being told twice changes nothing.
    fn told_granted(held: u64, told: u64) -> u64 {
        held.max(told)
    }

    /// Of a lease that a holder hears of and does not know, so much is gone already: what the Ledger
    /// knows of. It is the holder's own, from before it [forgot](Self::may_forget).
    fn starts_with(told: u64) -> u64 {
        told
    }

    /// A holder forgets a key when it has no tokens for it, and the Ledger has confirmed the final counts.
    fn may_forget(in_hand: u64, is_confirmed: bool) -> bool {
        in_hand == 0 && is_confirmed
    }

    /// For so long after sending an ask that was answered a holder may spend: half of what the Ledger
    /// promises. So its clock may run at half speed, and it still stops first.
    fn holds_ms(keep_ms: u64) -> u64 {
        keep_ms / 2
    }

    /// A refund counts when this holder spent those tokens, once per token. `true` if it did.
    fn refunded(returned: &mut Spans, spent: u64, from: u64, cost: u64) -> bool {
        from.checked_add(cost).is_some_and(|to| to <= spent && returned.insert(from, to))
    }

    /// Whether a report is about the lease that the Ledger has: fences are matched, not compared.
    fn is_about(lease: Fence, told: Fence) -> bool {
        lease == told
    }

    /// The Ledger keeps the largest count it was told: a report that is late or repeated changes nothing.
    fn reported(held: u64, told: u64) -> u64 {
        held.max(told)
    }

    /// Tokens out count as still in the bucket: so much of its capacity is left to refill.
    fn room(capacity: u64, out: u64) -> u64 {
        capacity.saturating_sub(out)
    }

    /// The refill up to a report stopped at what was out before it, not at what is out after it: nobody
    /// knows when in between the tokens were spent.
    fn out_meanwhile(before: u64, _after: u64) -> u64 {
        before
    }

    /// Tokens granted to a holder that is `short` of them for requests that wait, and `least_short` for the
    /// smallest of these: what there is, or nothing where it would help nobody.
    fn waiting_grant(level: u64, short: u64, least_short: u64) -> u64 {
        if least_short > level { 0 } else { short.min(level) }
    }

    /// Tokens granted on top to a holder that spent `rate` since its last ask and has `spare` in hand: no
    /// more than it spent, and no more than half of an even share of the `level`.
    fn share(level: u64, holders: u64, rate: u64, spare: u64) -> u64 {
        let most = level.checked_div(holders.max(4).saturating_mul(2)).unwrap_or(0);
        rate.min(most).saturating_sub(spare).min(level)
    }

    /// For how long the Ledger keeps the lease of a holder that says nothing: the time of a full refill,
    /// at least a minute.
    fn keep_ms(full_refill_ms: u64) -> u64 {
        full_refill_ms.max(SHORTEST_KEEP_MS)
    }

    /// What goes back into the bucket of the `out` tokens of a holder that was silent for too long: none,
    /// they count as spent.
    fn back_from_silent(_out: u64) -> u64 {
        0
    }

    /// What changed must be stored before it is told.
    fn must_store(is_changed: bool) -> bool {
        is_changed
    }
}

/// The rules as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandardTokens;

impl TokenRules for StandardTokens {}
