//! Points of presence and a ledger with storages, a clock and a network: for schedules longer than a
//! search can go through.

use std::collections::BTreeMap;

use sluicegate::Cost;
use sluicegate::clock::SteadyMs;
use sluicegate::fence::FenceSource;
use sluicegate::global::{
    BookKey, BookRow, BookWrite, HolderName, HolderSettings, HolderStart, LeaseAskItem, LeaseBook,
    LeaseHolder, LeaseReplyItem, LeaseRow, LeaseWrite, SerialTotals, Spend, Terms, Waiting,
};

pub struct SimPop {
    pub start: HolderStart,
    pub storage: Vec<LeaseRow>,
    pub live: Option<LeaseHolder>,
}

pub enum Message {
    Ask(usize, LeaseAskItem),
    Reply(usize, LeaseReplyItem),
}

pub struct Sim {
    pub limit: u64,
    pub settings: HolderSettings,
    pub pops: Vec<SimPop>,
    pub rows: BTreeMap<BookKey, BookRow>,
    pub book: LeaseBook,
    fences: FenceSource,
    starts: u64,
    pub net: Vec<Message>,
    pub now: SteadyMs,
    pub serial: u64,
    /// What is left of the open period.
    pub left_ms: u64,
    /// Units that requests were admitted with, by serial.
    pub admitted: BTreeMap<u64, u64>,
    /// Units of the open serial that crashes took: written off, and never spent.
    pub lost: u64,
    /// Asks that the ledger was sent.
    pub asks: u64,
    /// Books closed for good.
    pub closed: Vec<SerialTotals>,
}

impl Sim {
    pub fn new(limit: u64, chunk: u64, pops: usize) -> Self {
        let pop = |index| SimPop {
            start: HolderStart::next(None, 1_000 + index as u64),
            storage: Vec::new(),
            live: None,
        };
        Self {
            limit,
            settings: HolderSettings { chunk, ..HolderSettings::default() },
            pops: (0..pops).map(pop).collect(),
            rows: BTreeMap::new(),
            book: LeaseBook::default(),
            fences: FenceSource::new(1),
            starts: 1,
            net: Vec::new(),
            now: SteadyMs(1_000_000),
            serial: 1,
            left_ms: 1 << 40,
            admitted: BTreeMap::new(),
            lost: 0,
            asks: 0,
            closed: Vec::new(),
        }
    }

    pub fn name(&self, pop: usize) -> HolderName {
        HolderName { pop: format!("POP-{pop}"), birth: self.pops[pop].start.birth }
    }

    pub fn terms(&self) -> Terms {
        Terms {
            serial: self.serial,
            limit: self.limit,
            whole: self.limit,
            left_ms: self.left_ms,
            ..Terms::default()
        }
    }

    fn store(&mut self, pop: usize, writes: &[LeaseWrite]) {
        writes.iter().for_each(|write| write.apply(&mut self.pops[pop].storage));
    }

    /// The object of a point of presence, started if it is not in memory.
    pub fn live(&mut self, pop: usize) -> &mut LeaseHolder {
        if self.pops[pop].live.is_none() {
            let start = HolderStart::next(Some(self.pops[pop].start), 0);
            self.pops[pop].start = start;
            let (live, writes) =
                LeaseHolder::start("q", start.boot, &self.pops[pop].storage, self.settings, self.now);
            self.store(pop, &writes);
            self.pops[pop].live = Some(live);
        }
        self.pops[pop].live.as_mut().unwrap()
    }

    pub fn spend(&mut self, pop: usize, cost: u64, asked: u32) -> Spend {
        let now = self.now;
        let spend = self.live(pop).spend(Cost::new(cost).unwrap(), asked, now);
        if let Spend::Taken { receipt, writes } = &spend {
            self.store(pop, writes);
            for spent in &receipt.spent {
                let row = self.pops[pop].storage.iter().find(|row| row.fence == spent.fence).unwrap();
                *self.admitted.entry(row.serial).or_default() += spent.units;
            }
        }
        spend
    }

    pub fn ask(&mut self, pop: usize, cost: u64) -> LeaseAskItem {
        let waiting = if cost == 0 { Waiting::default() } else { Waiting { sum: cost, least: cost } };
        let now = self.now;
        self.live(pop);
        let stored = self.pops[pop].storage.clone();
        self.asks += 1;
        self.live(pop).ask(&stored, waiting, now)
    }

    /// An ask arrives; the reply leaves when what it changed is stored.
    pub fn answer(&mut self, pop: usize, ask: &LeaseAskItem) -> Option<LeaseReplyItem> {
        let (name, terms) = (self.name(pop), self.terms());
        let answer = self.book.answer(&name, ask, &terms, self.now, &mut self.fences);
        for write in answer.writes {
            match write {
                BookWrite::Put(row) => drop(self.rows.insert(row.key(), row)),
                BookWrite::Delete(key) => drop(self.rows.remove(&key)),
            }
        }
        self.closed.extend(answer.closed);
        answer.reply
    }

