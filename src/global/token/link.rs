use std::collections::VecDeque;
use std::marker::PhantomData;

use super::hand::{Hand, Outlook, Times};
use super::message::{TOKEN_WIRE_VERSION, TokenAsk, TokenAskItem, TokenKey, TokenReply};
use super::token_rules::TokenRules;
use super::verdict::{TokenAnswer, TokenReceipt, TokenSettled, TokenVerdict};
use crate::Cost;
use crate::bucket::TokenBucket;
use crate::clock::SteadyMs;
use crate::global::{HolderId, Ticket};
use crate::ordered::Map;

/// Keys in one ask; the rest take the next.
pub(super) const MOST_ITEMS: usize = 128;
/// A request that waits is part of at most this many asks.
const MOST_ASKS: u8 = 2;
/// All hands are gone through no more often than this.
const TICK_MS: u64 = 1_000;

/// One request: its key, what is configured for it, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub key: TokenKey,
    pub bucket: TokenBucket,
    pub cost: Cost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiter {
    ticket: Ticket,
    request: Request,
    /// The ask it was last part of.
    asked: Option<u64>,
    asks: u8,
}

/// What became of a look at a request.
enum Looked {
    Decided(TokenVerdict),
    Short,
}

/// What waits for a key: the sum of the costs, and the smallest.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    sum: u64,
    least: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct InFlight {
    n: u64,
    keys: Vec<TokenKey>,
}

/// What a holder has of one Ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link<R> {
    holder: HolderId,
    times: Times,
    in_flight: Option<InFlight>,
    keys: Map<TokenKey, Hand>,
    queue: VecDeque<Waiter>,
    /// Keys to ask about though nothing waits for them.
    due: VecDeque<TokenKey>,
    /// When a hand next acts by itself, or sooner.
    wake: Option<SteadyMs>,
    ticked: Option<SteadyMs>,
    rules: PhantomData<R>,
}

impl<R: TokenRules> Link<R> {
    pub const fn new(holder: HolderId, times: Times) -> Self {
        Self {
            holder,
            times,
            in_flight: None,
            keys: Map::new(),
            queue: VecDeque::new(),
            due: VecDeque::new(),
            wake: None,
            ticked: None,
            rules: PhantomData,
        }
    }

    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn hand(&self, key: &TokenKey) -> Option<&Hand> {
        self.keys.get(key)
    }

    /// Tokens that can be spent now, of all keys.
    pub fn in_hand(&self, now: SteadyMs) -> u64 {
        self.keys.values().fold(0, |sum, hand| sum.saturating_add(hand.left(now)))
    }

    /// True when an ask is due that need not wait for another.
    pub fn wants_ask(&self) -> bool {
        self.in_flight.is_none() && !(self.queue.is_empty() && self.due.is_empty())
    }

    /// Decides a request, or queues it where that `may_wait`.
    pub fn request(
        &mut self,
        request: Request,
        ticket: Ticket,
        may_wait: bool,
        now: SteadyMs,
    ) -> TokenAnswer {
        let hand = self.keys.entry(request.key.clone()).or_default();
        hand.used(now);
        let is_first = hand.waiting == 0;
        // Requests of one key are served in the order they came: none passes one that waits.
        let looked = if is_first { self.look(&request, now) } else { Looked::Short };
        self.touch(&request.key);
        if let Looked::Decided(verdict) = looked {
            return TokenAnswer::Decided(verdict);
        }
        if !may_wait {
            return TokenAnswer::Decided(self.verdict(&request, now).unavailable());
        }
        if let Some(hand) = self.keys.get_mut(&request.key) {
            hand.waiting = hand.waiting.saturating_add(1);
        }
        self.queue.push_back(Waiter { ticket, request, asked: None, asks: 0 });
        TokenAnswer::Wait(ticket)
    }

    /// Admits what fits and refuses what cannot; leaves the rest.
    fn look(&mut self, request: &Request, now: SteadyMs) -> Looked {
        let Request { key, bucket, cost } = request;
        let Some(hand) = self.keys.get_mut(key) else { return Looked::Short };
        if *cost == Cost::ZERO {
            return Looked::Decided(self.verdict(request, now));
        }
        if let Some((fence, from)) = hand.take::<R>(*bucket, cost.get(), now) {
            let receipt = TokenReceipt { holder: self.holder, key: key.clone(), fence, from, cost: *cost };
            return Looked::Decided(TokenVerdict { receipt: Some(receipt), ..self.verdict(request, now) });
        }
        match hand.outlook(*bucket, *cost, now) {
            Outlook::Ask => Looked::Short,
            Outlook::Refuse(retry_after_ms) => {
                if hand.refused(now) {
                    self.ask_about(key);
                }
                Looked::Decided(self.verdict(request, now).refused(retry_after_ms))
            }
        }
    }

