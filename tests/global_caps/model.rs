//! Holders, one Ledger and the network between them, over the crate's own transition functions.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;

use sluicegate::clock::SteadyMs;
use sluicegate::global::rules::Rules;
use sluicegate::global::{
    CapAnswer, CapAsk, CapHolder, CapHolderSettings, CapLedger, CapLedgerSettings, CapLimit, CapReceipt,
    CapReply, CapStore, CapVerdict,
};
use sluicegate::window::Epoch;

use super::search::Model;
use super::setup::{Part, Setup, Wrong, name_of};
use super::support::{LEDGER, START, Stored, WINDOW, cost, key};

#[derive(Clone, Debug, PartialEq)]
enum Message {
    Ask { from: usize, ask: CapAsk },
    Reply { to: usize, reply: CapReply },
}

#[derive(Clone, Debug, PartialEq)]
struct Pop<R: Rules> {
    holder: CapHolder<R>,
    now: u64,
    receipts: Vec<CapReceipt>,
    /// The first unit of each receipt that was given back.
    given: Vec<(Epoch, u64, u64)>,
    in_flight: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Shard<R: Rules> {
    ledger: CapLedger<R>,
    stored: Stored,
    now: u64,
    /// The clock's mark, as stored.
    mark: u64,
    /// The largest epoch told to anyone.
    told: u64,
    /// It has settled, and nothing has happened since.
    settled: bool,
}

/// A state of the whole.
#[derive(Clone)]
pub struct World<R: Rules> {
    setup: Setup,
    shard: Part<Shard<R>>,
    pops: Vec<Part<Pop<R>>>,
    /// Everything ever sent: it may be delivered at any time, any number of times, or never.
    sent: Vec<Part<Message>>,
    /// Units truly admitted, net of refunds, by epoch and generation.
    net: BTreeMap<(Epoch, u64), u64>,
    refunded: bool,
    crashed: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Action {
    Request {
        pop: usize,
        cost: u64,
    },
    Deliver {
        message: usize,
    },
    /// The Ledger handles an ask, and crashes before the reply is out.
    DeliverAndCrash {
        message: usize,
    },
    /// The reply is out, and the Ledger crashes before it has stored.
    ReplyAndCrash {
        message: usize,
    },
    Fail {
        pop: usize,
    },
    Refund {
        pop: usize,
        receipt: usize,
    },
    Fork {
        pop: usize,
    },
    Forget {
        pop: usize,
    },
    Hurry {
        pop: usize,
    },
    Roll,
    Crash,
    Settle,
    Reset,
}

const HOLDER: CapHolderSettings = CapHolderSettings { max_keys: 1, max_waiting: 100 };

impl<R: Rules> World<R> {
    pub fn new(setup: Setup) -> Self {
        let settings = CapLedgerSettings { ahead_ppm: setup.ahead_ppm, ..CapLedgerSettings::default() };
        let shard = Shard {
            ledger: CapLedger::new(settings),
            stored: Stored::default(),
            now: START.0,
            mark: START.0,
            told: 0,
            settled: false,
        };
        let pops = (0..setup.holders).map(|i| Part::new(Pop::new(i as u64))).collect();
        let (sent, net) = (Vec::new(), BTreeMap::new());
        Self { setup, shard: Part::new(shard), pops, sent, net, refunded: false, crashed: false }
    }

    fn send(&mut self, message: Message) {
        let part = Part::new(message);
        if let Err(place) = self.sent.binary_search_by_key(&part.name, |sent| sent.name) {
            self.sent.insert(place, part);
        }
    }

