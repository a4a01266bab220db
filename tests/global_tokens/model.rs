//! Holders, one Ledger and the network between them, over the crate's own transition functions.

use std::fmt::Debug;
use std::rc::Rc;

use sluicegate::clock::SteadyMs;
use sluicegate::fence::FenceSource;
use sluicegate::global::token_rules::TokenRules;
use sluicegate::global::{
    Ticket, TokenAnswer, TokenAsk, TokenHolder, TokenHolderSettings, TokenLease, TokenLedger,
    TokenLedgerSettings, TokenReceipt, TokenReply, TokenVerdict,
};

use super::search::Model;
use super::setup::{Part, Setup, Wrong, name_of};
use super::support::{Bound, LEDGER, START, Stored, cost, key, key_number};

#[derive(Clone, Debug, PartialEq)]
enum Message {
    Ask { from: usize, ask: TokenAsk },
    Reply { to: usize, reply: TokenReply },
}

#[derive(Clone, Debug, PartialEq)]
struct Pop<R: TokenRules> {
    holder: TokenHolder<R>,
    /// The speed of its clock, in thousandths.
    clock: u64,
    receipts: Vec<TokenReceipt>,
    waiting: Vec<Ticket>,
    in_flight: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Shard<R: TokenRules> {
    ledger: TokenLedger<R>,
    stored: Stored,
    /// Each fence is of a start of its own.
    fences: u64,
}

/// A state of the whole.
#[derive(Clone)]
pub struct World<R: TokenRules> {
    setup: Setup,
    /// Milliseconds since the start.
    now: u64,
    shard: Part<Shard<R>>,
    pops: Vec<Part<Pop<R>>>,
    /// Everything ever sent: it may be delivered at any time, any number of times, or never.
    sent: Vec<Part<Message>>,
    bound: Bound,
    /// The first token of each take that was given back, by lease.
    given: Vec<String>,
    /// Tokens given back that the Ledger has not heard of.
    owed: u64,
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
    Abandon {
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
    Tick {
        pop: usize,
    },
    Step,
    Crash,
}

const HOLDER: TokenHolderSettings =
    TokenHolderSettings { max_keys: 1, max_waiting: 100, report_after_ms: 5_000, return_after_ms: 10_000 };

impl<R: TokenRules> World<R> {
    pub fn new(setup: Setup) -> Self {
        let ledger = TokenLedger::new(TokenLedgerSettings::default());
        let shard = Shard { ledger, stored: Stored::default(), fences: 0 };
        let pops = setup.clocks.iter().enumerate();
        Self {
            setup,
            now: 0,
            shard: Part::new(shard),
            pops: pops.map(|(i, clock)| Part::new(Pop::new(i as u64, *clock))).collect(),
            sent: Vec::new(),
            bound: Bound::new(setup.bucket),
            given: Vec::new(),
            owed: 0,
        }
    }

    fn send(&mut self, message: Message) {
        let part = Part::new(message);
        if let Err(place) = self.sent.binary_search_by_key(&part.name, |sent| sent.name) {
            self.sent.insert(place, part);
        }
    }

    /// Changes one holder, counts what it admitted, and sends what it asks.
    fn change(
        &mut self,
        place: usize,
        f: impl FnOnce(&mut Pop<R>, SteadyMs) -> Vec<TokenVerdict>,
    ) -> Result<(), String> {
        let mut pop = (*self.pops[place].value).clone();
        let now = pop.now(self.now);
        for receipt in f(&mut pop, now).into_iter().filter_map(|verdict| verdict.receipt) {
            self.bound.admit(receipt.cost.get())?;
            pop.receipts.push(receipt);
        }
        if let Some(ask) = pop.holder.next_ask(LEDGER, now) {
            pop.in_flight = Some(ask.n);
            self.send(Message::Ask { from: place, ask });
        }
        self.pops[place].set(pop);
        Ok(())
    }

    fn deliver(&mut self, message: usize, how: Delivery) -> Result<(), String> {
        let message = Rc::clone(&self.sent[message].value);
        match &*message {
            Message::Reply { to, reply } => self.change(*to, |pop, now| {
                if pop.in_flight == Some(reply.n) {
                    pop.in_flight = None;
                }
                let settled = pop.holder.reply(LEDGER, reply, now);
                pop.waiting.retain(|ticket| settled.iter().all(|settled| settled.ticket != *ticket));
                settled.into_iter().map(|settled| settled.verdict).collect()
            }),
            Message::Ask { from, ask } => {
                self.answer(*from, ask, how);
                Ok(())
            }
        }
    }