    pub fn hear(&mut self, pop: usize, reply: &LeaseReplyItem) -> bool {
        let now = self.now;
        let Some(live) = &mut self.pops[pop].live else { return false };
        let Some(writes) = live.hear(reply, now) else { return false };
        self.store(pop, &writes);
        true
    }

    /// An ask and its reply, with nothing in between.
    pub fn exchange(&mut self, pop: usize, cost: u64) {
        let ask = self.ask(pop, cost);
        if let Some(reply) = self.answer(pop, &ask) {
            self.hear(pop, &reply);
        }
    }

    /// A request on a network without faults.
    pub fn request(&mut self, pop: usize, cost: u64) -> bool {
        for asked in 0..4 {
            match self.spend(pop, cost, asked) {
                Spend::Taken { .. } => return true,
                Spend::Refused(_) => return false,
                Spend::Wait => self.exchange(pop, cost),
            }
        }
        panic!("a request that waits for ever");
    }

    /// What is due at a point of presence; says whether it wants to ask.
    pub fn tick(&mut self, pop: usize) -> bool {
        let now = self.now;
        let Some(live) = &mut self.pops[pop].live else { return false };
        let tick = live.tick(now);
        self.store(pop, &tick.writes);
        tick.ask
    }

    pub fn pass(&mut self, ms: u64) {
        self.now = self.now.plus(ms);
    }

    /// Time with timers that work, and a network without faults.
    pub fn wait(&mut self, ms: u64) {
        for _ in 0..ms.div_ceil(500) {
            self.pass(500);
            for pop in 0..self.pops.len() {
                if self.tick(pop) {
                    self.exchange(pop, 0);
                }
            }
        }
    }

    /// Units that are written off at a point of presence, and not spent.
    pub fn unspent(&self, pop: usize) -> u64 {
        let Some(live) = &self.pops[pop].live else { return 0 };
        live.leases().filter(|(row, _)| row.serial == self.serial).map(|(row, used)| row.off - used).sum()
    }

    /// The object dies where it stands.
    pub fn crash(&mut self, pop: usize) {
        self.lost += self.unspent(pop);
        self.pops[pop].live = None;
    }

    /// The write of a spend is durable, and the object dies before the answer leaves.
    pub fn crash_in_spend(&mut self, pop: usize, cost: u64) {
        let (now, serial) = (self.now, self.serial);
        let before: Vec<_> = self.live(pop).leases().collect();
        let spend = self.live(pop).spend(Cost::new(cost).unwrap(), 0, now);
        if let Spend::Taken { writes, .. } = spend {
            self.store(pop, &writes);
        }
        for (row, used) in before.into_iter().filter(|(row, _)| row.serial == serial) {
            let stored = self.pops[pop].storage.iter().find(|other| other.fence == row.fence).unwrap();
            self.lost += stored.off - used;
        }
        self.pops[pop].live = None;
    }

    /// Ten idle seconds, and the object is taken out of memory, as the platform does.
    pub fn evict(&mut self, pop: usize) {
        for _ in 0..10 {
            self.pass(1_000);
            self.tick(pop);
        }
        assert_eq!(self.unspent(pop), 0, "an eviction lost units");
        self.pops[pop].live = None;
    }

    /// The ledger dies and reads its storage.
    pub fn restart_ledger(&mut self) {
        self.starts += 1;
        self.fences = FenceSource::new(self.starts);
        self.book = LeaseBook::restore(self.rows.values().cloned());
    }

    pub fn admitted(&self) -> u64 {
        self.admitted.get(&self.serial).copied().unwrap_or(0)
    }

    /// Everything is reachable and quiet: takes what is left, at one place.
    pub fn drain(&mut self, pop: usize) {
        for other in 0..self.pops.len() {
            self.live(other);
        }
        self.net.clear();
        self.wait(25_000);
        let mut refused = 0;
        while refused < 40 {
            if !self.request(pop, 1) {
                refused += 1;
                self.wait(1_000);
            } else {
                refused = 0;
            }
        }
    }

    pub fn check(&self) {
        for (serial, admitted) in &self.admitted {
            assert!(*admitted <= self.limit, "{admitted} of {} in serial {serial}", self.limit);
            if let Some(audit) = self.book.audit(*serial, self.limit) {
                assert!(audit.consistent, "{:?}", audit.faults);
                assert!(audit.spent + audit.forfeited + audit.outstanding <= self.limit);
            }
        }
    }
}
