use super::message::{TokenBook, TokenLease, TokenReplyItem};
use super::token_rules::{Spans, TokenRules};
use crate::Cost;
use crate::bucket::{BucketState, TokenBucket};
use crate::clock::SteadyMs;
use crate::fence::Fence;
use crate::window::{Counting, Position};

/// Refusals number 1, 2, 4 ... 64 and each 64th ask: so a holder whose clock stands still follows.
const MOST_UNASKED: u32 = 64;
/// Where tokens lack that other holders have, it takes so long until those that are idle come back.
const OUT_MS: u64 = 10_000;
/// A Ledger that does not count a key is not told about it again for so long.
const LEFT_OUT_MS: u64 = 60_000;

/// A lease in hand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    granted: u64,
    book: TokenBook,
    refunded: Spans,
}

/// What the Ledger said about the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    level: BucketState,
    out: u64,
    /// When it was heard: later than it was so, hence no wait that follows from it is early.
    at: SteadyMs,
}

/// What is to become of a request that the tokens in hand do not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    /// The bucket may have the tokens.
    Ask,
    /// It does not, for so long; `None` is for ever.
    Refuse(Option<u64>),
}

/// What a holder has of one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hand {
    held: Option<Held>,
    /// The tokens may be spent before this point.
    good_until: SteadyMs,
    told: Option<Told>,
    /// Since when the Ledger lacks a report of it.
    unreported: Option<SteadyMs>,
    /// When the ask about it was sent that is under way.
    asked_at: Option<SteadyMs>,
    took_at: SteadyMs,
    used_at: SteadyMs,
    /// Tokens spent since the last ask.
    rate: u64,
    /// Requests refused since the bucket was last known to have something left.
    refusals: u32,
    /// Requests that wait.
    pub waiting: u32,
    /// It is asked about though nothing waits.
    pub due: bool,
}

/// When a hand acts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub report_after_ms: u64,
    pub return_after_ms: u64,
}

impl Hand {
    /// Tokens that can be spent.
    pub fn left(&self, now: SteadyMs) -> u64 {
        if now < self.good_until { self.idle_left() } else { 0 }
    }

    /// Tokens that are neither spent nor returned.
    fn idle_left(&self) -> u64 {
        self.held.as_ref().map_or(0, |held| held.granted.saturating_sub(held.book.gone()))
    }

    /// Notes a request.
    pub const fn used(&mut self, now: SteadyMs) {
        self.used_at = now;
    }

    /// Takes `cost` if there are tokens for it. Returns the lease, and where in its count they lie.
    pub fn take<R: TokenRules>(
        &mut self,
        bucket: TokenBucket,
        cost: u64,
        now: SteadyMs,
    ) -> Option<(Fence, u64)> {
        self.give_up_late(now);
        let held = self.held.as_mut()?;
        if !R::fits(held.granted, held.book.gone(), cost) {
            return None;
        }
        let from = held.book.spent;
        held.book.spent = from.saturating_add(cost);
        let fence = held.book.fence;
        self.rate = self.rate.saturating_add(cost);
        self.took_at = now;
        if self.told.as_ref().is_some_and(|told| bucket.available(&told.level) > 0) {
            self.refusals = 0;
        }
        self.changed(now);
        Some((fence, from))
    }

    /// Gives back `cost` tokens that were spent at `from`. They go to the bucket, not into this hand.
    pub fn give<R: TokenRules>(&mut self, fence: Fence, from: u64, cost: u64) -> bool {
        let held = self.held.as_mut().filter(|held| held.book.fence == fence);
        let Some(held) = held else { return false };
        let counts = R::refunded(&mut held.refunded, held.book.spent, from, cost);
        if counts {
            held.book.given = held.book.given.saturating_add(cost);
            self.changed(self.took_at);
        }
        counts
    }

    /// Tokens of which the Ledger was last heard too long ago are spent no more.
    fn give_up_late(&mut self, now: SteadyMs) {
        if now >= self.good_until {
            self.give_up(now);
        }
    }

    /// Returns what is left. `true` if that is anything.
    fn give_up(&mut self, now: SteadyMs) -> bool {
        let left = self.idle_left();
        if let Some(held) = self.held.as_mut().filter(|_| left > 0) {
            held.book.returned = held.book.returned.saturating_add(left);
            self.changed(now);
        }
        left > 0
    }

    fn changed(&mut self, now: SteadyMs) {
        self.unreported.get_or_insert(now);
    }

    /// What is left of the bucket, as far as this holder knows: in its hand and at the Ledger.
    pub fn all_left(&self, bucket: TokenBucket, now: SteadyMs) -> Option<BucketState> {
        let mut left = self.level(bucket, now)?;
        let in_hand = Cost::saturating(self.left(now));
        bucket.give_back(&mut left, Position::default(), Position::default(), in_hand);
        Some(left)
    }

    fn level(&self, bucket: TokenBucket, now: SteadyMs) -> Option<BucketState> {
        let told = self.told.as_ref()?;
        let mut level = told.level.clone();
        bucket.credit(&mut level, now.since(told.at));
        Some(level)
    }

