use wasm_bindgen::prelude::*;

use super::fault::Fault;
use super::{js, read};
use crate::calendar::{self, Naming, Period};
use crate::clock::WallMs;
use crate::intl::IntlZone;

/// The most periods in one answer: a request for more is a slip, and would hold the caller's thread for
/// seconds.
const MOST_PERIODS: u32 = 10_000;

/// `periodFor(spec, wallMs)`: the period that an instant lies in.
///
/// # Errors
///
/// `invalid-spec`, `non-finite`, and `implausible-wall` outside the years 1 to 9999.
#[wasm_bindgen(js_name = periodFor, skip_typescript)]
pub fn period_for(spec: &JsValue, wall_ms: &JsValue) -> Result<JsValue, Fault> {
    let spec = read::period(spec)?;
    let zone = IntlZone::load(spec.time_zone(), Naming::Camel)?;
    let wall = WallMs::try_from_f64(read::reading(wall_ms))?;
    Ok(shown(&calendar::period_for(&spec, &zone, wall)?))
}

/// `periods(spec, fromWallMs, count)`: periods in a row, from the one that an instant lies in.
///
/// # Errors
///
/// As [`period_for`], also when they run past the year 9999; `invalid-spec` for more than 10,000.
#[wasm_bindgen(skip_typescript)]
pub fn periods(spec: &JsValue, from_wall_ms: &JsValue, count: &JsValue) -> Result<JsValue, Fault> {
    let spec = read::period(spec)?;
    let zone = IntlZone::load(spec.time_zone(), Naming::Camel)?;
    let from = WallMs::try_from_f64(read::reading(from_wall_ms))?;
    let count = read::count("count", count, MOST_PERIODS)?;
    Ok(calendar::periods(&spec, &zone, from, count)?.iter().map(shown).collect::<js::List>().into())
}

/// A period as JavaScript sees it.
pub(super) fn shown(period: &Period) -> JsValue {
    js::period(
        &period.slot.to_string(),
        period.start.0 as f64,
        period.end.0 as f64,
        period.start_kind.name(),
        period.end_kind.name(),
    )
}
