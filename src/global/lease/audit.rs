//! Whether independent books agree.

use serde::{Deserialize, Serialize};

use super::book::LeaseBook;
use super::entries::{HolderEntry, LedgerLease, SettledLeases};
use super::message::{Birth, ListedLease};
use super::totals::SerialTotals;
use crate::fence::Fence;

/// What the books of one serial say, and whether they say the same.
///
/// Three are kept apart: the running totals, which change as things happen; the lease rows; and what
/// each holder listed last, straight from its own storage. An equation whose last term is worked out as
/// the difference would hold whatever went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseAudit {
    /// Which period.
    pub serial: u64,
    /// Units that it allows.
    pub limit: u64,
    /// Units granted, by the running totals, as are the next four.
    pub granted: u64,
    /// Units known to be spent.
    pub spent: u64,
    /// Units that came back.
    pub returned: u64,
    /// Units that count as spent since nobody can know.
    pub forfeited: u64,
    /// Units that are out.
    pub outstanding: u64,
    /// Units that an operator counted as used when the period was opened again.
    pub carried: u64,
    /// True when all books agree.
    pub consistent: bool,
    /// Where they do not, in words.
    pub faults: Vec<String>,
    /// The leases that a holder may still have in storage.
    pub leases: Vec<AuditedLease>,
    /// How many others there were.
    pub settled: u64,
}

/// A lease in a [`LeaseAudit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedLease {
    /// Its name.
    pub fence: Fence,
    /// The point of presence that holds it.
    pub pop: String,
    /// When that one's storage was made.
    pub birth: Birth,
    /// Units it was granted with.
    pub amount: u64,
    /// Units known to be spent.
    pub spent: u64,
    /// Units that a crash took.
    pub forfeited: u64,
    /// True while its rest is out.
    pub open: bool,
}

impl LeaseBook {
    /// Compares the books of a serial; `None` if it is not kept. `limit` is only passed on: units that
    /// were out when it was lowered may be more.
    pub fn audit(&self, serial: u64, limit: u64) -> Option<LeaseAudit> {
        let totals = self.totals_of(serial)?;
        let mut faults = Vec::new();
        if !totals.is_balanced() {
            faults.push("the running totals are not in balance".to_owned());
        }
        self.compare_rows(&totals, &mut faults);
        for entry in self.holders.values() {
            compare_lists(entry, serial, &mut faults);
        }
        let SerialTotals { granted, spent, returned, forfeited, outstanding, carried, .. } = totals;
        let (consistent, settled) = (faults.is_empty(), self.settled(serial).leases);
        let leases = self.audited(serial);
        Some(LeaseAudit {
            serial,
            limit,
            granted,
            spent,
            returned,
            forfeited,
            outstanding,
            carried,
            consistent,
            faults,
            leases,
            settled,
        })
    }

    fn audited(&self, serial: u64) -> Vec<AuditedLease> {
        let leases = self.holders.values().flat_map(|entry| entry.leases.iter().map(move |l| (entry, l)));
        let of_serial = leases.filter(|(_, lease)| lease.serial == serial);
        of_serial
            .map(|(entry, lease)| AuditedLease {
                fence: lease.fence,
                pop: entry.holder.pop.clone(),
                birth: entry.holder.birth,
                amount: lease.amount,
                spent: lease.figures().spent(),
                forfeited: lease.lost,
                open: lease.open,
            })
            .collect()
    }

    fn settled(&self, serial: u64) -> SettledLeases {
        let mut sums = SettledLeases { serial, ..SettledLeases::default() };
        for other in self.holders.values().flat_map(|entry| &entry.settled).filter(|s| s.serial == serial) {
            sums.leases = sums.leases.saturating_add(other.leases);
            sums.granted = sums.granted.saturating_add(other.granted);
            sums.spent = sums.spent.saturating_add(other.spent);
            sums.forfeited = sums.forfeited.saturating_add(other.forfeited);
            sums.returned = sums.returned.saturating_add(other.returned);
        }
        sums
    }

    /// The totals, against the sums over all lease rows.
    fn compare_rows(&self, totals: &SerialTotals, faults: &mut Vec<String>) {
        let mut sums = self.settled(totals.serial);
        let mut outstanding = 0_u64;
        let leases = self.holders.values().flat_map(|entry| &entry.leases);
        for lease in leases.filter(|lease| lease.serial == totals.serial) {
            let returned = sums.returned;
            sums.add(lease);
            if lease.open {
                sums.returned = returned;
                outstanding = outstanding.saturating_add(lease.rest());
            }
        }
        let pairs = [
            ("leases", totals.leases, sums.leases),
            ("granted", totals.granted, sums.granted),
            ("spent", totals.spent, sums.spent),
            ("returned", totals.returned, sums.returned),
            ("forfeited", totals.forfeited, sums.forfeited),
            ("outstanding", totals.outstanding, outstanding),
        ];
        for (what, total, rows) in pairs {
            if total != rows {
                faults.push(format!("{what}: {total} by the running totals, {rows} by the lease rows"));
            }
        }
    }
}

/// The lease rows of one holder, against what it listed last.
fn compare_lists(entry: &HolderEntry, serial: u64, faults: &mut Vec<String>) {
    let new = entry.reply.grant.map(|grant| grant.fence);
    for lease in entry.leases.iter().filter(|lease| lease.serial == serial) {
        let listed = entry.listed.iter().find(|listed| listed.fence == lease.fence);
        if !agrees(lease, listed, new) {
            faults.push(format!("{}: not as {} has it", lease.fence, entry.holder.pop));
        }
    }
    let is_missing = |listed: &&ListedLease| {
        listed.serial == serial && entry.leases.iter().all(|lease| lease.fence != listed.fence)
    };
    for listed in entry.listed.iter().filter(is_missing) {
        faults.push(format!("{}: {} has it, the ledger does not", listed.fence, entry.holder.pop));
    }
}

fn agrees(lease: &LedgerLease, listed: Option<&ListedLease>, new: Option<Fence>) -> bool {
    let Some(listed) = listed else {
        // Granted by the last reply, or closed since it was never written down.
        return if lease.open { new == Some(lease.fence) && lease.off == 0 } else { true };
    };
    let same = lease.amount == listed.amount && lease.off == listed.off && lease.lost == listed.lost;
    same && lease.open != listed.is_final
}