    fn answer(&mut self, from: usize, ask: &TokenAsk, how: Delivery) {
        let (setup, now) = (self.setup, SteadyMs(START.0 + self.now));
        let mut shard = (*self.shard.value).clone();
        let mut fences = FenceSource::new(shard.fences);
        let before = shard.ledger.lease(&key(), ask.holder);
        let outcome = shard.ledger.answer(ask, |_| Some(setup.bucket), &mut fences, now);
        let after = shard.ledger.lease(&key(), ask.holder);
        let fence = |lease: Option<TokenLease>| lease.map(|lease| lease.book.fence);
        if fence(before) == fence(after) {
            let given = |lease: Option<TokenLease>| lease.map_or(0, |lease| lease.book.given);
            let heard = self.owed.min(given(after).saturating_sub(given(before)));
            self.owed -= heard;
            self.bound.give_back(heard);
        } else {
            shard.fences += 1;
        }
        if how != Delivery::ReplyAndCrash {
            shard.stored.write(&outcome.store);
        }
        if how != Delivery::CrashFirst {
            self.send(Message::Reply { to: from, reply: outcome.reply });
        }
        if how != Delivery::Plain {
            shard.crash();
        }
        self.shard.set(shard);
    }

    /// What the bound rests on: all that anyone can spend is out, as the Ledger has it.
    fn check(&self) -> Result<(), String> {
        let (shard, bucket) = (&self.shard.value, self.setup.bucket);
        if let Some(totals) = shard.ledger.totals(&key(), bucket)
            && totals.all() > bucket.capacity()
        {
            return Err(format!("{totals:?} of {}", bucket.capacity()));
        }
        for pop in &self.pops {
            let pop = &pop.value;
            let in_hand = pop.holder.in_hand(LEDGER, &key(), pop.now(self.now));
            let kept = shard.ledger.lease(&key(), pop.holder.id());
            let held = pop.holder.lease(LEDGER, &key());
            let is_same = kept.map(|lease| lease.book.fence) == held.map(|lease| lease.book.fence);
            let out = kept.filter(|_| is_same).map_or(0, |lease| lease.out());
            if in_hand > out {
                return Err(format!("{in_hand} in hand, {out} out"));
            }
        }
        Ok(())
    }

    fn pops_that(&self, can: impl Fn(&Pop<R>) -> bool) -> Vec<usize> {
        (0..self.pops.len()).filter(|i| can(&self.pops[*i].value)).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Plain,
    CrashFirst,
    ReplyAndCrash,
}

impl<R: TokenRules> Pop<R> {
    fn new(random: u64, clock: u64) -> Self {
        let holder = TokenHolder::new(random, HOLDER);
        Self { holder, clock, receipts: Vec::new(), waiting: Vec::new(), in_flight: None }
    }

    fn now(&self, now: u64) -> SteadyMs {
        SteadyMs(now * self.clock / 1_000)
    }
}

impl<R: TokenRules> Shard<R> {
    fn crash(&mut self) {
        self.ledger = TokenLedger::restore(TokenLedgerSettings::default(), self.stored.rows.clone());
    }
}

impl<R: TokenRules> Model for World<R> {
    type Action = Action;

    fn name(&self) -> u128 {
        let pops: Vec<u64> = self.pops.iter().map(|part| part.name).collect();
        let sent: Vec<u64> = self.sent.iter().map(|part| part.name).collect();
        let Setup { requests, fails, abandons, refunds, forks, forgets, ticks, steps, crashes, .. } =
            self.setup;
        let left = [requests, fails, abandons, refunds, forks, forgets, ticks, steps, crashes];
        name_of(&(self.shard.name, pops, sent, left, &self.bound, &self.given, self.owed))
    }

