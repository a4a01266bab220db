//! When a holder asks. Nothing here is needed for the limit to hold.

use crate::clock::SteadyMs;

/// An ask because the period is over by the holder's own count comes no sooner after the last one.
const SOONEST_MS: u64 = 1_000;
/// A holder that refuses alone asks on refusals number 1, 2, 4 ... 64; and while its clock stands still
/// on each 64th.
const MOST_ALONE: u64 = 64;

/// So many asks in a row fail where a Ledger is out of reach for a minute.
const ORDINARY_FAILURES: u32 = 12;
/// After them the time between asks doubles so often: from five seconds to more than an hour.
const MOST_DOUBLED: u32 = 10;

/// Whether it is time to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// An ask is under way.
    InFlight,
    /// The last one was too short a while ago, and failed.
    Early,
    /// Ask, there need be no other reason.
    Due,
    /// Ask if there is a reason.
    Free,
}

/// The holder's own times and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Set by requests, cleared by a reply.
    pub used: bool,
    /// The ledger does not know how things stand here: figures have become final, or this start, or an ask
    /// that got no reply, may have left a grant that was never written down.
    pub unsure: bool,
    /// Figures have become final since the last ask: a reply to it does not know of them.
    final_since_ask: bool,
    /// The last ask failed, and no reply has come since.
    pub out_of_reach: bool,
    /// Asks that failed since a reply came.
    failures: u32,
    in_flight: bool,
    spent_at: SteadyMs,
    asked_at: SteadyMs,
    replied_at: SteadyMs,
    /// Refusals since the ledger said that nothing is left, or was out of reach.
    refusals: u64,
}

impl Pace {
    pub const fn new(now: SteadyMs) -> Self {
        Self {
            used: false,
            unsure: true,
            final_since_ask: false,
            out_of_reach: false,
            failures: 0,
            in_flight: false,
            spent_at: now,
            asked_at: now,
            replied_at: now,
            refusals: 0,
        }
    }

    pub const fn spent(&mut self, now: SteadyMs) {
        self.spent_at = now;
        self.used = true;
    }

    pub const fn asked(&mut self, now: SteadyMs) {
        self.asked_at = now;
        self.in_flight = true;
        self.unsure = true;
        self.final_since_ask = false;
    }

    /// Notes that figures have become final, which the ledger is to hear of.
    pub const fn became_final(&mut self) {
        self.unsure = true;
        self.final_since_ask = true;
    }

    pub const fn failed(&mut self) {
        self.in_flight = false;
        self.out_of_reach = true;
        self.failures = self.failures.saturating_add(1);
    }

    pub const fn answered(&mut self, now: SteadyMs, drained: bool) {
        self.replied_at = now;
        self.in_flight = false;
        self.unsure = self.final_since_ask;
        self.used = false;
        if !drained || self.out_of_reach {
            self.refusals = 0;
        }
        self.out_of_reach = false;
        self.failures = 0;
    }

    pub const fn idle_ms(&self, now: SteadyMs) -> u64 {
        now.since(self.spent_at)
    }

    pub const fn since_reply_ms(&self, now: SteadyMs) -> u64 {
        now.since(self.replied_at)
    }

    pub const fn spent_at(&self) -> SteadyMs {
        self.spent_at
    }

    pub const fn asked_at(&self) -> SteadyMs {
        self.asked_at
    }

    pub const fn is_asking(&self) -> bool {
        self.in_flight
    }

    /// Counts a refusal, and says whether the ledger is asked on it. Counts alone decide where the clock
    /// stands still, also where the ask under way never comes back.
    pub fn is_refusal_due(&mut self, now: SteadyMs, every_ms: u64) -> bool {
        self.refusals = self.refusals.saturating_add(1);
        let doubled = self.refusals <= MOST_ALONE && self.refusals.is_power_of_two();
        let stands = self.refusals.is_multiple_of(MOST_ALONE) && now == self.asked_at;
        let due = doubled || stands || now.since(self.asked_at) >= every_ms;
        due && (!self.in_flight || stands || now.since(self.asked_at) >= every_ms)
    }

    /// How long after an ask that failed the next one comes of itself: in the end ever longer, since a Ledger
    /// that does not know the quota would be asked for ever. Requests do not wait for that.
    pub const fn patience_ms(&self, every_ms: u64) -> u64 {
        let doubled = self.failures.saturating_sub(ORDINARY_FAILURES);
        let doubled = if doubled < MOST_DOUBLED { doubled } else { MOST_DOUBLED };
        every_ms.saturating_mul(1 << doubled)
    }

    pub const fn turn(&self, now: SteadyMs, every_ms: u64, left_ms: Option<u64>) -> Turn {
        let asked_ms = now.since(self.asked_at);
        if self.in_flight && asked_ms < every_ms {
            return Turn::InFlight;
        }
        if self.out_of_reach && asked_ms < self.patience_ms(every_ms) {
            return Turn::Early;
        }
        let over = matches!(left_ms, Some(0)) && asked_ms >= SOONEST_MS;
        if self.used && (asked_ms >= every_ms || over) { Turn::Due } else { Turn::Free }
    }
}
