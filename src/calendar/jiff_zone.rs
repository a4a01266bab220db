use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::field::{Field, Naming};
use super::zone::ZoneOffsets;
use super::zone_name;
use crate::Error;
use crate::clock::WallMs;

/// A time zone of the tz database that comes with the `jiff` crate (feature `jiff`).
///
/// For native builds. The data is the bundled copy, never the machine's, so that two builds of one
/// lock file agree about every boundary; it is as old as that lock file. In the far future the last
/// rule goes on, and past the end of 9999 the last offset does.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{BoundaryKind, JiffZone, Naming, PeriodSpec, Unit, period_for};
/// use sluicegate::clock::WallMs;
///
/// let spec = PeriodSpec::new(Unit::Day, "America/New_York")?.with_anchor_time("02:30")?;
/// let zone = JiffZone::new(spec.time_zone(), Naming::Snake)?;
/// // 14 March 2021 has no 02:30 there: the day starts at 03:00 summer time, when the gap closes.
/// let day = period_for(&spec, &zone, WallMs(1_615_705_200_000))?;
/// assert_eq!((day.start_kind, day.length_ms()), (BoundaryKind::Gap, 84_600_000));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JiffZone(TimeZone);

impl JiffZone {
    /// Loads a zone by its IANA name, in any case of letters.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error about `time_zone` (or `timeZone`) for a string
    /// that is not a name, and for a name that the database does not have.
    pub fn new(name: &str, naming: Naming) -> Result<Self, Error> {
        if let Some(fault) = zone_name::fault(name) {
            return Err(Field::TimeZone.error(naming, fault));
        }
        TimeZoneDatabase::bundled()
            .get(name)
            .map(Self)
            .map_err(|_| Field::TimeZone.error(naming, zone_name::unknown(name)))
    }
}

impl ZoneOffsets for JiffZone {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        // Clocks are changed on whole seconds, and what lies beyond a timestamp's range keeps its offset.
        let second = at.0.div_euclid(1_000).clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let at = Timestamp::from_second(second)
            .map_err(|error| Error::spec(Field::TimeZone.name(Naming::Snake), error.to_string()))?;
        Ok(i64::from(self.0.to_offset(at).seconds()) * 1_000)
    }
}
