//! A small world of points of presence and a ledger, made of the crate's own transition functions, with
//! everything between two of them in the hands of a search: which message arrives, who dies when.

use std::hash::{DefaultHasher, Hash, Hasher};

use sluicegate::Cost;
use sluicegate::clock::SteadyMs;
use sluicegate::fence::{Fence, FenceSource};
use sluicegate::global::{
    AskNumber, Birth, HolderName, HolderSettings, LeaseAskItem, LeaseBook, LeaseHolder, LeaseReplyItem,
    LeaseRow, LeaseWrite, Spend, Terms, Waiting,
};

use crate::broken::Broken;

const NOW: SteadyMs = SteadyMs(0);

/// The size of a world.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub pops: usize,
    /// Units per serial.
    pub limit: u64,
    /// Units written off at a time.
    pub chunk: u64,
    /// Restarts of each point of presence; each leaves an old instance behind.
    pub restarts: u8,
    /// Asks of each start.
    pub asks: u8,
    /// Periods that open after the first.
    pub turns: u8,
    pub costs: &'static [u64],
    pub wants: &'static [u64],
}

#[derive(Clone)]
pub struct Pop {
    pub storage: Vec<LeaseRow>,
    /// The storage as the running instance found it.
    pub found: Vec<LeaseRow>,
    pub boot: u64,
    pub live: LeaseHolder,
    /// An instance that should be gone, and still answers as long as it need not touch storage.
    pub zombie: Option<LeaseHolder>,
    restarts: u8,
    asks: u8,
    pub last_ask: AskNumber,
    /// Whether the reply to it was obeyed.
    pub heard: bool,
}

/// What really happened to a lease, and what the ledger last had of it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Truth {
    pub fence: Fence,
    pub serial: u64,
    pub spent: u64,
    pub amount: u64,
    pub off: u64,
    pub open: bool,
}

#[derive(Clone)]
pub struct World {
    pub pops: Vec<Pop>,
    pub book: LeaseBook,
    pub serial: u64,
    turns: u8,
    fences: u64,
    /// The network: whatever was sent may arrive at any time, any number of times, or never.
    pub asks: Vec<(usize, LeaseAskItem)>,
    pub replies: Vec<(usize, LeaseReplyItem)>,
    pub truth: Vec<Truth>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The units are taken, what is to be written is durable, the answer leaves.
    Spend(usize, u64),
    /// The write is durable, and the object dies before the answer leaves.
    SpendAndDie(usize, u64),
    ZombieSpends(usize, u64),
    WriteBack(usize),
    Close(usize),
    Ask(usize, u64),
    Restart(usize),
    AskArrives(usize),
    ReplyArrives(usize),
    PeriodOpens,
    /// Only in a broken world: the answer leaves first, the object dies before its write.
    AnswerAndDie(usize, u64),
    /// Only in a broken world: the reply leaves first, the ledger dies before its write.
    ReplyAndDie(usize),
}

pub fn name(pop: usize) -> HolderName {
    HolderName { pop: ["A", "B", "C"][pop].to_owned(), birth: Birth(pop as u64) }
}

fn apply(writes: &[LeaseWrite], storage: &mut Vec<LeaseRow>) {
    writes.iter().for_each(|write| write.apply(storage));
}

impl World {
    pub fn new(config: &Config) -> Self {
        let settings = HolderSettings { chunk: config.chunk, ..HolderSettings::default() };
        let pop = Pop {
            storage: Vec::new(),
            found: Vec::new(),
            boot: 1,
            live: LeaseHolder::start("q", 1, &[], settings, NOW).0,
            zombie: None,
            restarts: config.restarts,
            asks: config.asks,
            last_ask: AskNumber::default(),
            heard: true,
        };
        Self {
            pops: vec![pop; config.pops],
            book: LeaseBook::default(),
            serial: 1,
            turns: config.turns,
            fences: 0,
            asks: Vec::new(),
            replies: Vec::new(),
            truth: Vec::new(),
        }
    }

    /// Everything that what can happen next depends on: not when a holder would ask by itself, for here it
    /// may at any time; and of a stored reply only its number, for the reply is in the network.
    pub fn fingerprint(&self) -> u64 {
        let hasher = &mut DefaultHasher::new();
        for pop in &self.pops {
            (&pop.storage, &pop.found, pop.boot, pop.restarts, pop.asks).hash(hasher);
            (pop.last_ask, pop.heard).hash(hasher);
            for holder in [Some(&pop.live), pop.zombie.as_ref()] {
                holder.map(|holder| holder.leases().collect::<Vec<_>>()).hash(hasher);
            }
        }
        for entry in self.book.holders() {
            (&entry.holder, entry.n, &entry.leases, &entry.settled).hash(hasher);
        }
        (self.book.open_totals(), self.book.totals_of(1), self.serial, self.turns, self.fences).hash(hasher);
        for (pop, ask) in &self.asks {
            (pop, ask.n, &ask.have, ask.want).hash(hasher);
        }
        for (pop, reply) in &self.replies {
            (pop, reply.n, reply.terms.serial, reply.grant, &reply.confirmed, reply.scarce).hash(hasher);
        }
        self.truth.hash(hasher);
        hasher.finish()
    }

