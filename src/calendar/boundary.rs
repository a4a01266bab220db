use serde::{Deserialize, Serialize};

use super::civil::LocalMs;
use super::zone::ZoneOffsets;
use crate::Error;
use crate::clock::WallMs;

/// No zone has ever been further from UTC than 16 h; two hours more than a day leaves room for any.
pub(super) const WIDEST_MS: i64 = 26 * 3_600_000;

/// How many instants show a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundaryKind {
    /// One: the boundary is that instant.
    Exact,
    /// None, the clocks jump over it: the boundary is the instant the gap closes.
    Gap,
    /// Two, the clocks are set back over it: the boundary is the first.
    Repeat,
}

impl BoundaryKind {
    /// The name on the wire: `exact`, `gap` or `repeat`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Gap => "gap",
            Self::Repeat => "repeat",
        }
    }
}

/// Where a local time begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The first instant whose local time is at or past the one asked for.
    pub at: WallMs,
    /// How many instants show exactly that local time.
    pub kind: BoundaryKind,
}

/// Finds the first instant whose local time is at or past `local`.
///
/// This is the instant the gap closes where the local time is skipped (not, as Temporal's and RFC
/// 5545's "compatible" has it, later by the length of the gap), and the first of the two where it is
/// repeated. The rule is monotone: a later local time never begins earlier.
///
/// Costs three calls to the zone, four near a clock change, and some twenty more inside a gap, which is
/// closed in on to the millisecond.
///
/// # Errors
///
/// The zone's own, and an [`invalid-spec`](Error::is_invalid_spec) error for offsets of 26 h or more.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{BoundaryKind, LocalMs, Utc, boundary};
///
/// let midnight = boundary(&Utc, LocalMs(86_400_000))?;
/// assert_eq!((midnight.at.0, midnight.kind), (86_400_000, BoundaryKind::Exact));
/// # Ok::<(), sluicegate::Error>(())
/// ```
pub fn boundary(zone: &(impl ZoneOffsets + ?Sized), local: LocalMs) -> Result<Boundary, Error> {
    let far = |by: i64| WallMs(local.0.saturating_add(by));
    let before = offset(zone, far(-WIDEST_MS))?;
    let after = offset(zone, far(WIDEST_MS))?;
    // Where the local time falls if the clocks have not been changed yet, and if they have.
    let (unchanged, changed) = (far(-before), far(-after));
    let shows_unchanged = offset(zone, unchanged)? == before;
    if before == after && shows_unchanged {
        return Ok(Boundary { at: unchanged, kind: BoundaryKind::Exact });
    }
    let shows_changed = offset(zone, changed)? == after;
    match (shows_unchanged, shows_changed) {
        (true, true) => Ok(Boundary { at: unchanged.min(changed), kind: BoundaryKind::Repeat }),
        (true, false) => Ok(Boundary { at: unchanged, kind: BoundaryKind::Exact }),
        (false, true) => Ok(Boundary { at: changed, kind: BoundaryKind::Exact }),
        // The clocks jump from before it to past it: between the two guesses, forward.
        (false, false) if changed < unchanged => close_in(zone, local, changed, unchanged),
        // More than one change within 52 h, which no zone has had: still the answer to the definition,
        // as long as local time grows in between.
        (false, false) => close_in(zone, local, far(-WIDEST_MS), far(WIDEST_MS)),
    }
}

/// The first instant after `low`, which is before the local time, at which it is reached; `high` is one.
fn close_in(
    zone: &(impl ZoneOffsets + ?Sized),
    local: LocalMs,
    low: WallMs,
    high: WallMs,
) -> Result<Boundary, Error> {
    let (mut low, mut high) = (low.0, high.0);
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if local_at(zone, WallMs(middle))? >= local { high = middle } else { low = middle }
    }
    let at = WallMs(high);
    let kind = if local_at(zone, at)? == local { BoundaryKind::Exact } else { BoundaryKind::Gap };
    Ok(Boundary { at, kind })
}

/// What the zone's clocks show at an instant.
pub(super) fn local_at(zone: &(impl ZoneOffsets + ?Sized), at: WallMs) -> Result<LocalMs, Error> {
    Ok(LocalMs(at.0.saturating_add(offset(zone, at)?)))
}

fn offset(zone: &(impl ZoneOffsets + ?Sized), at: WallMs) -> Result<i64, Error> {
    let offset = zone.offset_ms(at)?;
    if -WIDEST_MS < offset && offset < WIDEST_MS {
        Ok(offset)
    } else {
        Err(Error::spec("time_zone", format!("an offset of {offset} ms is more than a time zone can have")))
    }
}