    fn actions(&self) -> Vec<Action> {
        let setup = &self.setup;
        let all =
            |left: u8, can: &dyn Fn(&Pop<R>) -> bool| if left > 0 { self.pops_that(can) } else { Vec::new() };
        let mut actions = Vec::new();
        for pop in all(setup.requests, &|_| true) {
            actions.extend(setup.costs.iter().map(|cost| Action::Request { pop, cost: *cost }));
        }
        actions.extend((0..self.sent.len()).map(|message| Action::Deliver { message }));
        if setup.crashes > 0 {
            let is_ask = |i: &usize| matches!(*self.sent[*i].value, Message::Ask { .. });
            let asks = (0..self.sent.len()).filter(is_ask);
            actions.push(Action::Crash);
            actions.extend(asks.clone().map(|message| Action::DeliverAndCrash { message }));
            if setup.wrong == Wrong::ReplyFirst {
                actions.extend(asks.map(|message| Action::ReplyAndCrash { message }));
            }
        }
        let asks = |pop: &Pop<R>| pop.in_flight.is_some();
        actions.extend(all(setup.fails, &asks).into_iter().map(|pop| Action::Fail { pop }));
        let waits = |pop: &Pop<R>| !pop.waiting.is_empty();
        actions.extend(all(setup.abandons, &waits).into_iter().map(|pop| Action::Abandon { pop }));
        for pop in all(setup.refunds, &|_| true) {
            let receipts = self.pops[pop].value.receipts.len();
            actions.extend((0..receipts).map(|receipt| Action::Refund { pop, receipt }));
        }
        actions.extend(all(setup.forks, &|_| true).into_iter().map(|pop| Action::Fork { pop }));
        actions.extend(all(setup.forgets, &|_| true).into_iter().map(|pop| Action::Forget { pop }));
        actions.extend(all(setup.ticks, &|_| true).into_iter().map(|pop| Action::Tick { pop }));
        if setup.steps > 0 {
            actions.push(Action::Step);
        }
        actions
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        match *action {
            Action::Request { pop, cost } => self.request(pop, cost)?,
            Action::Deliver { message } => self.deliver(message, Delivery::Plain)?,
            Action::DeliverAndCrash { message } => {
                self.setup.crashes -= 1;
                self.deliver(message, Delivery::CrashFirst)?;
            }
            Action::ReplyAndCrash { message } => {
                self.setup.crashes -= 1;
                self.deliver(message, Delivery::ReplyAndCrash)?;
            }
            Action::Fail { pop } => self.fail(pop)?,
            Action::Abandon { pop } => {
                self.setup.abandons -= 1;
                self.change(pop, |pop, _| {
                    let ticket = pop.waiting.remove(0);
                    assert!(pop.holder.abandon(LEDGER, ticket));
                    Vec::new()
                })?;
            }
            Action::Refund { pop, receipt } => self.refund(pop, receipt)?,
            Action::Fork { pop } => {
                self.setup.forks -= 1;
                let clock = self.pops[pop].value.clock;
                let is_same = self.setup.wrong == Wrong::SameId;
                let random = if is_same { pop } else { self.pops.len() } as u64;
                self.pops.push(Part::new(Pop::new(random, clock)));
            }
            Action::Forget { pop } => self.forget(pop)?,
            Action::Tick { pop } => {
                self.setup.ticks -= 1;
                self.change(pop, |pop, now| {
                    pop.holder.tick(now);
                    Vec::new()
                })?;
            }
            Action::Step => {
                self.setup.steps -= 1;
                self.now += self.setup.step_ms;
                self.bound.pass(self.setup.step_ms);
            }
            Action::Crash => {
                self.setup.crashes -= 1;
                let mut shard = (*self.shard.value).clone();
                shard.crash();
                self.shard.set(shard);
            }
        }
        if self.setup.only_bound { Ok(()) } else { self.check() }
    }
}

impl<R: TokenRules> World<R> {
    fn request(&mut self, pop: usize, units: u64) -> Result<(), String> {
        let bucket = self.setup.bucket;
        self.setup.requests -= 1;
        self.change(pop, |pop, now| match pop.holder.request(LEDGER, &key(), bucket, cost(units), now) {
            TokenAnswer::Decided(verdict) => vec![verdict],
            TokenAnswer::Wait(ticket) => {
                pop.waiting.push(ticket);
                Vec::new()
            }
        })
    }

    fn fail(&mut self, pop: usize) -> Result<(), String> {
        self.setup.fails -= 1;
        self.change(pop, |pop, _| {
            let settled = pop.holder.failed(LEDGER, pop.in_flight.take().unwrap());
            pop.waiting.retain(|ticket| settled.iter().all(|settled| settled.ticket != *ticket));
            settled.into_iter().map(|settled| settled.verdict).collect()
        })
    }

    /// There is memory for one key, and another is used.
    fn forget(&mut self, pop: usize) -> Result<(), String> {
        self.setup.forgets -= 1;
        let bucket = self.setup.bucket;
        self.change(pop, |pop, now| {
            if let TokenAnswer::Wait(ticket) =
                pop.holder.request("other", &key_number(8), bucket, cost(1), now)
            {
                pop.holder.abandon("other", ticket);
            }
            Vec::new()
        })
    }

    fn refund(&mut self, place: usize, receipt: usize) -> Result<(), String> {
        self.setup.refunds -= 1;
        let receipt = self.pops[place].value.receipts[receipt].clone();
        let mut counts = false;
        self.change(place, |pop, _| {
            counts = pop.holder.refund(LEDGER, &receipt);
            Vec::new()
        })?;
        // What is given back twice was taken once: only the first makes room.
        let name = format!("{} {}", receipt.fence, receipt.from);
        if counts && !self.given.contains(&name) {
            self.given.push(name);
            self.owed += receipt.cost.get();
        }
        Ok(())
    }
}