    /// Takes messages out of the network that can do nothing any more, having seen that they do nothing:
    /// there would be many more states otherwise, and each again as many times.
    pub fn prune(&mut self, config: &Config) {
        for index in (0..self.asks.len()).rev() {
            let (pop, n) = (self.asks[index].0, self.asks[index].1.n);
            let seen = self.book.holders().find(|entry| entry.holder == name(pop)).map(|entry| entry.n);
            if seen.is_some_and(|seen| n <= seen) {
                let mut next = self.clone();
                next.answer(config, Broken::Nothing, index, true);
                assert!(next.book == self.book && next.truth == self.truth, "an old ask did something");
                let news = next.replies.iter().filter(|reply| !self.replies.contains(reply));
                assert!(news.clone().all(|(_, reply)| reply.n == n && Some(n) == seen));
                self.asks.remove(index);
            }
        }
        for index in (0..self.replies.len()).rev() {
            let (pop, reply) = &self.replies[index];
            let pop = &self.pops[*pop];
            if pop.heard || reply.n != pop.last_ask {
                assert_eq!(pop.live.clone().hear(reply, NOW), None);
                self.replies.remove(index);
            }
        }
    }

    /// Everything that can happen next.
    pub fn actions(&self, config: &Config, broken: Broken) -> Vec<Action> {
        let mut actions = Vec::new();
        for (index, pop) in self.pops.iter().enumerate() {
            for cost in config.costs.iter().copied() {
                let in_hand = pop.live.in_hand() >= cost;
                if in_hand {
                    actions.push(Action::Spend(index, cost));
                }
                if in_hand && pop.restarts > 0 {
                    actions.push(Action::SpendAndDie(index, cost));
                    if broken == Broken::AnswerBeforeWrite {
                        actions.push(Action::AnswerAndDie(index, cost));
                    }
                }
                if pop.zombie.as_ref().is_some_and(|zombie| zombie.in_hand() >= cost) {
                    actions.push(Action::ZombieSpends(index, cost));
                }
            }
            if pop.live.in_hand() > 0 {
                actions.extend([Action::WriteBack(index), Action::Close(index)]);
            }
            if pop.asks > 0 {
                actions.extend(config.wants.iter().map(|want| Action::Ask(index, *want)));
            }
            if pop.restarts > 0 {
                actions.push(Action::Restart(index));
            }
        }
        actions.extend((0..self.asks.len()).map(Action::AskArrives));
        actions.extend((0..self.replies.len()).map(Action::ReplyArrives));
        if broken == Broken::ReplyBeforeStore {
            actions.extend((0..self.asks.len()).map(Action::ReplyAndDie));
        }
        if self.turns > 0 {
            actions.push(Action::PeriodOpens);
        }
        actions
    }

    pub fn step(&mut self, config: &Config, broken: Broken, action: Action) {
        match action {
            Action::Spend(index, cost) => {
                if let Some(writes) = self.spend(index, cost, false) {
                    apply(&writes, &mut self.pops[index].storage);
                }
            }
            Action::SpendAndDie(index, cost) => {
                let mut live = self.pops[index].live.clone();
                if let Spend::Taken { writes, .. } = live.spend(Cost::new(cost).unwrap(), 0, NOW) {
                    apply(&writes, &mut self.pops[index].storage);
                    self.restart(config, broken, index);
                }
            }
            Action::AnswerAndDie(index, cost) => {
                if self.spend(index, cost, false).is_some() {
                    self.restart(config, broken, index);
                }
            }
            Action::ZombieSpends(index, cost) => self.zombie_spends(broken, index, cost),
            Action::WriteBack(index) => {
                let pop = &mut self.pops[index];
                let writes = broken.write_back(pop.live.write_back(), &pop.found);
                apply(&writes, &mut pop.storage);
            }
            Action::Close(index) => {
                let pop = &mut self.pops[index];
                let writes = broken.close(pop.live.close());
                apply(&writes, &mut pop.storage);
            }
            Action::Ask(index, want) => self.ask(index, want),
            Action::Restart(index) => self.restart(config, broken, index),
            Action::AskArrives(index) => self.answer(config, broken, index, true),
            Action::ReplyAndDie(index) => self.answer(config, broken, index, false),
            Action::ReplyArrives(index) => self.hear(broken, index),
            Action::PeriodOpens => {
                self.turns -= 1;
                self.serial += 1;
            }
        }
    }

    fn spend(&mut self, index: usize, cost: u64, by_zombie: bool) -> Option<Vec<LeaseWrite>> {
        let pop = &mut self.pops[index];
        let holder = if by_zombie { pop.zombie.as_mut()? } else { &mut pop.live };
        let Spend::Taken { receipt, writes } = holder.spend(Cost::new(cost).unwrap(), 0, NOW) else {
            return None;
        };
        for spent in receipt.spent {
            let truth = self.truth.iter_mut().find(|truth| truth.fence == spent.fence);
            truth.expect("a lease that was granted").spent += spent.units;
        }
        Some(writes)
    }

