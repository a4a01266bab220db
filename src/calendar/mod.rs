//! Calendar periods: days, weeks, months and years as a tenant's own clock shows them.
//!
//! A quota of "10,000 calls a month, from the 1st in Los Angeles" is a statement about a calendar. No
//! duration expresses it, and turning a local time into an instant is not a function: in spring some
//! local times never happen, in autumn some happen twice, and now and then a country drops a whole day.
//! One definition covers all of it. A boundary is the **first instant whose local time is at or past**
//! the local time asked for, so boundaries come in the order of their local times and the periods
//! between them neither overlap nor leave a hole.
//!
//! * [`PeriodSpec`] says which periods: unit, time zone, anchors.
//! * [`ZoneOffsets`] is all that is asked of a time zone: the offset from UTC at an instant.
//! * [`period_for`] finds the [`Period`] that an instant lies in, [`periods`] lists them.
//! * [`OpenPeriod`] is the one that is being counted in: never reopened, never skipped into twice.
//!
//! # Limits
//!
//! Readings from year 1 to year 9999 are accepted, others are an error. Offsets are taken to lie within
//! 26 hours of UTC and to change at most once in any 52 hours; every zone of the tz database does so
//! over all of its history.

mod boundary;
mod civil;
mod field;
mod grid;
#[cfg(feature = "jiff")]
mod jiff_zone;
mod open;
mod period;
mod spec;
mod text;
mod zone;
pub(crate) mod zone_name;

pub use boundary::{Boundary, BoundaryKind, boundary};
pub use civil::LocalMs;
pub use field::Naming;
pub use grid::Slot;
#[cfg(feature = "jiff")]
pub use jiff_zone::JiffZone;
pub use open::{MOST_SKIPPED, OpenPeriod, Step};
pub use period::{EARLIEST_WALL, LATEST_WALL, Period, period_for, periods};
pub use spec::{PeriodSpec, Unit};
pub use text::{iso_text, local_text};
pub use zone::{Utc, ZoneOffsets};

pub(crate) use field::{Field, whole_number};
