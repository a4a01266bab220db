use super::link::{Link, Request};
use super::message::{CapAsk, CapKey, CapReply, HolderId};
use super::rules::{Rules, Standard};
use super::verdict::{CapAnswer, CapReceipt, CapSettled, CapVerdict, Ticket};
use super::{CapLimit, CapPage};
use crate::Cost;
use crate::clock::SteadyMs;
use crate::http::KeyHash;
use crate::ordered::Map;

/// How many keys the identities of one policy share once memory is full.
const SHARED_KEYS: u128 = 64;

/// How much a [`CapHolder`] may remember, and how many requests may wait at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapHolderSettings {
    /// Keys with caps of their own, over all Ledgers. Past it, the Ledgers that were not used for longest
    /// are forgotten; then new keys of a policy share a few caps, which can only refuse early.
    pub max_keys: usize,
    /// Requests that wait, over all Ledgers. Past it a request is told
    /// [`Unavailable`](crate::Refusal::Unavailable), and the policy's `on_error` decides.
    pub max_waiting: usize,
}

impl Default for CapHolderSettings {
    fn default() -> Self {
        Self { max_keys: 25_000, max_waiting: 10_000 }
    }
}

/// One point of presence's side of the cap protocol, for one start of its object.
///
/// It admits from the caps that Ledgers gave it, queues what does not fit, and says what to ask. It keeps
/// nothing over a restart: what it held then counts as taken until the epoch ends. Ledgers are told apart
/// by the names that the caller gives them.
///
/// Whoever drives it calls [`request`](Self::request), sends what [`next_ask`](Self::next_ask) returns
/// after every call, and hands in the [`reply`](Self::reply) or that the ask [`failed`](Self::failed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapHolder<R = Standard> {
    random: u64,
    settings: CapHolderSettings,
    links: Map<String, Link<R>>,
    /// Links made so far.
    made: u64,
    /// Asks so far, over all Ledgers.
    asks: u64,
    requests: u64,
    tickets: u64,
    waiting: usize,
    keys: usize,
}

impl<R: Rules> CapHolder<R> {
    /// A holder that knows nothing yet. `random` must be drawn anew at each start of the object: the core
    /// has no randomness of its own.
    pub const fn new(random: u64, settings: CapHolderSettings) -> Self {
        let links = Map::new();
        let (made, asks, requests, tickets, waiting, keys) = (0, 0, 0, 0, 0, 0);
        Self { random, settings, links, made, asks, requests, tickets, waiting, keys }
    }

    /// Decides a request for `cost` units of `key`, which `ledger` owns; or queues it.
    ///
    /// `now` is a reading of the object's own steady clock; it never goes back, but it may stand still.
    pub fn request(
        &mut self,
        ledger: &str,
        key: &CapKey,
        limit: CapLimit,
        cost: Cost,
        now: SteadyMs,
    ) -> CapAnswer {
        if limit.limit() == 0 || cost.get() > limit.limit() {
            return CapAnswer::Decided(self.peek(ledger, key, limit, Cost::ZERO, now).too_large());
        }
        let closed = CapVerdict::without_page(limit, key.window_ms.get());
        let key = self.place_for(ledger, key);
        let may_wait = self.waiting < self.settings.max_waiting;
        self.tickets = self.tickets.saturating_add(1);
        self.requests = self.requests.saturating_add(1);
        let (ticket, used) = (Ticket(self.tickets), self.requests);
        let answer = self.with(ledger, |link| {
            link.used = used;
            link.request(Request { key, limit, cost }, ticket, may_wait, now)
        });
        answer.unwrap_or(CapAnswer::Decided(closed.unavailable()))
    }

    /// What a request would be told, as far as this holder knows. Takes nothing and asks nobody.
    pub fn peek(&self, ledger: &str, key: &CapKey, limit: CapLimit, cost: Cost, now: SteadyMs) -> CapVerdict {
        let mut unknown = CapVerdict::without_page(limit, key.window_ms.get());
        unknown.decision.remaining = limit.limit();
        unknown.decision.grows_ms = 0;
        let fits = limit.limit() > 0 && cost.get() <= limit.limit();
        let cost = if fits { cost } else { Cost::ZERO };
        let known = self.links.get(ledger).and_then(|link| {
            let key = if self.has_room(link, key) { key.clone() } else { shared(key) };
            link.peek(&Request { key, limit, cost }, now)
        });
        let verdict = known.unwrap_or(unknown);
        if fits { verdict } else { verdict.too_large() }
    }

    /// What to send to `ledger` now, if there is something to ask and no ask of this holder in flight to it.
    pub fn next_ask(&mut self, ledger: &str, now: SteadyMs) -> Option<CapAsk> {
        let n = self.asks.saturating_add(1);
        let ask = self.links.get_mut(ledger)?.next_ask(now, n)?;
        self.asks = n;
        Some(ask)
    }

