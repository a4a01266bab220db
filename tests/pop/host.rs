//! What is around one point of presence: clocks, storage, network. All of it can fail.

use std::collections::BTreeMap;

use sluicegate::clock::WallMs;
use sluicegate::counter::JournalRow;
use sluicegate::global::{LeaseRow, LeaseWrite};
use sluicegate::ledger::{LedgerAsk, LedgerName, QuotaName};
use sluicegate::pop::{AskId, PopEvent, PopHost, PopReply, RequestId, StoredStart};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// What outlives the object.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub journal: BTreeMap<u16, JournalRow>,
    pub start: Option<StoredStart>,
    pub leases: BTreeMap<QuotaName, Vec<LeaseRow>>,
    pub alarm: Option<i64>,
}

#[derive(Debug, Default)]
pub struct Host {
    /// The wall clock, and what it is stuck at for whoever reads it cheaply.
    pub wall: i64,
    pub cheap_stuck: Option<i64>,
    pub exact_stuck: Option<i64>,
    pub stored: Stored,
    pub wake: Option<i64>,
    pub sent: Vec<(AskId, LedgerName, LedgerAsk)>,
    pub answers: Vec<(RequestId, PopReply)>,
    pub events: Vec<PopEvent>,
    /// What was written, by kind.
    pub journal_writes: u64,
    pub start_writes: u64,
    pub lease_writes: u64,
    pub alarms_set: u64,
    /// What fails from now on.
    pub leases_fail: bool,
    pub journal_fails: bool,
    pub reads_fail: bool,
    /// The object dies before its call of this number: nothing that it does after that is done.
    pub dies_at: Option<u64>,
    pub calls: u64,
    draws: u64,
}

impl Host {
    pub fn new(wall: i64, seed: u64) -> Self {
        Self { wall, draws: seed, ..Self::default() }
    }

    /// Whether the object still lives.
    fn lives(&mut self) -> bool {
        self.calls += 1;
        self.dies_at.is_none_or(|at| self.calls < at)
    }

    pub fn is_dead(&self) -> bool {
        self.dies_at.is_some_and(|at| self.calls >= at)
    }

    pub fn rows(&self, quota: &QuotaName) -> Vec<LeaseRow> {
        self.stored.leases.get(quota).cloned().unwrap_or_default()
    }

    /// Everything that only the object's memory holds is gone.
    pub fn forget(&mut self) {
        self.sent.clear();
        self.wake = None;
        (self.dies_at, self.calls) = (None, 0);
    }
}

impl PopHost for Host {
    type Fault = Fault;

    fn cheap(&mut self) -> WallMs {
        WallMs(self.cheap_stuck.unwrap_or(self.wall))
    }

    fn exact(&mut self) -> WallMs {
        WallMs(self.exact_stuck.unwrap_or(self.wall))
    }

    fn random(&mut self) -> u64 {
        self.draws = self.draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.draws
    }

    fn write_journal(&mut self, rows: &[JournalRow]) -> Result<u64, Fault> {
        if self.journal_fails {
            return Err(Fault);
        }
        if self.lives() {
            self.journal_writes += rows.len() as u64;
            self.stored.journal.extend(rows.iter().map(|row| (row.slot, row.clone())));
        }
        Ok(rows.len() as u64)
    }

    fn delete_journal(&mut self, slots: &[u16]) -> Result<u64, Fault> {
        if self.lives() {
            self.stored.journal.retain(|slot, _| !slots.contains(slot));
        }
        Ok(slots.len() as u64)
    }

    fn read_start(&mut self) -> Result<(Option<StoredStart>, Vec<QuotaName>), Fault> {
        if self.reads_fail {
            return Err(Fault);
        }
        let quotas = self.stored.leases.iter().filter(|(_, rows)| !rows.is_empty());
        Ok((self.stored.start.clone(), quotas.map(|(name, _)| name.clone()).collect()))
    }

    fn write_start(&mut self, start: &StoredStart) -> Result<u64, Fault> {
        if self.leases_fail {
            return Err(Fault);
        }
        if self.lives() {
            self.start_writes += 1;
            self.stored.start = Some(start.clone());
        }
        Ok(1)
    }

    fn read_leases(&mut self, quota: &QuotaName) -> Result<Vec<LeaseRow>, Fault> {
        if self.reads_fail { Err(Fault) } else { Ok(self.rows(quota)) }
    }

    fn write_leases(&mut self, quota: &QuotaName, writes: &[LeaseWrite]) -> Result<u64, Fault> {
        assert!(!writes.is_empty(), "a transaction about nothing");
        if self.leases_fail {
            return Err(Fault);
        }
        if self.lives() {
            self.lease_writes += writes.len() as u64;
            let rows = self.stored.leases.entry(quota.clone()).or_default();
            writes.iter().for_each(|write| write.apply(rows));
        }
        Ok(writes.len() as u64)
    }

    fn send(&mut self, id: AskId, to: LedgerName, ask: LedgerAsk) {
        if self.lives() {
            self.sent.push((id, to, ask));
        }
    }

    fn answer(&mut self, id: RequestId, reply: PopReply) {
        if self.lives() {
            self.answers.push((id, reply));
        }
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), Fault> {
        if self.lives() {
            self.alarms_set += 1;
            self.stored.alarm = Some(at.0);
        }
        Ok(())
    }

    fn wake_after(&mut self, ms: u64) {
        let at = self.wall + ms as i64;
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    fn warn(&mut self, event: PopEvent) {
        self.events.push(event);
    }
}