    /// Changes one holder, counts what it admitted, and sends what it asks.
    fn change(&mut self, place: usize, f: impl FnOnce(&mut Pop<R>) -> Vec<CapVerdict>) {
        let mut pop = (*self.pops[place].value).clone();
        for receipt in f(&mut pop).into_iter().filter_map(|verdict| verdict.receipt) {
            *self.net.entry((receipt.epoch, receipt.r#gen)).or_default() += receipt.cost.get();
            pop.receipts.push(receipt);
        }
        if let Some(ask) = pop.holder.next_ask(LEDGER, SteadyMs(pop.now)) {
            pop.in_flight = Some(ask.n);
            self.send(Message::Ask { from: place, ask });
        }
        self.pops[place].set(pop);
    }

    fn deliver(&mut self, message: usize, how: Delivery) -> Result<(), String> {
        let message = Rc::clone(&self.sent[message].value);
        match &*message {
            Message::Reply { to, reply } => {
                self.change(*to, |pop| {
                    if pop.in_flight == Some(reply.n) {
                        pop.in_flight = None;
                    }
                    let settled = pop.holder.reply(LEDGER, reply, SteadyMs(pop.now));
                    settled.into_iter().map(|settled| settled.verdict).collect()
                });
                Ok(())
            }
            Message::Ask { from, ask } => self.answer(*from, ask, how),
        }
    }

    fn answer(&mut self, from: usize, ask: &CapAsk, how: Delivery) -> Result<(), String> {
        let limit = self.setup.limit;
        let mut shard = (*self.shard.value).clone();
        let before = shard.ledger.totals(&key());
        shard.settled = false;
        let outcome = shard.ledger.answer(ask, |_| Some(limit), SteadyMs(shard.now));
        if how != Delivery::ReplyAndCrash {
            shard.write(&outcome.store, self.setup.wrong);
        }
        for item in &outcome.reply.items {
            if item.epoch.0 < shard.told {
                return Err(format!("epoch {:?} was told after {}", item.epoch, shard.told));
            }
        }
        if how != Delivery::CrashFirst {
            shard.told = outcome.reply.items.iter().fold(shard.told, |told, item| told.max(item.epoch.0));
            self.send(Message::Reply { to: from, reply: outcome.reply });
        }
        let after = shard.ledger.totals(&key());
        if how != Delivery::Plain {
            shard.crash(self.setup.ahead_ppm)?;
            self.crashed = true;
        }
        self.shard.set(shard);
        // What a refund frees is no longer within the slack; the ceiling holds all the same.
        if self.refunded { Ok(()) } else { check_grants(limit, &before, &after) }
    }

    fn check(&self) -> Result<(), String> {
        let ceiling = self.setup.limit.ceiling();
        for ((epoch, r#gen), net) in &self.net {
            if *net > ceiling {
                return Err(format!("{net} of {ceiling} admitted in {epoch:?}, generation {gen}"));
            }
        }
        let shard = &self.shard.value;
        let totals = shard.ledger.totals(&key());
        for total in &totals {
            if total.caps > ceiling {
                return Err(format!("the caps sum to {} of {ceiling}", total.caps));
            }
        }
        let mut sums: BTreeMap<(Epoch, u64), u64> = BTreeMap::new();
        for pop in &self.pops {
            for page in pop.value.holder.pages(LEDGER, &key()) {
                if page.taken.saturating_sub(page.given) > page.cap {
                    return Err(format!("a holder passed its cap: {page:?}"));
                }
                *sums.entry((page.epoch, page.r#gen)).or_default() += page.cap;
                let id = pop.value.holder.id(LEDGER).unwrap();
                let booked = shard.ledger.cap(&key(), page.epoch, id);
                let is_open = totals.iter().any(|t| (t.epoch, t.r#gen) == (page.epoch, page.r#gen));
                if is_open && !self.crashed && page.cap > booked {
                    return Err(format!("the holder's cap {} is {booked} in the books", page.cap));
                }
            }
        }
        for total in &totals {
            let sum = sums.get(&(total.epoch, total.r#gen)).copied().unwrap_or(0);
            let stored = shard.stored.reserved(total.epoch);
            if sum > total.caps || sum > stored {
                return Err(format!("caps of {sum} are out, {} in the books, {stored} stored", total.caps));
            }
            if total.known > total.caps {
                return Err(format!("{} are known of caps of {}", total.known, total.caps));
            }
        }
        Ok(())
    }

    fn holders_that(&self, can: impl Fn(&Pop<R>) -> bool) -> impl Iterator<Item = usize> {
        let able: Vec<usize> = (0..self.pops.len()).filter(|i| can(&self.pops[*i].value)).collect();
        able.into_iter()
    }
}

/// The Ledger grants nothing when it knows of the limit, and keeps what is out within the slack.
fn check_grants(
    limit: CapLimit,
    before: &[sluicegate::global::CapTotals],
    after: &[sluicegate::global::CapTotals],
) -> Result<(), String> {
    for now in after {
        let same = |was: &&sluicegate::global::CapTotals| (was.epoch, was.r#gen) == (now.epoch, now.r#gen);
        let (known, caps) = before.iter().find(same).map_or((0, 0), |was| (was.known, was.caps));
        if now.caps > caps && known >= limit.limit() {
            return Err(format!("granted although {known} of {} were known", limit.limit()));
        }
        let (out, was_out) = (now.caps.saturating_sub(now.known), caps.saturating_sub(known));
        if now.caps > caps && out > was_out.max(limit.slack()) {
            return Err(format!("{out} are out, with a slack of {}", limit.slack()));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Plain,
    CrashFirst,
    ReplyAndCrash,
}

impl<R: Rules> Pop<R> {
    fn new(random: u64) -> Self {
        let holder = CapHolder::new(random, HOLDER);
        Self { holder, now: 0, receipts: Vec::new(), given: Vec::new(), in_flight: None }
    }
}

impl<R: Rules> Shard<R> {
    fn write(&mut self, store: &CapStore, wrong: Wrong) {
        if wrong == Wrong::EpochsNotStored {
            self.stored.write(&CapStore { epochs: None, ..store.clone() });
        } else {
            self.stored.write(store);
            if store.epochs.is_some() {
                self.mark = self.now;
            }
        }
    }

    /// Starts again from what is stored; its wall clock has gone back, so its steady one is at the mark.
    fn crash(&mut self, ahead_ppm: u32) -> Result<(), String> {
        let settings = CapLedgerSettings { ahead_ppm, ..CapLedgerSettings::default() };
        let before = self.sums();
        self.ledger = CapLedger::restore(settings, self.stored.epochs.clone(), self.stored.rows.clone());
        self.now = self.mark;
        let after = self.sums();
        if self.settled && after != before {
            return Err(format!("a restart made {after:?} of {before:?}"));
        }
        Ok(())
    }

    /// What is known and granted, in each epoch that is not over.
    fn sums(&self) -> Vec<(Epoch, u64, u64)> {
        let totals = self.ledger.totals(&key()).into_iter();
        let totals = totals.filter(|total| total.caps > 0 && total.epoch.0 >= self.told);
        totals.map(|total| (total.epoch, total.known, total.caps)).collect()
    }
}

impl Stored {
    fn reserved(&self, epoch: Epoch) -> u64 {
        let units = self.rows.iter().flat_map(|row| &row.reserved).filter(|(of, _)| *of == epoch);
        units.map(|(_, units)| units).sum()
    }
}

impl<R: Rules> Model for World<R> {
    type Action = Action;

    fn name(&self) -> u128 {
        let pops: Vec<u64> = self.pops.iter().map(|part| part.name).collect();
        let sent: Vec<u64> = self.sent.iter().map(|part| part.name).collect();
        let left = [
            self.setup.requests,
            self.setup.fails,
            self.setup.refunds,
            self.setup.forks,
            self.setup.forgets,
            self.setup.rolls,
            self.setup.hurries,
            self.setup.crashes,
            self.setup.settles,
            self.setup.resets,
        ];
        name_of(&(self.shard.name, pops, sent, left, &self.net))
    }

    fn actions(&self) -> Vec<Action> {
        let setup = &self.setup;
        let mut actions = Vec::new();
        if setup.requests > 0 {
            for pop in 0..self.pops.len() {
                actions.extend(setup.costs.iter().map(|cost| Action::Request { pop, cost: *cost }));
            }
        }
        actions.extend((0..self.sent.len()).map(|message| Action::Deliver { message }));
        let is_ask = |i: &usize| matches!(*self.sent[*i].value, Message::Ask { .. });
        if setup.crashes > 0 {
            let asks = (0..self.sent.len()).filter(is_ask);
            actions.push(Action::Crash);
            actions.extend(asks.clone().map(|message| Action::DeliverAndCrash { message }));
            if setup.wrong == Wrong::ReplyFirst {
                actions.extend(asks.map(|message| Action::ReplyAndCrash { message }));
            }
        }
        if setup.fails > 0 {
            actions.extend(self.holders_that(|pop| pop.in_flight.is_some()).map(|pop| Action::Fail { pop }));
        }
        if setup.refunds > 0 {
            for pop in 0..self.pops.len() {
                let receipts = self.pops[pop].value.receipts.len();
                actions.extend((0..receipts).map(|receipt| Action::Refund { pop, receipt }));
            }
        }
        if setup.forks > 0 {
            actions.extend((0..self.pops.len()).map(|pop| Action::Fork { pop }));
        }
        if setup.forgets > 0 {
            let idle = self.holders_that(|pop| pop.in_flight.is_none() && pop.holder.keys() > 0);
            actions.extend(idle.map(|pop| Action::Forget { pop }));
        }
        if setup.hurries > 0 {
            actions.extend((0..self.pops.len()).map(|pop| Action::Hurry { pop }));
        }
        let rare =
            [(setup.rolls, Action::Roll), (setup.settles, Action::Settle), (setup.resets, Action::Reset)];
        actions.extend(rare.into_iter().filter(|(left, _)| *left > 0).map(|(_, action)| action));
        actions
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        match *action {
            Action::Request { pop, cost } => self.request(pop, cost),
            Action::Deliver { message } => self.deliver(message, Delivery::Plain)?,
            Action::DeliverAndCrash { message } => {
                self.setup.crashes -= 1;
                self.deliver(message, Delivery::CrashFirst)?;
            }
            Action::ReplyAndCrash { message } => {
                self.setup.crashes -= 1;
                self.deliver(message, Delivery::ReplyAndCrash)?;
            }
            Action::Fail { pop } => self.fail(pop),
            Action::Refund { pop, receipt } => self.refund(pop, receipt),
            Action::Fork { pop } => self.fork(pop),
            Action::Forget { pop } => self.forget(pop),
            Action::Hurry { pop } => {
                self.setup.hurries -= 1;
                self.change(pop, |pop| {
                    pop.now += WINDOW;
                    Vec::new()
                });
            }
            Action::Roll => {
                self.setup.rolls -= 1;
                self.change_shard(|shard, _| {
                    shard.now += WINDOW;
                    Ok(())
                })?;
            }
            Action::Crash => {
                self.setup.crashes -= 1;
                self.crashed = true;
                self.change_shard(|shard, setup| shard.crash(setup.ahead_ppm))?;
            }
            Action::Settle => {
                self.setup.settles -= 1;
                self.change_shard(|shard, setup| {
                    let store = shard.ledger.settle();
                    shard.write(&store, setup.wrong);
                    shard.settled = true;
                    Ok(())
                })?;
            }
            Action::Reset => {
                self.setup.resets -= 1;
                self.change_shard(|shard, setup| {
                    let store = shard.ledger.reset(&key(), SteadyMs(shard.now));
                    shard.write(&store, setup.wrong);
                    shard.settled = false;
                    Ok(())
                })?;
            }
        }
        self.check()
    }
}

impl<R: Rules> World<R> {
    fn request(&mut self, pop: usize, units: u64) {
        let limit = self.setup.limit;
        self.setup.requests -= 1;
        self.change(pop, |pop| {
            match pop.holder.request(LEDGER, &key(), limit, cost(units), SteadyMs(pop.now)) {
                CapAnswer::Decided(verdict) => vec![verdict],
                CapAnswer::Wait(_) => Vec::new(),
            }
        });
    }

    fn fail(&mut self, pop: usize) {
        self.setup.fails -= 1;
        self.change(pop, |pop| {
            let settled = pop.holder.failed(LEDGER, pop.in_flight.take().unwrap());
            settled.into_iter().map(|settled| settled.verdict).collect()
        });
    }

    fn fork(&mut self, pop: usize) {
        self.setup.forks -= 1;
        let same = self.setup.wrong == Wrong::SameId;
        let random = if same { pop as u64 } else { self.pops.len() as u64 };
        self.pops.push(Part::new(Pop::new(random)));
    }

    /// There is memory for one key, and another Ledger's is used: this one's is forgotten.
    fn forget(&mut self, pop: usize) {
        self.setup.forgets -= 1;
        let limit = self.setup.limit;
        self.change(pop, |pop| {
            let answer = pop.holder.request("other", &key(), limit, cost(1), SteadyMs(pop.now));
            if let CapAnswer::Wait(ticket) = answer {
                pop.holder.abandon("other", ticket);
            }
            Vec::new()
        });
    }

    fn refund(&mut self, pop: usize, receipt: usize) {
        self.setup.refunds -= 1;
        let mut changed = (*self.pops[pop].value).clone();
        let receipt = changed.receipts[receipt].clone();
        if changed.holder.refund(LEDGER, &receipt) {
            self.refunded = true;
            let net = self.net.entry((receipt.epoch, receipt.r#gen)).or_default();
            // What is given back twice was taken once: only the first makes room for others.
            let place = (receipt.epoch, receipt.r#gen, receipt.from);
            if !changed.given.contains(&place) {
                changed.given.push(place);
                *net -= receipt.cost.get();
            }
        }
        self.pops[pop].set(changed);
    }

    fn change_shard(
        &mut self,
        f: impl FnOnce(&mut Shard<R>, &Setup) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut shard = (*self.shard.value).clone();
        f(&mut shard, &self.setup)?;
        self.shard.set(shard);
        Ok(())
    }
}