    /// What a request would be told, as far as this holder knows. Takes nothing.
    pub fn peek(&self, request: &Request, now: SteadyMs) -> Option<TokenVerdict> {
        let Request { key, bucket, cost } = request;
        let hand = self.keys.get(key)?;
        let verdict = TokenVerdict::of(*bucket, &hand.all_left(*bucket, now)?);
        Some(match hand.outlook(*bucket, *cost, now) {
            Outlook::Refuse(retry_after_ms) if cost.get() > hand.left(now) => verdict.refused(retry_after_ms),
            _ => verdict,
        })
    }

    /// The numbers for an answer.
    fn verdict(&self, request: &Request, now: SteadyMs) -> TokenVerdict {
        let bucket = request.bucket;
        let left = self.keys.get(&request.key).and_then(|hand| hand.all_left(bucket, now));
        left.map_or_else(|| TokenVerdict::empty(bucket), |left| TokenVerdict::of(bucket, &left))
    }

    fn ask_about(&mut self, key: &TokenKey) {
        let Some(hand) = self.keys.get_mut(key) else { return };
        if !std::mem::replace(&mut hand.due, true) {
            self.due.push_back(key.clone());
        }
    }

    /// Sees to it that the next tick is not too late for this key.
    fn touch(&mut self, key: &TokenKey) {
        if let Some(next) = self.keys.get(key).and_then(|hand| hand.next(self.times)) {
            self.wake = Some(self.wake.map_or(next, |wake| wake.min(next)));
        }
    }

    /// When [`tick`](Self::tick) is to be called.
    pub fn next_tick(&self) -> Option<SteadyMs> {
        let soonest = self.ticked.map_or(SteadyMs(0), |ticked| ticked.plus(TICK_MS));
        self.wake.map(|wake| wake.max(soonest))
    }

    /// Lets each hand do what is due by the clock: report, return what is idle, and be forgotten.
    pub fn tick(&mut self, now: SteadyMs) {
        if self.next_tick().is_none_or(|at| now < at) {
            return;
        }
        self.ticked = Some(now);
        let (times, mut due) = (self.times, Vec::new());
        self.forget(now, times.return_after_ms);
        for (key, hand) in &mut self.keys {
            if hand.tick(times, now) {
                due.push(key.clone());
            }
        }
        self.wake = self.keys.values().filter_map(|hand| hand.next(times)).min();
        for key in due {
            self.ask_about(&key);
        }
    }

    /// Forgets the keys that were not used for so long, where nothing is lost by it.
    pub fn forget(&mut self, now: SteadyMs, idle_ms: u64) {
        self.keys.retain(|_, hand| !(hand.is_idle(idle_ms, now) && hand.may_forget::<R>()));
    }

    /// The next ask, if there is something to ask and no ask in flight. `n` numbers it.
    pub fn next_ask(&mut self, now: SteadyMs, n: u64) -> Option<TokenAsk> {
        if self.in_flight.is_some() {
            return None;
        }
        let mut items: Vec<TokenAskItem> = Vec::new();
        for (key, wait) in self.gather_waits(n) {
            items.extend(self.ask_item(key, wait, now));
        }
        while items.len() < MOST_ITEMS {
            let Some(key) = self.due.pop_front() else { break };
            if self.keys.get(&key).is_some_and(|hand| hand.due) {
                items.extend(self.ask_item(key, Wait::default(), now));
            }
        }
        if items.is_empty() {
            return None;
        }
        self.in_flight = Some(InFlight { n, keys: items.iter().map(|item| item.key.clone()).collect() });
        Some(TokenAsk { v: TOKEN_WIRE_VERSION, holder: self.holder, n, items })
    }

    /// Makes the requests that wait part of ask `n`, in the order they came, up to as many keys as it holds.
    fn gather_waits(&mut self, n: u64) -> Map<TokenKey, Wait> {
        let mut waits: Map<TokenKey, Wait> = Map::new();
        for waiter in &mut self.queue {
            let cost = waiter.request.cost.get();
            if let Some(wait) = waits.get_mut(&waiter.request.key) {
                *wait = Wait { sum: wait.sum.saturating_add(cost), least: wait.least.min(cost) };
            } else if waits.len() < MOST_ITEMS {
                waits.insert(waiter.request.key.clone(), Wait { sum: cost, least: cost });
            } else {
                continue;
            }
            waiter.asked = Some(n);
            waiter.asks = waiter.asks.saturating_add(1);
        }
        waits
    }

