use std::marker::PhantomData;

use super::account::{Account, Asker, TokenRow, TokenTotals, full_refill_ms};
use super::link::MOST_ITEMS;
use super::message::{
    TOKEN_WIRE_VERSION, TokenAsk, TokenAskItem, TokenKey, TokenLease, TokenReply, TokenReplyItem,
};
use super::token_rules::{StandardTokens, TokenRules};
use crate::bucket::TokenBucket;
use crate::clock::SteadyMs;
use crate::fence::FenceSource;
use crate::global::HolderId;
use crate::ordered::Map;

/// Where memory is full, it is gone through for keys to forget no more often than this.
const SWEEP_EVERY_MS: u64 = 1_000;

/// How much a [`TokenLedger`] remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLedgerSettings {
    /// Keys whose bucket is not full. Past it new ones are not counted, and their holders are told nothing
    /// about them.
    pub max_keys: usize,
    /// Holders with a lease per key; others are granted nothing.
    pub max_holders: usize,
}

impl Default for TokenLedgerSettings {
    fn default() -> Self {
        Self { max_keys: 25_000, max_holders: 1_024 }
    }
}

/// The Ledger's side of the token protocol: it refills each key's bucket on its own steady clock, and
/// leases tokens from it.
///
/// What changed is stored before the reply leaves, one row per key; so a crash forgets nothing that anyone
/// was told, and a restart goes on from the rows, on the same steady clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenLedger<R = StandardTokens> {
    settings: TokenLedgerSettings,
    keys: Map<TokenKey, Account>,
    /// When the keys were last gone through for want of memory.
    swept: Option<SteadyMs>,
    rules: PhantomData<R>,
}

/// What a [`TokenLedger`] answers, and what to store before it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenOutcome {
    /// The reply. It must not leave before `store` is written.
    pub reply: TokenReply,
    /// What to write.
    pub store: TokenStore,
}

/// What to write, in one transaction. If that fails the [`TokenLedger`] must be dropped, and restored from
/// what is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenStore {
    /// Rows to write over those of the same key; together with the [mark](crate::clock::SteadyMark) of the
    /// clock that they are of.
    pub rows: Vec<TokenRow>,
    /// Keys whose rows can be deleted; nothing depends on when.
    pub forgotten: Vec<TokenKey>,
}

impl<R: TokenRules> TokenLedger<R> {
    /// A Ledger whose buckets are full.
    pub fn new(settings: TokenLedgerSettings) -> Self {
        Self::restore(settings, Vec::new())
    }

    /// A Ledger that goes on from what is stored.
    pub fn restore(settings: TokenLedgerSettings, rows: Vec<TokenRow>) -> Self {
        let keys = rows.into_iter().map(Account::restore).collect();
        Self { settings, keys, swept: None, rules: PhantomData }
    }

    /// Takes in the reports of an ask and grants what it can. `bucket_of` says what is configured for a key;
    /// keys of which it knows nothing are left out of the reply. `fences` are of this start, and `now` is a
    /// reading of the object's own steady clock.
    pub fn answer(
        &mut self,
        ask: &TokenAsk,
        bucket_of: impl Fn(&TokenKey) -> Option<TokenBucket>,
        fences: &mut FenceSource,
        now: SteadyMs,
    ) -> TokenOutcome {
        let mut store = TokenStore::default();
        let mut items = Vec::new();
        if ask.v == TOKEN_WIRE_VERSION {
            let asker = Asker { holder: ask.holder, n: ask.n };
            for item in ask.items.iter().take(MOST_ITEMS) {
                let Some(bucket) = bucket_of(&item.key) else { continue };
                if self.has_room(&item.key, &bucket_of, now, &mut store) {
                    items.push(self.answer_item(asker, item, bucket, fences, now, &mut store));
                }
            }
        }
        TokenOutcome { reply: TokenReply { v: TOKEN_WIRE_VERSION, n: ask.n, items }, store }
    }

