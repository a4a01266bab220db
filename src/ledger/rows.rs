use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::host::LedgerWrite;
use super::log::{CHUNKS, LogChunk, LogEntry};
use super::totals::LedgerTotals;
use crate::calendar::{OpenPeriod, PeriodSpec};
use crate::clock::{Hlc, SteadyMark, WallMs};
use crate::global::{BookKey, BookRow, CapKey, CapRow, LeaseBook, TokenKey, TokenRow};
use crate::window::Epochs;

/// The version that is part of each row. A changed meaning takes the next; rows of a later one are refused.
const ROW_VERSION: u8 = 1;

const HEAD: &str = "head";
const CAP: &str = "cap/";
const TOKEN: &str = "token/";
const LOG: &str = "log/";
const QUOTA: &str = "quota/";
const SETTINGS: &str = "settings/";

/// A row's contents.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u8,
    row: T,
}

/// What is written with each epoch, each grant and each change of settings: one row for all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The steady clock.
    pub mark: SteadyMark,
    /// The open epochs.
    pub epochs: Epochs,
    /// The largest stamp that was given out.
    pub stamp: Hlc,
    /// How many chunks of the log were finished, and the entries since.
    pub chunks: u64,
    pub tail: Vec<LogEntry>,
    /// When the alarm is set for.
    pub alarm: Option<WallMs>,
    /// How many points of presence were heard lately.
    pub pops: u32,
    pub totals: LedgerTotals,
}

/// A tenant's own settings of a quota; what is absent is the policy's. A field that is not known makes the
/// row unreadable: passed over, it would leave the policy's in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub limit: Option<u64>,
    pub period: Option<PeriodSpec>,
}

/// Rows of one turn: one for each key, all written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    rows: BTreeMap<String, Option<String>>,
    /// Whether the head is to be among them.
    pub head: bool,
}

impl Batch {
    /// The head, if nothing else.
    pub fn of_head() -> Self {
        Self { head: true, ..Self::default() }
    }

    fn put(&mut self, key: String, row: impl Serialize) {
        // Nothing here fails to be written as JSON. If it did, an empty row cannot be read back: what it is
        // about would be refused, where a missing row could mean that nothing was used.
        let value = serde_json::to_string(&Versioned { v: ROW_VERSION, row }).unwrap_or_default();
        self.rows.insert(key, Some(value));
    }

    pub fn put_head(&mut self, head: &Head) {
        self.put(HEAD.to_owned(), head);
    }

    pub fn put_cap(&mut self, row: &CapRow) {
        self.put(cap_key(&row.key), row);
    }

    pub fn delete_cap(&mut self, key: &CapKey) {
        self.rows.insert(cap_key(key), None);
    }

    pub fn put_token(&mut self, row: &TokenRow) {
        self.put(token_key(&row.key), row);
    }

    pub fn delete_token(&mut self, key: &TokenKey) {
        self.rows.insert(token_key(key), None);
    }

    pub fn put_chunk(&mut self, chunk: &LogChunk) {
        self.put(format!("{LOG}{}", chunk.number % CHUNKS), chunk);
    }

    pub fn put_settings(&mut self, policy: &str, settings: &Settings) {
        self.put(format!("{SETTINGS}{policy}"), settings);
    }

    pub fn delete_settings(&mut self, policy: &str) {
        self.rows.insert(format!("{SETTINGS}{policy}"), None);
    }

    pub fn put_open(&mut self, policy: &str, open: &OpenPeriod) {
        self.put(format!("{QUOTA}{policy}/open"), open);
    }

    pub fn put_book(&mut self, policy: &str, row: &BookRow) {
        self.put(book_key(policy, &row.key()), row);
    }

    pub fn delete_book(&mut self, policy: &str, key: &BookKey) {
        self.rows.insert(book_key(policy, key), None);
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.head
    }

    pub fn into_writes(self) -> Vec<LedgerWrite> {
        let write = |(key, value)| match value {
            Some(value) => LedgerWrite::Put { key, value },
            None => LedgerWrite::Delete { key },
        };
        self.rows.into_iter().map(write).collect()
    }
}

pub(super) fn cap_key(key: &CapKey) -> String {
    format!("{CAP}{}/{}/{}", key.policy, key.key, key.window_ms.get())
}

pub(super) fn token_key(key: &TokenKey) -> String {
    format!("{TOKEN}{}/{}", key.policy, key.key)
}

fn book_key(policy: &str, key: &BookKey) -> String {
    format!("{QUOTA}{policy}/book/{key}")
}

