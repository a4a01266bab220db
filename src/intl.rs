//! Time zones by the rules of a JavaScript runtime: `Intl.DateTimeFormat` (features `web` and `worker`).

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use crate::Error;
use crate::calendar::{Field, Naming, ZoneOffsets, zone_name};
use crate::clock::WallMs;

#[wasm_bindgen]
extern "C" {
    /// An `Intl.DateTimeFormat`.
    #[wasm_bindgen(js_namespace = Intl, js_name = DateTimeFormat)]
    #[derive(Clone, Debug)]
    type Formatter;
    #[wasm_bindgen(constructor, catch, js_namespace = Intl, js_class = "DateTimeFormat")]
    fn new(locale: &str, options: &JsValue) -> Result<Formatter, JsValue>;
    // As a value: text that is no text is a fault to report, not one to trap on.
    #[wasm_bindgen(method, catch, js_class = "DateTimeFormat")]
    fn format(this: &Formatter, ms: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_namespace = JSON)]
    fn parse(text: &str) -> Result<JsValue, JsValue>;
}

impl Formatter {
    /// A formatter whose text ends in the zone's offset, such as "11/18/1883, GMT-04:56:02".
    fn of_zone(name: &str) -> Result<Self, JsValue> {
        let options = serde_json::json!({ "timeZone": name, "timeZoneName": "longOffset" });
        Self::new("en-US", &parse(&options.to_string())?)
    }
}

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
pub(crate) struct IntlZone {
    /// `None` is UTC: no offset, ever, and nothing is asked.
    formatter: Option<Formatter>,
    /// How its errors spell fields.
    naming: Naming,
}

impl IntlZone {
    /// UTC, for which nothing is asked.
    pub const fn utc(naming: Naming) -> Self {
        Self { formatter: None, naming }
    }

    /// The zone of that name, which a specification has checked to be one that can exist.
    ///
    /// # Errors
    ///
    /// `invalid-spec` for a zone that the runtime does not know.
    pub fn load(name: &str, naming: Naming) -> Result<Self, Error> {
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(Self::utc(naming));
        }
        // Taken out while it is made: nothing is borrowed while the runtime is called.
        let kept = KEPT.with_borrow_mut(|kept| {
            kept.iter().position(|(known, _)| known == name).map(|at| kept.remove(at).1)
        });
        let formatter = match kept {
            Some(formatter) => formatter,
            None => Formatter::of_zone(name).map_err(|_| fault(name, naming))?,
        };
        KEPT.with_borrow_mut(|kept| {
            kept.insert(0, (name.to_owned(), formatter.clone()));
            kept.truncate(MOST_KEPT);
        });
        Ok(Self { formatter: Some(formatter), naming })
    }
}

/// Why there is no formatter for a zone.
fn fault(name: &str, naming: Naming) -> Error {
    let detail = if Formatter::of_zone("UTC").is_ok() {
        zone_name::unknown(name)
    } else {
        "this runtime's Intl.DateTimeFormat has no time zones, or no timeZoneName 'longOffset'".to_owned()
    };
    Field::TimeZone.error(naming, detail)
}

impl ZoneOffsets for IntlZone {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        let Some(formatter) = &self.formatter else { return Ok(0) };
        let ms = at.0.clamp(-FARTHEST_MS, FARTHEST_MS) as f64;
        let text = formatter.format(ms).ok().and_then(|text| text.as_string()).unwrap_or_default();
        offset_in(&text).ok_or_else(|| {
            let detail =
                format!("this runtime's Intl wrote {text:?}, which does not end in an offset from UTC");
            Field::TimeZone.error(self.naming, detail)
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
