//! The Durable Object of one point of presence and shard.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Request, Response};
use worker::Env;

use super::js::{self, DurableObjectState, DurableObjectStorage};
use super::ledgers::Ledgers;
use super::pop_rows::PopRows;
use super::timer::Timer;
use super::{ASK_HEADER, REPLY_HEADER, log, respond, setup};
use crate::clock::WallMs;
use crate::counter::JournalRow;
use crate::global::{LeaseRow, LeaseWrite};
use crate::ledger::{LedgerAsk, LedgerName, QuotaName};
use crate::pop::{AskId, Pop, PopAsk, PopEvent, PopHost, PopReply, RequestId, StoredStart};

/// Counts the keys of one point of presence and shard, and spends what Ledgers gave it.
///
/// The object is a thin shell: a [`Pop`] decides, this reads the clock, writes rows, sends and answers. Each
/// of its calls is one synchronous turn, so nothing can come between a look and a take, and no borrow
/// lives across an await.
#[wasm_bindgen]
#[allow(missing_debug_implementations)]
pub struct PopCounter(Rc<Object>);

struct Object {
    inner: RefCell<Inner>,
    timer: Timer,
    ledgers: Ledgers,
}

struct Inner {
    pop: Pop,
    shell: Shell,
}

#[wasm_bindgen]
impl PopCounter {
    /// Reads the stored rows back: after an eviction, a restart or a crash.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Result<PopCounter, JsValue> {
        let storage = state.storage();
        let rows = PopRows::open(storage.sql(), storage.clone())?;
        let journal = rows.read_journal()?;
        let mut shell = Shell { rows, storage, waiting: HashMap::new(), outbox: Vec::new(), wake_ms: None };
        let pop = Pop::restore(js::random(), setup::pop_settings(&env), journal, &mut shell)?;
        let object = Rc::new_cyclic(|weak: &Weak<Object>| {
            let weak = weak.clone();
            let timer = Timer::new(move || {
                if let Some(object) = weak.upgrade() {
                    object.run("timer", |pop, shell| pop.tick(shell));
                }
            });
            Object { inner: RefCell::new(Inner { pop, shell }), timer, ledgers: Ledgers::of(&env) }
        });
        object.after_turn();
        Ok(Self(object))
    }

    /// Answers the edge: a [`PopAsk`] in a header, so that no body has to be streamed, or a question for
    /// the totals. A request that waits for a Ledger is answered by a promise.
    pub fn fetch(&self, request: Request) -> Result<JsValue, JsValue> {
        let Some(text) = request.headers().get(ASK_HEADER)? else {
            return self.report();
        };
        let ask: PopAsk = match serde_json::from_str(&text) {
            Ok(ask) => ask,
            Err(error) => {
                return respond::text(400, &format!("not an ask of this version: {error}")).map(Into::into);
            }
        };
        match self.0.turn(|pop, shell| pop.request(&ask, shell))? {
            Ok(reply) => answer(&reply).map(Into::into),
            Err(id) => Ok(self.0.promise(id).into()),
        }
    }

    /// Gives memory and leases back when nothing asks for them any more.
    pub fn alarm(&self) -> Result<(), JsValue> {
        self.0.turn(|pop, shell| pop.alarm(shell))
    }

    /// What it has done. Whoever asks drives it too: its own timers may stand still.
    fn report(&self) -> Result<JsValue, JsValue> {
        // The second look sees whether the clock moves.
        self.0.turn(|pop, shell| pop.tick(shell))?;
        self.0.turn(|pop, shell| pop.tick(shell))?;
        let report = serde_json::to_string(&self.0.inner.borrow().pop.report()).unwrap_or_default();
        respond::json(200, &report).map(Into::into)
    }
}

impl Object {
    /// One turn: what it leaves to send is sent after it, when nothing is borrowed.
    fn turn<T>(
        self: &Rc<Self>,
        turn: impl FnOnce(&mut Pop, &mut Shell) -> Result<T, JsValue>,
    ) -> Result<T, JsValue> {
        let result = {
            let Inner { pop, shell } = &mut *self.inner.borrow_mut();
            turn(pop, shell)
        };
        self.after_turn();
        result
    }

