//! The leases that one start of a holder spends from.

use super::holder::SpentUnits;
use super::message::ListedLease;
use super::row::{LeaseRow, LeaseWrite};
use crate::fence::Fence;

/// An open lease in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    /// As it is in storage.
    row: LeaseRow,
    /// Units spent, or counted as spent because an earlier start wrote them off.
    used: u64,
    /// What was used when this start began: no give-back goes below it.
    floor: u64,
    /// The ledger was told that it is used up: nothing is given back to it any more.
    told: bool,
}

impl Held {
    const fn left(&self) -> u64 {
        self.row.amount.saturating_sub(self.used)
    }

    /// True when a start on the stored row would know what was spent.
    const fn is_settled(&self) -> bool {
        self.row.off == self.used && self.row.sure == self.used
    }

    fn settle(&mut self) -> LeaseWrite {
        self.row.off = self.used;
        self.row.sure = self.used;
        LeaseWrite::Put(self.row)
    }
}

/// The open leases of a holder. They are spent from in order, and a lease is spent to its end before
/// units of the next one are written off: so no more than one has units that are written off and not
/// spent, and a crash costs one chunk, however many leases there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Purse {
    held: Vec<Held>,
}

impl Purse {
    /// Takes up what an earlier start left: all that was written off counts as spent, for nobody knows.
    pub fn restore(stored: &[LeaseRow]) -> (Self, Vec<LeaseWrite>) {
        let mut purse = Self::default();
        let mut writes = Vec::new();
        for mut row in stored.iter().copied() {
            let unknown = row.off.saturating_sub(row.sure);
            if unknown > 0 {
                row.lost = row.lost.saturating_add(unknown);
                row.sure = row.off;
                writes.push(LeaseWrite::Put(row));
            }
            if !row.is_over() {
                purse.held.push(Held { row, used: row.off, floor: row.off, told: false });
            }
        }
        (purse, writes)
    }

    pub fn left(&self) -> u64 {
        self.held.iter().fold(0, |sum, held| sum.saturating_add(held.left()))
    }

    pub fn leases(&self) -> impl Iterator<Item = (LeaseRow, u64)> {
        self.held.iter().map(|held| (held.row, held.used))
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Takes a new lease; it is in storage when it is first spent from.
    pub fn add(&mut self, row: LeaseRow) -> Option<LeaseWrite> {
        if row.amount == 0 || self.holds(row.fence) {
            return None;
        }
        self.held.push(Held { row, used: 0, floor: 0, told: false });
        Some(LeaseWrite::Put(row))
    }

    /// Spends `cost`, from several leases if it must: each of them is bounded by what is written off of
    /// it, whatever the others do. `None` if there is not enough.
    pub fn spend(&mut self, cost: u64, chunk: u64) -> Option<(Vec<SpentUnits>, Vec<LeaseWrite>)> {
        if cost > self.left() {
            return None;
        }
        let (mut spent, mut writes, mut rest) = (Vec::new(), Vec::new(), cost);
        for held in &mut self.held {
            let units = rest.min(held.left());
            if units == 0 {
                continue;
            }
            let used = held.used.saturating_add(units);
            if used > held.row.off {
                held.row.off = held.used.saturating_add(units.max(chunk)).min(held.row.amount);
                held.row.sure = used;
                writes.push(LeaseWrite::Put(held.row));
            }
            held.used = used;
            spent.push(SpentUnits { fence: held.row.fence, units });
            rest -= units;
        }
        Some((spent, writes))
    }

    /// Gives units back to leases that are still open; what belongs to others stays spent.
    pub fn give_back(&mut self, spent: &[SpentUnits]) -> u64 {
        let mut given = 0_u64;
        for SpentUnits { fence, units } in spent {
            let held = self.held.iter_mut().find(|held| held.row.fence == *fence && !held.told);
            let Some(held) = held else { continue };
            let units = (*units).min(held.used.saturating_sub(held.floor));
            held.used -= units;
            given = given.saturating_add(units);
        }
        given
    }

    pub fn is_settled(&self) -> bool {
        self.held.iter().all(Held::is_settled)
    }

    /// Writes back what is written off and not spent. Never below what was written off when this start
    /// began: `used` began there.
    pub fn write_back(&mut self) -> Vec<LeaseWrite> {
        self.held.iter_mut().filter(|held| !held.is_settled()).map(Held::settle).collect()
    }

    /// Closes leases: the final figure goes into storage, and they are gone from memory. One that is
    /// used up is final as it stands.
    pub fn close(&mut self, which: impl Fn(&LeaseRow) -> bool) -> Vec<LeaseWrite> {
        let mut writes = Vec::new();
        self.held.retain_mut(|held| {
            let closes = which(&held.row);
            if closes && (held.left() > 0 || !held.is_settled()) {
                held.row.closed = true;
                writes.push(held.settle());
            }
            !closes
        });
        writes
    }

    /// A stored row as the ledger is about to be told of it: perhaps that it is final.
    pub fn list(&mut self, row: &LeaseRow) -> ListedLease {
        match self.held.iter_mut().find(|held| held.row.fence == row.fence) {
            Some(held) => {
                held.told |= held.left() == 0;
                row.listed(row.off.saturating_sub(held.used), held.told)
            }
            None => row.listed(0, row.is_over()),
        }
    }

    /// Lets go of a lease that the ledger has confirmed; says whether its row can be deleted.
    pub fn forget(&mut self, fence: Fence) -> bool {
        self.held.retain(|held| held.row.fence != fence || !held.told);
        !self.holds(fence)
    }

    fn holds(&self, fence: Fence) -> bool {
        self.held.iter().any(|held| held.row.fence == fence)
    }
}
