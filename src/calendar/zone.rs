use std::rc::Rc;
use std::sync::Arc;

use crate::Error;
use crate::clock::WallMs;

/// What is asked of a time zone: how far its clocks are ahead of UTC at an instant.
///
/// This direction is a function, and it is the only one that `Intl.DateTimeFormat` gives; the way back,
/// from a local time to an instant, is [`boundary`](crate::calendar::boundary)'s work. Natively
/// `JiffZone` (feature `jiff`) implements it; [`Utc`] needs no table.
///
/// # Example
///
/// ```
/// use sluicegate::Error;
/// use sluicegate::calendar::{PeriodSpec, Unit, ZoneOffsets, period_for};
/// use sluicegate::clock::WallMs;
///
/// /// India, since 1945.
/// struct India;
///
/// impl ZoneOffsets for India {
///     fn offset_ms(&self, _at: WallMs) -> Result<i64, Error> {
///         Ok(5 * 3_600_000 + 1_800_000)
///     }
/// }
///
/// let spec = PeriodSpec::new(Unit::Month, "Asia/Kolkata")?;
/// let june = period_for(&spec, &India, WallMs(1_780_252_200_000))?; // 2026-05-31T18:30Z
/// assert_eq!(june.slot.to_string(), "2026-06");
/// # Ok::<(), Error>(())
/// ```
pub trait ZoneOffsets {
    /// Milliseconds that the zone's clocks are ahead of UTC at `at`; negative in the west. Historical
    /// offsets have seconds in them.
    ///
    /// Whoever implements this answers for any instant from a day before
    /// [`EARLIEST_WALL`](crate::calendar::EARLIEST_WALL)'s year to a year after
    /// [`LATEST_WALL`](crate::calendar::LATEST_WALL).
    ///
    /// # Errors
    ///
    /// Whatever keeps the zone from being read; it is passed on as it is.
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error>;
}

/// Coordinated universal time: no offset, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Utc;

impl ZoneOffsets for Utc {
    fn offset_ms(&self, _at: WallMs) -> Result<i64, Error> {
        Ok(0)
    }
}

impl<Z: ZoneOffsets + ?Sized> ZoneOffsets for &Z {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        (**self).offset_ms(at)
    }
}

impl<Z: ZoneOffsets + ?Sized> ZoneOffsets for Box<Z> {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        (**self).offset_ms(at)
    }
}

impl<Z: ZoneOffsets + ?Sized> ZoneOffsets for Rc<Z> {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        (**self).offset_ms(at)
    }
}

impl<Z: ZoneOffsets + ?Sized> ZoneOffsets for Arc<Z> {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        (**self).offset_ms(at)
    }
}