/// What was stored of one quota.
#[derive(Debug, Default)]
pub(super) struct StoredQuota {
    pub settings: Option<Settings>,
    pub open: Option<OpenPeriod>,
    pub book: LeaseBook,
    /// False when any of its rows could not be read, or is missing.
    pub readable: bool,
}

/// What was stored of a Ledger.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub head: Option<Head>,
    pub caps: Vec<CapRow>,
    pub tokens: Vec<TokenRow>,
    pub chunks: Vec<LogChunk>,
    pub quotas: BTreeMap<String, StoredQuota>,
    /// Keys of rows that could not be read.
    pub unreadable: Vec<String>,
    settings: BTreeMap<String, Settings>,
    opens: BTreeMap<String, OpenPeriod>,
    books: BTreeMap<String, Vec<BookRow>>,
}

impl Stored {
    /// Reads what can be read, and notes the keys of the rest.
    pub fn read(rows: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut stored = Self::default();
        for (key, value) in rows {
            if stored.take(&key, &value).is_none() {
                stored.unreadable.push(key);
            }
        }
        stored.join();
        stored
    }

    /// `None` for a row that cannot be read.
    fn take(&mut self, key: &str, value: &str) -> Option<()> {
        if key == HEAD {
            self.head = Some(parse(value)?);
        } else if key.starts_with(CAP) {
            self.caps.push(parse::<CapRow>(value).filter(|row| cap_key(&row.key) == key)?);
        } else if key.starts_with(TOKEN) {
            self.tokens.push(parse::<TokenRow>(value).filter(|row| token_key(&row.key) == key)?);
        } else if key.starts_with(LOG) {
            self.chunks.push(parse(value)?);
        } else if let Some(policy) = key.strip_prefix(SETTINGS) {
            self.settings.insert(policy.to_owned(), parse(value)?);
        } else {
            let (policy, what) = key.strip_prefix(QUOTA)?.split_once('/')?;
            if what == "open" {
                self.opens.insert(policy.to_owned(), parse(value)?);
            } else {
                let row = parse::<BookRow>(value).filter(|row| book_key(policy, &row.key()) == key)?;
                self.books.entry(policy.to_owned()).or_default().push(row);
            }
        }
        Some(())
    }

    /// Joins the rows of each quota.
    fn join(&mut self) {
        let unreadable: BTreeSet<String> = self.unreadable.iter().filter_map(|key| quota_of(key)).collect();
        let names = self.settings.keys().chain(self.opens.keys()).chain(self.books.keys());
        let names: BTreeSet<String> = names.chain(&unreadable).cloned().collect();
        for policy in names {
            let (settings, open) = (self.settings.remove(&policy), self.opens.remove(&policy));
            let book = LeaseBook::restore(self.books.remove(&policy).unwrap_or_default());
            // They are written together. Without one of them it could seem that nothing was used.
            let whole = match &open {
                Some(open) => book.open_totals().serial == open.serial,
                None => book.rows().next().is_none(),
            };
            let readable = whole && !unreadable.contains(&policy);
            if !whole && !unreadable.contains(&policy) {
                self.unreadable.push(format!("{QUOTA}{policy}/open"));
            }
            self.quotas.insert(policy, StoredQuota { settings, open, book, readable });
        }
    }

    /// Whether nothing at all may be answered, since a row that everything depends on could not be read.
    pub fn is_sealed(&self) -> bool {
        self.unreadable.iter().any(|key| key == HEAD)
    }

    /// The rows of windows and buckets that could not be read.
    pub fn unreadable_keys(&self) -> BTreeSet<String> {
        let is_key = |key: &&String| key.starts_with(CAP) || key.starts_with(TOKEN);
        self.unreadable.iter().filter(is_key).cloned().collect()
    }
}

/// Whether the row of a key is among those that could not be read.
pub(super) fn is_among<K>(key: &K, row_of: impl Fn(&K) -> String, unreadable: &BTreeSet<String>) -> bool {
    !unreadable.is_empty() && unreadable.contains(&row_of(key))
}

fn parse<T: DeserializeOwned>(value: &str) -> Option<T> {
    let row: Versioned<T> = serde_json::from_str(value).ok()?;
    (row.v == ROW_VERSION).then_some(row.row)
}

/// The policy that a row of a quota is about.
fn quota_of(key: &str) -> Option<String> {
    let of_quota = key.strip_prefix(QUOTA).map(|rest| rest.split('/').next().unwrap_or_default());
    of_quota.or_else(|| key.strip_prefix(SETTINGS)).map(str::to_owned)
}
