//! The Durable Object that owns limits over many points of presence.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use js_sys::{Array, Promise};
use serde::Serialize;
use serde_json::json;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Request, Response, Url};
use worker::Env;

use super::js::{self, DurableObjectState, DurableObjectStorage, SqlStorage};
use super::ledgers::{ASK_PATH, REPORT_PATH, TENANT_PATH};
use super::timer::Timer;
use super::{log, respond, setup, sql};
use crate::Error;
use crate::calendar::Naming;
use crate::clock::WallMs;
use crate::intl::IntlZone;
use crate::ledger::{
    Ledger as Core, LedgerEvent, LedgerHost, LedgerName, LedgerRow, LedgerSettings, LedgerWrite,
};

/// Owns the quotas of one tenant, or a part of the limits that have none. There is one object of a name in
/// the world.
///
/// Like [`PopCounter`](super::PopCounter) a thin shell: each message is read first, and then answered in one
/// synchronous turn.
#[wasm_bindgen]
#[allow(missing_debug_implementations)]
pub struct Ledger(Rc<Object>);

struct Object {
    inner: RefCell<Inner>,
    timer: Timer,
    env: Env,
    settings: LedgerSettings,
}

struct Inner {
    /// None after a write failed: it is then made anew from what is stored.
    core: Option<Core>,
    shell: Shell,
}

#[wasm_bindgen]
impl Ledger {
    /// Opens the storage. What is in it is read in the first turn.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Result<Ledger, JsValue> {
        let shell = Shell::open(state.storage())?;
        let name = js::get(&js::get(&state, "id"), "name").as_string();
        let key = match name.and_then(|name| name.parse().ok()) {
            Some(LedgerName::Tenant(key)) => Some(key),
            _ => None,
        };
        let settings = LedgerSettings { key, ..LedgerSettings::default() };
        let object = Rc::new_cyclic(|weak: &Weak<Object>| {
            let weak = weak.clone();
            let timer = Timer::new(move || {
                if let Some(object) = weak.upgrade()
                    && let Err(error) = object.turn(|core, shell| core.tick(shell))
                {
                    log::error("timer", &js::describe(&error));
                }
            });
            Object { inner: RefCell::new(Inner { core: None, shell }), timer, env, settings }
        });
        Ok(Self(object))
    }

    /// Answers points of presence, and what operators ask about tenants.
    pub fn fetch(&self, request: Request) -> Promise {
        let object = Rc::clone(&self.0);
        future_to_promise(async move { object.answer(&request).await.map(Into::into) })
    }

    /// Gives memory and storage back that nothing counts in any more.
    pub fn alarm(&self) -> Result<(), JsValue> {
        self.0.turn(|core, shell| core.alarm(shell))
    }
}

impl Object {
    async fn answer(&self, request: &Request) -> Result<Response, JsValue> {
        let path = Url::new(&request.url())?.pathname();
        if path == REPORT_PATH {
            return self.turn(|core, _| as_json(&core.report()));
        }
        let text = JsFuture::from(request.text()?).await?.as_string().unwrap_or_default();
        match path.as_str() {
            ASK_PATH => match serde_json::from_str(&text) {
                Ok(ask) => self.turn(|core, shell| as_json(&core.answer(&ask, shell)?)),
                Err(error) => not_of_this_version(&error),
            },
            TENANT_PATH => match serde_json::from_str(&text) {
                Ok(request) => self.turn(|core, shell| as_json(&core.tenant(&request, shell)?)),
                Err(error) => not_of_this_version(&error),
            },
            _ => respond::text(404, "a ledger has no such route"),
        }
    }

    /// One turn, on books that are read from storage where there are none in memory.
    fn turn<T>(&self, turn: impl FnOnce(&mut Core, &mut Shell) -> Result<T, JsValue>) -> Result<T, JsValue> {
        let (result, wake_ms) = {
            let Inner { core, shell } = &mut *self.inner.borrow_mut();
            let mut books = match core.take() {
                Some(books) => books,
                None => {
                    let rows = shell.read()?;
                    Core::restore(js::random(), self.settings, setup::policies(&self.env), rows, shell)
                }
            };
            shell.failed = false;
            let result = turn(&mut books, shell);
            if !shell.failed {
                *core = Some(books);
            }
            (result, shell.wake_ms.take())
        };
        if let Some(ms) = wake_ms {
            self.timer.set(ms);
        }
        result
    }
}