    /// What is to become of a request for `cost` that the tokens in hand do not cover.
    pub fn outlook(&self, bucket: TokenBucket, cost: Cost, now: SteadyMs) -> Outlook {
        let (Some(told), Some(level)) = (&self.told, self.level(bucket, now)) else { return Outlook::Ask };
        let left = self.left(now);
        let lacks = Cost::saturating(cost.get().saturating_sub(left));
        let refill_ms = bucket.wait_ms(&level, lacks);
        let out_ms = OUT_MS.saturating_sub(now.since(told.at));
        let wait_ms = match refill_ms {
            Some(refill_ms) if cost.get() > bucket.capacity().saturating_sub(told.out) => {
                Some(refill_ms.max(out_ms))
            }
            None if told.out > 0 => Some(out_ms),
            refill_ms => refill_ms,
        };
        if wait_ms == Some(0) { Outlook::Ask } else { Outlook::Refuse(wait_ms) }
    }

    /// Notes a refusal; `true` when it is one that asks. So does one after which tokens may have come back.
    pub fn refused(&mut self, now: SteadyMs) -> bool {
        self.refusals = self.refusals.saturating_add(1);
        let may_be_back = |told: &Told| told.out > 0 && now.since(told.at) >= OUT_MS;
        self.told.as_ref().is_some_and(may_be_back)
            || self.refusals.is_power_of_two() && self.refusals < MOST_UNASKED
            || self.refusals.is_multiple_of(MOST_UNASKED)
    }

    /// What an ask says of it, sent now.
    pub fn ask(&mut self, now: SteadyMs) -> (Option<TokenBook>, u64) {
        self.give_up_late(now);
        self.due = false;
        self.asked_at = Some(now);
        self.unreported = None;
        (self.held.as_ref().map(|held| held.book), std::mem::take(&mut self.rate))
    }

    /// Takes in the answer to the ask under way.
    pub fn hear<R: TokenRules>(&mut self, item: &TokenReplyItem, now: SteadyMs) {
        let asked_at = self.asked_at.take().unwrap_or_default();
        self.good_until = asked_at.plus(R::holds_ms(item.keep_ms));
        match (&mut self.held, item.lease) {
            (Some(held), Some(lease)) if held.book.fence == lease.book.fence => {
                held.granted = R::told_granted(held.granted, lease.granted);
            }
            (held, lease) => *held = lease.map(Held::learned::<R>),
        }
        self.told = Some(Told { level: item.level.clone(), out: item.out, at: now });
        self.give_up_late(now);
    }

    /// The reply to the ask under way left it out: the Ledger counts no such key, or has no room for it.
    pub fn left_out(&mut self, now: SteadyMs) {
        self.asked_at = None;
        self.told = None;
        if self.held.is_some() {
            self.give_up(now);
            self.unreported = Some(now.plus(LEFT_OUT_MS));
        }
    }

    /// The ask under way was not answered: what it told may not have arrived, and what it was granted is
    /// not known.
    pub fn failed(&mut self) {
        if let Some(asked_at) = self.asked_at.take() {
            self.unreported = Some(asked_at);
        }
    }

    /// Acts if it is time to. `true` if the Ledger is to be told.
    pub fn tick(&mut self, times: Times, now: SteadyMs) -> bool {
        self.give_up_late(now);
        let is_idle = self.waiting == 0 && now.since(self.took_at) >= times.return_after_ms;
        if is_idle && self.give_up(now) {
            return true;
        }
        let report_at = self.unreported.map(|since| since.plus(times.report_after_ms));
        self.asked_at.is_none() && report_at.is_some_and(|at| at <= now)
    }

    /// When [`tick`](Self::tick) has something to do, or the hand can be forgotten; `None` before the answer
    /// to the ask under way.
    pub fn next(&self, times: Times) -> Option<SteadyMs> {
        let report_at = self.unreported.map(|since| since.plus(times.report_after_ms));
        if self.idle_left() > 0 {
            let idle_at = self.took_at.plus(times.return_after_ms).min(self.good_until);
            return Some(report_at.map_or(idle_at, |at| at.min(idle_at)));
        }
        let forget_at = self.asked_at.is_none().then(|| self.used_at.plus(times.return_after_ms));
        report_at.or(forget_at)
    }

    /// True when there is nothing in it that the Ledger does not know, and nothing waits.
    pub fn may_forget<R: TokenRules>(&self) -> bool {
        let is_confirmed = self.unreported.is_none() && self.asked_at.is_none();
        self.waiting == 0 && !self.due && R::may_forget(self.idle_left(), is_confirmed)
    }

    /// True when it was not used for so long.
    pub const fn is_idle(&self, idle_ms: u64, now: SteadyMs) -> bool {
        now.since(self.used_at) >= idle_ms
    }

    /// Its lease.
    pub fn lease(&self) -> Option<TokenLease> {
        self.held.as_ref().map(|held| TokenLease { book: held.book, granted: held.granted })
    }
}

impl Held {
    /// A lease that was not known. What is spent of it was spent by this holder, before it forgot it, or by
    /// nobody: none of that can be given back any more.
    fn learned<R: TokenRules>(lease: TokenLease) -> Self {
        let book = TokenBook {
            fence: lease.book.fence,
            spent: R::starts_with(lease.book.spent),
            returned: R::starts_with(lease.book.returned),
            given: lease.book.given,
        };
        let mut refunded = Spans::default();
        refunded.insert(0, book.spent);
        Self { granted: lease.granted, book, refunded }
    }
}