    /// A turn that nobody waits for.
    fn run(self: &Rc<Self>, what: &str, turn: impl FnOnce(&mut Pop, &mut Shell) -> Result<(), JsValue>) {
        if let Err(error) = self.turn(turn) {
            log::error(what, &js::describe(&error));
        }
    }

    fn after_turn(self: &Rc<Self>) {
        let (outbox, wake_ms) = {
            let shell = &mut self.inner.borrow_mut().shell;
            (std::mem::take(&mut shell.outbox), shell.wake_ms.take())
        };
        if let Some(ms) = wake_ms {
            self.timer.set(ms);
        }
        for (id, to, ask) in outbox {
            let asked = self.ledgers.ask(to, &ask);
            let object = Rc::downgrade(self);
            spawn_local(async move {
                let reply = asked.await;
                if let Some(object) = object.upgrade() {
                    object.run("ledger-reply", |pop, shell| pop.hear(id, reply.as_ref(), shell));
                }
            });
        }
    }

    /// A promise of the answer to a request that waits.
    fn promise(&self, id: RequestId) -> Promise {
        Promise::new(&mut |resolve, _reject| {
            self.inner.borrow_mut().shell.waiting.insert(id, resolve);
        })
    }
}

fn answer(reply: &PopReply) -> Result<Response, JsValue> {
    respond::with_header(REPLY_HEADER, &serde_json::to_string(reply).unwrap_or_default())
}

/// What the platform does for a [`Pop`].
struct Shell {
    rows: PopRows,
    storage: DurableObjectStorage,
    waiting: HashMap<RequestId, Function>,
    outbox: Vec<(AskId, LedgerName, LedgerAsk)>,
    wake_ms: Option<u64>,
}

impl PopHost for Shell {
    type Fault = JsValue;

    fn cheap(&mut self) -> WallMs {
        js::date_now()
    }

    fn exact(&mut self) -> WallMs {
        self.rows.wall(js::date_now())
    }

    fn random(&mut self) -> u64 {
        js::random()
    }

    fn write_journal(&mut self, rows: &[JournalRow]) -> Result<u64, JsValue> {
        self.rows.write_journal(rows)
    }

    fn delete_journal(&mut self, slots: &[u16]) -> Result<u64, JsValue> {
        self.rows.delete_journal(slots)
    }

    fn read_start(&mut self) -> Result<(Option<StoredStart>, Vec<QuotaName>), JsValue> {
        self.rows.read_start()
    }

    fn write_start(&mut self, start: &StoredStart) -> Result<u64, JsValue> {
        self.rows.write_start(start)
    }

    fn read_leases(&mut self, quota: &QuotaName) -> Result<Vec<LeaseRow>, JsValue> {
        self.rows.read_leases(quota)
    }

    fn write_leases(&mut self, quota: &QuotaName, writes: &[LeaseWrite]) -> Result<u64, JsValue> {
        self.rows.write_leases(quota, writes)
    }

    fn send(&mut self, id: AskId, to: LedgerName, ask: LedgerAsk) {
        self.outbox.push((id, to, ask));
    }

    fn answer(&mut self, id: RequestId, reply: PopReply) {
        let Some(resolve) = self.waiting.remove(&id) else { return };
        let told = answer(&reply).and_then(|response| resolve.call1(&JsValue::UNDEFINED, &response));
        if let Err(error) = told {
            log::error("answer", &js::describe(&error));
        }
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), JsValue> {
        // Not awaited: the object's output gate holds the answer until it is stored.
        let _stored = self.storage.set_alarm(at.0 as f64)?;
        Ok(())
    }

    fn wake_after(&mut self, ms: u64) {
        self.wake_ms = Some(self.wake_ms.map_or(ms, |earlier| earlier.min(ms)));
    }

    fn warn(&mut self, event: PopEvent) {
        match event {
            PopEvent::ClockStep(step) => {
                let fields = serde_json::json!({ "kind": step.kind(), "stepped_ms": step.stepped_ms });
                log::warn("clock-step", &fields);
            }
            PopEvent::LedgerOutOfReach(ledger) => {
                log::warn("ledger-out-of-reach", &serde_json::json!({ "ledger": ledger.to_string() }));
            }
            PopEvent::LeasesLost => log::error("leases", "storage failed; they are read again when needed"),
        }
    }
}
