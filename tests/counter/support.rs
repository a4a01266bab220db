//! An object with its storage, and short ways to ask it.

use std::collections::HashMap;

use sluicegate::Cost;
use sluicegate::clock::WallMs;
use sluicegate::counter::{
    Ask, AskLimit, Counter, CounterSettings, Holder, JournalRow, Op, Outcome, Reply, SLOTS, WIRE_VERSION,
};
use sluicegate::http::KeyHash;
use sluicegate::policy::Algorithm;
use sluicegate::window::{FixedWindow, WindowMs};

pub const START: i64 = 1_780_000_000_000;
pub const SETTINGS: CounterSettings =
    CounterSettings { flush_hits: 10, flush_every_ms: 1_000, max_keys: 1_000 };

/// An object with its storage: rows survive, memory does not.
pub struct Object {
    pub counter: Counter,
    pub disk: HashMap<u16, JournalRow>,
    settings: CounterSettings,
    pub now: i64,
    lives: u32,
}

impl Object {
    pub fn new(settings: CounterSettings) -> Self {
        let counter = Counter::restore(Holder(0), settings, Vec::new(), WallMs(START));
        Self { counter, disk: HashMap::new(), settings, now: START, lives: 0 }
    }

    pub fn decide(&mut self, op: Op, limits: Vec<AskLimit>) -> Outcome {
        let wall = WallMs(self.now);
        let outcome = self.counter.decide(&Ask { v: WIRE_VERSION, op, limits }, wall, || wall);
        self.store(outcome.rows.clone());
        outcome
    }

    pub fn ask(&mut self, op: Op, limits: Vec<AskLimit>) -> Reply {
        self.decide(op, limits).reply
    }

    pub fn take(&mut self, limit: AskLimit) -> Reply {
        self.ask(Op::Take, vec![limit])
    }

    pub fn store(&mut self, rows: Vec<JournalRow>) {
        for row in rows {
            assert!(row.slot < SLOTS && row.data.len() < 2_000_000);
            self.disk.insert(row.slot, row);
        }
    }

    /// The flush timer fires. Returns how many rows it wrote.
    pub fn timer(&mut self) -> usize {
        let wall = WallMs(self.now);
        let rows = self.counter.flush_now(wall, || wall);
        let count = rows.len();
        self.store(rows);
        count
    }

    /// `kill -9`: only what is on the disk comes back.
    pub fn crash(&mut self) {
        self.lives += 1;
        let mut rows: Vec<_> = self.disk.values().cloned().collect();
        rows.sort_by_key(|row| row.seq);
        self.counter = Counter::restore(Holder(self.lives), self.settings, rows, WallMs(self.now));
    }
}

pub fn fixed(limit: u64, window_ms: u64) -> Algorithm {
    Algorithm::FixedWindow(FixedWindow::new(limit, WindowMs::new(window_ms).unwrap()).unwrap())
}

pub fn limit(algorithm: Algorithm, key: u128, cost: u64) -> AskLimit {
    AskLimit {
        policy: "p".to_owned(),
        algorithm,
        key: KeyHash::new(key),
        cost: Cost::new(cost).unwrap(),
        shadow: false,
        receipt: None,
    }
}

pub fn remaining(reply: &Reply) -> Vec<u64> {
    reply.limits.iter().map(|limit| limit.decision.remaining).collect()
}