fn as_json(value: &impl Serialize) -> Result<Response, JsValue> {
    respond::json(200, &serde_json::to_string(value).unwrap_or_default())
}

fn not_of_this_version(error: &serde_json::Error) -> Result<Response, JsValue> {
    respond::text(400, &format!("not a message of this version: {error}"))
}

/// What the platform does for a [`Core`].
struct Shell {
    sql: SqlStorage,
    storage: DurableObjectStorage,
    wake_ms: Option<u64>,
    /// Set when a write failed: what is in memory is then ahead of what is stored.
    failed: bool,
}

impl Shell {
    fn open(storage: DurableObjectStorage) -> Result<Self, JsValue> {
        let sql = storage.sql();
        // The schema has a version of its own: the next one is a new table, or a migration here.
        sql.exec(
            "CREATE TABLE IF NOT EXISTS ledger_v1 (key TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID",
            &Array::new(),
        )?;
        Ok(Self { sql, storage, wake_ms: None, failed: false })
    }

    fn read(&self) -> Result<Vec<(String, LedgerRow)>, JsValue> {
        // All of them, or a failure: a quota of which a row is missing would be granted again.
        let rows = self.sql.exec("SELECT key, data FROM ledger_v1", &Array::new())?.to_array()?;
        let text = |row: &JsValue, name| js::get(row, name).as_string();
        let read = |row: JsValue| {
            let pair = text(&row, "key").zip(text(&row, "data"));
            let (key, data) = pair.ok_or_else(|| JsValue::from("a row of ledger_v1 is not text"))?;
            let row = LedgerRow::read(&key, &data);
            Ok((key, row))
        };
        rows.iter().map(read).collect()
    }

    fn write_all(&self, writes: &[LedgerWrite]) -> Result<u64, JsValue> {
        sql::transaction(&self.storage, || {
            let mut billed = 0;
            for write in writes {
                billed += match write {
                    LedgerWrite::Put { key, row } => sql::write(
                        &self.sql,
                        "INSERT INTO ledger_v1 (key, data) VALUES (?, ?) \
                         ON CONFLICT (key) DO UPDATE SET data = excluded.data",
                        &Array::of2(&JsValue::from(key.as_str()), &JsValue::from(row.to_json())),
                    ),
                    LedgerWrite::Delete { key } => sql::write(
                        &self.sql,
                        "DELETE FROM ledger_v1 WHERE key = ?",
                        &Array::of1(&JsValue::from(key.as_str())),
                    ),
                }?;
            }
            Ok(billed)
        })
    }
}

impl LedgerHost for Shell {
    type Zone = IntlZone;
    type Fault = JsValue;

    fn cheap(&mut self) -> WallMs {
        js::date_now()
    }

    fn exact(&mut self) -> WallMs {
        sql::wall(&self.sql, js::date_now())
    }

    fn zone(&mut self, name: &str) -> Result<IntlZone, Error> {
        IntlZone::load(name, Naming::Snake)
    }

    fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, JsValue> {
        self.write_all(writes).inspect_err(|_| self.failed = true)
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), JsValue> {
        // Not awaited: the object's output gate holds the answer until it is stored.
        let set = self.storage.set_alarm(at.0 as f64);
        set.map(drop).inspect_err(|_| self.failed = true)
    }

    fn wake_after(&mut self, ms: u64) {
        self.wake_ms = Some(self.wake_ms.map_or(ms, |earlier| earlier.min(ms)));
    }

    fn warn(&mut self, event: LedgerEvent) {
        match event {
            LedgerEvent::ClockStep(step) => {
                log::warn("clock-step", &json!({ "kind": step.kind(), "stepped_ms": step.stepped_ms }));
            }
            LedgerEvent::Unreadable { key } => log::warn("ledger-row-unreadable", &json!({ "key": key })),
            LedgerEvent::QuotaUnavailable { policy, error } => {
                let fields = json!({ "policy": policy, "detail": error.to_string() });
                log::warn("quota-unavailable", &fields);
            }
            LedgerEvent::PeriodRegression { policy, serial } => {
                log::warn("period-regression", &json!({ "policy": policy, "serial": serial }));
            }
            LedgerEvent::UnknownFences { policy, adopted, rejected } => {
                let fields = json!({ "policy": policy, "adopted": adopted, "rejected": rejected });
                log::warn("unknown-fences", &fields);
            }
        }
    }
}
