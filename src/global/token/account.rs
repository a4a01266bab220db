use serde::{Deserialize, Serialize};

use super::message::{TokenAskItem, TokenBook, TokenKey, TokenLease};
use super::token_rules::TokenRules;
use crate::bucket::{BucketState, TokenBucket};
use crate::clock::SteadyMs;
use crate::fence::FenceSource;
use crate::global::HolderId;
use crate::ordered::Map;
use crate::window::{Counting, Position};
use crate::{Cost, MAX_COUNT};

/// After tokens lacked that other holders had, none are granted on top for so long: what is left is for
/// those who wait.
const SCARCE_MS: u64 = 30_000;

/// What is stored of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// The key.
    pub key: TokenKey,
    /// What was in the bucket.
    pub level: BucketState,
    /// When that was.
    pub mark: SteadyMs,
    /// The leases that are not over.
    #[serde(default)]
    pub leases: Vec<TokenRowLease>,
}

/// A lease in a [`TokenRow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRowLease {
    /// Who has it.
    pub holder: HolderId,
    /// The lease.
    #[serde(flatten)]
    pub lease: TokenLease,
    /// It is kept until then: later than was promised, so that a promise seldom needs a write.
    pub until: SteadyMs,
    /// The number of the holder's newest ask at the last write: an older one is granted nothing.
    #[serde(default)]
    pub n: u64,
}

/// The sums of one key, for tests and for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenTotals {
    /// Whole tokens in the bucket when it was last looked at.
    pub level: u64,
    /// Tokens granted and not known to be spent or returned.
    pub out: u64,
    /// Holders with a lease.
    pub holders: usize,
}

/// The bucket of one key, and the leases from it. In no state is `level + out` above the capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    level: BucketState,
    /// The point up to which the level has been credited.
    mark: SteadyMs,
    leases: Map<HolderId, Kept>,
    /// When tokens lacked that other holders had.
    scarce: Option<SteadyMs>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    lease: TokenLease,
    until: SteadyMs,
    n: u64,
}

/// Who asks, and in which ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub holder: HolderId,
    pub n: u64,
}

impl Account {
    /// A full bucket.
    pub fn full(bucket: TokenBucket, now: SteadyMs) -> Self {
        let level = bucket.fresh(bucket.capacity());
        Self { level, mark: now, leases: Map::new(), scarce: None }
    }

    pub fn restore(row: TokenRow) -> (TokenKey, Self) {
        let kept = |row: TokenRowLease| (row.holder, Kept { lease: row.lease, until: row.until, n: row.n });
        let leases = row.leases.into_iter().map(kept).collect();
        (row.key, Self { level: row.level, mark: row.mark, leases, scarce: None })
    }

    pub fn row(&self, key: &TokenKey) -> TokenRow {
        let lease = |(holder, kept): (&HolderId, &Kept)| TokenRowLease {
            holder: *holder,
            lease: kept.lease,
            until: kept.until,
            n: kept.n,
        };
        let leases = self.leases.iter().map(lease).collect();
        TokenRow { key: key.clone(), level: self.level.clone(), mark: self.mark, leases }
    }

    /// Tokens granted and not known to be spent or returned.
    pub fn out(&self) -> u64 {
        self.leases.values().fold(0, |sum, kept| sum.saturating_add(kept.lease.out()))
    }

    /// Those of them that holders but this one have.
    pub fn out_elsewhere(&self, holder: HolderId) -> u64 {
        self.out().saturating_sub(self.lease(holder).map_or(0, |lease| lease.out()))
    }

    pub fn lease(&self, holder: HolderId) -> Option<TokenLease> {
        self.leases.get(&holder).map(|kept| kept.lease)
    }

    pub const fn level(&self) -> &BucketState {
        &self.level
    }

    pub fn totals(&self, bucket: TokenBucket) -> TokenTotals {
        TokenTotals { level: bucket.available(&self.level), out: self.out(), holders: self.leases.len() }
    }

    /// True when it says no more than a bucket that was never used.
    pub fn is_full(&self, bucket: TokenBucket) -> bool {
        self.leases.is_empty() && bucket.available(&self.level) >= bucket.capacity()
    }

    /// True when no lease is kept any more.
    pub fn is_over(&self, now: SteadyMs) -> bool {
        self.leases.values().all(|kept| kept.until <= now)
    }

    /// The bucket as large as what is out leaves it.
    fn room<R: TokenRules>(bucket: TokenBucket, out: u64) -> TokenBucket {
        TokenBucket::new(R::room(bucket.capacity(), out), bucket.refill()).unwrap_or(bucket)
    }

    /// Lets the refill come in that there was up to `now`, with so much out meanwhile.
    fn credit<R: TokenRules>(&mut self, bucket: TokenBucket, out: u64, now: SteadyMs) {
        Self::room::<R>(bucket, out).credit(&mut self.level, now.since(self.mark));
        self.mark = self.mark.max(now);
    }

    /// Puts tokens back, as far as there is room for them.
    fn put_back<R: TokenRules>(&mut self, bucket: TokenBucket, tokens: u64) {
        let (room, at) = (Self::room::<R>(bucket, self.out()), Position::default());
        room.give_back(&mut self.level, at, at, Cost::saturating(tokens));
    }

    /// Ends the leases of holders that were silent for too long, each at its time: what they had is spent
    /// from then on. `true` if there was one.
    pub fn end_silent<R: TokenRules>(&mut self, bucket: TokenBucket, now: SteadyMs) -> bool {
        let mut ended = false;
        while let Some((holder, kept)) = self.first_silent(now) {
            self.credit::<R>(bucket, self.out(), kept.until);
            self.leases.remove(&holder);
            self.put_back::<R>(bucket, R::back_from_silent(kept.lease.out()));
            ended = true;
        }
        ended
    }

