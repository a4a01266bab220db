//! Random schedules of three points of presence and one real Ledger, which all can crash: requests, lost, late
//! and repeated messages, give-backs, and clocks that do not agree. In no interval of T milliseconds is more
//! admitted than `burst + rate x T`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sluicegate::Error;
use sluicegate::calendar::Utc;
use sluicegate::clock::WallMs;
use sluicegate::config::{Config, Settings};
use sluicegate::ledger::{
    Ledger, LedgerAsk, LedgerEvent, LedgerHost, LedgerReply, LedgerRow, LedgerSettings, LedgerWrite,
};
use sluicegate::pop::{AskId, PopAsk, PopLimit, PopReply, RequestId};

use crate::world::{KEY, World, give, local, take};

const SITES: usize = 3;
const BURST: u64 = 10;
/// Per second.
const RATE: u64 = 2;

fn config() -> Config {
    let text = serde_json::json!({"policies": [{
        "name": "b", "algorithm": "token-bucket", "limit": RATE, "window": "1s", "burst": BURST,
        "identity": "ip", "scope": "global", "on_error": "closed",
    }]});
    Config::from_value(&text).unwrap()
}

fn b(cost: u64) -> PopLimit {
    let config = config();
    let measure = config.policies()[0].measure(KEY, &Settings::default());
    PopLimit { measure, ..local("b", 1, cost) }
}

/// The object around a Ledger.
#[derive(Default)]
struct Disk {
    wall: i64,
    rows: BTreeMap<String, String>,
    alarm: Option<i64>,
}

impl LedgerHost for Disk {
    type Zone = Utc;
    type Fault = std::convert::Infallible;

    fn cheap(&mut self) -> WallMs {
        WallMs(self.wall)
    }

    fn exact(&mut self) -> WallMs {
        WallMs(self.wall)
    }

    fn zone(&mut self, _: &str) -> Result<Utc, Error> {
        Ok(Utc)
    }

    fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, Self::Fault> {
        for write in writes {
            match write {
                LedgerWrite::Put { key, row } => drop(self.rows.insert(key.clone(), row.to_json())),
                LedgerWrite::Delete { key } => drop(self.rows.remove(key)),
            }
        }
        Ok(writes.len() as u64)
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), Self::Fault> {
        self.alarm = Some(at.0);
        Ok(())
    }

    fn wake_after(&mut self, _: u64) {}

    fn warn(&mut self, event: LedgerEvent) {
        assert!(matches!(event, LedgerEvent::ClockStep(_)), "{event:?}");
    }
}

#[derive(Clone, Debug)]
enum Event {
    Request { site: usize, cost: u64 },
    Give { pick: usize },
    Abandon { site: usize },
    Deliver { pick: usize, keep: bool },
    Answer { pick: usize },
    Lose { pick: usize },
    Fail { pick: usize },
    Crash { site: usize },
    CrashLedger,
    Pass { ms: i64 },
}

fn event() -> impl Strategy<Value = Event> {
    let site = 0..SITES;
    let pass = prop_oneof![2 => 1i64..100, 4 => 100i64..3_000, 2 => 3_000i64..12_000, 1 => 55_000i64..70_000];
    prop_oneof![
        12 => (site.clone(), prop_oneof![4 => 1u64..4, 1 => 4u64..12])
            .prop_map(|(site, cost)| Event::Request { site, cost }),
        1 => (0usize..8).prop_map(|pick| Event::Give { pick }),
        1 => site.clone().prop_map(|site| Event::Abandon { site }),
        8 => (0usize..8, any::<bool>()).prop_map(|(pick, keep)| Event::Deliver { pick, keep: keep && pick < 3 }),
        8 => (0usize..8).prop_map(|pick| Event::Answer { pick }),
        1 => (0usize..8).prop_map(|pick| Event::Lose { pick }),
        1 => (0usize..8).prop_map(|pick| Event::Fail { pick }),
        1 => site.prop_map(|site| Event::Crash { site }),
        1 => Just(Event::CrashLedger),
        6 => pass.prop_map(|ms| Event::Pass { ms }),
    ]
}