    fn ask_item(&mut self, key: TokenKey, wait: Wait, now: SteadyMs) -> Option<TokenAskItem> {
        let (book, rate) = self.keys.get_mut(&key)?.ask(now);
        Some(TokenAskItem { key, book, wait: wait.sum, least: wait.least, rate })
    }

    /// Takes in a reply, and decides what waited for it.
    pub fn reply(&mut self, reply: &TokenReply, now: SteadyMs) -> Vec<TokenSettled> {
        if reply.v != TOKEN_WIRE_VERSION {
            return self.failed(reply.n);
        }
        if !R::obeys(self.in_flight.as_ref().map(|in_flight| in_flight.n), reply.n) {
            return Vec::new();
        }
        let asked = self.in_flight.take().map_or_else(Vec::new, |in_flight| in_flight.keys);
        for key in &asked {
            let item = reply.items.iter().find(|item| item.key == *key);
            if let Some(hand) = self.keys.get_mut(key) {
                match item {
                    Some(item) => hand.hear::<R>(item, now),
                    None => hand.left_out(now),
                }
            }
            self.touch(key);
        }
        self.settle(reply, now)
    }

    /// Admits what fits now, in the order it came, and refuses what the bucket does not have. What is left
    /// of the ask waits for one more, then it is refused.
    fn settle(&mut self, reply: &TokenReply, now: SteadyMs) -> Vec<TokenSettled> {
        let mut settled = Vec::new();
        for waiter in std::mem::take(&mut self.queue) {
            let asked = waiter.asked == Some(reply.n);
            let verdict = match self.look(&waiter.request, now) {
                Looked::Decided(verdict) => Some(verdict),
                Looked::Short if !asked => None,
                Looked::Short if !reply.items.iter().any(|item| item.key == waiter.request.key) => {
                    Some(self.verdict(&waiter.request, now).unavailable())
                }
                Looked::Short if waiter.asks >= MOST_ASKS => {
                    Some(self.verdict(&waiter.request, now).refused(Some(1)))
                }
                Looked::Short => None,
            };
            match verdict {
                Some(verdict) => settled.push(self.leave(&waiter, verdict)),
                None => self.queue.push_back(waiter),
            }
        }
        settled
    }

    /// Ask `n` was not answered: what waited for it is not decided here, but by the policy's `on_error`.
    pub fn failed(&mut self, n: u64) -> Vec<TokenSettled> {
        let Some(in_flight) = self.in_flight.take_if(|in_flight| in_flight.n == n) else { return Vec::new() };
        for key in &in_flight.keys {
            if let Some(hand) = self.keys.get_mut(key) {
                hand.failed();
            }
            self.touch(key);
        }
        let mut settled = Vec::new();
        for waiter in std::mem::take(&mut self.queue) {
            if waiter.asked == Some(n) {
                let verdict = TokenVerdict::empty(waiter.request.bucket).unavailable();
                settled.push(self.leave(&waiter, verdict));
            } else {
                self.queue.push_back(waiter);
            }
        }
        settled
    }

    /// Takes a request whose caller gave up out of the queue.
    pub fn abandon(&mut self, ticket: Ticket) -> bool {
        let place = self.queue.iter().position(|waiter| waiter.ticket == ticket);
        let Some(waiter) = place.and_then(|place| self.queue.remove(place)) else { return false };
        self.waits_no_more(&waiter);
        true
    }

    fn leave(&mut self, waiter: &Waiter, verdict: TokenVerdict) -> TokenSettled {
        self.waits_no_more(waiter);
        TokenSettled { ticket: waiter.ticket, verdict }
    }

    fn waits_no_more(&mut self, waiter: &Waiter) {
        if let Some(hand) = self.keys.get_mut(&waiter.request.key) {
            hand.waiting = hand.waiting.saturating_sub(1);
        }
        self.touch(&waiter.request.key);
    }

    /// Gives back what `receipt` names, if this holder took it from a lease that it still has.
    pub fn refund(&mut self, receipt: &TokenReceipt) -> bool {
        let hand = self.keys.get_mut(&receipt.key).filter(|_| receipt.holder == self.holder);
        let given = hand.is_some_and(|hand| hand.give::<R>(receipt.fence, receipt.from, receipt.cost.get()));
        self.touch(&receipt.key);
        given
    }
}
