//! Plain data between JavaScript and the core, which reads and writes JSON values.

use serde_json::{Map, Number, Value};
use wasm_bindgen::JsValue;

use super::fault::Fault;
use super::js::{self, List};
use crate::MAX_COUNT;

/// More than any specification or snapshot has. Past them the rest is left out: the core then says what is
/// wrong at the top, whatever a caller has handed over, be it endless.
const DEEPEST: u32 = 8;
const MOST_VALUES: u32 = 1_000;

/// Reads a value. A function or a symbol becomes a text that names it, which the core takes for nothing: a
/// name that it does not know is to be its first complaint.
///
/// # Errors
///
/// `invalid-spec` for numbers that JSON cannot write, and what a getter of the caller's throws.
pub(super) fn read(value: &JsValue) -> Result<Value, Fault> {
    read_without(value, &[])
}

/// The same, but for those fields of it.
pub(super) fn read_without(value: &JsValue, names: &[&str]) -> Result<Value, Fault> {
    let mut left = MOST_VALUES;
    if js::is_plain(value) { read_object(value, names, DEEPEST, &mut left) } else { read_scalar(value) }
}

fn read_scalar(value: &JsValue) -> Result<Value, Fault> {
    Ok(if value.is_null() || value.is_undefined() {
        Value::Null
    } else if let Some(flag) = value.as_bool() {
        Value::Bool(flag)
    } else if value.is_string() {
        Value::String(js::brief(value))
    } else if let Some(number) = value.as_f64().and_then(number) {
        Value::Number(number)
    } else if value.as_f64().is_some() || value.is_bigint() {
        return Err(Fault::spec("", format!("{} is not a finite number", js::describe(value))));
    } else {
        Value::String(js::describe(value))
    })
}

/// A finite number; a whole one as an integer, as JSON would have it.
fn number(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() <= MAX_COUNT as f64 {
        Some(Number::from(value as i64))
    } else {
        Number::from_f64(value)
    }
}

fn read_object(object: &JsValue, without: &[&str], depth: u32, left: &mut u32) -> Result<Value, Fault> {
    let mut read = Map::new();
    let names = js::names_of(object)?;
    for key in (0..names.length()).map(|index| names.at(index)) {
        if depth == 0 || *left == 0 {
            break;
        }
        let name = js::brief(&key);
        if without.contains(&name.as_str()) {
            continue;
        }
        *left -= 1;
        let value = js::get(object, &key)?;
        if value.is_undefined() {
            continue;
        }
        let inner = if js::is_plain(&value) {
            read_object(&value, &[], depth - 1, left)
        } else {
            read_scalar(&value)
        };
        let inner = inner.map_err(|fault| fault.under(&name))?;
        read.insert(name, inner);
    }
    Ok(Value::Object(read))
}

/// Writes a value with its fields in camel case.
pub(super) fn write(value: &Value) -> JsValue {
    match value {
        Value::Null => JsValue::NULL,
        Value::Bool(flag) => JsValue::from_bool(*flag),
        Value::Number(number) => JsValue::from_f64(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => JsValue::from_str(text),
        Value::Array(values) => values.iter().map(write).collect::<List>().into(),
        Value::Object(fields) => {
            let names = fields.keys().map(|name| JsValue::from_str(&camel(name)));
            js::object_of(names.collect(), fields.values().map(write).collect())
        }
    }
}

/// The same value with its fields in snake case, as Rust names them.
pub(super) fn in_snake_case(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut renamed = Map::new();
            for (name, value) in fields {
                renamed.insert(snake(&name), in_snake_case(value));
            }
            Value::Object(renamed)
        }
        other => other,
    }
}

/// `part_of_ms` is `partOfMs`; a path of such names too.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = false;
    for letter in name.chars() {
        match letter {
            '_' => raise = true,
            letter if raise => {
                camel.push(letter.to_ascii_uppercase());
                raise = false;
            }
            letter => camel.push(letter),
        }
    }
    camel
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
