use crate::Error;
use crate::calendar::{Utc, ZoneOffsets};

/// Where time zones come from.
///
/// # Example
///
/// Natively, from the tz data of feature `jiff`:
///
/// ```
/// use sluicegate::Error;
/// use sluicegate::calendar::{JiffZone, Naming};
/// use sluicegate::sim::Zones;
///
/// struct Bundled;
///
/// impl Zones for Bundled {
///     type Zone = JiffZone;
///
///     fn zone(&self, name: &str) -> Result<JiffZone, Error> {
///         JiffZone::new(name, Naming::Snake)
///     }
/// }
/// ```
pub trait Zones {
    /// A time zone.
    type Zone: ZoneOffsets + 'static;

    /// The zone of that name.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for a zone that there is not.
    fn zone(&self, name: &str) -> Result<Self::Zone, Error>;
}

/// No zone but `UTC`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnlyUtc;

impl Zones for OnlyUtc {
    type Zone = Utc;

    fn zone(&self, name: &str) -> Result<Utc, Error> {
        match name {
            "UTC" => Ok(Utc),
            _ => Err(Error::spec("time_zone", format!("{name:?} is not UTC, which is all there is here"))),
        }
    }
}
