//! The ledger's side: who holds which units of one quota.

use super::entries::{BookKey, BookRow, BookWrite, HolderEntry, HolderName, LedgerLease};
use super::grant::{Request, Unmet, grant_size};
use super::message::{Grant, LeaseAskItem, LeaseReplyItem, ListedLease, Terms};
use super::totals::SerialTotals;
use crate::MAX_COUNT;
use crate::clock::SteadyMs;
use crate::fence::{Fence, FenceSource};
use crate::ordered::Map;

/// The open serial and the one before it.
const BOOKS_KEPT: usize = 2;

/// What came of an ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BookAnswer {
    /// The reply; `None` for an ask that is older than one that was answered.
    pub reply: Option<LeaseReplyItem>,
    /// What is to be durable before the reply leaves.
    pub writes: Vec<BookWrite>,
    /// Books that were closed for good: what was still out has become forfeited.
    pub closed: Vec<SerialTotals>,
}

/// Reports that did not fit the book, since it was read from storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BookCounts {
    /// Leases of the open serial that the book did not know, and took in: the storage was rolled back.
    pub fences_adopted: u64,
    /// Leases of other serials that it did not know: they change nothing.
    pub fences_rejected: u64,
    /// Asks that were older than one that was answered.
    pub asks_dropped: u64,
}

/// The books of one quota: a running total and the leases, for the open serial and for the one before.
///
/// Asks may be lost, repeated, late and out of order. An ask is obeyed if it is newer than the last one
/// of its holder, and a repeated one gets the reply that was stored for it. What an ask lists is all that
/// is in the holder's storage, so a lease that it does not list was never written down, and comes back
/// whole. See [`LeaseHolder`](super::LeaseHolder) for the other half of the argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeaseBook {
    /// The open serial is the last one.
    pub(super) totals: Vec<SerialTotals>,
    pub(super) holders: Map<HolderName, HolderEntry>,
    unmet: Unmet,
    counts: BookCounts,
}

impl LeaseBook {
    /// The book that `rows` were stored by; an empty one has opened nothing.
    pub fn restore(rows: impl IntoIterator<Item = BookRow>) -> Self {
        let mut book = Self::default();
        for row in rows {
            match row {
                BookRow::Totals(totals) => book.totals.push(totals),
                BookRow::Holder(entry) => drop(book.holders.insert(entry.holder.clone(), *entry)),
            }
        }
        book.totals.sort_by_key(|totals| totals.serial);
        book
    }

    /// All rows of the book, as storage has them.
    pub fn rows(&self) -> impl Iterator<Item = BookRow> {
        let totals = self.totals.iter().copied().map(BookRow::Totals);
        totals.chain(self.holders.values().cloned().map(|entry| BookRow::Holder(Box::new(entry))))
    }

    /// The totals of the open serial; zeros before the first.
    pub fn open_totals(&self) -> SerialTotals {
        self.totals.last().copied().unwrap_or_default()
    }

    /// The totals of a serial that is kept.
    pub fn totals_of(&self, serial: u64) -> Option<SerialTotals> {
        self.totals.iter().find(|totals| totals.serial == serial).copied()
    }

    /// The holders with their leases.
    pub fn holders(&self) -> impl Iterator<Item = &HolderEntry> {
        self.holders.values()
    }

    /// What did not fit, so far.
    pub const fn counts(&self) -> BookCounts {
        self.counts
    }

    /// Opens a serial, if it is not open: the books of the last but one are closed. `carried` units count
    /// as used in it from the start.
    pub fn open(&mut self, serial: u64, carried: u64) -> BookAnswer {
        let mut answer = BookAnswer::default();
        // Serials only grow; one that does not would write two periods into one book.
        if self.totals.last().is_some_and(|open| serial <= open.serial) {
            return answer;
        }
        self.totals.push(SerialTotals::new(serial, carried));
        answer.writes.push(BookWrite::Put(BookRow::Totals(self.open_totals())));
        self.unmet = Unmet::default();
        let over = self.totals.len().saturating_sub(BOOKS_KEPT);
        let retired: Vec<_> = self.totals.drain(..over).collect();
        for totals in retired {
            self.retire(totals, &mut answer);
        }
        answer
    }

    fn retire(&mut self, mut totals: SerialTotals, answer: &mut BookAnswer) {
        let serial = totals.serial;
        // Holders stay, also those with nothing left: by their numbers late asks are told, however late.
        for entry in self.holders.values_mut() {
            let before = (entry.leases.len(), entry.settled.len());
            for lease in entry.leases.iter().filter(|lease| lease.serial == serial && lease.open) {
                totals.forfeit(lease.rest());
            }
            entry.leases.retain(|lease| lease.serial > serial);
            entry.settled.retain(|sums| sums.serial > serial);
            if before != (entry.leases.len(), entry.settled.len()) {
                answer.writes.push(BookWrite::Put(BookRow::Holder(Box::new(entry.clone()))));
            }
        }
        answer.writes.push(BookWrite::Delete(BookKey::Totals(serial)));
        answer.closed.push(totals);
    }

