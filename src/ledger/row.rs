use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::log::{CHUNKS, LogChunk, LogEntry};
use super::totals::LedgerTotals;
use crate::calendar::{OpenPeriod, PeriodSpec};
use crate::clock::{Hlc, SteadyMark, WallMs};
use crate::global::{BookKey, BookRow, CapKey, CapRow, TokenKey, TokenRow};
use crate::window::Epochs;

/// The version that is part of each row. A changed meaning takes the next; rows of a later one are refused.
const ROW_VERSION: u8 = 1;

pub(super) const HEAD: &str = "head";
pub(super) const CAP: &str = "cap/";
pub(super) const TOKEN: &str = "token/";
pub(super) const LOG: &str = "log/";
pub(super) const QUOTA: &str = "quota/";
pub(super) const SETTINGS: &str = "settings/";

/// What a row of a [`Ledger`](super::Ledger) says, without its key.
///
/// Storage keeps it as text, which outlives the code that wrote it. A row that cannot be read is one too: what
/// it is about is refused then, where a missing row could mean that nothing was used.
///
/// ```
/// use sluicegate::ledger::LedgerRow;
///
/// let text = r#"{"v":1,"row":{"limit":50,"period":null}}"#;
/// let row = LedgerRow::read("settings/monthly", text);
/// assert!(row.is_readable());
/// assert_eq!(row.to_json(), text);
/// assert!(!LedgerRow::read("settings/monthly", r#"{"v":2,"row":{"limit":50}}"#).is_readable());
/// assert!(!LedgerRow::read("elsewhere", text).is_readable());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow(pub(super) Row);

/// A row of any kind; which one follows from the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Head(Box<Head>),
    Cap(CapRow),
    Token(TokenRow),
    Chunk(LogChunk),
    Settings(Settings),
    Open(OpenPeriod),
    Book(BookRow),
    /// It is of a later format, damaged, or under a key of no kind.
    Unreadable,
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

/// A row's text.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u8,
    row: T,
}

impl LedgerRow {
    /// The row as JSON text. Of one that could not be read it is empty, which cannot be read either.
    pub fn to_json(&self) -> String {
        match &self.0 {
            Row::Head(row) => text(row),
            Row::Cap(row) => text(row),
            Row::Token(row) => text(row),
            Row::Chunk(row) => text(row),
            Row::Settings(row) => text(row),
            Row::Open(row) => text(row),
            Row::Book(row) => text(row),
            Row::Unreadable => String::new(),
        }
    }

    /// The row that was stored as `json` under this key.
    pub fn read(key: &str, json: &str) -> Self {
        Self(read(key, json).unwrap_or(Row::Unreadable))
    }

    /// Whether it could be read.
    pub const fn is_readable(&self) -> bool {
        !matches!(self.0, Row::Unreadable)
    }
}

/// `None` for a row that cannot be read.
fn read(key: &str, json: &str) -> Option<Row> {
    Some(if key == HEAD {
        Row::Head(parse(json)?)
    } else if key.starts_with(CAP) {
        Row::Cap(parse(json)?)
    } else if key.starts_with(TOKEN) {
        Row::Token(parse(json)?)
    } else if key.starts_with(LOG) {
        Row::Chunk(parse(json)?)
    } else if key.starts_with(SETTINGS) {
        Row::Settings(parse(json)?)
    } else if let (_, "open") = in_quota(key)? {
        Row::Open(parse(json)?)
    } else {
        Row::Book(parse(json)?)
    })
}

fn text(row: &impl Serialize) -> String {
    // Nothing here fails to be written as JSON. If it did, an empty row cannot be read back.
    serde_json::to_string(&Versioned { v: ROW_VERSION, row }).unwrap_or_default()
}

fn parse<T: DeserializeOwned>(json: &str) -> Option<T> {
    let row: Versioned<T> = serde_json::from_str(json).ok()?;
    (row.v == ROW_VERSION).then_some(row.row)
}

pub(super) fn cap_key(key: &CapKey) -> String {
    format!("{CAP}{}/{}/{}", key.policy, key.key, key.window_ms.get())
}

pub(super) fn token_key(key: &TokenKey) -> String {
    format!("{TOKEN}{}/{}", key.policy, key.key)
}

pub(super) fn log_key(chunk: u64) -> String {
    format!("{LOG}{}", chunk % CHUNKS)
}

pub(super) fn settings_key(policy: &str) -> String {
    format!("{SETTINGS}{policy}")
}

pub(super) fn open_key(policy: &str) -> String {
    format!("{QUOTA}{policy}/open")
}

pub(super) fn book_key(policy: &str, key: &BookKey) -> String {
    format!("{QUOTA}{policy}/book/{key}")
}

/// The policy that the key of a period or a book is about, and the rest of it.
pub(super) fn in_quota(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(QUOTA)?.split_once('/')
}
