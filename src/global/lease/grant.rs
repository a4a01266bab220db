//! How many units a grant has.

use serde::{Deserialize, Serialize};

use crate::clock::SteadyMs;

/// A wait that nothing was heard of for so long is over.
const UNMET_FOR_MS: u64 = 30_000;
/// Few holders are known at first; a quarter of the rest each leaves enough for others to come.
const FEWEST_HOLDERS: u64 = 4;
/// No grant for its own sake is more than this part of the limit.
const MAX_LEASE_PART: u64 = 100;

/// What a grant is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Units neither spent, forfeited nor outstanding.
    pub free: u64,
    pub limit: u64,
    pub want: u64,
    pub min: u64,
    /// Holders heard of in this serial.
    pub holders: u64,
    pub scarce: bool,
}

/// Nothing, or at least what the smallest waiting request lacks: a grant that lets nobody through would
/// only keep units from others.
pub(super) fn grant_size(request: Request) -> u64 {
    let Request { free, limit, want, min, holders, scarce } = request;
    if want == 0 || free < min {
        return 0;
    }
    let max_lease = (limit / MAX_LEASE_PART).max(1);
    let share = free.div_ceil(holders.max(FEWEST_HOLDERS).saturating_mul(2)).clamp(1, max_lease);
    let size = if scarce { want } else { want.max(share) };
    size.max(min).min(free)
}

/// The largest wait that could not be met although the units for it exist: they are out. While it
/// stands, replies say `scarce`. Only a hint, and not stored.
///
/// Out is here what is outstanding, and what was written off and not spent: the holder can return both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Unmet {
    min: u64,
    at: SteadyMs,
}

impl Unmet {
    /// Whether someone waits for more than is free.
    pub fn is_scarce(&self, free: u64, out: u64, now: SteadyMs) -> bool {
        self.min > free && out > 0 && now.since(self.at) < UNMET_FOR_MS
    }

    /// An ask for at least `min` was refused, although `exist` units are free or out.
    pub fn refused(&mut self, min: u64, exist: u64, now: SteadyMs) {
        if min > exist {
            return;
        }
        let stale = now.since(self.at) >= UNMET_FOR_MS;
        *self = Self { min: if stale { min } else { self.min.max(min) }, at: now };
    }

    /// An ask for at least `min` was filled.
    pub fn filled(&mut self, min: u64) {
        if min >= self.min {
            *self = Self::default();
        }
    }
}
