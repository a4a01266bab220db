use serde::{Deserialize, Serialize};

use super::boundary::{BoundaryKind, WIDEST_MS, boundary, local_at};
use super::grid::Slot;
use super::spec::PeriodSpec;
use super::zone::ZoneOffsets;
use crate::Error;
use crate::clock::WallMs;
use crate::error::ErrorKind;

/// The first reading that has a period: 0001-01-01T00:00Z.
pub const EARLIEST_WALL: WallMs = WallMs(-62_135_596_800_000);
/// The last reading that has a period: 9999-12-31T23:59:59.999Z.
pub const LATEST_WALL: WallMs = WallMs(253_402_300_799_999);

/// The local clocks of one place cannot be set back by more: twice the widest offset.
const FARTHEST_BACK_MS: i64 = 2 * WIDEST_MS;

/// A stretch of a calendar: half-open, in whole milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Period {
    /// Its name: what it is, whatever its instants are.
    pub slot: Slot,
    /// The first millisecond in it.
    pub start: WallMs,
    /// The first millisecond after it.
    pub end: WallMs,
    /// How its start came about.
    pub start_kind: BoundaryKind,
    /// How its end came about.
    pub end_kind: BoundaryKind,
}

impl Period {
    /// True for instants from the start up to, but not at, the end.
    pub fn contains(&self, wall: WallMs) -> bool {
        self.start <= wall && wall < self.end
    }

    /// How long it lasts, in milliseconds.
    pub fn length_ms(&self) -> u64 {
        if self.end > self.start { self.end.0.abs_diff(self.start.0) } else { 0 }
    }
}

/// The period that an instant lies in.
///
/// It is found by searching for the last slot that has begun, starting from the local date. Reading the
/// date is not enough: where the clocks are set back over midnight a date begins, stops and begins
/// again. A slot whose start and end are one instant (the date that Samoa dropped) is never returned.
///
/// Costs some ten calls to the zone, and twenty more for a boundary that falls into a gap; as many for
/// an instant a century away.
///
/// # Errors
///
/// [`implausible-wall`](Error::is_refused_reading) outside [`EARLIEST_WALL`] to [`LATEST_WALL`], and what
/// [`boundary`](crate::calendar::boundary) gives.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{PeriodSpec, Unit, Utc, period_for};
/// use sluicegate::clock::WallMs;
///
/// let spec = PeriodSpec::new(Unit::Month, "UTC")?.with_anchor_day(31)?;
/// let period = period_for(&spec, &Utc, WallMs(1_773_532_800_000))?; // 2026-03-15
/// assert_eq!(period.slot.to_string(), "2026-02");
/// assert_eq!(period.start, WallMs(1_772_236_800_000)); // 2026-02-28
/// assert_eq!(period.end, WallMs(1_774_915_200_000)); // 2026-03-31
/// # Ok::<(), sluicegate::Error>(())
/// ```
pub fn period_for(
    spec: &PeriodSpec,
    zone: &(impl ZoneOffsets + ?Sized),
    wall: WallMs,
) -> Result<Period, Error> {
    if wall < EARLIEST_WALL || LATEST_WALL < wall {
        let detail = format!("a wall reading of {} ms is not in the years 1 to 9999", wall.0);
        return Err(Error::new(ErrorKind::ImplausibleWall, detail));
    }
    let local = local_at(zone, wall)?;
    let near = spec.index_near(local.date());
    let mut end = None;
    // Clocks set back show an earlier date than the one that has begun, by two days at the very most; an
    // anchor that is not reached yet leaves the slot before.
    for index in (near - 1..=near + 2).rev() {
        let begins = spec.local_start(index);
        // Most slots that have not begun are told without asking the zone.
        if begins.0.saturating_sub(local.0) > FARTHEST_BACK_MS {
            continue;
        }
        let start = boundary(zone, begins)?;
        if wall < start.at {
            end = Some(start);
            continue;
        }
        let end = match end {
            Some(end) => end,
            None => boundary(zone, spec.local_start(index + 1))?,
        };
        if end.at <= wall {
            break;
        }
        let (start_kind, end_kind) = (start.kind, end.kind);
        return Ok(Period { slot: spec.slot(index), start: start.at, end: end.at, start_kind, end_kind });
    }
    // Only a zone that breaks the promise of its trait gets here; a wrong period would be a second quota.
    Err(Error::spec("time_zone", "its offset changes more than once in 52 hours"))
}

/// `count` periods in a row, from the one that `from` lies in; each ends where the next one starts.
///
/// # Errors
///
/// As [`period_for`], also when they run past [`LATEST_WALL`].
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{PeriodSpec, Unit, Utc, periods};
/// use sluicegate::clock::WallMs;
///
/// let spec = PeriodSpec::new(Unit::Month, "UTC")?.with_anchor_day(31)?;
/// let starts: Vec<_> = periods(&spec, &Utc, WallMs(1_767_225_600_000), 4)?
///     .iter()
///     .map(|period| (period.slot.to_string(), period.length_ms() / 86_400_000))
///     .collect();
/// let expected = [("2025-12", 31), ("2026-01", 28), ("2026-02", 31), ("2026-03", 30)];
/// assert_eq!(starts, expected.map(|(slot, days)| (slot.to_owned(), days)));
/// # Ok::<(), sluicegate::Error>(())
/// ```
pub fn periods(
    spec: &PeriodSpec,
    zone: &(impl ZoneOffsets + ?Sized),
    from: WallMs,
    count: usize,
) -> Result<Vec<Period>, Error> {
    let mut found = Vec::new();
    let mut at = from;
    for _ in 0..count {
        let period = period_for(spec, zone, at)?;
        at = period.end;
        found.push(period);
    }
    Ok(found)
}