struct Run {
    world: World,
    disk: Disk,
    ledger: Ledger,
    lives: [u64; SITES],
    ledger_lives: u64,
    now: i64,
    asks: Vec<(usize, u64, AskId, LedgerAsk)>,
    replies: Vec<(usize, u64, AskId, LedgerReply)>,
    waiting: Vec<(usize, u64, RequestId, Vec<PopLimit>)>,
    /// What can be given back.
    taken: Vec<(usize, PopAsk)>,
    /// When how much was admitted, and when how much was given back at most.
    admitted: Vec<(i64, u64)>,
    given: Vec<(i64, u64)>,
}

impl Run {
    fn new() -> Self {
        let mut world = World::new(SITES);
        for (site, skew) in world.sites.iter_mut().zip([0, 3_600_000, -7_000_000]) {
            site.host.wall += skew;
        }
        let mut disk = Disk { wall: 1_900_000_000_000, ..Disk::default() };
        let policies = config().policies().to_vec();
        let ledger = Ledger::restore(1, LedgerSettings::default(), policies, [], &mut disk);
        Self {
            world,
            disk,
            ledger,
            lives: [0; SITES],
            ledger_lives: 1,
            now: 0,
            asks: Vec::new(),
            replies: Vec::new(),
            waiting: Vec::new(),
            taken: Vec::new(),
            admitted: Vec::new(),
            given: Vec::new(),
        }
    }

    fn note(&mut self, site: usize, limits: &[PopLimit], reply: &PopReply) {
        assert_eq!(reply.allowed, reply.limits[0].receipt.is_some(), "{reply:?}");
        if reply.allowed {
            self.admitted.push((self.now, limits[0].cost.get()));
            self.taken.push((site, give(limits, reply)));
        }
    }

    fn request(&mut self, site: usize, cost: u64) {
        let ask = take([b(cost)]);
        let (pop, host) = self.world.live(site);
        match pop.request(&ask, host).unwrap() {
            Ok(reply) => self.note(site, &ask.limits, &reply),
            Err(id) => self.waiting.push((site, self.lives[site], id, ask.limits)),
        }
    }

    fn gather(&mut self) {
        for site in 0..SITES {
            let life = self.lives[site];
            let sent = std::mem::take(&mut self.world.sites[site].host.sent);
            self.asks.extend(sent.into_iter().map(|(id, _, ask)| (site, life, id, ask)));
            for (id, reply) in std::mem::take(&mut self.world.sites[site].host.answers) {
                let is_it =
                    |(at, of, waits, _): &(usize, u64, RequestId, _)| (*at, *of, *waits) == (site, life, id);
                let place = self.waiting.iter().position(is_it).expect("an answer to one that waits, once");
                let (.., limits) = self.waiting.remove(place);
                self.note(site, &limits, &reply);
            }
        }
    }

    fn crash_ledger(&mut self) {
        self.ledger_lives += 1;
        let (stored, policies) = (self.disk.rows.clone(), config().policies().to_vec());
        let rows = stored.iter().map(|(key, text)| (key.clone(), LedgerRow::read(key, text)));
        self.ledger =
            Ledger::restore(self.ledger_lives, LedgerSettings::default(), policies, rows, &mut self.disk);
        assert_eq!(self.ledger.report().unreadable, 0);
    }

    fn pass(&mut self, ms: i64) {
        self.now += ms;
        self.disk.wall += ms;
        if self.disk.alarm.is_some_and(|at| at <= self.disk.wall) {
            self.disk.alarm = None;
            self.ledger.alarm(&mut self.disk).unwrap();
        }
        for site in 0..SITES {
            self.world.sites[site].host.wall += ms;
            let (pop, host) = self.world.live(site);
            pop.tick(host).unwrap();
        }
    }

    fn hear(&mut self, site: usize, life: u64, id: AskId, reply: Option<&LedgerReply>) {
        if self.lives[site] == life {
            self.world.hear(site, id, reply);
        }
    }

