use serde::{Deserialize, Serialize};

use crate::calendar::{PeriodSpec, Utc, iso_text};
use crate::clock::{Hlc, WallMs};
use crate::fence::Fence;
use crate::global::{Birth, SerialTotals};
use crate::ordered::Map;

/// Entries that stay in the row which is written with each of them.
pub(super) const CHUNK: usize = 32;
/// Full chunks that are kept, each in a row that is written once.
pub(super) const CHUNKS: u64 = 8;

/// One entry of a Ledger's audit log.
///
/// Stamps of a [hybrid logical clock](crate::clock::HybridClock) grow with each entry whatever the wall
/// clock does, and sort the entries of several Ledgers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When, as a stamp that sorts.
    pub stamp: Hlc,
    /// When, as the wall clock read.
    pub at_ms: i64,
    /// Which quota: the policy's name.
    pub policy: String,
    /// What happened.
    #[serde(flatten)]
    pub event: LogEvent,
}

/// What happened to a quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LogEvent {
    /// Units were leased to a point of presence.
    Grant {
        /// Its name.
        pop: String,
        /// When its storage was made.
        birth: Birth,
        /// The period they are for.
        serial: u64,
        /// The lease's name.
        fence: Fence,
        /// How many.
        amount: u64,
    },
    /// A period was opened.
    Opened {
        /// Its number.
        serial: u64,
        /// The calendar's name for it.
        slot: String,
        /// The first millisecond in it.
        start_ms: i64,
        /// The first millisecond after it.
        end_ms: i64,
        /// Periods that went by unopened just before.
        #[serde(default)]
        skipped: u8,
    },
    /// The book of a period was closed for good.
    Closed {
        /// What became of its units.
        #[serde(flatten)]
        totals: SerialTotals,
    },
    /// The tenant's settings were put.
    Settings {
        /// Units per period; absent: the policy's own.
        limit: Option<u64>,
        /// The periods; absent: the policy's own.
        period: Option<PeriodSpec>,
    },
    /// The tenant's settings were deleted.
    Deleted,
    /// The period that the clock showed was opened by hand.
    Reopened {
        /// Its number.
        serial: u64,
        /// Units that count as used in it.
        used: u64,
    },
}

/// A [`LogEntry`] as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedEntry {
    /// When, as ISO 8601 in UTC.
    pub at: String,
    /// The entry.
    #[serde(flatten)]
    pub entry: LogEntry,
}

impl From<&LogEntry> for LoggedEntry {
    fn from(entry: &LogEntry) -> Self {
        let at = iso_text(&Utc, WallMs(entry.at_ms)).unwrap_or_default();
        Self { at, entry: entry.clone() }
    }
}

/// Chunk number `number` of the log, when it is full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogChunk {
    /// Counts the chunks.
    pub number: u64,
    pub entries: Vec<LogEntry>,
}

/// The last entries: those of the last, unfinished chunk, and the full chunks before it. The unfinished one
/// is part of a row that is written with each entry anyway, so an entry costs no row of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditLog {
    pub tail: Vec<LogEntry>,
    /// How many chunks were ever finished.
    pub chunks: u64,
    full: Map<u64, Vec<LogEntry>>,
}

impl AuditLog {
    pub fn restore(tail: Vec<LogEntry>, chunks: u64, full: impl IntoIterator<Item = LogChunk>) -> Self {
        let kept = full
            .into_iter()
            .filter(|chunk| chunk.number < chunks && chunk.number >= chunks.saturating_sub(CHUNKS));
        let full = kept.map(|chunk| (chunk.number, chunk.entries)).collect();
        Self { tail, chunks, full }
    }

    /// Adds an entry. Returns a chunk that has become full: a row of its own to write.
    pub fn push(&mut self, entry: LogEntry) -> Option<LogChunk> {
        self.tail.push(entry);
        if self.tail.len() < CHUNK {
            return None;
        }
        let number = self.chunks;
        let entries = std::mem::take(&mut self.tail);
        self.chunks = self.chunks.saturating_add(1);
        self.full.insert(number, entries.clone());
        self.full.retain(|other, _| *other >= self.chunks.saturating_sub(CHUNKS));
        Some(LogChunk { number, entries })
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.full.values().flatten().chain(&self.tail)
    }

    pub fn len(&self) -> usize {
        self.entries().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> LogEntry {
        LogEntry { stamp: Hlc::new(number, 0), at_ms: 0, policy: "q".into(), event: LogEvent::Deleted }
    }

    #[test]
    fn the_last_entries_stay_in_order_and_the_log_is_bounded() {
        let mut log = AuditLog::default();
        let mut rows = Map::new();
        for number in 0..1_000 {
            if let Some(chunk) = log.push(entry(number)) {
                rows.insert(chunk.number % CHUNKS, chunk);
            }
        }
        let stamps = |log: &AuditLog| log.entries().map(|entry| entry.stamp.ms()).collect::<Vec<_>>();
        // 31 chunks of 32 are full, eight of them are kept, and 8 entries follow.
        assert_eq!(stamps(&log), (992 - 256..1_000).collect::<Vec<_>>());
        assert_eq!((log.len(), rows.len()), (264, 8));
        let again = AuditLog::restore(log.tail.clone(), log.chunks, rows.into_values());
        assert_eq!(stamps(&again), stamps(&log));
    }

    #[test]
    fn an_entry_reads_as_one_flat_object() {
        let text = serde_json::to_string(&LoggedEntry::from(&entry(7))).unwrap();
        let expected = concat!(
            r#"{"at":"1970-01-01T00:00:00+00:00","stamp":"0000000000070000","at_ms":0,"policy":"q","#,
            r#""event":"deleted"}"#
        );
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<LoggedEntry>(&text).unwrap().entry, entry(7));
    }
}
