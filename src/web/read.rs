//! Reading arguments.

use wasm_bindgen::JsValue;

use super::fault::Fault;
use super::{js, json};
use crate::calendar::{Naming, PeriodSpec};
use crate::{Cost, Error};

/// A reading as it is handed over; what is not a number is refused as a reading, like NaN.
pub(super) fn reading(value: &JsValue) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A cost. Strings, BigInts and null are not taken for numbers.
pub(super) fn cost(value: &JsValue) -> Result<Cost, Fault> {
    match value.as_f64() {
        Some(units) => Ok(Cost::try_from_f64(units)?),
        None => Err(Error::cost(format!("{} is not a number", js::describe(value))).into()),
    }
}

/// A number of things, at most `most`.
pub(super) fn count(name: &str, value: &JsValue, most: u32) -> Result<usize, Fault> {
    let number = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=f64::from(most)).contains(n));
    number.map(|n| n as usize).ok_or_else(|| {
        Fault::spec(name, format!("{} is not a whole number from 0 to {most}", js::describe(value)))
    })
}

/// A period specification.
pub(super) fn period(value: &JsValue) -> Result<PeriodSpec, Fault> {
    if !js::is_plain(value) {
        return Err(Fault::spec(
            "",
            format!("{} is not an object with unit and timeZone", js::describe(value)),
        ));
    }
    Ok(PeriodSpec::from_json(&json::read(value)?, Naming::Camel)?)
}

/// True for a function, false where none is given; anything else is a fault.
pub(super) fn function(name: &str, value: &JsValue) -> Result<bool, Fault> {
    if value.is_function() || value.is_undefined() || value.is_null() {
        Ok(value.is_function())
    } else {
        Err(Fault::spec(name, format!("{} is not a function", js::describe(value))))
    }
}
