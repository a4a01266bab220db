//! What the tests share.

use sluicegate::Cost;
use sluicegate::clock::SteadyMs;
use sluicegate::global::rules::{Rules, Standard};
use sluicegate::global::{
    CapAnswer, CapHolder, CapHolderSettings, CapKey, CapLedger, CapLedgerSettings, CapLimit, CapOutcome,
    CapReceipt, CapSettled, CapStore, CapVerdict, Ticket,
};
use sluicegate::http::KeyHash;
use sluicegate::window::{Epochs, WindowMs};

pub const WINDOW: u64 = 60_000;
/// The ledger's clock at the start; the epoch is 10.
pub const START: SteadyMs = SteadyMs(10 * WINDOW);
pub const LEDGER: &str = "shard/0";

/// A small key, so that it stands in for itself where memory is full.
pub fn key() -> CapKey {
    key_number(7)
}

pub fn key_number(number: u128) -> CapKey {
    CapKey { policy: "api".into(), key: KeyHash::new(number), window_ms: WindowMs::new(WINDOW).unwrap() }
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

pub fn limit(limit: u64, ppm: u32) -> CapLimit {
    CapLimit::new(limit, ppm).unwrap()
}

/// One point of presence with a clock of its own.
pub struct Pop<R: Rules = Standard> {
    pub holder: CapHolder<R>,
    pub now: SteadyMs,
}

impl<R: Rules> Pop<R> {
    pub fn new(random: u64) -> Self {
        Self { holder: CapHolder::new(random, CapHolderSettings::default()), now: SteadyMs(random % 1_000) }
    }

    pub fn request(&mut self, limit: CapLimit, units: u64) -> CapAnswer {
        self.holder.request(LEDGER, &key(), limit, cost(units), self.now)
    }

    /// Queues a request that is expected to wait.
    pub fn wait(&mut self, limit: CapLimit, units: u64) -> Ticket {
        match self.request(limit, units) {
            CapAnswer::Wait(ticket) => ticket,
            CapAnswer::Decided(verdict) => panic!("decided: {verdict:?}"),
        }
    }

    /// A request, and as many asks as it takes to decide it.
    pub fn decide(&mut self, shard: &mut Shard<R>, limit: CapLimit, units: u64) -> CapVerdict {
        let ticket = match self.request(limit, units) {
            CapAnswer::Decided(verdict) => {
                self.sync(shard);
                return verdict;
            }
            CapAnswer::Wait(ticket) => ticket,
        };
        let settled = self.sync(shard);
        settled.into_iter().find(|settled| settled.ticket == ticket).expect("an answer").verdict
    }

    /// Asks until there is nothing left to ask.
    pub fn sync(&mut self, shard: &mut Shard<R>) -> Vec<CapSettled> {
        let mut settled = Vec::new();
        while let Some(ask) = self.holder.next_ask(LEDGER, self.now) {
            let outcome = shard.answer(&ask);
            settled.extend(self.holder.reply(LEDGER, &outcome.reply, self.now));
        }
        settled
    }

    /// Requests that are admitted before one is not.
    pub fn spend(&mut self, shard: &mut Shard<R>, limit: CapLimit, most: u64) -> Vec<CapReceipt> {
        (0..most).map_while(|_| self.decide(shard, limit, 1).receipt).collect()
    }

    /// Requests that are admitted from what is in hand, without a word to the Ledger.
    pub fn spend_alone(&mut self, limit: CapLimit) -> u64 {
        let mut admitted = 0;
        while let CapAnswer::Decided(verdict) = self.request(limit, 1) {
            if !verdict.decision.allowed() {
                break;
            }
            admitted += 1;
        }
        admitted
    }
}

/// A Ledger with its storage and its clock.
pub struct Shard<R: Rules = Standard> {
    pub ledger: CapLedger<R>,
    pub settings: CapLedgerSettings,
    pub limit: CapLimit,
    pub now: SteadyMs,
    pub stored: Stored,
    pub asks: u64,
    pub rows: u64,
}

/// What a Ledger has stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub epochs: Epochs,
    pub rows: Vec<sluicegate::global::CapRow>,
}

impl Stored {
    pub fn write(&mut self, store: &CapStore) {
        if let Some(epochs) = &store.epochs {
            self.epochs = epochs.clone();
        }
        self.rows.retain(|old| {
            !store.forgotten.contains(&old.key) && store.rows.iter().all(|row| row.key != old.key)
        });
        self.rows.extend(store.rows.iter().cloned());
    }
}

impl<R: Rules> Shard<R> {
    pub fn new(limit: CapLimit) -> Self {
        let settings = CapLedgerSettings::default();
        let (ledger, stored) = (CapLedger::new(settings), Stored::default());
        Self { ledger, settings, limit, now: START, stored, asks: 0, rows: 0 }
    }

    pub fn answer(&mut self, ask: &sluicegate::global::CapAsk) -> CapOutcome {
        let outcome = self.ledger.answer(ask, |_| Some(self.limit), self.now);
        self.asks += 1;
        self.rows += outcome.store.rows.len() as u64;
        self.stored.write(&outcome.store);
        outcome
    }

    pub fn crash(&mut self) {
        self.ledger = CapLedger::restore(self.settings, self.stored.epochs.clone(), self.stored.rows.clone());
    }

    /// A moment without asks, after which the object leaves memory.
    pub fn evict(&mut self) {
        let store = self.ledger.settle();
        self.stored.write(&store);
        self.crash();
    }

    pub fn roll(&mut self) {
        self.now = self.now.plus(WINDOW);
    }
}