    fn step(&mut self, event: Event) {
        match event {
            Event::Request { site, cost } => self.request(site, cost),
            Event::Give { pick } if !self.taken.is_empty() => {
                let (site, back) = self.taken.remove(pick % self.taken.len());
                self.given.push((self.now, back.limits[0].cost.get()));
                let (pop, host) = self.world.live(site);
                // Twice: the second one changes nothing.
                for _ in 0..2 {
                    assert!(pop.request(&back, host).unwrap().unwrap().allowed);
                }
            }
            Event::Abandon { site } => {
                let life = self.lives[site];
                if let Some(place) = self.waiting.iter().position(|(at, of, ..)| (*at, *of) == (site, life)) {
                    let (_, _, id, _) = self.waiting.remove(place);
                    let (pop, host) = self.world.live(site);
                    pop.abandon(id, host);
                }
            }
            Event::Deliver { pick, keep } if !self.asks.is_empty() => {
                let place = pick % self.asks.len();
                let (site, life, id, ask) = self.asks[place].clone();
                if !keep {
                    self.asks.remove(place);
                }
                let reply = self.ledger.answer(&ask, &mut self.disk).unwrap();
                self.replies.push((site, life, id, reply));
            }
            Event::Answer { pick } if !self.replies.is_empty() => {
                let (site, life, id, reply) = self.replies.remove(pick % self.replies.len());
                self.hear(site, life, id, Some(&reply));
            }
            Event::Lose { pick } if !self.asks.is_empty() => drop(self.asks.remove(pick % self.asks.len())),
            Event::Fail { pick } if !self.asks.is_empty() => {
                let (site, life, id, _) = self.asks[pick % self.asks.len()].clone();
                self.hear(site, life, id, None);
            }
            Event::Crash { site } => {
                self.world.evict(site);
                self.lives[site] += 1;
                self.waiting.retain(|(at, ..)| *at != site);
                self.world.sites[site].host.answers.clear();
                self.taken.retain(|(at, _)| *at != site);
            }
            Event::CrashLedger => self.crash_ledger(),
            Event::Pass { ms } => self.pass(ms),
            _ => {}
        }
        self.gather();
    }

    /// Everything gets through from now on.
    fn calm(&mut self, seconds: i64) {
        for _ in 0..seconds {
            for _ in 0..10 {
                for (site, life, id, ask) in std::mem::take(&mut self.asks) {
                    let reply = self.ledger.answer(&ask, &mut self.disk).unwrap();
                    self.hear(site, life, id, Some(&reply));
                }
                self.gather();
            }
            assert!(self.asks.is_empty(), "it never stops asking");
            self.pass(1_000);
            self.gather();
        }
    }

    /// The intervals that end now: the others were looked at before.
    fn check(&self) {
        let mut sum = 0;
        for (at, cost) in self.admitted.iter().rev() {
            sum += cost;
            let refill = RATE * u64::try_from(self.now - at).unwrap() / 1_000;
            // What was given back long ago can come to the Ledger in this interval.
            let given: u64 = self.given.iter().map(|(_, cost)| cost).sum();
            assert!(sum <= BURST + refill + given, "{sum} within {} ms: {:?}", self.now - at, self.admitted);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_interval_admits_more_than_the_bucket(
        events in prop::collection::vec(event(), 1..200),
        gives in any::<bool>(),
    ) {
        let mut run = Run::new();
        for event in events {
            if gives || !matches!(event, Event::Give { .. }) {
                run.step(event);
                run.check();
            }
        }
        // In the end nobody waits, all tokens are home, and the bucket is full again.
        run.replies.clear();
        run.calm(200);
        prop_assert!(run.waiting.is_empty(), "{:?}", run.waiting);
        for site in 0..SITES {
            let report = run.world.live(site).0.report();
            prop_assert_eq!((report.requests_waiting, report.token_keys), (0, 0));
        }
        run.pass(2 * 3_600_000);
        prop_assert_eq!(run.ledger.report().buckets, 0);
        prop_assert!(!run.disk.rows.keys().any(|key| key.starts_with("token/")));
        run.request(0, BURST);
        run.gather();
        run.calm(1);
        prop_assert_eq!(run.admitted.last().map(|(_, cost)| *cost), Some(BURST));
        run.check();
    }
}
