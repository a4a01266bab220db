use super::host::LedgerHost;
use super::rows::Batch;
use super::state::{Ledger, Now};
use super::totals::{LedgerReport, LedgerTotals};
use crate::calendar::OpenPeriod;
use crate::clock::{SteadyMark, WallMs};
use crate::global::SerialTotals;

/// An alarm is a row written, and wakes the object: sooner than this it would not pay for itself.
const SOONEST_ALARM_MS: u64 = 3_600_000;
/// No alarm is set further ahead; a stored one that is was set by a clock that was wrong.
const LATEST_ALARM_MS: u64 = 30 * 86_400_000;
/// Rows that one pause gives back. What is stored of the others stays larger than it need be: after a
/// restart more counts as taken than was, never less.
const MOST_SETTLED: usize = 2_000;

impl Ledger {
    /// Gives back what was stored ahead of being granted, when there were no asks for a while: for the timer.
    /// Nothing depends on it but units, which count as taken after a restart that comes before it.
    ///
    /// # Errors
    ///
    /// The host's, when storage failed.
    pub fn tick<H: LedgerHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        if self.sealed {
            return Ok(());
        }
        let now = self.look(None, host);
        let Some(since) = self.ahead_since else { return Ok(()) };
        let left_ms = self.settings.settle_ms.saturating_sub(now.steady.since(since));
        if left_ms > 0 {
            host.wake_after(left_ms);
            return Ok(());
        }
        self.ahead_since = None;
        let mut batch = Batch::default();
        let mut store = self.caps.settle();
        store.rows.truncate(MOST_SETTLED);
        self.store_caps(store, &mut batch);
        self.commit(batch, now, host)
    }

    /// Deletes the rows of windows that are over, and of buckets that are full: for the alarm. Nothing depends on whether it comes.
    ///
    /// # Errors
    ///
    /// The host's, when storage failed.
    pub fn alarm<H: LedgerHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        if self.sealed {
            return Ok(());
        }
        let now = self.look(None, host);
        self.alarm = None;
        // That it has come is stored, or the next start would take it for one that is still to come.
        let mut batch = Batch::of_head();
        let store = self.caps.collect(now.steady);
        self.store_caps(store, &mut batch);
        self.collect_tokens(now, &mut batch);
        self.commit(batch, now, host)
    }

    /// Sets the alarm, if there is something for it to delete and none is set.
    pub(super) fn set_alarm<H: LedgerHost>(
        &mut self,
        batch: &mut Batch,
        now: Now,
        host: &mut H,
    ) -> Result<(), H::Fault> {
        let is_set = self.alarm.is_some_and(|due| is_ahead(due, now.cheap));
        if is_set || (self.caps.keys() == 0 && self.tokens.keys() == 0) {
            return Ok(());
        }
        // Twice the longest window, or time that a bucket takes to fill: it is over by then, with a margin.
        let wait = self.owned.longest_ms().saturating_mul(2).clamp(SOONEST_ALARM_MS, LATEST_ALARM_MS);
        let due = WallMs(now.cheap.0.saturating_add_unsigned(wait));
        host.set_alarm(due)?;
        LedgerTotals::add(&mut self.totals.rows_written, 1);
        self.alarm = Some(due);
        batch.head = true;
        Ok(())
    }

    /// How far its own time was when it last looked at the clock.
    pub const fn mark(&self) -> SteadyMark {
        self.clock.mark()
    }

    /// The period of a quota that was opened last.
    pub fn open_period(&self, policy: &str) -> Option<&OpenPeriod> {
        self.quotas.get(policy)?.open_period()
    }

    /// The running totals of a quota for a serial whose book is kept.
    pub fn totals_of(&self, policy: &str, serial: u64) -> Option<SerialTotals> {
        self.quotas.get(policy)?.totals_of(serial)
    }

    /// What the Ledger has done, and what it holds.
    pub fn report(&self) -> LedgerReport {
        LedgerReport {
            totals: self.totals,
            keys: self.caps.keys(),
            buckets: self.tokens.keys(),
            quotas: self.quotas.len(),
            pops: self.pops.count(self.clock.now()),
            log: self.log.len(),
            unreadable: self.unreadable,
            frozen: self.clock.is_frozen(),
        }
    }
}

/// Whether an alarm that is set for `due` can still come. One that is overdue has been lost.
fn is_ahead(due: WallMs, wall: WallMs) -> bool {
    let ahead = due.0.saturating_sub(wall.0);
    (-(SOONEST_ALARM_MS as i64)..=LATEST_ALARM_MS as i64).contains(&ahead)
}