    /// Answers an ask of `holder`. `terms` are those of the open period, by the reading of this turn.
    pub fn answer(
        &mut self,
        holder: &HolderName,
        ask: &LeaseAskItem,
        terms: &Terms,
        now: SteadyMs,
        fences: &mut FenceSource,
    ) -> BookAnswer {
        let mut answer = self.open(terms.serial, 0);
        let known = self.holders.remove(holder);
        let mut entry = known.unwrap_or_else(|| HolderEntry::new(holder.clone()));
        if ask.n <= entry.n {
            if ask.n == entry.n && entry.heard_in != 0 {
                answer.reply = Some(entry.reply.clone());
            } else {
                self.counts.asks_dropped = self.counts.asks_dropped.saturating_add(1);
            }
            if entry.heard_in != 0 {
                self.holders.insert(holder.clone(), entry);
            }
            return answer;
        }
        let before = self.totals.clone();
        self.book(&mut entry, &ask.have);
        entry.heard_in = terms.serial;
        let mut reply = self.grant(ask, terms, now, fences);
        reply.confirmed = ask.have.iter().filter(|have| have.is_final).map(|have| have.fence).collect();
        if let Some(Grant { fence, amount }) = reply.grant {
            let serial = terms.serial;
            entry.leases.push(LedgerLease { fence, serial, amount, off: 0, lost: 0, open: true });
        }
        (entry.n, entry.reply, entry.listed) = (ask.n, reply.clone(), ask.have.clone());
        answer.writes.push(BookWrite::Put(BookRow::Holder(Box::new(entry.clone()))));
        self.holders.insert(holder.clone(), entry);
        let changed = self.totals.iter().filter(|totals| !before.contains(totals));
        answer.writes.extend(changed.map(|totals| BookWrite::Put(BookRow::Totals(*totals))));
        answer.reply = Some(reply);
        answer
    }

    /// Books what a holder lists, each lease in the book of its own serial.
    fn book(&mut self, entry: &mut HolderEntry, have: &[ListedLease]) {
        entry.settle(have);
        for lease in &mut entry.leases {
            let Some(totals) = self.totals.iter_mut().find(|totals| totals.serial == lease.serial) else {
                continue;
            };
            match have.iter().find(|listed| listed.fence == lease.fence) {
                Some(listed) => lease.report(listed, totals),
                None => lease.close(totals),
            }
        }
        for listed in have {
            if entry.leases.iter().all(|lease| lease.fence != listed.fence) {
                self.adopt(entry, listed);
            }
        }
    }

    /// A lease that the book does not know. Of the open serial it is taken in, whatever that does to the
    /// limit: its units are out or spent. Of any other it is refused, and changes nothing.
    fn adopt(&mut self, entry: &mut HolderEntry, listed: &ListedLease) {
        let ListedLease { fence, serial, .. } = *listed;
        let amount = listed.amount.max(listed.off).min(MAX_COUNT);
        match self.totals.last_mut().filter(|open| open.serial == serial) {
            Some(open) => {
                let mut lease = LedgerLease { fence, serial, amount, off: 0, lost: 0, open: true };
                open.grant(amount);
                lease.report(listed, open);
                entry.leases.push(lease);
                self.counts.fences_adopted = self.counts.fences_adopted.saturating_add(1);
            }
            None => self.counts.fences_rejected = self.counts.fences_rejected.saturating_add(1),
        }
    }

    fn grant(
        &mut self,
        ask: &LeaseAskItem,
        terms: &Terms,
        now: SteadyMs,
        fences: &mut FenceSource,
    ) -> LeaseReplyItem {
        let unspent = self.unspent(terms.serial, &ask.have);
        let holders = self.holders.values().filter(|other| other.heard_in == terms.serial).count() as u64 + 1;
        let reply = LeaseReplyItem {
            quota: ask.quota.clone(),
            n: ask.n,
            terms: terms.clone(),
            drained: ask.want > 0,
            ..LeaseReplyItem::default()
        };
        let open = self.totals.last_mut().filter(|open| open.serial == terms.serial);
        let Some(open) = open else { return reply };
        let free = terms.limit.saturating_sub(open.committed());
        let min = ask.min.clamp(1, ask.want.max(1));
        let out = open.outstanding.saturating_add(unspent);
        let scarce = self.unmet.is_scarce(free, out, now);
        let request = Request { free, limit: terms.limit, want: ask.want, min, holders, scarce };
        let amount = grant_size(request);
        let drained = ask.want > 0 && amount == 0;
        if drained {
            self.unmet.refused(min, free.saturating_add(out), now);
        } else if ask.want > 0 {
            self.unmet.filled(min);
        }
        let grant = (amount > 0).then(|| Grant { fence: fences.issue(), amount });
        if amount > 0 {
            open.grant(amount);
        }
        let free = free.saturating_sub(amount);
        let scarce = self.unmet.is_scarce(free, out.saturating_add(amount), now);
        LeaseReplyItem { grant, free, scarce, drained, ..reply }
    }

    /// Units of the open serial that holders have written off and not spent, as they listed them last; the
    /// one that asks lists what it has in `have`. The book has them as spent, and the holders can return them.
    fn unspent(&self, serial: u64, have: &[ListedLease]) -> u64 {
        let listed = self.holders.values().flat_map(|other| &other.listed).chain(have);
        let open = listed.filter(|lease| lease.serial == serial && !lease.is_final);
        open.fold(0, |sum, lease| sum.saturating_add(lease.unspent.min(lease.off)))
    }

    /// Units of the open serial that holders have: the fences of leases that are open.
    pub fn open_fences(&self) -> impl Iterator<Item = Fence> {
        self.holders.values().flat_map(|entry| &entry.leases).filter(|lease| lease.open).map(|l| l.fence)
    }
}
