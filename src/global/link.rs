use std::collections::VecDeque;
use std::marker::PhantomData;

use super::epochs::Told;
use super::message::{CAP_WIRE_VERSION, CapAsk, CapAskItem, CapBook, CapKey, CapReply, HolderId};
use super::page::Page;
use super::pages::Pages;
use super::rules::Rules;
use super::verdict::{CapAnswer, CapReceipt, CapSettled, CapVerdict, Ticket};
use super::{CapLimit, CapPage, CapReplyItem, Waiting};
use crate::Cost;
use crate::clock::SteadyMs;
use crate::ordered::Map;
use crate::window::{Epoch, WindowMs};

/// Keys in one ask; the rest take the next.
pub(super) const MOST_ITEMS: usize = 128;
/// A request that waits is part of at most this many asks.
const MOST_ASKS: u8 = 2;

/// One request: its key, what is configured for it, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub key: CapKey,
    pub limit: CapLimit,
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
    Decided(CapVerdict),
    Short,
}

/// What a holder has of one Ledger. Dropping it is what a crash is: the next one has another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link<R> {
    pub id: HolderId,
    /// Replies to asks up to this number are for the names before.
    after: u64,
    in_flight: Option<u64>,
    told: Map<WindowMs, Told>,
    keys: Map<CapKey, Pages>,
    queue: VecDeque<Waiter>,
    /// Keys to ask about though nothing waits for them.
    due: VecDeque<CapKey>,
    /// When it was last used, in requests of the holder.
    pub used: u64,
    rules: PhantomData<R>,
}

impl<R: Rules> Link<R> {
    pub fn new(id: HolderId, after: u64) -> Self {
        Self {
            id,
            after,
            in_flight: None,
            told: Map::new(),
            keys: Map::new(),
            queue: VecDeque::new(),
            due: VecDeque::new(),
            used: 0,
            rules: PhantomData,
        }
    }

