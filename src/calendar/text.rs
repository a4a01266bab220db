use super::boundary::local_at;
use super::civil::{DAY_MS, LocalMs};
use super::zone::ZoneOffsets;
use crate::Error;
use crate::clock::WallMs;

/// An instant as ISO 8601 with the zone's offset: `2026-11-01T00:00:00-07:00`.
///
/// Milliseconds are written where there are any, and so are the seconds of a historical offset.
///
/// # Errors
///
/// The zone's own.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{Utc, iso_text};
/// use sluicegate::clock::WallMs;
///
/// assert_eq!(iso_text(&Utc, WallMs(1_793_516_400_000))?, "2026-11-01T07:00:00+00:00");
/// assert_eq!(iso_text(&Utc, WallMs(-1))?, "1969-12-31T23:59:59.999+00:00");
/// # Ok::<(), sluicegate::Error>(())
/// ```
pub fn iso_text(zone: &(impl ZoneOffsets + ?Sized), at: WallMs) -> Result<String, Error> {
    let local = local_at(zone, at)?;
    let offset_s = local.0.saturating_sub(at.0) / 1_000;
    let sign = if offset_s < 0 { '-' } else { '+' };
    let (hours, minutes, seconds) = clock_face(offset_s.saturating_abs());
    let odd = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
    Ok(format!("{}T{}{sign}{hours:02}:{minutes:02}{odd}", local.date(), time_text(local)))
}

/// An instant as the zone's own clocks show it, for a person who lives by them: `2026-11-01 00:00:00`.
/// Where the clocks are set back two instants read alike: say the zone beside it, and keep the instant.
///
/// # Errors
///
/// The zone's own.
pub fn local_text(zone: &(impl ZoneOffsets + ?Sized), at: WallMs) -> Result<String, Error> {
    let local = local_at(zone, at)?;
    Ok(format!("{} {}", local.date(), time_text(local)))
}

/// `00:00:00`, with milliseconds if there are any.
fn time_text(local: LocalMs) -> String {
    let of_day = local.0.rem_euclid(DAY_MS);
    let (hours, minutes, seconds) = clock_face(of_day / 1_000);
    let ms = of_day % 1_000;
    let odd = if ms == 0 { String::new() } else { format!(".{ms:03}") };
    format!("{hours:02}:{minutes:02}:{seconds:02}{odd}")
}

const fn clock_face(seconds: i64) -> (i64, i64, i64) {
    (seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone that is always as far from UTC.
    struct Ahead(i64);

    impl ZoneOffsets for Ahead {
        fn offset_ms(&self, _at: WallMs) -> Result<i64, Error> {
            Ok(self.0)
        }
    }

    #[test]
    fn offsets_are_written_both_ways_and_in_full() {
        let texts =
            [-25_200_000, 0, 20_700_000, -2_670_000].map(|ms| iso_text(&Ahead(ms), WallMs(0)).unwrap());
        let expected = [
            "1969-12-31T17:00:00-07:00",
            "1970-01-01T00:00:00+00:00",
            "1970-01-01T05:45:00+05:45",
            "1969-12-31T23:15:30-00:44:30",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_person_reads_the_local_clock_and_milliseconds_only_where_there_are_any() {
        let texts = [0, 1, 86_399_999].map(|ms| local_text(&Ahead(3_600_000), WallMs(ms)).unwrap());
        assert_eq!(texts, ["1970-01-01 01:00:00", "1970-01-01 01:00:00.001", "1970-01-02 00:59:59.999"]);
    }

    #[test]
    fn no_instant_panics() {
        for ms in [i64::MIN, i64::MAX] {
            assert!(iso_text(&Ahead(3_600_000), WallMs(ms)).is_ok());
        }
    }
}