    /// An old instance dies when it touches storage: the write fails, and no answer leaves.
    fn zombie_spends(&mut self, broken: Broken, index: usize, cost: u64) {
        let before = self.truth.clone();
        let writes = self.spend(index, cost, true).unwrap_or_default();
        if broken == Broken::ZombieWrites {
            apply(&writes, &mut self.pops[index].storage);
        } else if !writes.is_empty() {
            self.truth = before;
            self.pops[index].zombie = None;
        }
    }

    fn ask(&mut self, index: usize, want: u64) {
        let pop = &mut self.pops[index];
        // Requests for more than is in hand, so that the ask is for `want` units.
        let cost = if want == 0 { 0 } else { want + pop.live.in_hand() };
        let waiting = if cost == 0 { Waiting::default() } else { Waiting { sum: cost, least: cost } };
        let ask = pop.live.ask(&pop.storage, waiting, NOW);
        pop.asks -= 1;
        pop.last_ask = ask.n;
        pop.heard = false;
        self.asks.push((index, ask));
        self.asks.sort_by_key(|(pop, ask)| (*pop, ask.n));
    }

    fn restart(&mut self, config: &Config, broken: Broken, index: usize) {
        let settings = HolderSettings { chunk: config.chunk, ..HolderSettings::default() };
        let pop = &mut self.pops[index];
        pop.restarts -= 1;
        pop.asks = config.asks;
        pop.heard = true;
        pop.boot += u64::from(broken != Broken::BootRepeated);
        broken.restart(&mut pop.storage);
        let (live, writes) = LeaseHolder::start("q", pop.boot, &pop.storage, settings, NOW);
        apply(&writes, &mut pop.storage);
        pop.found = pop.storage.clone();
        pop.zombie = Some(std::mem::replace(&mut pop.live, live));
    }

    fn answer(&mut self, config: &Config, broken: Broken, index: usize, stores: bool) {
        let (pop, ask) = self.asks[index].clone();
        let holder = name(pop);
        let (terms, told) = (self.terms(config, broken), broken.ask(ask.clone(), &self.book, &holder));
        let mut fences = FenceSource::new(self.fences);
        let before = self.book.clone();
        let answer = self.book.answer(&holder, &told, &terms, NOW, &mut fences);
        // What is only in memory goes: each turn begins from storage.
        self.book = LeaseBook::restore(if stores { &self.book } else { &before }.rows());
        let Some(mut reply) = answer.reply else { return };
        if reply.n == told.n {
            reply.n = ask.n;
        }
        if let Some(grant) = reply.grant.filter(|g| self.truth.iter().all(|t| t.fence != g.fence)) {
            self.fences += 1;
            let (fence, amount, serial) = (grant.fence, grant.amount, reply.terms.serial);
            self.truth.push(Truth { fence, serial, spent: 0, amount, off: 0, open: true });
        }
        for lease in self.book.holders().flat_map(|entry| &entry.leases) {
            if let Some(truth) = self.truth.iter_mut().find(|truth| truth.fence == lease.fence) {
                (truth.amount, truth.off, truth.open) = (lease.amount, lease.off, lease.open);
            }
        }
        if !self.replies.contains(&(pop, reply.clone())) {
            self.replies.push((pop, reply));
            self.replies.sort_by_key(|(pop, reply)| (*pop, reply.n));
        }
    }

    fn hear(&mut self, broken: Broken, index: usize) {
        let (pop, mut reply) = self.replies[index].clone();
        let pop = &mut self.pops[pop];
        if broken == Broken::AnyReplyObeyed {
            reply.n = pop.last_ask;
        }
        if let Some(writes) = pop.live.hear(&reply, NOW) {
            pop.heard = true;
            apply(&broken.hear(writes), &mut pop.storage);
        }
    }

    fn terms(&self, config: &Config, broken: Broken) -> Terms {
        let limit = config.limit + broken.extra(&self.book, self.serial);
        Terms { serial: self.serial, limit, whole: limit, ..Terms::default() }
    }

    /// The two promises: what was spent in a serial is within its limit, and what was spent of a lease is
    /// within what the ledger takes for gone.
    pub fn promises(&self, config: &Config) -> Result<(), String> {
        for serial in 1..=self.serial {
            let spent: u64 = self.truth.iter().filter(|t| t.serial == serial).map(|t| t.spent).sum();
            if spent > config.limit {
                return Err(format!("{spent} of {} were spent in serial {serial}", config.limit));
            }
        }
        for truth in &self.truth {
            let gone = if truth.open { truth.amount } else { truth.off };
            if truth.spent > gone {
                return Err(format!("{} were spent of {}, of which {gone} count", truth.spent, truth.fence));
            }
        }
        Ok(())
    }

    /// The books agree with each other.
    pub fn books(&self, config: &Config) -> Result<(), String> {
        for serial in 1..=self.serial {
            let audit = self.book.audit(serial, config.limit);
            if let Some(audit) = audit.filter(|audit| !audit.consistent) {
                return Err(audit.faults.join("; "));
            }
        }
        Ok(())
    }
}
