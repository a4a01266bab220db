//! What a comparison shows: the shapes that `src/page/types.d.ts` describes.

use serde::Serialize;

use crate::clock::WallMs;
use crate::pop::PopHeld;
use crate::sim::{LogEntry, Tally};

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesName {
    /// One state that all machines write with their own time.
    Shared,
    /// Each point of presence has the whole limit.
    Alone,
    /// The limit with a tolerance.
    Tolerant,
    /// The limit without one, or a quota.
    Exact,
}

/// What one way of counting did so far. Epochs are those of the owner of the limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// Which one.
    pub name: SeriesName,
    /// The most it promises in one epoch; `None` where it promises nothing.
    pub ceiling: Option<u64>,
    /// Units let through in the epoch (or serial) that is open now.
    pub in_epoch: u64,
    /// What it did.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A point of presence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PopFrame {
    /// Its name.
    pub name: String,
    /// What its wall clock reads.
    pub wall_ms: WallMs,
    /// Milliseconds that the wall clock is ahead of true time.
    pub ahead_ms: i64,
    /// The wall clock itself stands still.
    pub clock_frozen: bool,
    /// The object's cheap clock, and its timers, wait for the wall to catch up after a step back.
    pub object_frozen: bool,
    /// No message leaves or reaches it.
    pub cut_off: bool,
    /// Objects in memory.
    pub instances: usize,
    /// What it holds of the tolerant limit; `None` with a quota.
    pub tolerant: Option<PopHeld>,
    /// What it holds of the exact one.
    pub exact: PopHeld,
    /// Units let through here.
    pub admitted: Admitted,
}

/// Units let through at one point of presence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Admitted {
    /// By the exact limit, in the open epoch.
    pub exact_in_epoch: u64,
    /// By the exact limit, ever.
    pub exact: u64,
    /// By the tolerant limit, in the open epoch.
    pub tolerant_in_epoch: u64,
    /// By the tolerant limit, ever.
    pub tolerant: u64,
}

/// The Ledger and its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LedgerFrame {
    /// What its wall clock reads.
    pub wall_ms: WallMs,
    /// Milliseconds that the wall clock is ahead of true time.
    pub ahead_ms: i64,
    /// The wall clock itself stands still.
    pub clock_frozen: bool,
    /// The object's cheap clock waits for the wall to catch up.
    pub object_frozen: bool,
    /// No message leaves or reaches it.
    pub cut_off: bool,
    /// Objects in memory.
    pub instances: usize,
    /// The epoch or serial that it opened last; 0 before.
    pub epoch: u64,
}

/// One serial of a quota, by the Ledger's books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SerialBook {
    /// Which period.
    pub serial: u64,
    /// The calendar's name for it.
    pub slot: String,
    /// The first millisecond in it.
    pub start_ms: i64,
    /// The first millisecond after it.
    pub end_ms: i64,
    /// Units that it allows.
    pub limit: u64,
    /// Units granted, ever.
    pub granted: u64,
    /// Units known to be spent.
    pub spent: u64,
    /// Units that came back.
    pub returned: u64,
    /// Units that count as spent, since nobody can know.
    pub forfeited: u64,
    /// Units that are out.
    pub outstanding: u64,
    /// Units that an onlooker saw let through in it.
    pub admitted: u64,
}

/// Sums over a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Messages from points of presence to Ledgers.
    pub asks: u64,
    /// Messages that did not arrive.
    pub lost: u64,
    /// Rows written.
    pub rows: u64,
    /// Requests that nobody answered in time.
    pub gave_up: u64,
    /// Starts of objects.
    pub starts: u64,
    /// Faults so far.
    pub faults: u64,
    /// Replies with an epoch below one that was told before.
    pub epochs_back: u64,
}

/// The totals of both worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BothTotals {
    /// Of the exact limit's.
    pub exact: Totals,
    /// Of the tolerant one's; `None` with a quota.
    pub tolerant: Option<Totals>,
}

/// A comparison as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// True time.
    pub now_ms: u64,
    /// What each way of counting did: shared, alone, tolerant (of windows), exact.
    pub series: Vec<Series>,
    /// The points of presence.
    pub pops: Vec<PopFrame>,
    /// The Ledger.
    pub ledger: LedgerFrame,
    /// The books of a quota, the newest last; empty without one.
    pub books: Vec<SerialBook>,
    /// Sums.
    pub totals: BothTotals,
    /// What happened since the last frame, at most 200, without refusals.
    pub events: Vec<LogEntry>,
}

/// What was so at one time of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// True time.
    pub at_ms: u64,
    /// Units in the open epoch by shared, alone, tolerant and exact; `None` where there is none.
    pub in_epoch: [Option<u64>; 4],
    /// The points of presence.
    pub pops: Vec<PopSample>,
}

/// A point of presence at one time of the grid: of the tolerant limit, or of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopSample {
    /// Units let through since the sample before.
    pub admitted: u64,
    /// Requests refused since then.
    pub refused: u64,
    /// Requests refused since then because the Ledger was out of reach, or not answered in time.
    pub unavailable: u64,
    /// The epoch or serial that it counts in.
    pub epoch: Option<u64>,
    /// What is so of it: the sum of some of the constants here.
    pub flags: u32,
}

impl PopSample {
    /// It is cut off.
    pub const CUT_OFF: u32 = 1;
    /// Its wall clock stands still.
    pub const CLOCK_FROZEN: u32 = 2;
    /// The object's cheap clock waits for the wall.
    pub const OBJECT_FROZEN: u32 = 4;
    /// No object is in memory.
    pub const NOT_IN_MEMORY: u32 = 8;
    /// Requests wait for the Ledger.
    pub const WAITS: u32 = 16;
    /// It knows that the limit is used up.
    pub const FULL: u32 = 32;
}

impl Sample {
    /// The sample as one row of numbers; NaN where there is none.
    pub fn row(&self) -> impl Iterator<Item = f64> {
        // All of them are far below 2^53.
        let number = |number: u64| number as f64;
        let or_none = move |value: Option<u64>| value.map_or(f64::NAN, number);
        let pops = self.pops.iter().flat_map(move |pop| {
            let PopSample { admitted, refused, unavailable, epoch, flags } = *pop;
            [number(admitted), number(refused), number(unavailable), or_none(epoch), f64::from(flags)]
        });
        std::iter::once(number(self.at_ms)).chain(self.in_epoch.map(or_none)).chain(pops)
    }
}
