use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::hash::{BuildHasherDefault, Hasher};

use siphasher::sip128::{Hasher128, SipHasher13};

use crate::clock::SteadyMs;
use crate::http::KeyHash;
use crate::policy::{Algorithm, CounterState};

/// How many counters the keys of one policy share once memory is full.
const SHARED_COUNTERS: u128 = 64;
/// Set in the key of a shared counter, clear in the key of an identity's own.
const SHARED_BIT: u128 = 1 << 127;

/// Where a key is counted: the identity's hash mixed with the policy's name and the shape of what is
/// counted, so that a policy whose window was changed starts anew and cannot misread an old epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableKey(pub u128);

impl TableKey {
    fn own(policy: &str, algorithm: &Algorithm, key: KeyHash) -> Self {
        Self(mix(policy, algorithm, key.get()) & !SHARED_BIT)
    }

    fn shared(policy: &str, algorithm: &Algorithm, key: KeyHash) -> Self {
        // Not the low bits: they have chosen the object, and are much the same for all of its keys.
        Self(mix(policy, algorithm, (key.get() >> 64) % SHARED_COUNTERS) | SHARED_BIT)
    }

    fn is_shared(self) -> bool {
        self.0 & SHARED_BIT != 0
    }
}

fn mix(policy: &str, algorithm: &Algorithm, key: u128) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write_u128(key);
    hasher.write_u128(algorithm.shape());
    hasher.write(policy.as_bytes());
    hasher.finish128().as_u128()
}

/// One counted key.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub state: CounterState,
    /// When it can be forgotten.
    pub idle_from: SteadyMs,
    /// Changed since it was last written.
    pub dirty: bool,
    /// The journal slot that holds its last written state.
    pub slot: Option<u16>,
}

/// The counted keys of one object, bounded in memory.
///
/// Past the bound, new keys of a policy share [a few counters](SHARED_COUNTERS): they can only
/// over-count, and no flood of keys pushes out what somebody else owes.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: HashMap<TableKey, Entry, BuildHasherDefault<HashedAlready>>,
    /// Sum of the states' weights, and the most it may be for a new key to get its own entry.
    weight: usize,
    capacity: usize,
    /// How many of the entries are shared.
    shared: usize,
}

impl Table {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_full(&self) -> bool {
        self.weight >= self.capacity
    }

    /// Where this key is counted: its own entry, or a shared one when memory is full. A shared
    /// counter stays in charge of its keys while it holds anything, or their counts would be lost.
    pub fn locate(&self, policy: &str, algorithm: &Algorithm, key: KeyHash, now: SteadyMs) -> TableKey {
        let own = TableKey::own(policy, algorithm, key);
        if self.entries.contains_key(&own) || (!self.is_full() && self.shared == 0) {
            return own;
        }
        let shared = TableKey::shared(policy, algorithm, key);
        let in_charge = self.entries.get(&shared).is_some_and(|entry| entry.idle_from > now);
        if in_charge || self.is_full() { shared } else { own }
    }

    pub fn get(&self, key: TableKey) -> Option<&Entry> {
        self.entries.get(&key)
    }

    /// Changes a key's state, and marks it to be written. Returns true if it was clean before.
    pub fn update(
        &mut self,
        key: TableKey,
        algorithm: &Algorithm,
        change: impl FnOnce(&mut CounterState),
    ) -> bool {
        let (entry, before) = match self.entries.entry(key) {
            Slot::Occupied(entry) => {
                let entry = entry.into_mut();
                let weight = entry.state.weight();
                (entry, weight)
            }
            Slot::Vacant(vacant) => {
                self.shared += usize::from(key.is_shared());
                let state = algorithm.fresh();
                (vacant.insert(Entry { state, idle_from: SteadyMs(0), dirty: false, slot: None }), 0)
            }
        };
        change(&mut entry.state);
        self.weight = (self.weight + entry.state.weight()).saturating_sub(before);
        entry.idle_from = algorithm.idle_from(&entry.state);
        !std::mem::replace(&mut entry.dirty, true)
    }

    /// Puts back an entry that was read from storage.
    pub fn restore(&mut self, key: TableKey, entry: Entry) {
        self.weight += entry.state.weight();
        self.shared += usize::from(key.is_shared());
        if let Some(old) = self.entries.insert(key, entry) {
            self.weight = self.weight.saturating_sub(old.state.weight());
            self.shared = self.shared.saturating_sub(usize::from(key.is_shared()));
        }
    }

    /// Notes that a key's state has been written to `slot`.
    pub fn written(&mut self, key: TableKey, slot: u16) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.dirty = false;
            entry.slot = Some(slot);
        }
    }

    /// Notes that what was written to `slot` is not there after all. Returns true if the key is to be
    /// written again.
    pub fn soil(&mut self, key: TableKey, slot: u16) -> bool {
        let Some(entry) = self.entries.get_mut(&key).filter(|entry| entry.slot == Some(slot)) else {
            return false;
        };
        entry.slot = None;
        !std::mem::replace(&mut entry.dirty, true)
    }

    /// Gives back the memory of every key that is idle at `now`.
    pub fn sweep(&mut self, now: SteadyMs) {
        let (mut weight, mut shared) = (0, 0);
        self.entries.retain(|key, entry| {
            let keep = entry.idle_from > now;
            weight += if keep { entry.state.weight() } else { 0 };
            shared += usize::from(keep && key.is_shared());
            keep
        });
        (self.weight, self.shared) = (weight, shared);
        if self.entries.capacity() > 4 * self.entries.len() + 1024 {
            self.entries.shrink_to_fit();
        }
    }

    /// The latest time at which an entry becomes idle.
    pub fn idle_from(&self) -> Option<SteadyMs> {
        self.entries.values().map(|entry| entry.idle_from).max()
    }
}

/// The keys are hashes already, made with a secret: folding them is enough.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HashedAlready(u64);

impl Hasher for HashedAlready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 ^= (key as u64) ^ ((key >> 64) as u64);
    }
}
