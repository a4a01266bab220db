//! The rows of a PopCounter.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::js::{self, DurableObjectStorage, SqlStorage};
use super::sql;
use crate::clock::WallMs;
use crate::counter::JournalRow;
use crate::global::{LeaseRow, LeaseWrite};
use crate::ledger::QuotaName;
use crate::pop::StoredStart;

/// One object's SQLite database.
pub struct PopRows {
    sql: SqlStorage,
    storage: DurableObjectStorage,
}

/// Each table has a version of its own: the next one is a new table, or a migration here.
const SCHEMA: [&str; 3] = [
    "CREATE TABLE IF NOT EXISTS journal_v1 (slot INTEGER PRIMARY KEY, seq INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS start_v1 (id INTEGER PRIMARY KEY CHECK (id = 1), data TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS lease_v1 (quota TEXT NOT NULL, fence TEXT NOT NULL, data TEXT NOT NULL, \
     PRIMARY KEY (quota, fence)) WITHOUT ROWID",
];

impl PopRows {
    /// Opens the database; makes the tables where there are none.
    pub fn open(sql: SqlStorage, storage: DurableObjectStorage) -> Result<Self, JsValue> {
        for table in SCHEMA {
            sql.exec(table, &Array::new())?;
        }
        Ok(Self { sql, storage })
    }

    /// Every row of the journal, oldest first. One at a time: all of them together could be megabytes.
    pub fn read_journal(&self) -> Result<impl Iterator<Item = JournalRow> + use<>, JsValue> {
        let cursor = self.sql.exec("SELECT slot, seq, data FROM journal_v1 ORDER BY seq", &Array::new())?;
        let number = |row: &JsValue, name| js::get(row, name).as_f64();
        Ok(sql::rows(cursor).map_while(move |row| {
            Some(JournalRow {
                slot: number(&row, "slot")? as u16,
                seq: number(&row, "seq")? as u64,
                data: Uint8Array::new(&js::get(&row, "data")).to_vec(),
            })
        }))
    }

    /// Writes rows over those with the same slot. Returns how many the platform billed.
    pub fn write_journal(&self, rows: &[JournalRow]) -> Result<u64, JsValue> {
        let mut billed = 0;
        for row in rows {
            let data = Uint8Array::from(row.data.as_slice());
            let bindings = Array::of3(&JsValue::from(row.slot), &JsValue::from(row.seq as f64), &data);
            billed += sql::write(
                &self.sql,
                "INSERT INTO journal_v1 (slot, seq, data) VALUES (?, ?, ?) \
                 ON CONFLICT (slot) DO UPDATE SET seq = excluded.seq, data = excluded.data",
                &bindings,
            )?;
        }
        Ok(billed)
    }

    /// Deletes the rows of these slots. Returns how many the platform billed.
    pub fn delete_journal(&self, slots: &[u16]) -> Result<u64, JsValue> {
        let mut billed = 0;
        for slot in slots {
            let bindings = Array::of1(&JsValue::from(*slot));
            billed += sql::write(&self.sql, "DELETE FROM journal_v1 WHERE slot = ?", &bindings)?;
        }
        Ok(billed)
    }

    /// The stored start, and every quota of which leases are stored.
    pub fn read_start(&self) -> Result<(Option<StoredStart>, Vec<QuotaName>), JsValue> {
        let starts = sql::texts(&self.sql, "SELECT data FROM start_v1", &Array::new(), "data")?;
        let start = starts.first().map(|text| sql::parse("start_v1", text)).transpose()?;
        let quotas = sql::texts(&self.sql, "SELECT DISTINCT quota FROM lease_v1", &Array::new(), "quota")?;
        // A name that cannot be read is one that nobody asks for: its rows are left alone.
        Ok((start, quotas.iter().filter_map(|quota| quota.parse().ok()).collect()))
    }

    /// Stores the start. Returns how many rows the platform billed.
    pub fn write_start(&self, start: &StoredStart) -> Result<u64, JsValue> {
        sql::write(
            &self.sql,
            "INSERT INTO start_v1 (id, data) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data",
            &Array::of1(&sql::json(start)),
        )
    }

    /// The rows of one quota's leases.
    pub fn read_leases(&self, quota: &QuotaName) -> Result<Vec<LeaseRow>, JsValue> {
        let bindings = Array::of1(&JsValue::from(quota.to_string()));
        let texts = sql::texts(&self.sql, "SELECT data FROM lease_v1 WHERE quota = ?", &bindings, "data")?;
        texts.iter().map(|text| sql::parse("lease_v1", text)).collect()
    }

    /// Writes all of it or nothing. Returns how many rows the platform billed.
    pub fn write_leases(&self, quota: &QuotaName, writes: &[LeaseWrite]) -> Result<u64, JsValue> {
        let quota = JsValue::from(quota.to_string());
        sql::transaction(&self.storage, || {
            let mut billed = 0;
            for write in writes {
                billed += match write {
                    LeaseWrite::Put(row) => sql::write(
                        &self.sql,
                        "INSERT INTO lease_v1 (quota, fence, data) VALUES (?, ?, ?) \
                         ON CONFLICT (quota, fence) DO UPDATE SET data = excluded.data",
                        &Array::of3(&quota, &JsValue::from(row.fence.to_string()), &sql::json(row)),
                    ),
                    LeaseWrite::Delete(fence) => sql::write(
                        &self.sql,
                        "DELETE FROM lease_v1 WHERE quota = ? AND fence = ?",
                        &Array::of2(&quota, &JsValue::from(fence.to_string())),
                    ),
                }?;
            }
            Ok(billed)
        })
    }

    /// The wall clock as SQLite reads it, see [`sql::wall`].
    pub fn wall(&self, fallback: WallMs) -> WallMs {
        sql::wall(&self.sql, fallback)
    }
}
