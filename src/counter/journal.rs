use serde::{Deserialize, Serialize};

use super::Totals;
use super::table::{Entry, Table, TableKey};
use crate::clock::{SteadyMark, SteadyMs, WallMs};
use crate::policy::CounterState;
use crate::window::Epochs;

/// How many rows the journal turns over. Each flush overwrites the oldest, so an object writes one
/// row per flush and deletes none; a deleted row costs as much as a written one.
pub const SLOTS: u16 = 64;
/// A row is closed at this size (a value in the object's storage holds 2 MB). With the number of slots it
/// bounds what a start has to read, whatever was counted.
const ROW_BYTES: usize = 256 << 10;
/// When nothing counts any more, rows smaller than this stay: deleting one is billed like writing one,
/// and storage is cheap.
const SMALL_ROW_BYTES: usize = 16 << 10;
/// The version of the rows' contents.
pub(super) const FORMAT: u8 = 1;

/// One row to write: `slot` is its key, `seq` orders the rows, and `data` holds many keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRow {
    /// The row's key, below [`SLOTS`].
    pub slot: u16,
    /// Larger is later.
    pub seq: u64,
    /// The packed contents.
    pub data: Vec<u8>,
}

/// What each row starts with, so that the newest row alone says how to go on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Header {
    pub format: u8,
    pub mark: SteadyMark,
    pub epochs: Epochs,
    /// When the object's alarm is due: setting one costs a row, so a restart should not do it again.
    pub alarm: Option<WallMs>,
    pub totals: Totals,
}

#[derive(Serialize, Deserialize)]
struct Packed {
    key: [u8; 16],
    idle_from: SteadyMs,
    state: CounterState,
}

/// The write-behind journal: a ring of rows, each holding the states that changed since the row
/// before it.
///
/// A row is overwritten when its turn comes; states whose last copy it holds move into the row that
/// takes its place, so that the ring always holds the last written state of every key.
#[derive(Debug)]
pub(super) struct Journal {
    next_seq: u64,
    slots: Vec<Slot>,
    /// Keys that changed since they were written.
    dirty: Vec<TableKey>,
}

/// What one row holds.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// The keys written into it; a key counts only where its entry still says so.
    keys: Vec<TableKey>,
    bytes: usize,
}

impl Journal {
    pub fn new() -> Self {
        Self { next_seq: 0, slots: vec![Slot::default(); usize::from(SLOTS)], dirty: Vec::new() }
    }

    /// Reads stored rows, oldest first and one at a time, into `table`. Returns the newest header. A row
    /// that cannot be read (a later format, after a rollback) is skipped: its keys start anew.
    pub fn restore(
        &mut self,
        rows: impl IntoIterator<Item = JournalRow>,
        table: &mut Table,
    ) -> Option<Header> {
        let mut newest = None;
        for row in rows {
            self.next_seq = self.next_seq.max(row.seq.saturating_add(1));
            let Some((header, packed)) = unpack(&row.data) else { continue };
            let Some(slot) = self.slots.get_mut(usize::from(row.slot)) else { continue };
            slot.bytes = row.data.len();
            for Packed { key, idle_from, state } in packed {
                let key = TableKey(u128::from_le_bytes(key));
                slot.keys.push(key);
                table.restore(key, Entry { state, idle_from, dirty: false, slot: Some(row.slot) });
            }
            newest = Some(header);
        }
        newest
    }

    /// Notes that a clean key has changed.
    pub fn touched(&mut self, key: TableKey) {
        self.dirty.push(key);
    }

    pub fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Packs everything that changed into as few rows as it takes, usually one.
    pub fn flush(&mut self, header: &Header, table: &mut Table, now: SteadyMs) -> Vec<JournalRow> {
        let mut pending = std::mem::take(&mut self.dirty);
        let mut rows = Vec::new();
        // One slot stays untouched in any flush: a ring that overtakes itself would lose states. The
        // memory bound keeps everything there is well below that.
        while rows.len() < usize::from(SLOTS) - 1 {
            let seq = self.next_seq;
            let slot = (seq % u64::from(SLOTS)) as u16;
            let Some(held) = self.slots.get_mut(usize::from(slot)) else { break };
            pending.extend(held.keys.drain(..).filter(|key| {
                table
                    .get(*key)
                    .is_some_and(|entry| entry.slot == Some(slot) && !entry.dirty && entry.idle_from > now)
            }));
            let (data, keys) = pack(header, &mut pending, table);
            for key in &keys {
                table.written(*key, slot);
            }
            *held = Slot { keys, bytes: data.len() };
            rows.push(JournalRow { slot, seq, data });
            self.next_seq = seq.saturating_add(1);
            if pending.is_empty() {
                break;
            }
        }
        self.dirty = pending;
        rows
    }

    /// Takes back what [`flush`](Self::flush) said, since these rows could not be written.
    pub fn unwritten(&mut self, rows: &[JournalRow], table: &mut Table) {
        for row in rows {
            let Some(slot) = self.slots.get_mut(usize::from(row.slot)) else { continue };
            for key in slot.keys.drain(..) {
                if table.soil(key, row.slot) {
                    self.dirty.push(key);
                }
            }
        }
    }

    /// Forgets every row, since nothing in them counts any more. Returns the slots of those large enough
    /// to be worth deleting.
    pub fn clear(&mut self) -> Vec<u16> {
        self.dirty.clear();
        let mut large = Vec::new();
        for (slot, held) in (0..).zip(&mut self.slots) {
            held.keys.clear();
            if std::mem::take(&mut held.bytes) >= SMALL_ROW_BYTES {
                large.push(slot);
            }
        }
        large
    }
}

/// Packs keys from the end of `pending` until the row is full.
fn pack(header: &Header, pending: &mut Vec<TableKey>, table: &Table) -> (Vec<u8>, Vec<TableKey>) {
    let mut data = postcard::to_allocvec(header).unwrap_or_default();
    let mut keys = Vec::with_capacity(pending.len());
    while data.len() < ROW_BYTES {
        let Some(key) = pending.pop() else { break };
        let Some(entry) = table.get(key) else { continue };
        let packed =
            Packed { key: key.0.to_le_bytes(), idle_from: entry.idle_from, state: entry.state.clone() };
        if let Ok(bytes) = postcard::to_allocvec(&packed) {
            data.extend_from_slice(&bytes);
            keys.push(key);
        }
    }
    (data, keys)
}

fn unpack(data: &[u8]) -> Option<(Header, Vec<Packed>)> {
    let (header, mut rest) = postcard::take_from_bytes::<Header>(data).ok()?;
    if header.format != FORMAT {
        return None;
    }
    let mut packed = Vec::new();
    while !rest.is_empty() {
        let (one, after) = postcard::take_from_bytes::<Packed>(rest).ok()?;
        packed.push(one);
        rest = after;
    }
    Some((header, packed))
}
