//! The rules of the cap protocol, one function each.
//!
//! What a rule is for shows when it is broken: the tests replace one at a time, and search for the
//! schedule of messages, crashes and restarts that passes the limit. Nothing else implements [`Rules`] but
//! [`Standard`], and a different rule is a different type: there is no switch to leave on.

use std::cmp::Ordering;
use std::fmt::Debug;

use super::limit::CapLimit;
pub use super::page::Spans;
use crate::MAX_COUNT;
use crate::window::Epoch;

/// What the Ledger knows of one key in one epoch, and what it may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The limit that counts now.
    pub limit: CapLimit,
    /// Units known or presumed to be taken, net of refunds, over all holders: `K`.
    pub known: u64,
    /// The sum of all caps: `C`.
    pub caps: u64,
}

impl Standing {
    /// Units granted and not known to be taken: `O = C - K`.
    pub const fn out(&self) -> u64 {
        self.caps.saturating_sub(self.known)
    }

    /// Units that caps may still grow by: `L + S - C`.
    pub const fn room(&self) -> u64 {
        self.limit.ceiling().saturating_sub(self.caps)
    }

    /// True when the limit is known to be used up: `K >= L`.
    pub const fn is_full(&self) -> bool {
        self.known >= self.limit.limit()
    }
}

/// The rules of both sides. The numbers are those of a key's page in one epoch unless it says otherwise.
pub trait Rules: Clone + Debug + PartialEq + Eq {
    /// A holder admits what keeps it within its cap, and nothing else.
    fn fits(cap: u64, taken: u64, given: u64, cost: u64) -> bool {
        let net = taken.saturating_sub(given);
        // A count that could not go on growing would hide what is taken after it stopped.
        net.saturating_add(cost) <= cap && taken.saturating_add(cost) <= MAX_COUNT
    }

    /// A holder keeps the largest cap it was told: a reply that is late or repeated changes nothing.
    fn told_cap(held: u64, told: u64) -> u64 {
        held.max(told)
    }

    /// A holder files under the largest epoch it was told: a late reply does not lead it back.
    fn told_epoch(held: Epoch, told: Epoch) -> Epoch {
        held.max(told)
    }

    /// Whether a reply about a key is newer, as old or older than what the holder knows: by the epoch,
    /// then by the generation, which grows with a reset within it.
    fn told_generation(held: (Epoch, u64), told: (Epoch, u64)) -> Ordering {
        told.cmp(&held)
    }

    /// A new epoch starts with no cap: what was left of the last one ended with it.
    fn carried_over(_left: u64) -> u64 {
        0
    }

    /// The name of a holder that has forgotten what it took, made from its random number and how often
    /// that has happened. A name of its own, so that nobody takes the two for one.
    fn renamed(random: u64, forgotten: u64) -> u64 {
        // SplitMix64: no two numbers of times give the same name.
        let mut z = random.wrapping_add(forgotten.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A refund counts when this holder took those units in that epoch, once per unit. `true` if it did.
    fn refunded(returned: &mut Spans, taken: u64, from: u64, cost: u64) -> bool {
        from.checked_add(cost).is_some_and(|to| to <= taken && returned.insert(from, to))
    }

    /// The page that a refund of `taken_in` goes to. `current` is the epoch in which it comes.
    fn refund_page(taken_in: Epoch, _current: Epoch) -> Epoch {
        taken_in
    }

    /// The Ledger keeps the largest count it was told.
    fn reported(held: u64, told: u64) -> u64 {
        held.max(told)
    }

    /// Units granted to a holder that is `short` of them for requests that wait: never past the limit by
    /// what is known, and never past the ceiling.
    fn waiting_grant(standing: &Standing, short: u64) -> u64 {
        short.min(standing.limit.limit().saturating_sub(standing.known)).min(standing.room())
    }

    /// What is granted of `units` to a holder with `spare` units above what it took: nothing, where even the
    /// smallest request that waits would not fit. They would be out of everybody's reach until the epoch ends.
    fn useful(units: u64, spare: u64, least: u64) -> u64 {
        if spare.saturating_add(units) < least { 0 } else { units }
    }

    /// What a holder of `cap` is presumed to have taken once the reply is on its way.
    fn presumed(need: u64, cap: u64, given: u64) -> u64 {
        need.min(cap).saturating_add(given)
    }

    /// Units granted on top to a holder that took `rate` units since its last ask and holds `spare` above
    /// what it needs: half of the slack that is not out yet, rounded up, and no more than it took.
    fn slack_grant(standing: &Standing, rate: u64, spare: u64) -> u64 {
        if standing.is_full() {
            return 0;
        }
        let free = standing.limit.slack().saturating_sub(standing.out());
        let wanted = rate.min(free.div_ceil(2));
        wanted.saturating_sub(spare).min(free).min(standing.room())
    }

    /// The cap of a holder in the next epoch, ahead of time: what it took lately, at most an eighth of that
    /// epoch's slack. `held` is the cap it has there.
    fn next_cap(standing: &Standing, rate: u64, held: u64) -> u64 {
        let wanted = rate.min(standing.limit.slack() / 8);
        held.saturating_add(Self::slack_grant(standing, wanted, held))
    }

    /// Whether caps that grew to `caps` must be stored before they are told, where `reserved` is stored.
    fn must_store(caps: u64, reserved: u64) -> bool {
        caps > reserved
    }

    /// After a restart: all that was reserved counts as granted, to holders unknown.
    fn remembered(reserved: u64) -> u64 {
        reserved
    }

    /// How many of these `granted` units count as taken: those that were `known` to be when it was stored;
    /// after a crash that is all of them.
    ///
    /// The bound does not depend on it, since a grant stays within the room, and that has only caps in it. A
    /// figure that is too large makes the Ledger refuse early; one that is old, and so too small, makes it give
    /// less slack, and hear of the limit later than it could: at the latest when the ceiling is reached.
    fn remembered_known(granted: u64, known: u64) -> u64 {
        known.min(granted)
    }

    /// How many of the `lost` units, granted to holders unknown, a holder shows to be its own by a report
    /// of `beyond` units more than any cap the Ledger remembers giving it.
    fn recovered(lost: u64, beyond: u64) -> u64 {
        lost.min(beyond)
    }

    /// What is left of `lost` units after that.
    fn still_lost(lost: u64, recovered: u64) -> u64 {
        lost.saturating_sub(recovered)
    }

    /// How many lost units are still known to be taken by someone unknown. What a holder reports is first of
    /// all what it was known to have taken before: so what counts is the larger of what was known then and of
    /// what was reported since. Nothing counts twice; and when all have reported, nothing is missing.
    fn still_known(known: u64, recovered: u64) -> u64 {
        known.saturating_sub(recovered)
    }
}

/// The rules as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standard;

impl Rules for Standard {}
