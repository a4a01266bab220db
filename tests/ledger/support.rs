//! A Ledger with its storage, its clocks and the points of presence that ask it.

use std::collections::BTreeMap;

use sluicegate::calendar::{JiffZone, Naming, PeriodSpec};
use sluicegate::clock::{SteadyMs, WallMs};
use sluicegate::config::{Config, Policy};
use sluicegate::global::{
    Birth, HolderSettings, HolderStart, LEASE_VERSION, LeaseAsk, LeaseAskItem, LeaseAudit, LeaseHolder,
    LeaseReplyItem, LeaseRow, Spend, Waiting,
};
use sluicegate::http::KeyHash;
use sluicegate::ledger::{
    LEDGER_VERSION, Ledger, LedgerAsk, LedgerEvent, LedgerHost, LedgerReply, LedgerRow, LedgerSettings,
    LedgerWrite, QuotaName, TenantAnswer, TenantOp, TenantRequest, TenantUsage,
};
use sluicegate::{Cost, Error};

/// The identity whose quotas the tests use.
pub const KEY: KeyHash = KeyHash::new(0xabc);

/// An instant, from its ISO 8601 text.
pub fn wall(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// Policies: `monthly` (100 a month of `zone`), `daily` (10 a day in UTC), `api` (1,000 a minute over all
/// points of presence, 10 % tolerated), and `near` (per point of presence: not a Ledger's).
pub fn policies(zone: &str) -> Vec<Policy> {
    let text = serde_json::json!({"policies": [
        {"name": "monthly", "algorithm": "calendar-quota", "limit": 100, "identity": "header:x-key",
            "period": {"unit": "month", "time_zone": zone}},
        {"name": "daily", "algorithm": "calendar-quota", "limit": 10, "identity": "header:x-key",
            "period": {"unit": "day", "time_zone": "UTC"}},
        {"name": "api", "algorithm": "fixed-window", "limit": 1000, "window": "1m", "identity": "ip",
            "scope": "global", "tolerance": 0.1},
        {"name": "near", "algorithm": "fixed-window", "limit": 1000, "window": "1m", "identity": "ip"},
    ]});
    Config::from_value(&text).unwrap().policies().to_vec()
}

/// Storage failed.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken;

/// The object around a Ledger. Its wall clock can be stepped; the cheap reading then stands still until the
/// wall has caught up, as in a Durable Object.
#[derive(Debug, Default)]
pub struct Host {
    pub wall: i64,
    clamped: i64,
    pub disk: BTreeMap<String, String>,
    /// Calls of `write`, with how many rows each wrote.
    pub writes: Vec<usize>,
    pub fails: bool,
    pub alarm: Option<i64>,
    pub wake: Option<u64>,
    pub events: Vec<LedgerEvent>,
    /// Zones that this runtime does not know.
    pub forgotten: Vec<String>,
}

impl LedgerHost for Host {
    type Zone = JiffZone;
    type Fault = Broken;

    fn cheap(&mut self) -> WallMs {
        self.clamped = self.clamped.max(self.wall);
        WallMs(self.clamped)
    }

    fn exact(&mut self) -> WallMs {
        WallMs(self.wall)
    }

    fn zone(&mut self, name: &str) -> Result<JiffZone, Error> {
        let name = if self.forgotten.iter().any(|zone| zone == name) { "Nowhere/City" } else { name };
        JiffZone::new(name, Naming::Snake)
    }

    fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, Broken> {
        assert!(!writes.is_empty(), "an empty transaction");
        if self.fails {
            return Err(Broken);
        }
        self.writes.push(writes.len());
        for write in writes {
            match write {
                LedgerWrite::Put { key, row } => {
                    let text = row.to_json();
                    assert_eq!(LedgerRow::read(key, &text), *row, "{key} is read back as {text}");
                    self.disk.insert(key.clone(), text);
                }
                LedgerWrite::Delete { key } => drop(self.disk.remove(key)),
            }
        }
        Ok(writes.len() as u64)
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), Broken> {
        if self.fails {
            return Err(Broken);
        }
        self.alarm = Some(at.0);
        Ok(())
    }

    fn wake_after(&mut self, ms: u64) {
        self.wake = Some(self.wake.map_or(ms, |set| set.min(ms)));
    }

    fn warn(&mut self, event: LedgerEvent) {
        self.events.push(event);
    }
}

/// A Ledger in its object: rows survive, memory does not.
#[derive(Debug)]
pub struct Object {
    pub ledger: Ledger,
    pub host: Host,
    pub settings: LedgerSettings,
    pub policies: Vec<Policy>,
    pub lives: u64,
}

impl Object {
    pub fn new(zone: &str, at: &str) -> Self {
        let mut host = Host { wall: wall(at), ..Host::default() };
        let (settings, policies) = (LedgerSettings::default(), policies(zone));
        let ledger = Ledger::restore(1, settings, policies.clone(), [], &mut host);
        Self { ledger, host, settings, policies, lives: 1 }
    }

    /// The object is made anew from its storage: after a crash, an eviction or a deployment.
    pub fn restart(&mut self) {
        self.lives += 1;
        // Another machine: its clock has not been seen to go back.
        self.host.clamped = i64::MIN;
        self.host.wake = None;
        let row = |(key, text): (&String, &String)| (key.clone(), LedgerRow::read(key, text));
        let rows: Vec<_> = self.host.disk.iter().map(row).collect();
        self.ledger = Ledger::restore(self.lives, self.settings, self.policies.clone(), rows, &mut self.host);
    }

    pub fn ask(&mut self, ask: &LedgerAsk) -> LedgerReply {
        self.ledger.answer(ask, &mut self.host).unwrap()
    }

    pub fn tenant(&mut self, policy: &str, op: TenantOp) -> TenantAnswer {
        self.ledger.tenant(&TenantRequest { policy: policy.into(), op }, &mut self.host).unwrap()
    }

    pub fn put(&mut self, policy: &str, limit: u64, period: &PeriodSpec) {
        let op = TenantOp::Put { limit: Some(limit), period: Some(period.clone()) };
        assert!(matches!(self.tenant(policy, op), TenantAnswer::Settings(_)));
    }

    pub fn usage(&mut self, policy: &str) -> TenantUsage {
        match self.tenant(policy, TenantOp::Usage) {
            TenantAnswer::Usage(usage) => usage,
            other => panic!("{other:?}"),
        }
    }

    pub fn audit(&mut self, policy: &str) -> LeaseAudit {
        match self.tenant(policy, TenantOp::Audit) {
            TenantAnswer::Audit(audit) => *audit,
            other => panic!("{other:?}"),
        }
    }

    /// How many rows the call writes, and in how many transactions.
    pub fn rows_of<T>(&mut self, call: impl FnOnce(&mut Self) -> T) -> (usize, usize, T) {
        let before = self.host.writes.len();
        let value = call(self);
        let writes = &self.host.writes[before..];
        (writes.iter().sum(), writes.len(), value)
    }
}

/// A point of presence that leases units of one quota.
pub struct Pop {
    pub name: String,
    pub policy: String,
    pub start: HolderStart,
    pub storage: Vec<LeaseRow>,
    pub holder: LeaseHolder,
    pub now: SteadyMs,
    /// Units that requests were let through with, by serial.
    pub spent: BTreeMap<u64, u64>,
}

impl Pop {
    pub fn new(name: &str, policy: &str) -> Self {
        let start = HolderStart::next(None, name.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte)));
        let now = SteadyMs(5);
        let quota = QuotaName { policy: policy.into(), key: KEY }.to_string();
        let (holder, _) = LeaseHolder::start(&quota, start.boot, &[], HolderSettings::default(), now);
        let (name, policy) = (name.to_owned(), policy.to_owned());
        Self { name, policy, start, storage: Vec::new(), holder, now, spent: BTreeMap::new() }
    }

    pub fn restart(&mut self) {
        self.start = HolderStart::next(Some(self.start), 0);
        let quota = QuotaName { policy: self.policy.clone(), key: KEY }.to_string();
        let settings = HolderSettings::default();
        let (holder, writes) = LeaseHolder::start(&quota, self.start.boot, &self.storage, settings, self.now);
        writes.iter().for_each(|write| write.apply(&mut self.storage));
        self.holder = holder;
    }

    /// An ask on behalf of requests that cost `cost`.
    pub fn ask(&mut self, cost: u64) -> LedgerAsk {
        let waiting = if cost == 0 { Waiting::default() } else { Waiting { sum: cost, least: cost } };
        let item = self.holder.ask(&self.storage, waiting, self.now);
        envelope(&self.name, self.start.birth, vec![item])
    }

    /// Hears a reply, if it has something for it.
    pub fn hear(&mut self, reply: &LedgerReply) {
        let Some(item) = reply.leases.as_ref().and_then(|leases| leases.items.first()) else { return };
        for write in self.holder.hear(item, self.now).unwrap_or_default() {
            write.apply(&mut self.storage);
        }
    }

    pub fn exchange(&mut self, object: &mut Object, cost: u64) -> LedgerReply {
        let ask = self.ask(cost);
        let reply = object.ask(&ask);
        self.hear(&reply);
        reply
    }

    /// Spends what is in hand. `None`: it must ask.
    pub fn spend(&mut self, cost: u64, asked: u32) -> Option<bool> {
        match self.holder.spend(Cost::new(cost).unwrap(), asked, self.now) {
            Spend::Taken { receipt, writes } => {
                writes.iter().for_each(|write| write.apply(&mut self.storage));
                *self.spent.entry(receipt.serial).or_default() += cost;
                Some(true)
            }
            Spend::Refused(_) => Some(false),
            Spend::Wait => None,
        }
    }

    /// A request, five seconds after the last one: the news of the Ledger come first.
    pub fn request(&mut self, object: &mut Object, cost: u64) -> bool {
        self.now = self.now.plus(5_000);
        self.exchange(object, 0);
        for asked in 0..4 {
            match self.spend(cost, asked) {
                Some(allowed) => return allowed,
                None => drop(self.exchange(object, cost)),
            }
        }
        panic!("a request that waits for ever");
    }

    /// Takes all there is, one by one.
    pub fn take_all(&mut self, object: &mut Object) -> u64 {
        (0..).take_while(|_| self.request(object, 1)).count() as u64
    }
}

pub fn envelope(pop: &str, birth: Birth, items: Vec<LeaseAskItem>) -> LedgerAsk {
    let leases = LeaseAsk { v: LEASE_VERSION, pop: pop.into(), birth, items };
    LedgerAsk { v: LEDGER_VERSION, pop: pop.into(), caps: None, tokens: None, leases: Some(leases) }
}

pub fn items(reply: &LedgerReply) -> &[LeaseReplyItem] {
    reply.leases.as_ref().map_or(&[], |leases| &leases.items)
}
