//! What a ledger keeps in storage about leases.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::message::{AskNumber, Birth, LeaseReplyItem, ListedLease};
use super::totals::{Figures, SerialTotals};
use crate::fence::Fence;

/// Who holds leases: the storage of a point of presence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HolderName {
    /// The name of the point of presence.
    pub pop: String,
    /// When its storage was made.
    pub birth: Birth,
}

/// A lease as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LedgerLease {
    /// Its name.
    pub fence: Fence,
    /// The serial it is for.
    pub serial: u64,
    /// Units it was granted with.
    pub amount: u64,
    /// Units written off, as last listed: they count as spent.
    pub off: u64,
    /// Units among them that a crash took.
    pub lost: u64,
    /// False when `off` is final; the rest has come back then.
    pub open: bool,
}

impl LedgerLease {
    pub(super) const fn figures(&self) -> Figures {
        Figures { off: self.off, lost: self.lost }
    }

    pub(super) const fn rest(&self) -> u64 {
        self.amount.saturating_sub(self.off)
    }

    /// Takes what the holder lists, in the lease and in the running totals.
    ///
    /// Of an open lease the latest figures are the true ones, smaller or larger: asks are obeyed in
    /// order, and until a lease is closed all of it is taken for gone anyway. Of a closed one nothing
    /// comes back, but what was spent beyond the final figure is charged.
    pub(super) fn report(&mut self, listed: &ListedLease, totals: &mut SerialTotals) {
        let off = listed.off.min(self.amount);
        let told = Figures { off, lost: listed.lost.min(off) };
        if self.open || told.off >= self.off {
            totals.report(self.figures(), told, self.open);
            (self.off, self.lost) = (told.off, told.lost);
        }
        if listed.is_final {
            self.close(totals);
        }
    }

    pub(super) fn close(&mut self, totals: &mut SerialTotals) {
        if self.open {
            totals.give_back(self.rest());
            self.open = false;
        }
    }
}

/// The leases of one serial that a holder has done with, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SettledLeases {
    /// Which period.
    pub serial: u64,
    /// How many leases.
    pub leases: u64,
    /// Units granted.
    pub granted: u64,
    /// Units spent.
    pub spent: u64,
    /// Units lost in crashes.
    pub forfeited: u64,
    /// Units that came back.
    pub returned: u64,
}

impl SettledLeases {
    pub(super) fn add(&mut self, lease: &LedgerLease) {
        let add = |sum: &mut u64, units: u64| *sum = sum.saturating_add(units);
        add(&mut self.leases, 1);
        add(&mut self.granted, lease.amount);
        add(&mut self.spent, lease.figures().spent());
        add(&mut self.forfeited, lease.lost);
        add(&mut self.returned, lease.rest());
    }
}

/// Everything about one holder: one row, since each ask changes it anyway.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HolderEntry {
    /// Who it is.
    pub holder: HolderName,
    /// The latest ask.
    pub n: AskNumber,
    /// The serial that was open then.
    pub heard_in: u64,
    /// Its reply, for when the ask is repeated.
    pub reply: LeaseReplyItem,
    /// The holder's own rows, as that ask listed them: for the audit.
    pub listed: Vec<ListedLease>,
    /// Leases that the holder may still have in its storage.
    pub leases: Vec<LedgerLease>,
    /// The others.
    pub settled: Vec<SettledLeases>,
}

impl HolderEntry {
    pub(super) fn new(holder: HolderName) -> Self {
        Self {
            holder,
            n: AskNumber::default(),
            heard_in: 0,
            reply: LeaseReplyItem::default(),
            listed: Vec::new(),
            leases: Vec::new(),
            settled: Vec::new(),
        }
    }

    /// Moves leases that are closed, and gone from the holder's storage, into the sums.
    pub(super) fn settle(&mut self, have: &[ListedLease]) {
        let settled = &mut self.settled;
        self.leases.retain(|lease| {
            if lease.open || have.iter().any(|listed| listed.fence == lease.fence) {
                return true;
            }
            match settled.iter_mut().find(|sums| sums.serial == lease.serial) {
                Some(sums) => sums.add(lease),
                None => {
                    let mut sums = SettledLeases { serial: lease.serial, ..SettledLeases::default() };
                    sums.add(lease);
                    settled.push(sums);
                }
            }
            false
        });
    }
}

/// A row of a ledger's storage about one quota. They go with any [key](BookKey)-value store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BookRow {
    /// A holder with its leases.
    Holder(Box<HolderEntry>),
    /// The totals of a serial.
    Totals(SerialTotals),
}

impl BookRow {
    /// Where it belongs.
    pub fn key(&self) -> BookKey {
        match self {
            Self::Holder(entry) => BookKey::Holder(entry.holder.clone()),
            Self::Totals(totals) => BookKey::Totals(totals.serial),
        }
    }
}

/// The key of a [`BookRow`]; as text, no two keys are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BookKey {
    /// Of a holder.
    Holder(HolderName),
    /// Of a serial's totals.
    Totals(u64),
}

impl fmt::Display for BookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holder(HolderName { pop, birth }) => write!(f, "holder/{birth}/{pop}"),
            Self::Totals(serial) => write!(f, "totals/{serial}"),
        }
    }
}

/// A change of a ledger's storage. Those of one turn are one transaction, durable before the reply
/// leaves: a grant that the ledger forgets is granted twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BookWrite {
    /// Writes the row, over the one with the same key.
    Put(BookRow),
    /// Deletes the row with this key.
    Delete(BookKey),
}
