use super::limit::CapLimit;
use super::message::{CapBook, HolderId};
use super::rules::{Rules, Standing};
use crate::MAX_COUNT;
use crate::ordered::Map;

/// What the Ledger has of one holder in one epoch of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    /// The most the holder may have taken, net of refunds.
    cap: u64,
    /// Grow-only counts, as reported.
    taken: u64,
    given: u64,
    /// What it must be presumed to have taken, because requests waited for it.
    presumed: u64,
    /// The number of the newest ask that was granted: an older one is granted nothing.
    n: u64,
}

impl Row {
    fn net(&self) -> u64 {
        self.taken.saturating_sub(self.given)
    }

    fn known(&self) -> u64 {
        self.taken.max(self.presumed).saturating_sub(self.given)
    }

    fn out(&self) -> u64 {
        self.cap.saturating_sub(self.known())
    }
}

/// Units granted, and how many of these are known or presumed to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub caps: u64,
    pub known: u64,
}

impl Units {
    /// All of them count as taken.
    pub const fn taken(caps: u64) -> Self {
        Self { caps, known: caps }
    }
}

/// The books of one key in one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Book {
    rows: Map<HolderId, Row>,
    /// Units granted to holders unknown, before a restart, or too many to keep a row each: until their
    /// holder shows by a report that they are its own.
    lost: Units,
    /// What is stored, or must be before the next reply leaves: never fewer caps than there are.
    pub stored: Units,
}

/// An ask about one key, as the books see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub holder: HolderId,
    pub n: u64,
    pub wait: u64,
    pub least: u64,
    pub rate: u64,
}

impl Book {
    /// Books of which only what was `stored` is left.
    pub fn restore<R: Rules>(stored: Units) -> Self {
        let caps = R::remembered(stored.caps);
        let lost = Units { caps, known: R::remembered_known(caps, stored.known) };
        Self { rows: Map::new(), lost, stored }
    }

    /// The sum of all caps.
    pub fn caps(&self) -> u64 {
        self.rows.values().fold(self.lost.caps, |sum, row| sum.saturating_add(row.cap))
    }

    /// Units known or presumed to be taken, net of refunds.
    pub fn known(&self) -> u64 {
        self.rows.values().fold(self.lost.known, |sum, row| sum.saturating_add(row.known()))
    }

    pub fn holders(&self) -> usize {
        self.rows.len()
    }

    pub fn cap(&self, holder: HolderId) -> u64 {
        self.rows.get(&holder).map_or(0, |row| row.cap)
    }

    /// Units that holders but this one are known or presumed to have taken.
    pub fn others(&self, holder: HolderId) -> u64 {
        let own = self.rows.get(&holder).map_or(0, Row::known);
        self.known().saturating_sub(own)
    }

    pub fn standing(&self, limit: CapLimit) -> Standing {
        Standing { limit, known: self.known(), caps: self.caps() }
    }

    /// Merges a report: each count by itself, so that no order of reports and no repetition matters.
    pub fn report<R: Rules>(&mut self, holder: HolderId, told: &CapBook) {
        let row = self.rows.entry(holder).or_default();
        row.taken = R::reported(row.taken, told.taken.min(MAX_COUNT));
        row.given = R::reported(row.given, told.given.min(MAX_COUNT));
        let beyond = row.net().saturating_sub(row.cap);
        let recovered = R::recovered(self.lost.caps, beyond);
        row.cap = row.cap.saturating_add(recovered);
        self.lost.caps = R::still_lost(self.lost.caps, recovered);
        self.lost.known = R::still_known(self.lost.known, recovered);
    }

    /// Grants what waits, and slack on top. An ask that is not newer than the last is granted nothing: its
    /// requests were granted already, or are part of a newer one.
    pub fn grant<R: Rules>(&mut self, limit: CapLimit, want: Want) {
        let standing = self.standing(limit);
        let row = self.rows.entry(want.holder).or_default();
        if want.n <= row.n {
            return;
        }
        row.n = want.n;
        let need = row.net().saturating_add(want.wait);
        let units = R::waiting_grant(&standing, need.saturating_sub(row.cap));
        let spare = row.cap.saturating_sub(row.net());
        row.cap = row.cap.saturating_add(R::useful(units, spare, want.least));
        row.presumed = R::presumed(need, row.cap, row.given);
        let standing = self.standing(limit);
        if let Some(row) = self.rows.get_mut(&want.holder) {
            let spare = row.cap.saturating_sub(need);
            row.cap = row.cap.saturating_add(R::slack_grant(&standing, want.rate, spare));
        }
    }

    /// Grants a cap ahead of the epoch. Returns the cap, if there is one.
    pub fn grant_ahead<R: Rules>(&mut self, limit: CapLimit, holder: HolderId, rate: u64) -> Option<u64> {
        let held = self.cap(holder);
        let cap = R::next_cap(&self.standing(limit), rate, held);
        if cap > 0 {
            self.rows.entry(holder).or_default().cap = cap;
        }
        (cap > 0).then_some(cap)
    }

    /// Raises what is reserved to cover the caps, and `ahead` units more so that the next grants need no
    /// write. `true` if it is to be stored.
    pub fn reserve<R: Rules>(&mut self, limit: CapLimit, ahead: u64) -> bool {
        let caps = self.caps();
        if !R::must_store(caps, self.stored.caps) {
            return false;
        }
        // What is known now says nothing about units that are granted later without a write.
        self.stored = Units::taken(caps.saturating_add(ahead).min(limit.ceiling()).max(caps));
        true
    }

    /// Gives back what is reserved and not granted, and notes how much is known to be taken. `true` if it is
    /// to be stored.
    pub fn settle(&mut self) -> bool {
        let now = Units { caps: self.caps(), known: self.known() };
        std::mem::replace(&mut self.stored, now) != now
    }

    /// Makes room for a row of `holder`: the row with the least out becomes units of a holder unknown.
    pub fn make_room(&mut self, holder: HolderId, most: usize) {
        if self.rows.len() < most || self.rows.contains_key(&holder) {
            return;
        }
        let least = self.rows.iter().min_by_key(|(_, row)| row.out()).map(|(id, _)| *id);
        if let Some(row) = least.and_then(|id| self.rows.remove(&id)) {
            self.lost.caps = self.lost.caps.saturating_add(row.cap);
            self.lost.known = self.lost.known.saturating_add(row.known());
        }
    }

    /// New books for a key that was reset in this epoch, if `forgiven`; otherwise ones in which all that was
    /// granted counts as taken.
    pub fn reset(&self, forgiven: bool) -> Self {
        if forgiven {
            return Self::default();
        }
        let (lost, stored) = (Units::taken(self.caps()), Units::taken(self.stored.caps));
        Self { rows: Map::new(), lost, stored }
    }
}
