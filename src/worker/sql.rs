//! Short ways to an object's SQLite database.

use js_sys::Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use super::js::{self, DurableObjectStorage, SqlCursor, SqlStorage};
use crate::clock::WallMs;

/// The rows that a cursor has left, one at a time. Ends early where one cannot be read.
pub fn rows(cursor: SqlCursor) -> impl Iterator<Item = JsValue> {
    std::iter::from_fn(move || {
        let next = cursor.next().ok()?;
        (!js::get(&next, "done").is_truthy()).then(|| js::get(&next, "value"))
    })
}

/// One column of all rows of a query, as texts.
pub fn texts(sql: &SqlStorage, query: &str, bindings: &Array, column: &str) -> Result<Vec<String>, JsValue> {
    let rows = sql.exec(query, bindings)?.to_array()?;
    Ok(rows.iter().filter_map(|row| js::get(&row, column).as_string()).collect())
}

/// Runs a statement that writes. Returns how many rows the platform billed.
pub fn write(sql: &SqlStorage, statement: &str, bindings: &Array) -> Result<u64, JsValue> {
    Ok(sql.exec(statement, bindings)?.rows_written() as u64)
}

/// Runs `writes` as one transaction: a statement that fails would not undo those before it.
pub fn transaction(
    storage: &DurableObjectStorage,
    writes: impl Fn() -> Result<u64, JsValue>,
) -> Result<u64, JsValue> {
    let mut billed = 0;
    storage.transaction_sync(&mut || {
        billed = writes()?;
        Ok(JsValue::UNDEFINED)
    })?;
    Ok(billed)
}

/// A value as JSON text: rows outlive the code that wrote them.
pub fn json(value: &impl Serialize) -> JsValue {
    JsValue::from(serde_json::to_string(value).unwrap_or_default())
}

/// Reads such a text back.
pub fn parse<T: DeserializeOwned>(table: &str, text: &str) -> Result<T, JsValue> {
    serde_json::from_str(text).map_err(|error| JsValue::from(format!("a row of {table}: {error}")))
}

/// The wall clock as SQLite reads it: it follows a step back at once, where `Date.now()` stands still.
/// Falls back on `fallback` should the statement fail.
pub fn wall(sql: &SqlStorage, fallback: WallMs) -> WallMs {
    // julianday() is a whole number of milliseconds divided by a day's: this takes it back.
    const NOW: &str = "SELECT CAST(ROUND(julianday('now') * 86400000) AS INTEGER) - 210866760000000 AS now";
    let row = sql.exec(NOW, &Array::new()).and_then(|cursor| cursor.to_array());
    let now = row.ok().and_then(|rows| js::get(&rows.get(0), "now").as_f64());
    now.map_or(fallback, |ms| WallMs(ms as i64))
}
