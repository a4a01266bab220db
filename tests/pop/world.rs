//! Points of presence, one Ledger for everything, and the messages between them.

use std::collections::BTreeMap;

use sluicegate::Cost;
use sluicegate::bucket::{Refill, TokenBucket};
use sluicegate::calendar::{PeriodSpec, Unit, Utc};
use sluicegate::clock::{SteadyMs, WallMs};
use sluicegate::counter::{CounterSettings, Op};
use sluicegate::fence::FenceSource;
use sluicegate::global::{
    CapKey, CapLedger, CapLedgerSettings, CapLimit, HolderName, LEASE_VERSION, LeaseReply, QuotaLedger,
    TokenKey, TokenLedger, TokenLedgerSettings,
};
use sluicegate::http::KeyHash;
use sluicegate::ledger::{LEDGER_VERSION, LedgerAsk, LedgerName, LedgerReply, QuotaName};
use sluicegate::policy::{Algorithm, OnError};
use sluicegate::pop::{
    AskId, Measure, POP_VERSION, Pop, PopAsk, PopLimit, PopReceipt, PopReply, PopSettings, RequestId,
};
use sluicegate::quota::QuotaSpec;
use sluicegate::window::{FixedWindow, WindowMs};

use crate::host::{Fault, Host};

pub const START: i64 = 1_775_001_600_000;
pub const KEY: KeyHash = KeyHash::new(7);
pub const SHARD: LedgerName = LedgerName::Shard(0);
/// Of the window limits.
pub const WINDOW: u64 = 60_000;

pub fn settings() -> PopSettings {
    PopSettings::new(CounterSettings { flush_hits: 1_000, flush_every_ms: 1_000, max_keys: 1_000 })
}

/// The Ledger of everything: it answers at once, and stores all it should.
pub struct Owner {
    pub caps: CapLedger,
    pub cap_limits: BTreeMap<String, CapLimit>,
    pub tokens: TokenLedger,
    pub buckets: BTreeMap<String, TokenBucket>,
    pub quotas: BTreeMap<String, QuotaLedger<Utc>>,
    pub limits: BTreeMap<String, u64>,
    pub fences: FenceSource,
    pub pops: u32,
    pub asks: u64,
    /// Leases that each reply says it does not know: at all, and in the open period.
    pub unknown_fences: (u64, u64),
}

impl Owner {
    fn new() -> Self {
        Self {
            caps: CapLedger::new(CapLedgerSettings::default()),
            cap_limits: BTreeMap::new(),
            tokens: TokenLedger::new(TokenLedgerSettings::default()),
            buckets: BTreeMap::new(),
            quotas: BTreeMap::new(),
            limits: BTreeMap::new(),
            fences: FenceSource::new(99),
            pops: 1,
            asks: 0,
            unknown_fences: (0, 0),
        }
    }

    pub fn answer(&mut self, ask: &LedgerAsk, wall: i64) -> LedgerReply {
        self.asks += 1;
        let now = SteadyMs(wall as u64);
        let limits = &self.cap_limits;
        let limit_of = |key: &CapKey| limits.get(&key.policy).copied();
        let caps = ask.caps.as_ref().map(|caps| self.caps.answer(caps, limit_of, now).reply);
        let leases = ask.leases.as_ref().map(|leases| {
            let holder = HolderName { pop: leases.pop.clone(), birth: leases.birth };
            let mut items = Vec::new();
            for item in &leases.items {
                let name: QuotaName = item.quota.parse().unwrap();
                let Some(limit) = self.limits.get(&name.policy) else { continue };
                let book = self.quotas.entry(item.quota.clone()).or_insert_with(|| {
                    let month = PeriodSpec::new(Unit::Month, "UTC").unwrap();
                    QuotaLedger::new(QuotaSpec::new(*limit, month).unwrap(), Utc)
                });
                items.extend(book.answer(&holder, item, WallMs(wall), now, &mut self.fences).unwrap().reply);
            }
            LeaseReply { v: LEASE_VERSION, items }
        });
        let buckets = &self.buckets;
        let bucket_of = |key: &TokenKey| buckets.get(&key.policy).copied();
        let tokens = ask.tokens.as_ref();
        let tokens = tokens.map(|tokens| self.tokens.answer(tokens, bucket_of, &mut self.fences, now).reply);
        let (fences_rejected, fences_adopted) = self.unknown_fences;
        let (v, pops) = (LEDGER_VERSION, self.pops);
        LedgerReply { v, pops, caps, tokens, leases, fences_rejected, fences_adopted }
    }
}

/// One object: what is stored of it, and what is in memory, if it is.
pub struct Site {
    pub host: Host,
    pub live: Option<Pop>,
    seed: u64,
}

pub struct World {
    pub owner: Owner,
    pub sites: Vec<Site>,
    pub settings: PopSettings,
    /// Units of quotas that clients were let through with, by quota and serial.
    pub spent: BTreeMap<(String, u64), u64>,
    /// Units of windows, by policy and epoch.
    pub taken: BTreeMap<(String, u64), u64>,
}

