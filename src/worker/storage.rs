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

    /// Every stored row.
    pub fn read(&self) -> Result<Vec<JournalRow>, JsValue> {
        let rows = self.sql.exec("SELECT slot, seq, data FROM journal_v1", &Array::new())?.to_array()?;
        let number = |row: &JsValue, name| js::get(row, name).as_f64();
        Ok(rows
            .iter()
            .filter_map(|row| {
                Some(JournalRow {
                    slot: number(&row, "slot")? as u16,
                    seq: number(&row, "seq")? as u64,
                    data: Uint8Array::new(&js::get(&row, "data")).to_vec(),
                })
            })
            .collect())
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

    /// Deletes every row but these. Returns how many the platform billed.
    pub fn keep_only(&self, rows: &[JournalRow]) -> Result<u64, JsValue> {
        let kept = rows.last().map_or(-1.0, |row| f64::from(row.slot));
        let cursor =
            self.sql.exec("DELETE FROM journal_v1 WHERE slot <> ?", &Array::of1(&JsValue::from(kept)))?;
        Ok(cursor.rows_written() as u64)
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
