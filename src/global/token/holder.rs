use super::hand::{Hand, Times};
use super::link::{Link, Request};
use super::message::{TokenAsk, TokenKey, TokenLease, TokenReply};
use super::token_rules::{StandardTokens, TokenRules};
use super::verdict::{TokenAnswer, TokenReceipt, TokenSettled, TokenVerdict};
use crate::Cost;
use crate::bucket::TokenBucket;
use crate::clock::SteadyMs;
use crate::global::{HolderId, Ticket};
use crate::http::KeyHash;
use crate::ordered::Map;

/// How many keys the identities of one policy share once memory is full.
const SHARED_KEYS: u128 = 64;

/// How much a [`TokenHolder`] may remember, how many requests may wait at it, and when it acts by itself.
/// Times are in milliseconds of its own steady clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHolderSettings {
    /// Keys with leases of their own, over all Ledgers. Past it, keys of which the Ledger knows all are
    /// forgotten; then new keys of a policy share a few leases, which can only refuse early.
    pub max_keys: usize,
    /// Requests that wait, over all Ledgers. Past it a request is told
    /// [`Unavailable`](crate::Refusal::Unavailable), and the policy's `on_error` decides.
    pub max_waiting: usize,
    /// What was spent is reported after so long, if no ask has reported it before: until then the room
    /// that it left in the bucket does not refill.
    pub report_after_ms: u64,
    /// After so long without a take, what is in hand is returned.
    pub return_after_ms: u64,
}

impl Default for TokenHolderSettings {
    fn default() -> Self {
        Self { max_keys: 25_000, max_waiting: 10_000, report_after_ms: 5_000, return_after_ms: 10_000 }
    }
}

/// One point of presence's side of the token protocol, for one start of its object.
///
/// It spends the tokens that Ledgers leased to it, queues what they do not cover, and says what to ask. It
/// keeps nothing over a restart: what it held then counts as spent once the Ledger has not heard of it for
/// long enough. Ledgers are told apart by the names that the caller gives them.
///
/// Whoever drives it calls [`request`](Self::request), and [`tick`](Self::tick) when it is
/// [time](Self::next_tick); sends what [`next_ask`](Self::next_ask) returns after every call; and hands in
/// the [`reply`](Self::reply) or that the ask [`failed`](Self::failed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder<R = StandardTokens> {
    id: HolderId,
    settings: TokenHolderSettings,
    links: Map<String, Link<R>>,
    /// Asks so far, over all Ledgers.
    asks: u64,
    requests: u64,
    /// The number of the request that may next go through the keys for some to forget.
    sweep_at: u64,
    waiting: usize,
    keys: usize,
}

impl<R: TokenRules> TokenHolder<R> {
    /// A holder that knows nothing yet. `random` must be drawn anew at each start of the object: the core
    /// has no randomness of its own.
    pub const fn new(random: u64, settings: TokenHolderSettings) -> Self {
        let links = Map::new();
        let (id, asks, requests, sweep_at, waiting, keys) = (HolderId::new(random), 0, 0, 0, 0, 0);
        Self { id, settings, links, asks, requests, sweep_at, waiting, keys }
    }

    /// Decides a request for `cost` tokens of `key`, whose bucket `ledger` owns; or queues it.
    ///
    /// `now` is a reading of the object's own steady clock; it never goes back, but it may stand still.
    pub fn request(
        &mut self,
        ledger: &str,
        key: &TokenKey,
        bucket: TokenBucket,
        cost: Cost,
        now: SteadyMs,
    ) -> TokenAnswer {
        let empty = TokenVerdict::empty(bucket);
        if never_fits(bucket, cost) {
            return TokenAnswer::Decided(empty.too_large());
        }
        self.requests = self.requests.saturating_add(1);
        let key = self.place_for(ledger, key, now);
        let (ticket, may_wait) = (Ticket(self.requests), self.waiting < self.settings.max_waiting);
        self.make_link(ledger);
        let request = Request { key, bucket, cost };
        let answer = self.with(ledger, |link| link.request(request, ticket, may_wait, now));
        answer.unwrap_or(TokenAnswer::Decided(empty.unavailable()))
    }

    /// What a request would be told, as far as this holder knows. Takes nothing and asks nobody.
    pub fn peek(
        &self,
        ledger: &str,
        key: &TokenKey,
        bucket: TokenBucket,
        cost: Cost,
        now: SteadyMs,
    ) -> TokenVerdict {
        if never_fits(bucket, cost) {
            return TokenVerdict::empty(bucket).too_large();
        }
        let known = self.links.get(ledger).and_then(|link| {
            let has_room = self.keys < self.settings.max_keys || link.hand(key).is_some();
            let key = if has_room { key.clone() } else { shared(key) };
            link.peek(&Request { key, bucket, cost }, now)
        });
        known.unwrap_or_else(|| TokenVerdict::of(bucket, &bucket.fresh(bucket.capacity())))
    }

    /// What to send to `ledger` now, if there is something to ask and no ask of this holder in flight to it.
    pub fn next_ask(&mut self, ledger: &str, now: SteadyMs) -> Option<TokenAsk> {
        let n = self.asks.saturating_add(1);
        let ask = self.links.get_mut(ledger)?.next_ask(now, n)?;
        self.asks = n;
        Some(ask)
    }

