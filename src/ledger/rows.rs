use super::host::LedgerWrite;
use super::log::LogChunk;
use super::row::{
    CAP, HEAD, Head, LOG, LedgerRow, QUOTA, Row, SETTINGS, Settings, TOKEN, book_key, cap_key, in_quota,
    log_key, open_key, settings_key, token_key,
};
use crate::calendar::OpenPeriod;
use crate::global::{BookKey, BookRow, CapKey, CapRow, LeaseBook, TokenKey, TokenRow};
use crate::ordered::{Map, Set};

/// Rows of one turn: one for each key, all written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    rows: Map<String, Option<Row>>,
    /// Whether the head is to be among them.
    pub head: bool,
}

impl Batch {
    /// The head, if nothing else.
    pub fn of_head() -> Self {
        Self { head: true, ..Self::default() }
    }

    fn put(&mut self, key: String, row: Row) {
        self.rows.insert(key, Some(row));
    }

    pub fn put_head(&mut self, head: Head) {
        self.put(HEAD.to_owned(), Row::Head(Box::new(head)));
    }

    pub fn put_cap(&mut self, row: CapRow) {
        self.put(cap_key(&row.key), Row::Cap(row));
    }

    pub fn delete_cap(&mut self, key: &CapKey) {
        self.rows.insert(cap_key(key), None);
    }

    pub fn put_token(&mut self, row: TokenRow) {
        self.put(token_key(&row.key), Row::Token(row));
    }

    pub fn delete_token(&mut self, key: &TokenKey) {
        self.rows.insert(token_key(key), None);
    }

    pub fn put_chunk(&mut self, chunk: LogChunk) {
        self.put(log_key(chunk.number), Row::Chunk(chunk));
    }

    pub fn put_settings(&mut self, policy: &str, settings: Settings) {
        self.put(settings_key(policy), Row::Settings(settings));
    }

    pub fn delete_settings(&mut self, policy: &str) {
        self.rows.insert(settings_key(policy), None);
    }

    pub fn put_open(&mut self, policy: &str, open: OpenPeriod) {
        self.put(open_key(policy), Row::Open(open));
    }

    pub fn put_book(&mut self, policy: &str, row: BookRow) {
        self.put(book_key(policy, &row.key()), Row::Book(row));
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
        let write = |(key, row)| match row {
            Some(row) => LedgerWrite::Put { key, row: LedgerRow(row) },
            None => LedgerWrite::Delete { key },
        };
        self.rows.into_iter().map(write).collect()
    }
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
    pub quotas: Map<String, StoredQuota>,
    /// Keys of rows that could not be read.
    pub unreadable: Vec<String>,
    settings: Map<String, Settings>,
    opens: Map<String, OpenPeriod>,
    books: Map<String, Vec<BookRow>>,
}

impl Stored {
    /// Sorts the rows, and notes the keys of those that could not be read.
    pub fn new(rows: impl IntoIterator<Item = (String, LedgerRow)>) -> Self {
        let mut stored = Self::default();
        for (key, row) in rows {
            if stored.take(&key, row.0).is_none() {
                stored.unreadable.push(key);
            }
        }
        stored.join();
        stored
    }

    /// `None` for a row that could not be read, or is not one of this key's.
    fn take(&mut self, key: &str, row: Row) -> Option<()> {
        match row {
            Row::Head(head) if key == HEAD => self.head = Some(*head),
            Row::Cap(row) if key == cap_key(&row.key) => self.caps.push(row),
            Row::Token(row) if key == token_key(&row.key) => self.tokens.push(row),
            Row::Chunk(chunk) if key.starts_with(LOG) => self.chunks.push(chunk),
            Row::Settings(settings) => {
                self.settings.insert(key.strip_prefix(SETTINGS)?.to_owned(), settings);
            }
            Row::Open(open) => {
                let (policy, _) = in_quota(key).filter(|(_, what)| *what == "open")?;
                self.opens.insert(policy.to_owned(), open);
            }
            Row::Book(row) => {
                let (policy, _) = in_quota(key).filter(|(policy, _)| key == book_key(policy, &row.key()))?;
                self.books.entry(policy.to_owned()).or_default().push(row);
            }
            Row::Head(_) | Row::Cap(_) | Row::Token(_) | Row::Chunk(_) | Row::Unreadable => return None,
        }
        Some(())
    }

    /// Joins the rows of each quota.
    fn join(&mut self) {
        let unreadable: Set<String> = self.unreadable.iter().filter_map(|key| quota_of(key)).collect();
        let names = self.settings.keys().chain(self.opens.keys()).chain(self.books.keys());
        let names: Set<String> = names.chain(&unreadable).cloned().collect();
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
                self.unreadable.push(open_key(&policy));
            }
            self.quotas.insert(policy, StoredQuota { settings, open, book, readable });
        }
    }

    /// Whether nothing at all may be answered, since a row that everything depends on could not be read.
    pub fn is_sealed(&self) -> bool {
        self.unreadable.iter().any(|key| key == HEAD)
    }

    /// The rows of windows and buckets that could not be read.
    pub fn unreadable_keys(&self) -> Set<String> {
        let is_key = |key: &&String| key.starts_with(CAP) || key.starts_with(TOKEN);
        self.unreadable.iter().filter(is_key).cloned().collect()
    }
}

/// Whether the row of a key is among those that could not be read.
pub(super) fn is_among<K>(key: &K, row_of: impl Fn(&K) -> String, unreadable: &Set<String>) -> bool {
    !unreadable.is_empty() && unreadable.contains(&row_of(key))
}

/// The policy that a row of a quota is about.
fn quota_of(key: &str) -> Option<String> {
    let of_quota = key.strip_prefix(QUOTA).map(|rest| rest.split('/').next().unwrap_or_default());
    of_quota.or_else(|| key.strip_prefix(SETTINGS)).map(str::to_owned)
}