    /// Takes in a reply of `ledger`, however late or often it comes. Returns what became of the requests that
    /// waited; another ask can be due.
    pub fn reply(&mut self, ledger: &str, reply: &CapReply, now: SteadyMs) -> Vec<CapSettled> {
        if reply.n > self.asks || !self.links.contains_key(ledger) {
            return Vec::new();
        }
        self.with(ledger, |link| link.reply(reply, now)).unwrap_or_default()
    }

    /// Notes that ask `n` to `ledger` was not answered, or not in time. The requests that were part of it are
    /// told [`Unavailable`](crate::Refusal::Unavailable): the policy's `on_error` decides. Should the reply
    /// come after all, its caps count.
    pub fn failed(&mut self, ledger: &str, n: u64) -> Vec<CapSettled> {
        if !self.links.contains_key(ledger) {
            return Vec::new();
        }
        self.with(ledger, |link| link.failed(n)).unwrap_or_default()
    }

    /// Takes a request out of the queue whose caller gave up. `false` if it does not wait there.
    pub fn abandon(&mut self, ledger: &str, ticket: Ticket) -> bool {
        self.links.contains_key(ledger) && self.with(ledger, |link| link.abandon(ticket)) == Some(true)
    }

    /// Gives back what `receipt` names: once, and only if this holder took it in an epoch that is not over.
    /// Otherwise nothing happens, and the units stay taken.
    pub fn refund(&mut self, ledger: &str, receipt: &CapReceipt) -> bool {
        self.links.get_mut(ledger).is_some_and(|link| link.refund(receipt))
    }

    /// The name under which this holder asks `ledger`; `None` before the first request for it.
    pub fn id(&self, ledger: &str) -> Option<HolderId> {
        self.links.get(ledger).map(|link| link.id)
    }

    /// The pages of a key, by epoch.
    pub fn pages(&self, ledger: &str, key: &CapKey) -> Vec<CapPage> {
        let pages = self.links.get(ledger).and_then(|link| link.pages(key));
        pages.map_or_else(Vec::new, |pages| {
            pages.iter().map(|(epoch, page)| page.view(pages.r#gen(), epoch)).collect()
        })
    }

    /// The page that requests for a key are filed on at `now`; while they wait for the Ledger, that of the
    /// newest epoch that it told. `None` before it told one.
    pub fn page_now(&self, ledger: &str, key: &CapKey, now: SteadyMs) -> Option<CapPage> {
        self.links.get(ledger)?.page_now(key, now)
    }

    /// How many keys have caps here.
    pub const fn keys(&self) -> usize {
        self.keys
    }

    /// How many requests wait here.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    fn has_room(&self, link: &Link<R>, key: &CapKey) -> bool {
        self.keys < self.settings.max_keys || link.has_key(key)
    }

    /// Where a key is counted: under its own name while there is room, which may be made.
    fn place_for(&mut self, ledger: &str, key: &CapKey) -> CapKey {
        let known = self.links.get(ledger).is_some_and(|link| link.has_key(key));
        if !known && self.keys >= self.settings.max_keys {
            self.make_room(ledger);
        }
        if known || self.keys < self.settings.max_keys { key.clone() } else { shared(key) }
    }

    /// Forgets idle Ledgers, the longest unused first, until an eighth of the memory is free.
    fn make_room(&mut self, but: &str) {
        let enough = self.settings.max_keys - self.settings.max_keys / 8;
        let idle = self.links.iter().filter(|(name, link)| *name != but && link.is_idle());
        let mut idle: Vec<(u64, String)> = idle.map(|(name, link)| (link.used, name.clone())).collect();
        idle.sort_unstable();
        for (_, name) in idle {
            if self.keys < enough {
                break;
            }
            if let Some(link) = self.links.remove(&name) {
                self.keys = self.keys.saturating_sub(link.keys());
            }
        }
    }

    /// Runs `f` on a Ledger's link, which is made if there is none, and keeps count.
    fn with<T>(&mut self, ledger: &str, f: impl FnOnce(&mut Link<R>) -> T) -> Option<T> {
        if !self.links.contains_key(ledger) {
            let id = HolderId::new(R::renamed(self.random, self.made));
            self.made = self.made.saturating_add(1);
            self.links.insert(ledger.to_owned(), Link::new(id, self.asks));
        }
        let link = self.links.get_mut(ledger)?;
        let (keys, waiting) = (link.keys(), link.waiting());
        let result = f(link);
        self.keys = self.keys.saturating_sub(keys).saturating_add(link.keys());
        self.waiting = self.waiting.saturating_sub(waiting).saturating_add(link.waiting());
        Some(result)
    }
}

/// The key that stands in for `key` where memory is full.
fn shared(key: &CapKey) -> CapKey {
    CapKey { key: KeyHash::new(key.key.get() % SHARED_KEYS), ..key.clone() }
}