    fn first_silent(&self, now: SteadyMs) -> Option<(HolderId, Kept)> {
        let silent = self.leases.iter().filter(|(_, kept)| kept.until <= now);
        silent.min_by_key(|(_, kept)| kept.until).map(|(holder, kept)| (*holder, *kept))
    }

    /// Merges a report, if there is one about the lease, and lets the refill come in up to now. `true` if
    /// it says anything new.
    pub fn report<R: TokenRules>(
        &mut self,
        bucket: TokenBucket,
        holder: HolderId,
        told: Option<&TokenBook>,
        now: SteadyMs,
    ) -> bool {
        let out = self.out();
        let kept = self.leases.get_mut(&holder);
        let back = match (kept, told) {
            (Some(kept), Some(told)) if R::is_about(kept.lease.book.fence, told.fence) => {
                merge::<R>(&mut kept.lease, told)
            }
            _ => None,
        };
        self.credit::<R>(bucket, R::out_meanwhile(out, self.out()), now);
        self.put_back::<R>(bucket, back.unwrap_or(0));
        back.is_some()
    }

    /// Grants what waits, and a share on top. `true` if that is anything. An ask that is not newer than the
    /// last is granted nothing: its requests were granted already, or are part of a newer one.
    pub fn grant<R: TokenRules>(
        &mut self,
        bucket: TokenBucket,
        asker: Asker,
        item: &TokenAskItem,
        fences: &mut FenceSource,
    ) -> bool {
        let (held, n) = self.leases.get(&asker.holder).map_or((0, 0), |kept| (kept.lease.out(), kept.n));
        if asker.n <= n {
            return false;
        }
        let room = Self::room::<R>(bucket, self.out());
        let level = room.available(&self.level);
        let (short, least_short) = (item.wait.saturating_sub(held), item.least.saturating_sub(held));
        let waiting = R::waiting_grant(level, short, least_short);
        if waiting == 0 && least_short > 0 && self.out() > held {
            self.scarce = Some(self.mark);
        }
        let is_scarce = self.scarce.is_some_and(|at| self.mark.since(at) < SCARCE_MS);
        let spare = held.saturating_add(waiting).saturating_sub(item.wait);
        let holders = u64::try_from(self.leases.len()).unwrap_or(u64::MAX);
        let left = level.saturating_sub(waiting);
        let share = if is_scarce { 0 } else { R::share(left, holders, item.rate, spare) };
        let granted = waiting.saturating_add(share);
        room.try_take(&mut self.level, Cost::saturating(granted.min(level)));
        self.add(asker, granted, fences)
    }

    fn add(&mut self, asker: Asker, granted: u64, fences: &mut FenceSource) -> bool {
        if granted > 0 {
            let kept = self.leases.entry(asker.holder).or_insert_with(|| Kept {
                lease: TokenLease { book: TokenBook::new(fences.issue()), granted: 0 },
                until: SteadyMs(0),
                n: 0,
            });
            kept.lease.granted = kept.lease.granted.saturating_add(granted);
        }
        if let Some(kept) = self.leases.get_mut(&asker.holder) {
            kept.n = asker.n;
        }
        granted > 0
    }

    /// Keeps the lease for `keep_ms` from now, at least. An eighth more is noted, so that the next promises
    /// are within it. `true` if it was noted.
    pub fn keep(&mut self, asker: Asker, keep_ms: u64, now: SteadyMs) -> bool {
        let promised = now.plus(keep_ms);
        // The reply to an older ask is not obeyed: nothing is promised by it.
        let kept = self.leases.get_mut(&asker.holder).filter(|kept| asker.n >= kept.n);
        let Some(kept) = kept.filter(|kept| kept.until < promised) else { return false };
        kept.until = promised.plus(keep_ms / 8);
        true
    }

    /// Whether there is a lease for `holder`, or room for one: of leases with nothing out, the one that is
    /// kept for the shortest makes way. What its holder may still report was reported.
    pub fn has_room(&mut self, holder: HolderId, most: usize) -> bool {
        if self.leases.len() >= most && !self.leases.contains_key(&holder) {
            let done = self.leases.iter().filter(|(_, kept)| kept.lease.out() == 0);
            let first = done.min_by_key(|(_, kept)| kept.until).map(|(id, _)| *id);
            return first.is_some_and(|id| self.leases.remove(&id).is_some());
        }
        true
    }
}

/// Merges a report. Returns what goes back into the bucket, or `None` where nothing is new.
fn merge<R: TokenRules>(lease: &mut TokenLease, told: &TokenBook) -> Option<u64> {
    let (held, granted) = (lease.book, lease.granted);
    // No honest holder tells of more than it was granted.
    let spent = R::reported(held.spent, told.spent.min(granted));
    let returned = R::reported(held.returned, told.returned).min(granted.saturating_sub(spent));
    let given = R::reported(held.given, told.given.min(spent));
    lease.book = TokenBook { fence: held.fence, spent, returned, given };
    let back = returned.saturating_sub(held.returned).saturating_add(given.saturating_sub(held.given));
    (lease.book != held).then_some(back)
}

/// The time in which an empty bucket fills; 2^53 - 1 where it takes longer.
pub(super) fn full_refill_ms(bucket: TokenBucket) -> u64 {
    let capacity = Cost::saturating(bucket.capacity());
    bucket.wait_ms(&bucket.fresh(0), capacity).unwrap_or(MAX_COUNT)
}

impl TokenTotals {
    /// Tokens in the bucket or out.
    pub const fn all(&self) -> u64 {
        self.level.saturating_add(self.out)
    }
}