    /// True when nothing waits for it.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_none() && self.queue.is_empty()
    }

    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn has_key(&self, key: &CapKey) -> bool {
        self.keys.contains_key(key)
    }

    pub fn pages(&self, key: &CapKey) -> Option<&Pages> {
        self.keys.get(key)
    }

    /// The page that requests are filed on, or that of the newest epoch told.
    pub fn page_now(&self, key: &CapKey, now: SteadyMs) -> Option<CapPage> {
        let (told, pages) = (self.told.get(&key.window_ms)?, self.keys.get(key)?);
        let epoch = pages.current(told, now).unwrap_or(told.epoch);
        let empty = Page::default();
        Some(pages.page(epoch).unwrap_or(&empty).view(pages.r#gen(), epoch))
    }

    /// Decides a request, or queues it where that `may_wait`.
    pub fn request(&mut self, request: Request, ticket: Ticket, may_wait: bool, now: SteadyMs) -> CapAnswer {
        let pages = self.keys.entry(request.key.clone()).or_default();
        // Requests of one key are served in the order they came: none passes one that waits.
        if pages.waiting == 0
            && let Looked::Decided(verdict) = self.look(&request, now)
        {
            return CapAnswer::Decided(verdict);
        }
        if !may_wait {
            return CapAnswer::Decided(self.closed(&request, now).unavailable());
        }
        if let Some(pages) = self.keys.get_mut(&request.key) {
            pages.waiting = pages.waiting.saturating_add(1);
        }
        self.queue.push_back(Waiter { ticket, request, asked: None, asks: 0 });
        CapAnswer::Wait(ticket)
    }

    /// Admits what fits and refuses what cannot; leaves the rest.
    fn look(&mut self, request: &Request, now: SteadyMs) -> Looked {
        let Request { key, limit, cost } = request;
        let told = self.told.get(&key.window_ms);
        let Some(pages) = self.keys.get_mut(key) else { return Looked::Short };
        let Some(epoch) = told.and_then(|told| pages.current(told, now)) else { return Looked::Short };
        let left_ms = told.map_or(0, |told| told.left_ms(now));
        // Filed ahead of the reply that says so: time to hear of it.
        let mut ask = left_ms == 0;
        let rest_ms = rest_ms(key, left_ms);
        let (r#gen, holder) = (pages.r#gen(), self.id);
        let Some(page) = pages.page_mut(epoch) else { return Looked::Short };
        let from = page.take::<R>(cost.get());
        let verdict = CapVerdict::on_page(*limit, epoch, page, rest_ms);
        let verdict = match from {
            Some(_) if *cost == Cost::ZERO => verdict,
            Some(from) => {
                pages.took(cost.get());
                let key = key.clone();
                CapVerdict {
                    receipt: Some(CapReceipt { holder, key, r#gen, epoch, from, cost: *cost }),
                    ..verdict
                }
            }
            None if !page.full => return Looked::Short,
            None => {
                ask |= pages.refused();
                verdict.refused()
            }
        };
        if ask {
            self.ask_about(key);
        }
        Looked::Decided(verdict)
    }

    /// What a request would be told, as far as this holder knows. Takes nothing.
    pub fn peek(&self, request: &Request, now: SteadyMs) -> Option<CapVerdict> {
        let verdict = self.verdict(request, now)?;
        let fits = request.cost.get() <= verdict.decision.remaining;
        Some(if fits { verdict } else { verdict.refused() })
    }

    /// The numbers of the open page, if there is one.
    fn verdict(&self, request: &Request, now: SteadyMs) -> Option<CapVerdict> {
        let Request { key, limit, .. } = request;
        let (told, pages) = (self.told.get(&key.window_ms)?, self.keys.get(key)?);
        let epoch = pages.current(told, now)?;
        Some(CapVerdict::on_page(*limit, epoch, pages.page(epoch)?, rest_ms(key, told.left_ms(now))))
    }

    /// The numbers for a refusal.
    fn closed(&self, request: &Request, now: SteadyMs) -> CapVerdict {
        let Request { key, limit, .. } = request;
        self.verdict(request, now).unwrap_or_else(|| CapVerdict::without_page(*limit, key.window_ms.get()))
    }

    fn ask_about(&mut self, key: &CapKey) {
        let Some(pages) = self.keys.get_mut(key) else { return };
        if !std::mem::replace(&mut pages.due, true) {
            self.due.push_back(key.clone());
        }
    }

    /// The next ask, if there is something to ask and no ask in flight. `next` numbers it.
    pub fn next_ask(&mut self, now: SteadyMs, next: u64) -> Option<CapAsk> {
        if self.in_flight.is_some() {
            return None;
        }
        let waits = self.gather_waits(next);
        let mut items: Vec<CapAskItem> = Vec::with_capacity(waits.len());
        for (key, wait) in waits {
            items.extend(self.ask_item(key, wait, now));
        }
        while items.len() < MOST_ITEMS {
            let Some(key) = self.due.pop_front() else { break };
            if self.keys.get(&key).is_some_and(|pages| pages.due) {
                items.extend(self.ask_item(key, Waiting::default(), now));
            }
        }
        if items.is_empty() {
            return None;
        }
        self.in_flight = Some(next);
        Some(CapAsk { v: CAP_WIRE_VERSION, holder: self.id, n: next, items })
    }

    /// Makes the requests that wait part of ask `n`, in the order they came, up to as many keys as it holds.
    fn gather_waits(&mut self, n: u64) -> Map<CapKey, Waiting> {
        let mut waits: Map<CapKey, Waiting> = Map::new();
        for waiter in &mut self.queue {
            let cost = waiter.request.cost;
            if let Some(wait) = waits.get_mut(&waiter.request.key) {
                *wait = wait.and(cost);
            } else if waits.len() < MOST_ITEMS {
                waits.insert(waiter.request.key.clone(), Waiting::default().and(cost));
            } else {
                continue;
            }
            waiter.asked = Some(n);
            waiter.asks = waiter.asks.saturating_add(1);
        }
        waits
    }

    fn ask_item(&mut self, key: CapKey, waiting: Waiting, now: SteadyMs) -> Option<CapAskItem> {
        let told = self.told.get(&key.window_ms);
        let pages = self.keys.get_mut(&key)?;
        pages.due = false;
        let epoch = told.map(|told| pages.current(told, now).unwrap_or(told.epoch));
        let rate = pages.take_rate();
        let books = pages
            .iter()
            .filter(|(_, page)| page.taken > 0)
            .map(|(epoch, page)| CapBook { epoch, taken: page.taken, given: page.given })
            .collect();
        let Waiting { sum: wait, least } = waiting;
        Some(CapAskItem { r#gen: pages.r#gen(), key, books, epoch, wait, least, rate })
    }

    /// Takes in a reply, and decides what waited for it.
    pub fn reply(&mut self, reply: &CapReply, now: SteadyMs) -> Vec<CapSettled> {
        if reply.v != CAP_WIRE_VERSION {
            return self.failed(reply.n);
        }
        if reply.n <= self.after {
            return Vec::new();
        }
        for item in &reply.items {
            self.hear(item, reply.n, now);
        }
        if self.in_flight == Some(reply.n) {
            self.in_flight = None;
        }
        self.settle(reply, now)
    }

    fn hear(&mut self, item: &CapReplyItem, n: u64, now: SteadyMs) {
        let Some(pages) = self.keys.get_mut(&item.key) else { return };
        let (window, fresh) = (item.key.window_ms, Told::new(item.epoch, item.left_ms, n, now));
        let told = self.told.entry(window).or_insert(fresh);
        let before = told.epoch;
        told.hear::<R>(item.epoch, item.left_ms, n, now);
        let open = told.epoch;
        pages.hear::<R>(item, open, n);
        if open != before {
            self.turn_over(window, open);
        }
    }

    /// Forgets the pages of epochs before `open`: nothing is ever filed there again.
    fn turn_over(&mut self, window: WindowMs, open: Epoch) {
        self.keys.retain(|key, pages| key.window_ms != window || pages.turn_over(open));
        let keys = &self.keys;
        self.due.retain(|key| keys.get(key).is_some_and(|pages| pages.due));
    }

    /// Admits what fits now, in the order it came. What was part of the ask waits for one more, then it is
    /// refused.
    fn settle(&mut self, reply: &CapReply, now: SteadyMs) -> Vec<CapSettled> {
        let mut settled = Vec::new();
        for waiter in std::mem::take(&mut self.queue) {
            let asked = waiter.asked == Some(reply.n);
            let verdict = match self.look(&waiter.request, now) {
                Looked::Decided(verdict) => Some(verdict),
                Looked::Short if !asked => None,
                Looked::Short if !reply.items.iter().any(|item| item.key == waiter.request.key) => {
                    Some(self.closed(&waiter.request, now).unavailable())
                }
                Looked::Short if waiter.asks >= MOST_ASKS => {
                    Some(self.closed(&waiter.request, now).refused())
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
    pub fn failed(&mut self, n: u64) -> Vec<CapSettled> {
        if self.in_flight != Some(n) {
            return Vec::new();
        }
        self.in_flight = None;
        let mut settled = Vec::new();
        for waiter in std::mem::take(&mut self.queue) {
            if waiter.asked == Some(n) {
                let Request { key, limit, .. } = &waiter.request;
                let verdict = CapVerdict::without_page(*limit, key.window_ms.get()).unavailable();
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
        if let Some(pages) = self.keys.get_mut(&waiter.request.key) {
            pages.waiting = pages.waiting.saturating_sub(1);
        }
        true
    }

    fn leave(&mut self, waiter: &Waiter, verdict: CapVerdict) -> CapSettled {
        if let Some(pages) = self.keys.get_mut(&waiter.request.key) {
            pages.waiting = pages.waiting.saturating_sub(1);
        }
        CapSettled { ticket: waiter.ticket, verdict }
    }

    /// Gives back what `receipt` names, if this holder took it in an epoch it still knows.
    pub fn refund(&mut self, receipt: &CapReceipt) -> bool {
        if receipt.holder != self.id {
            return false;
        }
        let current = self.told.get(&receipt.key.window_ms).map_or(receipt.epoch, |told| told.epoch);
        let Some(pages) = self.keys.get_mut(&receipt.key) else { return false };
        if pages.r#gen() != receipt.r#gen {
            return false;
        }
        let page = pages.page_mut(R::refund_page(receipt.epoch, current));
        page.is_some_and(|page| page.give::<R>(receipt.from, receipt.cost.get()))
    }
}

/// What is left of the epoch that is filed under: once the told one is over, as good as all of the next.
const fn rest_ms(key: &CapKey, left_ms: u64) -> u64 {
    if left_ms == 0 { key.window_ms.get() } else { left_ms }
}
