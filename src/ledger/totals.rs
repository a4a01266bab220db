use serde::{Deserialize, Serialize};

use crate::clock::StepReport;
use crate::global::BookCounts;

/// What a Ledger has done since it was first made. Stored with other rows and never on its own: the last
/// few asks before a restart may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerTotals {
    /// Messages answered.
    pub asks: u64,
    /// Items about quotas that were left out of a reply.
    pub items_refused: u64,
    /// Leases granted.
    pub grants: u64,
    /// Units granted with them.
    pub units_granted: u64,
    /// Reports of leases that the open book did not know, and took in.
    pub fences_adopted: u64,
    /// Reports of leases that no book knows.
    pub fences_rejected: u64,
    /// Asks about quotas that were older than one that was answered.
    pub asks_dropped: u64,
    /// Periods opened.
    pub periods_opened: u64,
    /// How often the wall clock was found before the open period of a quota.
    pub period_regressions: u64,
    /// Rows written to storage, deletions and alarms among them: this is what storage bills.
    pub rows_written: u64,
    /// Steps back of the wall clock that were seen.
    pub steps_back: u64,
    /// Steps ahead of the wall clock (or suspends) that were seen.
    pub steps_ahead: u64,
    /// The last step, in milliseconds; negative is back.
    pub last_step_ms: i64,
}

impl LedgerTotals {
    pub(super) fn add(count: &mut u64, by: u64) {
        *count = count.saturating_add(by);
    }

    pub(super) fn step(&mut self, step: StepReport) {
        Self::add(if step.stepped_ms < 0 { &mut self.steps_back } else { &mut self.steps_ahead }, 1);
        self.last_step_ms = step.stepped_ms;
    }

    pub(super) fn granted(&mut self, units: u64) {
        Self::add(&mut self.grants, 1);
        Self::add(&mut self.units_granted, units);
    }

    /// Adds what a book has counted between two looks at it.
    pub(super) fn counted(&mut self, before: BookCounts, after: BookCounts) {
        let pairs = [
            (&mut self.fences_adopted, before.fences_adopted, after.fences_adopted),
            (&mut self.fences_rejected, before.fences_rejected, after.fences_rejected),
            (&mut self.asks_dropped, before.asks_dropped, after.asks_dropped),
        ];
        for (total, before, after) in pairs {
            Self::add(total, after.saturating_sub(before));
        }
    }
}

/// What a Ledger says of itself, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerReport {
    /// What it has done.
    #[serde(flatten)]
    pub totals: LedgerTotals,
    /// Keys with books of window limits.
    pub keys: usize,
    /// Token buckets that are not full.
    pub buckets: usize,
    /// Quotas with books.
    pub quotas: usize,
    /// Points of presence heard lately.
    pub pops: u32,
    /// Entries of the audit log.
    pub log: usize,
    /// Rows that could not be read.
    pub unreadable: usize,
    /// True while the object's cheap clock, and its timers with it, wait for the wall to catch up.
    pub frozen: bool,
}
