use std::collections::VecDeque;

use serde::Serialize;

use super::fault::{Fault, Machine};
use crate::http::KeyHash;
use crate::ledger::LedgerName;

/// Something that happened, for whoever watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogEntry {
    /// True time, in milliseconds from the start.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: LogEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LogEvent {
    /// Something went wrong.
    Fault {
        /// What.
        fault: Fault,
    },
    /// An object was started on what is stored.
    Started {
        /// Where.
        machine: Machine,
    },
    /// An object that nobody needed left memory.
    Evicted {
        /// Where.
        machine: Machine,
    },
    /// An object wrote to storage that is no longer its own, or storage failed: it is gone.
    Broken {
        /// Where.
        machine: Machine,
    },
    /// A point of presence asks a Ledger.
    Asked {
        /// Who.
        pop: usize,
        /// Whom.
        ledger: LedgerName,
    },
    /// A message will not arrive.
    Lost {
        /// The point of presence that sent it or was to get it.
        pop: usize,
    },
    /// A Ledger opened an epoch.
    Epoch {
        /// Who.
        ledger: LedgerName,
        /// For windows of that length.
        window_ms: u64,
        /// Which.
        epoch: u64,
    },
    /// A Ledger told a point of presence its cap.
    Cap {
        /// Whom.
        pop: usize,
        /// Of which policy.
        policy: String,
        /// For which client.
        key: KeyHash,
        /// In which epoch.
        epoch: u64,
        /// The most it may have taken.
        cap: u64,
        /// Whether the limit is known to be used up.
        full: bool,
    },
    /// A Ledger told a point of presence about a calendar quota.
    Lease {
        /// Whom.
        pop: usize,
        /// Which quota.
        quota: String,
        /// In which serial.
        serial: u64,
        /// Units granted.
        amount: u64,
        /// Units that are neither spent nor out.
        free: u64,
    },
    /// A request was refused by its limit.
    Refused {
        /// Where.
        pop: usize,
        /// By which policy.
        policy: String,
        /// Whose it was.
        key: KeyHash,
        /// In which epoch or serial.
        epoch: Option<u64>,
        /// Whether fewer than the limit had been admitted in it.
        early: bool,
    },
    /// A caller did not get an answer in time.
    GaveUp {
        /// Where.
        pop: usize,
    },
}

/// The latest events.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    most: usize,
    entries: VecDeque<LogEntry>,
}

impl Log {
    pub fn new(most: usize) -> Self {
        Self { most, entries: VecDeque::new() }
    }

    /// Adds an event, which is only made when it is kept.
    pub fn add(&mut self, at_ms: u64, event: impl FnOnce() -> LogEvent) {
        if self.most == 0 {
            return;
        }
        if self.entries.len() >= self.most {
            self.entries.pop_front();
        }
        self.entries.push_back(LogEntry { at_ms, event: event() });
    }

    /// Takes all of them out.
    pub fn take(&mut self) -> Vec<LogEntry> {
        std::mem::take(&mut self.entries).into()
    }

    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter()
    }
}
