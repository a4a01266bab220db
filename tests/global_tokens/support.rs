//! What the tests share.

use sluicegate::Cost;
use sluicegate::bucket::{BucketState, Refill, TokenBucket};
use sluicegate::clock::SteadyMs;
use sluicegate::fence::FenceSource;
use sluicegate::global::token_rules::{StandardTokens, TokenRules};
use sluicegate::global::{
    TokenAnswer, TokenAsk, TokenHolder, TokenHolderSettings, TokenKey, TokenLedger, TokenLedgerSettings,
    TokenOutcome, TokenRow, TokenSettled, TokenStore, TokenVerdict,
};
use sluicegate::http::KeyHash;
use sluicegate::window::{Counting, Position};

pub const LEDGER: &str = "shard/0";
/// The ledger's clock at the start.
pub const START: SteadyMs = SteadyMs(1_000_000);

/// A small key, so that it stands in for itself where memory is full.
pub fn key() -> TokenKey {
    key_number(7)
}

pub fn key_number(number: u128) -> TokenKey {
    TokenKey { policy: "api".into(), key: KeyHash::new(number) }
}

pub fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

/// A bucket that gains `tokens` in `per_ms`.
pub fn bucket(capacity: u64, tokens: u64, per_ms: u64) -> TokenBucket {
    TokenBucket::new(capacity, Refill::new(tokens, per_ms).unwrap()).unwrap()
}

/// The bound itself: what is admitted in any T milliseconds is at most capacity + rate x T exactly if one
/// bucket, full at the start, has a token for every one of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    bucket: TokenBucket,
    level: BucketState,
}

impl Bound {
    pub fn new(bucket: TokenBucket) -> Self {
        Self { bucket, level: bucket.fresh(bucket.capacity()) }
    }

    pub fn pass(&mut self, ms: u64) {
        self.bucket.credit(&mut self.level, ms);
    }

    pub fn admit(&mut self, units: u64) -> Result<(), String> {
        let left = self.bucket.available(&self.level);
        if units > 0 && !self.bucket.try_take(&mut self.level, cost(units)) {
            return Err(format!("{units} admitted where the bucket has {left}"));
        }
        Ok(())
    }

    pub fn give_back(&mut self, units: u64) {
        let at = Position::default();
        self.bucket.give_back(&mut self.level, at, at, cost(units));
    }
}

/// What a Ledger has stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    pub rows: Vec<TokenRow>,
}

impl Stored {
    pub fn write(&mut self, store: &TokenStore) {
        self.rows.retain(|old| {
            !store.forgotten.contains(&old.key) && store.rows.iter().all(|row| row.key != old.key)
        });
        self.rows.extend(store.rows.iter().cloned());
    }
}

/// A Ledger with its storage and its clock.
pub struct Shard<R: TokenRules = StandardTokens> {
    pub ledger: TokenLedger<R>,
    pub settings: TokenLedgerSettings,
    pub bucket: TokenBucket,
    pub now: SteadyMs,
    pub stored: Stored,
    pub asks: u64,
    pub rows: u64,
    starts: u64,
    fences: FenceSource,
}

impl<R: TokenRules> Shard<R> {
    pub fn new(bucket: TokenBucket) -> Self {
        let settings = TokenLedgerSettings::default();
        let (ledger, stored) = (TokenLedger::new(settings), Stored::default());
        let fences = FenceSource::new(0);
        Self { ledger, settings, bucket, now: START, stored, asks: 0, rows: 0, starts: 0, fences }
    }

    pub fn answer(&mut self, ask: &TokenAsk) -> TokenOutcome {
        let bucket = self.bucket;
        let outcome = self.ledger.answer(ask, |_| Some(bucket), &mut self.fences, self.now);
        self.asks += 1;
        self.rows += outcome.store.rows.len() as u64;
        self.stored.write(&outcome.store);
        outcome
    }

    pub fn collect(&mut self) {
        let bucket = self.bucket;
        let store = self.ledger.collect(|_| Some(bucket), self.now);
        self.stored.write(&store);
    }

    pub fn crash(&mut self) {
        self.starts += 1;
        self.fences = FenceSource::new(self.starts);
        self.ledger = TokenLedger::restore(self.settings, self.stored.rows.clone());
    }

    pub fn pass(&mut self, ms: u64) {
        self.now = self.now.plus(ms);
    }

    /// Tokens that are out, and whole ones in the bucket.
    pub fn totals(&self) -> (u64, u64) {
        let totals = self.ledger.totals(&key(), self.bucket);
        totals.map_or((0, self.bucket.capacity()), |totals| (totals.out, totals.level))
    }
}

/// One point of presence with a clock of its own.
pub struct Pop<R: TokenRules = StandardTokens> {
    pub holder: TokenHolder<R>,
    pub now: SteadyMs,
}

impl<R: TokenRules> Pop<R> {
    pub fn new(random: u64) -> Self {
        let holder = TokenHolder::new(random, TokenHolderSettings::default());
        Self { holder, now: SteadyMs(random % 1_000) }
    }

    pub fn request(&mut self, bucket: TokenBucket, units: u64) -> TokenAnswer {
        self.holder.request(LEDGER, &key(), bucket, cost(units), self.now)
    }

    /// A request, and as many asks as it takes to decide it.
    pub fn decide(&mut self, shard: &mut Shard<R>, units: u64) -> TokenVerdict {
        let answer = self.request(shard.bucket, units);
        let settled = self.sync(shard);
        match answer {
            TokenAnswer::Decided(verdict) => verdict,
            TokenAnswer::Wait(ticket) => {
                settled.into_iter().find(|settled| settled.ticket == ticket).expect("an answer").verdict
            }
        }
    }

    /// Whether a request is admitted.
    pub fn admits(&mut self, shard: &mut Shard<R>, units: u64) -> bool {
        self.decide(shard, units).decision.allowed()
    }

    /// Asks until there is nothing left to ask.
    pub fn sync(&mut self, shard: &mut Shard<R>) -> Vec<TokenSettled> {
        let mut settled = Vec::new();
        while let Some(ask) = self.holder.next_ask(LEDGER, self.now) {
            let outcome = shard.answer(&ask);
            settled.extend(self.holder.reply(LEDGER, &outcome.reply, self.now));
        }
        settled
    }

    /// Lets time pass here and at the Ledger, and does at each second what is due by then.
    pub fn pass(&mut self, shard: &mut Shard<R>, ms: u64) {
        let end = self.now.plus(ms);
        while self.now < end {
            let step = end.since(self.now).min(1_000);
            self.now = self.now.plus(step);
            shard.pass(step);
            self.holder.tick(self.now);
            self.sync(shard);
        }
    }

    pub fn in_hand(&self) -> u64 {
        self.holder.in_hand(LEDGER, &key(), self.now)
    }
}
