use std::cell::RefCell;

use super::fault::Fault;
use super::js::{self, Formatter};
use crate::Error;
use crate::calendar::{Field, Naming, ZoneOffsets, zone_name};
use crate::clock::WallMs;

/// What a JavaScript Date can hold, which is far more than a period can begin or end at.
const FARTHEST_MS: i64 = 8_640_000_000_000_000;

/// Making a formatter takes a hundred times as long as using one, and keeping one takes memory.
const MOST_KEPT: usize = 64;

thread_local! {
    /// The formatters in use, the latest first.
    static KEPT: RefCell<Vec<(String, Formatter)>> = const { RefCell::new(Vec::new()) };
}

/// A time zone by the rules of the runtime's `Intl`.
#[derive(Clone, Debug)]
pub(super) enum IntlZone {
    /// No offset, ever: nothing is asked.
    Utc,
    /// A formatter that writes the offset from UTC.
    Other(Formatter),
}

impl IntlZone {
    /// The zone of that name, which a specification has checked to be one that can exist.
    pub(super) fn load(name: &str) -> Result<Self, Fault> {
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(Self::Utc);
        }
        // Taken out while it is made: nothing is borrowed while the runtime is called.
        let kept = KEPT.with_borrow_mut(|kept| {
            kept.iter().position(|(known, _)| known == name).map(|at| kept.remove(at).1)
        });
        let formatter = match kept {
            Some(formatter) => formatter,
            None => js::zone_formatter(name).map_err(|_| fault(name))?,
        };
        KEPT.with_borrow_mut(|kept| {
            kept.insert(0, (name.to_owned(), formatter.clone()));
            kept.truncate(MOST_KEPT);
        });
        Ok(Self::Other(formatter))
    }
}

/// Why there is no formatter for a zone.
fn fault(name: &str) -> Fault {
    let detail = if js::zone_formatter("UTC").is_ok() {
        zone_name::unknown(name)
    } else {
        "this runtime's Intl.DateTimeFormat has no time zones, or no timeZoneName 'longOffset'".to_owned()
    };
    Field::TimeZone.error(Naming::Camel, detail).into()
}

impl ZoneOffsets for IntlZone {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        let Self::Other(formatter) = self else { return Ok(0) };
        let ms = at.0.clamp(-FARTHEST_MS, FARTHEST_MS) as f64;
        let text = js::zone_text(formatter, ms).unwrap_or_default();
        offset_in(&text).ok_or_else(|| {
            let detail =
                format!("this runtime's Intl wrote {text:?}, which does not end in an offset from UTC");
            Field::TimeZone.error(Naming::Camel, detail)
        })
    }
}

/// The milliseconds of the offset at the end of "11/18/1883, GMT-04:56:02". No offset is written "GMT" by some
/// engines and "GMT+00:00" by others.
fn offset_in(text: &str) -> Option<i64> {
    let (_, offset) = text.rsplit_once("GMT")?;
    let mut rest = offset.chars();
    let sign = match rest.next() {
        None => return Some(0),
        Some('+') => 1,
        Some('-' | '\u{2212}') => -1,
        Some(_) => return None,
    };
    let mut seconds = 0;
    let mut unit = 3_600;
    for part in rest.as_str().split(':') {
        let number: u32 = part.parse().ok().filter(|number| *number < 60 && unit > 0)?;
        seconds += i64::from(number) * unit;
        unit /= 60;
    }
    Some(sign * seconds * 1_000)
}
