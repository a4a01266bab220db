use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::books::{Book, Units, Want};
use super::limit::CapLimit;
use super::link::MOST_ITEMS;
use super::message::{
    CAP_WIRE_VERSION, CapAsk, CapAskItem, CapKey, CapNext, CapReply, CapReplyItem, HolderId,
};
use super::rules::{Rules, Standard};
use crate::clock::SteadyMs;
use crate::ordered::Map;
use crate::window::{Epoch, Epochs, Position};

/// No epoch is shorter: sooner than this there is nothing more to forget.
const SWEEP_EVERY_MS: u64 = 1_000;
/// While there is room, books that are over are looked for no more often than this.
const TIDY_EVERY_MS: u64 = 60_000;

/// How much a [`CapLedger`] remembers and how far ahead it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapLedgerSettings {
    /// Keys with books. Past it, keys whose epochs are over are forgotten; new ones are not counted while
    /// there is none, and their holders are told nothing about them.
    pub max_keys: usize,
    /// Holders with a row of their own per key and epoch; of what others hold there are only sums.
    pub max_holders: usize,
    /// Units stored ahead of being granted, in millionths of the limit: the larger, the fewer rows are
    /// written, and the more counts as taken after a crash.
    pub ahead_ppm: u32,
}

impl Default for CapLedgerSettings {
    fn default() -> Self {
        Self { max_keys: 25_000, max_holders: 1_024, ahead_ppm: 100_000 }
    }
}

/// The Ledger's side of the cap protocol: it opens epochs on its own steady clock, keeps the books of each
/// key, and grants caps.
///
/// It writes ahead: what is stored of a key is a number of units that its caps stay within. After a crash
/// all of it counts as granted and taken, until the holders report: never over, a little early. When it has
/// [settled](Self::settle), what is stored is what was granted and how much of that is known to be taken, and
/// a restart loses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapLedger<R = Standard> {
    settings: CapLedgerSettings,
    epochs: Epochs,
    keys: Map<CapKey, Key>,
    /// When the books were last gone through for some that are over.
    swept: Option<SteadyMs>,
    rules: PhantomData<R>,
}

/// The books of one key, of the open epoch and the one after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Key {
    r#gen: u64,
    books: Map<Epoch, Book>,
}

/// What a [`CapLedger`] answers, and what to store before it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapOutcome {
    /// The reply. It must not leave before `store` is written.
    pub reply: CapReply,
    /// What to write.
    pub store: CapStore,
}

/// What to write, in one transaction. If that fails the [`CapLedger`] must be dropped, and restored from
/// what is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapStore {
    /// The epochs, where one was opened; together with the [mark](crate::clock::SteadyMark) of the clock
    /// they were opened on.
    pub epochs: Option<Epochs>,
    /// Rows to write over those of the same key.
    pub rows: Vec<CapRow>,
    /// Keys whose rows can be deleted; nothing depends on when.
    pub forgotten: Vec<CapKey>,
}

/// What is stored of one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapRow {
    /// The key.
    pub key: CapKey,
    /// Its generation.
    pub r#gen: u64,
    /// Units that the caps of an epoch stay within.
    pub reserved: Vec<(Epoch, u64)>,
    /// How many of these count as taken after a restart; all of them in an epoch that is not here. A number
    /// that is too small passes no limit: caps are only ever granted within what `reserved` leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<(Epoch, u64)>,
}

/// The sums of one key's books in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapTotals {
    /// The key's generation.
    pub r#gen: u64,
    /// The epoch.
    pub epoch: Epoch,
    /// Units known or presumed to be taken, net of refunds.
    pub known: u64,
    /// The sum of all caps.
    pub caps: u64,
    /// Units that the caps stay within, as stored.
    pub reserved: u64,
    /// Holders with a row.
    pub holders: usize,
}

impl<R: Rules> CapLedger<R> {
    /// A Ledger without books.
    pub fn new(settings: CapLedgerSettings) -> Self {
        Self::restore(settings, Epochs::default(), Vec::new())
    }

    /// A Ledger that goes on from what is stored.
    pub fn restore(settings: CapLedgerSettings, epochs: Epochs, rows: Vec<CapRow>) -> Self {
        let keys = rows.into_iter().map(|row| {
            let key = Key::restore::<R>(&row);
            (row.key, key)
        });
        Self { settings, epochs, keys: keys.collect(), swept: None, rules: PhantomData }
    }

