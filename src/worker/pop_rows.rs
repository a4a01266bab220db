//! The rows of one object.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::js::{self, SqlStorage};
use crate::clock::WallMs;
use crate::counter::JournalRow;

/// One object's SQLite database.
pub struct Rows {
    sql: SqlStorage,
}

impl Rows {
    /// Opens the database; makes the table where there is none.
    pub fn open(sql: SqlStorage) -> Result<Self, JsValue> {
        // The schema has a version of its own: the next one is a new table, or a migration here.
        sql.exec(
            "CREATE TABLE IF NOT EXISTS journal_v1 (slot INTEGER PRIMARY KEY, seq INTEGER NOT NULL, data BLOB NOT NULL)",
            &Array::new(),
        )?;
        Ok(Self { sql })
    }

    /// Every stored row, oldest first. One at a time: all of them together could be megabytes.
    pub fn read(&self) -> Result<impl Iterator<Item = JournalRow>, JsValue> {
        let cursor = self.sql.exec("SELECT slot, seq, data FROM journal_v1 ORDER BY seq", &Array::new())?;
        let number = |row: &JsValue, name| js::get(row, name).as_f64();
        Ok(std::iter::from_fn(move || {
            let next = cursor.next().ok()?;
            if js::get(&next, "done").is_truthy() {
                return None;
            }
            let row = js::get(&next, "value");
            Some(JournalRow {
                slot: number(&row, "slot")? as u16,
                seq: number(&row, "seq")? as u64,
                data: Uint8Array::new(&js::get(&row, "data")).to_vec(),
            })
        }))
    }

    /// Writes rows over those with the same slot. Returns how many the platform billed.
    pub fn write(&self, rows: &[JournalRow]) -> Result<u64, JsValue> {
        let mut billed = 0;
        for row in rows {
            let data = Uint8Array::from(row.data.as_slice());
            let bindings = Array::of3(&JsValue::from(row.slot), &JsValue::from(row.seq as f64), &data);
            let cursor = self.sql.exec(
                "INSERT INTO journal_v1 (slot, seq, data) VALUES (?, ?, ?) \
                 ON CONFLICT (slot) DO UPDATE SET seq = excluded.seq, data = excluded.data",
                &bindings,
            )?;
            billed += cursor.rows_written() as u64;
        }
        Ok(billed)
    }

    /// Deletes the rows of these slots. Returns how many the platform billed.
    pub fn delete(&self, slots: &[u16]) -> Result<u64, JsValue> {
        let mut billed = 0;
        for slot in slots {
            let bindings = Array::of1(&JsValue::from(*slot));
            billed +=
                self.sql.exec("DELETE FROM journal_v1 WHERE slot = ?", &bindings)?.rows_written() as u64;
        }
        Ok(billed)
    }

    /// The wall clock as SQLite reads it: it follows a step back at once, where `Date.now()` stands
    /// still. Falls back on `fallback` should the statement fail.
    pub fn wall(&self, fallback: WallMs) -> WallMs {
        // julianday() is a whole number of milliseconds divided by a day's: this takes it back.
        const NOW: &str =
            "SELECT CAST(ROUND(julianday('now') * 86400000) AS INTEGER) - 210866760000000 AS now";
        let row = self.sql.exec(NOW, &Array::new()).and_then(|cursor| cursor.to_array());
        let now = row.ok().and_then(|rows| js::get(&rows.get(0), "now").as_f64());
        now.map_or(fallback, |ms| WallMs(ms as i64))
    }
}