    /// Takes in a reply of `ledger`. Returns what became of the requests that waited; another ask can be
    /// due. Only the reply to the ask in flight counts, once: what another grants, the next one tells again.
    pub fn reply(&mut self, ledger: &str, reply: &TokenReply, now: SteadyMs) -> Vec<TokenSettled> {
        self.with(ledger, |link| link.reply(reply, now)).unwrap_or_default()
    }

    /// Notes that ask `n` to `ledger` was not answered, or not in time. The requests that were part of it are
    /// told [`Unavailable`](crate::Refusal::Unavailable): the policy's `on_error` decides.
    pub fn failed(&mut self, ledger: &str, n: u64) -> Vec<TokenSettled> {
        self.with(ledger, |link| link.failed(n)).unwrap_or_default()
    }

    /// Takes a request out of the queue whose caller gave up. `false` if it does not wait there.
    pub fn abandon(&mut self, ledger: &str, ticket: Ticket) -> bool {
        self.with(ledger, |link| link.abandon(ticket)) == Some(true)
    }

    /// Gives back what `receipt` names: once, and only if this holder took it from a lease that it still
    /// has. Otherwise nothing happens, and the tokens stay spent.
    ///
    /// They go back into the bucket with the next ask, not into this holder's hand: once their take was
    /// reported, the room that they left may have refilled, and only the Ledger knows.
    pub fn refund(&mut self, ledger: &str, receipt: &TokenReceipt) -> bool {
        self.links.get_mut(ledger).is_some_and(|link| link.refund(receipt))
    }

    /// Reports what is due, returns what is idle, and forgets what the Ledgers know. Returns the names of
    /// the Ledgers that are to be asked something.
    pub fn tick(&mut self, now: SteadyMs) -> Vec<String> {
        for link in self.links.values_mut() {
            link.tick(now);
        }
        self.links.retain(|_, link| link.keys() > 0);
        self.keys = self.links.values().map(Link::keys).sum();
        self.links.iter().filter(|(_, link)| link.wants_ask()).map(|(name, _)| name.clone()).collect()
    }

    /// When [`tick`](Self::tick) has something to do; `None` while there is nothing.
    pub fn next_tick(&self) -> Option<SteadyMs> {
        self.links.values().filter_map(Link::next_tick).min()
    }

    /// The name under which this holder asks.
    pub const fn id(&self) -> HolderId {
        self.id
    }

    /// Tokens of `key` that can be spent now without asking.
    pub fn in_hand(&self, ledger: &str, key: &TokenKey, now: SteadyMs) -> u64 {
        let hand = self.links.get(ledger).and_then(|link| link.hand(key));
        hand.map_or(0, |hand| hand.left(now))
    }

    /// Tokens of all keys that can be spent now without asking.
    pub fn all_in_hand(&self, now: SteadyMs) -> u64 {
        self.links.values().fold(0, |sum, link| sum.saturating_add(link.in_hand(now)))
    }

    /// The lease of `key` and what became of it.
    pub fn lease(&self, ledger: &str, key: &TokenKey) -> Option<TokenLease> {
        self.links.get(ledger).and_then(|link| link.hand(key)).and_then(Hand::lease)
    }

    /// How many keys are known here.
    pub const fn keys(&self) -> usize {
        self.keys
    }

    /// How many requests wait here.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Where a key is counted: under its own name while there is room, which may be made.
    fn place_for(&mut self, ledger: &str, key: &TokenKey, now: SteadyMs) -> TokenKey {
        if self.links.get(ledger).is_some_and(|link| link.hand(key).is_some()) {
            return key.clone();
        }
        if self.keys >= self.settings.max_keys && self.requests >= self.sweep_at {
            let pause = u64::try_from(self.settings.max_keys / 8).unwrap_or(u64::MAX);
            self.sweep_at = self.requests.saturating_add(pause).saturating_add(1);
            self.links.values_mut().for_each(|link| link.forget(now, 0));
            self.keys = self.links.values().map(Link::keys).sum();
        }
        if self.keys < self.settings.max_keys { key.clone() } else { shared(key) }
    }

    fn make_link(&mut self, ledger: &str) {
        if !self.links.contains_key(ledger) {
            let Self { id, settings, .. } = *self;
            let TokenHolderSettings { report_after_ms, return_after_ms, .. } = settings;
            let link = Link::new(id, Times { report_after_ms, return_after_ms });
            self.links.insert(ledger.to_owned(), link);
        }
    }

    /// Runs `f` on a Ledger's link, if there is one, and keeps count.
    fn with<T>(&mut self, ledger: &str, f: impl FnOnce(&mut Link<R>) -> T) -> Option<T> {
        let link = self.links.get_mut(ledger)?;
        let (keys, waiting) = (link.keys(), link.waiting());
        let result = f(link);
        self.keys = self.keys.saturating_sub(keys).saturating_add(link.keys());
        self.waiting = self.waiting.saturating_sub(waiting).saturating_add(link.waiting());
        Some(result)
    }
}

const fn never_fits(bucket: TokenBucket, cost: Cost) -> bool {
    bucket.capacity() == 0 || cost.get() > bucket.capacity()
}

/// The key that stands in for `key` where memory is full.
fn shared(key: &TokenKey) -> TokenKey {
    TokenKey { key: KeyHash::new(key.key.get() % SHARED_KEYS), ..key.clone() }
}