    fn answer_item(
        &mut self,
        asker: Asker,
        item: &TokenAskItem,
        bucket: TokenBucket,
        fences: &mut FenceSource,
        now: SteadyMs,
        store: &mut TokenStore,
    ) -> TokenReplyItem {
        let Asker { holder, .. } = asker;
        let known = self.keys.remove(&item.key);
        let was_known = known.is_some();
        let mut account = known.unwrap_or_else(|| Account::full(bucket, now));
        let keep_ms = R::keep_ms(full_refill_ms(bucket));
        let mut changed = account.end_silent::<R>(bucket, now);
        changed |= account.report::<R>(bucket, holder, item.book.as_ref(), now);
        let has_room = account.has_room(holder, self.settings.max_holders);
        changed |= has_room && account.grant::<R>(bucket, asker, item, fences);
        changed |= account.keep(asker, keep_ms, now);
        // Without room for a lease, nothing that is left is for this holder.
        let level = if has_room { account.level().clone() } else { bucket.fresh(0) };
        let reply = TokenReplyItem {
            key: item.key.clone(),
            lease: account.lease(holder),
            level,
            out: account.out_elsewhere(holder),
            keep_ms,
        };
        if account.is_full(bucket) {
            store.forget(&item.key, was_known);
        } else {
            if R::must_store(changed) {
                store.put(account.row(&item.key));
            }
            self.keys.insert(item.key.clone(), account);
        }
        reply
    }

    /// Whether a key is known, or there is room for it, which may be made.
    fn has_room(
        &mut self,
        key: &TokenKey,
        bucket_of: &impl Fn(&TokenKey) -> Option<TokenBucket>,
        now: SteadyMs,
        store: &mut TokenStore,
    ) -> bool {
        let is_full = |ledger: &Self| ledger.keys.len() >= ledger.settings.max_keys;
        let is_due = self.swept.is_none_or(|swept| now.since(swept) >= SWEEP_EVERY_MS);
        if is_full(self) && is_due && !self.keys.contains_key(key) {
            self.swept = Some(now);
            self.sweep(bucket_of, now, store);
        }
        self.keys.contains_key(key) || !is_full(self)
    }

    /// Ends the leases of silent holders, and forgets the keys whose bucket is full: for an alarm. Nothing
    /// depends on whether it runs.
    pub fn collect(
        &mut self,
        bucket_of: impl Fn(&TokenKey) -> Option<TokenBucket>,
        now: SteadyMs,
    ) -> TokenStore {
        let mut store = TokenStore::default();
        self.sweep(&bucket_of, now, &mut store);
        store
    }

    fn sweep(
        &mut self,
        bucket_of: &impl Fn(&TokenKey) -> Option<TokenBucket>,
        now: SteadyMs,
        store: &mut TokenStore,
    ) {
        self.keys.retain(|key, account| {
            let Some(bucket) = bucket_of(key) else {
                // Nobody counts it any more; should somebody again, then from a full bucket.
                let is_over = account.is_over(now);
                store.forget(key, is_over);
                return !is_over;
            };
            let ended = account.end_silent::<R>(bucket, now);
            account.report::<R>(bucket, HolderId::new(0), None, now);
            let is_full = account.is_full(bucket);
            store.forget(key, is_full);
            if ended && !is_full && R::must_store(true) {
                store.put(account.row(key));
            }
            !is_full
        });
    }

    /// The sums of a key, if its bucket is not full. `bucket` is what is configured for it.
    pub fn totals(&self, key: &TokenKey, bucket: TokenBucket) -> Option<TokenTotals> {
        self.keys.get(key).map(|account| account.totals(bucket))
    }

    /// The lease of one holder.
    pub fn lease(&self, key: &TokenKey, holder: HolderId) -> Option<TokenLease> {
        self.keys.get(key)?.lease(holder)
    }

    /// How many keys are known: those whose bucket is not full.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }
}

impl TokenStore {
    /// Adds a row; a later one of the same key replaces it.
    fn put(&mut self, row: TokenRow) {
        self.rows.retain(|other| other.key != row.key);
        self.forgotten.retain(|key| *key != row.key);
        self.rows.push(row);
    }

    /// Deletes the row of a key, if it `is_due`.
    fn forget(&mut self, key: &TokenKey, is_due: bool) {
        if is_due {
            self.rows.retain(|other| other.key != *key);
            self.forgotten.retain(|other| other != key);
            self.forgotten.push(key.clone());
        }
    }
}