    /// Takes in the reports of an ask and grants what it can. `limit_of` says what is configured for a key;
    /// keys of which it knows nothing are left out of the reply. `now` is a reading of the object's own
    /// steady clock.
    pub fn answer(
        &mut self,
        ask: &CapAsk,
        limit_of: impl Fn(&CapKey) -> Option<CapLimit>,
        now: SteadyMs,
    ) -> CapOutcome {
        let mut store = CapStore::default();
        let mut items = Vec::new();
        if ask.v == CAP_WIRE_VERSION {
            for item in ask.items.iter().take(MOST_ITEMS) {
                if let Some(limit) = limit_of(&item.key) {
                    items.extend(self.answer_item(ask, item, limit, now, &mut store));
                }
            }
        }
        CapOutcome { reply: CapReply { v: CAP_WIRE_VERSION, n: ask.n, items }, store }
    }

    fn answer_item(
        &mut self,
        ask: &CapAsk,
        item: &CapAskItem,
        limit: CapLimit,
        now: SteadyMs,
        store: &mut CapStore,
    ) -> Option<CapReplyItem> {
        let at = self.open(&item.key, now, store);
        let settings = self.settings;
        let key = self.key(&item.key, now, store)?;
        key.turn_over(at.epoch);
        key.books.entry(at.epoch).or_default();
        if item.r#gen == key.r#gen {
            key.report::<R>(ask.holder, item, settings.max_holders);
        }
        let book = key.books.entry(at.epoch).or_default();
        book.make_room(ask.holder, settings.max_holders);
        let want = Want { holder: ask.holder, n: ask.n, wait: item.wait, least: item.least, rate: item.rate };
        book.grant::<R>(limit, want);
        let (cap, others) = (book.cap(ask.holder), book.others(ask.holder));
        let full = book.standing(limit).is_full();
        let next = key.grant_ahead::<R>(at.epoch, limit, ask.holder, item.rate, settings.max_holders);
        if key.reserve::<R>(limit, settings.ahead(limit)) {
            store.put(key.row(&item.key));
        }
        let left_ms = item.key.window_ms.get().saturating_sub(at.into_ms).max(1);
        let (key, r#gen) = (item.key.clone(), key.r#gen);
        Some(CapReplyItem { key, r#gen, epoch: at.epoch, left_ms, cap, full, others, next })
    }

    /// The open epoch for windows of this length; a new one is to be stored.
    fn open(&mut self, key: &CapKey, now: SteadyMs, store: &mut CapStore) -> Position {
        let (at, opened) = self.epochs.position(key.window_ms, now);
        if opened {
            store.epochs = Some(self.epochs.clone());
        }
        at
    }

    /// The books of a key, if there is room for them.
    fn key(&mut self, key: &CapKey, now: SteadyMs, store: &mut CapStore) -> Option<&mut Key> {
        if !self.keys.contains_key(key) {
            let is_full = self.keys.len() >= self.settings.max_keys;
            let every_ms = if is_full { SWEEP_EVERY_MS } else { TIDY_EVERY_MS };
            if self.swept.is_none_or(|swept| now.since(swept) >= every_ms) {
                self.swept = Some(now);
                self.sweep(&mut store.forgotten);
            }
            if self.keys.len() >= self.settings.max_keys {
                return None;
            }
            // A row that was to be deleted will be written instead.
            store.forgotten.retain(|forgotten| forgotten != key);
        }
        Some(self.keys.entry(key.clone()).or_default())
    }

    /// Forgets the keys whose epochs are over, among those of window lengths that are in use.
    fn sweep(&mut self, forgotten: &mut Vec<CapKey>) {
        let mut epochs = self.epochs.clone();
        self.keys.retain(|key, books| {
            // A reading of 0 opens nothing: it tells the epoch that is open.
            let (open, _) = epochs.position(key.window_ms, SteadyMs(0));
            let counts = books.books.keys().any(|epoch| *epoch >= open.epoch);
            if !counts {
                forgotten.push(key.clone());
            }
            counts
        });
    }

    /// Gives memory and storage back: for an alarm. Nothing depends on whether it runs.
    pub fn collect(&mut self, now: SteadyMs) -> CapStore {
        let mut store = CapStore::default();
        let keys: Vec<CapKey> = self.keys.keys().cloned().collect();
        for key in keys {
            self.open(&key, now, &mut store);
        }
        self.sweep(&mut store.forgotten);
        store
    }

    /// Gives back what was stored ahead and not granted, and stores how much of the rest is known to be taken,
    /// so that an ordinary eviction loses nothing: for a moment without asks.
    pub fn settle(&mut self) -> CapStore {
        let mut store = CapStore::default();
        for (name, key) in &mut self.keys {
            let is_more = key.books.values_mut().fold(false, |any, book| book.settle() | any);
            if is_more {
                store.rows.push(key.row(name));
            }
        }
        store
    }

    /// Forgives what was taken of a key in the open epoch. Holders that have not heard of it can go on
    /// under their old caps until they do; what they were given of the next epoch counts as taken there.
    pub fn reset(&mut self, name: &CapKey, now: SteadyMs) -> CapStore {
        let mut store = CapStore::default();
        let at = self.open(name, now, &mut store);
        if let Some(key) = self.key(name, now, &mut store) {
            key.turn_over(at.epoch);
            key.r#gen = key.r#gen.saturating_add(1);
            key.books.entry(at.epoch).or_default();
            for (epoch, book) in &mut key.books {
                *book = book.reset(*epoch == at.epoch);
            }
            store.put(key.row(name));
        }
        store
    }

    /// The sums of a key's books, by epoch.
    pub fn totals(&self, name: &CapKey) -> Vec<CapTotals> {
        let Some(key) = self.keys.get(name) else { return Vec::new() };
        let totals = |(epoch, book): (&Epoch, &Book)| CapTotals {
            r#gen: key.r#gen,
            epoch: *epoch,
            known: book.known(),
            caps: book.caps(),
            reserved: book.stored.caps,
            holders: book.holders(),
        };
        key.books.iter().map(totals).collect()
    }

    /// The cap of one holder, as the books have it.
    pub fn cap(&self, name: &CapKey, epoch: Epoch, holder: HolderId) -> u64 {
        let book = self.keys.get(name).and_then(|key| key.books.get(&epoch));
        book.map_or(0, |book| book.cap(holder))
    }

    /// How many keys have books.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }
}

impl CapLedgerSettings {
    fn ahead(&self, limit: CapLimit) -> u64 {
        let units = u128::from(limit.limit()) * u128::from(self.ahead_ppm) / u128::from(CapLimit::WHOLE_PPM);
        u64::try_from(units).unwrap_or(u64::MAX)
    }
}

impl CapStore {
    /// Adds a row; a later one of the same key replaces it.
    fn put(&mut self, row: CapRow) {
        self.rows.retain(|other| other.key != row.key);
        self.rows.push(row);
    }
}

impl Key {
    /// Forgets the epochs before `open`. Generations start anew with an epoch that nothing was told about.
    fn turn_over(&mut self, open: Epoch) {
        self.books.retain(|epoch, _| *epoch >= open);
        if self.books.is_empty() {
            self.r#gen = 0;
        }
    }

    /// Merges the reports for the epochs that have books.
    fn report<R: Rules>(&mut self, holder: HolderId, item: &CapAskItem, most_holders: usize) {
        for told in &item.books {
            if let Some(book) = self.books.get_mut(&told.epoch) {
                book.make_room(holder, most_holders);
                book.report::<R>(holder, told);
            }
        }
    }

    /// Grants from the epoch after `open`, to a holder that takes.
    fn grant_ahead<R: Rules>(
        &mut self,
        open: Epoch,
        limit: CapLimit,
        holder: HolderId,
        rate: u64,
        most_holders: usize,
    ) -> Option<CapNext> {
        if rate == 0 {
            return None;
        }
        let epoch = Epoch(open.0.checked_add(1)?);
        let mut book = self.books.remove(&epoch).unwrap_or_default();
        book.make_room(holder, most_holders);
        let cap = book.grant_ahead::<R>(limit, holder, rate);
        if book.caps() > 0 {
            self.books.insert(epoch, book);
        }
        cap.map(|cap| CapNext { epoch, cap })
    }

    /// Reserves in every book. `true` if one is to be stored.
    fn reserve<R: Rules>(&mut self, limit: CapLimit, ahead: u64) -> bool {
        self.books.values_mut().fold(false, |any, book| book.reserve::<R>(limit, ahead) | any)
    }

    fn restore<R: Rules>(row: &CapRow) -> Self {
        let known =
            |epoch, caps| row.known.iter().find(|(of, _)| *of == epoch).map_or(caps, |(_, units)| *units);
        let stored =
            |(epoch, caps): &(Epoch, u64)| (*epoch, Units { caps: *caps, known: known(*epoch, *caps) });
        let books = row.reserved.iter().map(stored).map(|(epoch, units)| (epoch, Book::restore::<R>(units)));
        Self { r#gen: row.r#gen, books: books.collect() }
    }

    fn row(&self, name: &CapKey) -> CapRow {
        let stored = || self.books.iter().map(|(epoch, book)| (*epoch, book.stored));
        let reserved = stored().map(|(epoch, units)| (epoch, units.caps)).collect();
        let known = stored().filter(|(_, units)| units.known < units.caps);
        let known = known.map(|(epoch, units)| (epoch, units.known)).collect();
        CapRow { key: name.clone(), r#gen: self.r#gen, reserved, known }
    }
}