impl World {
    pub fn new(sites: usize) -> Self {
        let site = |index: usize| Site {
            host: Host::new(START, 1_000 + index as u64),
            live: None,
            seed: 50_000 * (1 + index as u64),
        };
        Self {
            owner: Owner::new(),
            sites: (0..sites).map(site).collect(),
            settings: settings(),
            spent: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    pub fn with_quota(mut self, policy: &str, limit: u64) -> Self {
        self.owner.limits.insert(policy.into(), limit);
        self
    }

    pub fn with_window(mut self, policy: &str, limit: u64, tolerance_ppm: u32) -> Self {
        self.owner.cap_limits.insert(policy.into(), CapLimit::new(limit, tolerance_ppm).unwrap());
        self
    }

    pub fn with_bucket(mut self, policy: &str, bucket: TokenBucket) -> Self {
        self.owner.buckets.insert(policy.into(), bucket);
        self
    }

    pub fn host(&mut self) -> &mut Host {
        &mut self.sites[0].host
    }

    /// The object, started if it is not in memory.
    pub fn live(&mut self, site: usize) -> (&mut Pop, &mut Host) {
        let Site { host, live, seed } = &mut self.sites[site];
        if live.is_none() {
            *seed += 1;
            let mut rows: Vec<_> = host.stored.journal.values().cloned().collect();
            rows.sort_by_key(|row| row.seq);
            *live = Some(
                Pop::restore(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), self.settings, rows, host).unwrap(),
            );
        }
        (live.as_mut().unwrap(), host)
    }

    /// The object leaves memory, with all it has not stored.
    pub fn evict(&mut self, site: usize) {
        self.sites[site].live = None;
        self.sites[site].host.forget();
    }

    pub fn try_request(&mut self, site: usize, ask: &PopAsk) -> Result<Result<PopReply, RequestId>, Fault> {
        let (pop, host) = self.live(site);
        let answer = pop.request(ask, host);
        if let Ok(Ok(reply)) = &answer
            && !self.sites[site].host.is_dead()
        {
            self.note(&ask.limits, reply);
        }
        answer
    }

    /// A request that is decided at once.
    pub fn request(&mut self, ask: &PopAsk) -> PopReply {
        self.try_request(0, ask).unwrap().expect("decided at once")
    }

    /// A request that has to wait.
    pub fn wait(&mut self, ask: &PopAsk) -> RequestId {
        self.try_request(0, ask).unwrap().expect_err("waits")
    }

    /// A request, with as many messages as it takes.
    pub fn decide(&mut self, ask: &PopAsk) -> PopReply {
        self.decide_at(0, ask)
    }

    pub fn decide_at(&mut self, site: usize, ask: &PopAsk) -> PopReply {
        match self.try_request(site, ask).unwrap() {
            Ok(reply) => {
                self.deliver(site);
                reply
            }
            Err(id) => {
                self.deliver(site);
                self.answer_at(site, id).expect("an answer")
            }
        }
    }

    /// The answer to a request that waited, if there is one.
    pub fn answer(&mut self, id: RequestId) -> Option<PopReply> {
        self.answer_at(0, id)
    }

    pub fn answer_at(&mut self, site: usize, id: RequestId) -> Option<PopReply> {
        let answers = &mut self.sites[site].host.answers;
        let place = answers.iter().position(|(answered, _)| *answered == id)?;
        Some(answers.remove(place).1)
    }

    /// Counts what a client was let through with.
    pub fn note(&mut self, limits: &[PopLimit], reply: &PopReply) {
        assert_eq!(limits.len(), reply.limits.len());
        if !reply.allowed {
            assert!(reply.limits.iter().all(|said| said.receipt.is_none()), "{reply:?}");
        }
        for (limit, said) in limits.iter().zip(&reply.limits) {
            match &said.receipt {
                Some(PopReceipt::Cap(receipt)) => {
                    *self.taken.entry((limit.policy.clone(), receipt.epoch.0)).or_default() +=
                        limit.cost.get();
                }
                Some(PopReceipt::Lease { lease, .. }) => {
                    let units: u64 = lease.spent.iter().map(|spent| spent.units).sum();
                    assert_eq!(units, limit.cost.get());
                    *self.spent.entry((limit.policy.clone(), lease.serial)).or_default() += units;
                }
                _ => {}
            }
        }
    }

    /// Delivers every message and every reply, until there is nothing under way.
    pub fn deliver(&mut self, site: usize) {
        for _ in 0..1_000 {
            let sent = std::mem::take(&mut self.sites[site].host.sent);
            if sent.is_empty() {
                return;
            }
            for (id, _, ask) in sent {
                let reply = self.owner.answer(&ask, self.sites[site].host.wall);
                self.hear(site, id, Some(&reply));
            }
        }
        panic!("it never stops asking");
    }

    pub fn hear(&mut self, site: usize, id: AskId, reply: Option<&LedgerReply>) {
        let (pop, host) = self.live(site);
        pop.hear(id, reply, host).unwrap();
    }

    /// The oldest message that was sent, which is lost unless the caller does something with it.
    pub fn take_sent(&mut self) -> (AskId, LedgerAsk) {
        let (id, _, ask) = self.host().sent.remove(0);
        (id, ask)
    }

    /// The oldest message fails.
    pub fn fail(&mut self) {
        let (id, _) = self.take_sent();
        self.hear(0, id, None);
    }

    /// The oldest message is answered.
    pub fn reply(&mut self) {
        let (id, ask) = self.take_sent();
        let wall = self.host().wall;
        let reply = self.owner.answer(&ask, wall);
        self.hear(0, id, Some(&reply));
    }

    /// Lets time pass, with timers, alarms and messages; the object stays in memory.
    pub fn run(&mut self, ms: i64) {
        self.pass(ms, true);
    }

    /// The same, while nothing gets through to the Ledger.
    pub fn run_cut_off(&mut self, ms: i64) {
        self.pass(ms, false);
    }

    fn pass(&mut self, ms: i64, connected: bool) {
        let end = self.host().wall + ms;
        for _ in 0..10_000 {
            let Site { host, live, .. } = &self.sites[0];
            let wake = host.wake.filter(|_| live.is_some());
            let Some(next) = wake.into_iter().chain(host.stored.alarm).min().filter(|at| *at <= end) else {
                self.host().wall = end;
                return;
            };
            self.host().wall = next.max(self.host().wall);
            self.fire();
            if connected {
                self.deliver(0);
            }
        }
        panic!("it never sleeps");
    }

    /// Calls what is due: the alarm also starts an object that is not in memory.
    pub fn fire(&mut self) {
        let now = self.host().wall;
        if self.host().wake.is_some_and(|at| at <= now) {
            self.host().wake = None;
            let (pop, host) = self.live(0);
            pop.tick(host).unwrap();
        }
        if self.host().stored.alarm.is_some_and(|at| at <= now) {
            self.host().stored.alarm = None;
            let (pop, host) = self.live(0);
            pop.alarm(host).unwrap();
        }
    }
}

pub fn ask(op: Op, limits: Vec<PopLimit>) -> PopAsk {
    PopAsk { v: POP_VERSION, op, pop: "FRA/0".into(), limits }
}

pub fn take(limits: impl IntoIterator<Item = PopLimit>) -> PopAsk {
    ask(Op::Take, limits.into_iter().collect())
}

pub fn peek(limits: impl IntoIterator<Item = PopLimit>) -> PopAsk {
    ask(Op::Peek, limits.into_iter().collect())
}

/// Gives back what a reply took.
pub fn give(limits: &[PopLimit], reply: &PopReply) -> PopAsk {
    let back = |(limit, said): (&PopLimit, &sluicegate::pop::PopReplyLimit)| PopLimit {
        receipt: said.receipt.clone(),
        ..limit.clone()
    };
    ask(Op::Give, limits.iter().zip(&reply.limits).map(back).collect())
}

fn limit(policy: &str, cost: u64, measure: Measure) -> PopLimit {
    let cost = Cost::new(cost).unwrap();
    PopLimit { policy: policy.into(), measure, key: KEY, cost, shadow: false, receipt: None }
}

pub fn minute(limit: u64) -> FixedWindow {
    FixedWindow::new(limit, WindowMs::new(WINDOW).unwrap()).unwrap()
}

/// A limit that the point of presence counts alone.
pub fn local(policy: &str, most: u64, cost: u64) -> PopLimit {
    limit(policy, cost, Measure::Pop(Algorithm::FixedWindow(minute(most))))
}

/// A window over all points of presence.
pub fn window(policy: &str, most: u64, cost: u64, on_error: OnError) -> PopLimit {
    let measure = Measure::Window { window: minute(most), tolerance_ppm: 0, ledger: SHARD, on_error };
    limit(policy, cost, measure)
}

/// A hundred tokens at once, and one more per so many milliseconds.
pub fn hundred(per_ms: u64) -> TokenBucket {
    TokenBucket::new(100, Refill::new(1, per_ms).unwrap()).unwrap()
}

/// A bucket over all points of presence.
pub fn bucket(policy: &str, bucket: TokenBucket, cost: u64, on_error: OnError) -> PopLimit {
    limit(policy, cost, Measure::Bucket { bucket, ledger: SHARD, on_error })
}

/// A calendar quota.
pub fn quota(policy: &str, cost: u64) -> PopLimit {
    limit(policy, cost, Measure::Quota)
}

pub fn quota_name(policy: &str) -> QuotaName {
    QuotaName { policy: policy.into(), key: KEY }
}

pub fn shadow(limit: PopLimit) -> PopLimit {
    PopLimit { shadow: true, ..limit }
}
