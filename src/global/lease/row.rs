//! What a holder keeps in storage.

use serde::{Deserialize, Serialize};

use super::message::{Birth, ListedLease};
use crate::fence::Fence;

/// Who a holder's storage belongs to: made once, and counted up at each start.
///
/// # Example
///
/// ```
/// use sluicegate::global::HolderStart;
///
/// let first = HolderStart::next(None, 0x5eed); // a random number, drawn at each start
/// let second = HolderStart::next(Some(first), 0xfeed);
/// assert_eq!((first.boot, second.boot), (1, 2));
/// assert_eq!(first.birth, second.birth);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HolderStart {
    /// Drawn when the storage was made.
    pub birth: Birth,
    /// How many objects have started on it, this one included.
    pub boot: u64,
}

impl HolderStart {
    /// The start that follows the stored one. To be stored before anything else: two starts with one
    /// number would take each other's replies.
    pub fn next(stored: Option<Self>, random: u64) -> Self {
        stored.map_or(Self { birth: Birth(random), boot: 1 }, |before| Self {
            boot: before.boot.saturating_add(1),
            ..before
        })
    }
}

/// One lease in a holder's storage. Its key is the fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseRow {
    /// Its name.
    pub fence: Fence,
    /// The serial it is for.
    pub serial: u64,
    /// Units it was granted with.
    pub amount: u64,
    /// Units written off. They are written off before they are spent: no more than these were spent.
    pub off: u64,
    /// Units that were spent when the row was written, the request that it was written for included.
    /// Whoever starts on this row cannot know about those between `sure` and `off`.
    pub sure: u64,
    /// Units that earlier starts could not know about. They count as spent, for good.
    pub lost: u64,
    /// True when `off` is its final figure.
    pub closed: bool,
}

impl LeaseRow {
    pub(super) fn granted(fence: Fence, serial: u64, amount: u64) -> Self {
        Self { fence, serial, amount, off: 0, sure: 0, lost: 0, closed: false }
    }

    /// True when no start spends from it any more, unless it already does: it was closed, or all of it
    /// is written off.
    pub(super) const fn is_over(&self) -> bool {
        self.closed || self.off >= self.amount
    }

    pub(super) const fn listed(&self, unspent: u64, is_final: bool) -> ListedLease {
        let Self { fence, serial, amount, off, lost, .. } = *self;
        ListedLease { fence, serial, amount, off, lost, unspent, is_final }
    }
}

/// A change of a holder's storage. Those of one turn belong into one transaction, and what the turn
/// sends (an answer, an ask) leaves when it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LeaseWrite {
    /// Writes the row, over the one with the same fence.
    Put(LeaseRow),
    /// Deletes the row with this fence, if there is one.
    Delete(Fence),
}

impl LeaseWrite {
    /// Does to `rows` what the write does to a storage; for storages that are kept in memory.
    pub fn apply(&self, rows: &mut Vec<LeaseRow>) {
        match self {
            Self::Delete(fence) => rows.retain(|row| row.fence != *fence),
            Self::Put(row) => match rows.iter_mut().find(|other| other.fence == row.fence) {
                Some(other) => *other = *row,
                None => rows.push(*row),
            },
        }
    }
}
