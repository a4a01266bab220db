use super::clock::Clock;
use super::fault::{Fault, Machine};
use super::ledger_object::{Asker, LedgerSite, Reply};
use super::log::LogEntry;
use super::observer::{Observer, Pending};
use super::pop_object::PopSite;
use super::random::Random;
use super::report::SimReport;
use super::scenario::Scenario;
use super::traffic::Source;
use super::zones::{OnlyUtc, Zones};
use crate::clock::WallMs;
use crate::http::KeyHash;
use crate::ledger::{LedgerAsk, LedgerName};
use crate::ordered::Map;

/// Points of presence and Ledgers in virtual time: a world of its own, and an onlooker who sees all of it.
///
/// It is driven by events, and everything follows from the [`Scenario`]. See the [module](super) for what it
/// is made of and an example.
#[derive(Debug)]
pub struct Simulation<Z = OnlyUtc> {
    pub(super) scenario: Scenario,
    pub(super) zones: Z,
    pub(super) now: u64,
    /// Events so far: those of one time happen in the order in which they were made.
    made: u64,
    queue: Map<(u64, u64), Event>,
    pub(super) network: Random,
    pub(super) chance: Random,
    pub(super) sources: Vec<Source>,
    pub(super) pops: Vec<PopSite>,
    pub(super) machines: Vec<LedgerMachine>,
    pub(super) ledgers: Map<LedgerName, LedgerSite>,
    /// Instances of objects so far.
    pub(super) lives: u64,
    /// Requests that are not answered yet.
    pub(super) pending: Map<u64, Pending>,
    pub(super) requests: u64,
    pub(super) observer: Observer,
}

/// What Ledgers run on.
#[derive(Debug)]
pub(super) struct LedgerMachine {
    pub clock: Clock,
    /// Messages are lost until then.
    pub cut_until: u64,
    /// The largest reading before the clock was last changed.
    pub latest: WallMs,
}

/// What happens at some time. A `set` says whether it is still to happen.
#[derive(Debug)]
pub(super) enum Event {
    Arrival {
        source: usize,
    },
    Ask {
        to: LedgerName,
        from: Asker,
        ask: Box<LedgerAsk>,
    },
    Reply(Reply),
    Failed(Asker),
    GiveUp {
        request: u64,
    },
    Fault(Fault),
    /// A second instance is the only one from now on.
    Joined(Machine),
    PopWritten {
        pop: usize,
        life: u64,
    },
    PopTimer {
        pop: usize,
        life: u64,
        set: u64,
    },
    PopAlarm {
        pop: usize,
        set: u64,
    },
    PopIdle {
        pop: usize,
        life: u64,
    },
    LedgerWritten {
        ledger: LedgerName,
        life: u64,
    },
    LedgerTimer {
        ledger: LedgerName,
        life: u64,
        set: u64,
    },
    LedgerAlarm {
        ledger: LedgerName,
        set: u64,
    },
    LedgerIdle {
        ledger: LedgerName,
        life: u64,
    },
}

impl Simulation<OnlyUtc> {
    /// A world at time 0. Calendar quotas can only be in UTC.
    pub fn new(scenario: Scenario) -> Self {
        Self::with_zones(scenario, OnlyUtc)
    }
}

impl<Z: Zones> Simulation<Z> {
    /// A world at time 0, with time zones.
    pub fn with_zones(scenario: Scenario, zones: Z) -> Self {
        let clock = |spec: &super::ClockSpec| Clock::new(*spec, scenario.starts_at);
        let named =
            |(index, spec): (usize, &super::ClockSpec)| PopSite::new(format!("pop-{index}"), clock(spec));
        let machine = |spec: &super::ClockSpec| {
            let (clock, cut_until) = (clock(spec), 0);
            let latest = clock.wall(0);
            LedgerMachine { clock, cut_until, latest }
        };
        let source = |(index, stream): (u64, &super::Stream)| {
            Source::new(stream.clone(), Random::part(scenario.seed, 100_u64.saturating_add(index)))
        };
        let mut world = Self {
            zones,
            now: 0,
            made: 0,
            queue: Map::new(),
            network: Random::part(scenario.seed, 1),
            chance: Random::part(scenario.seed, 2),
            sources: (0..).zip(&scenario.traffic).map(source).collect(),
            pops: scenario.pops.iter().enumerate().map(named).collect(),
            machines: scenario.ledgers.iter().map(machine).collect(),
            ledgers: Map::new(),
            lives: 0,
            pending: Map::new(),
            requests: 0,
            observer: Observer::new(&scenario),
            scenario,
        };
        for source in 0..world.sources.len() {
            world.expect_arrival(source);
        }
        for (at, fault) in world.scenario.faults.clone() {
            world.at(at, Event::Fault(fault));
        }
        world
    }

    /// Virtual time, in milliseconds from the start.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Lets everything happen up to and including that time.
    pub fn run_until(&mut self, until_ms: u64) {
        while self.queue.first_key_value().is_some_and(|((at, _), _)| *at <= until_ms) {
            let Some(((at, _), event)) = self.queue.pop_first() else { break };
            self.now = at;
            self.happen(event);
        }
        self.now = self.now.max(until_ms);
    }

    /// Something goes wrong now.
    pub fn inject(&mut self, fault: Fault) {
        self.fail(fault);
    }

    /// What an onlooker has seen.
    pub fn report(&self) -> SimReport {
        self.observer.report(self.now)
    }

    /// The units that were let through of one client, by the epoch or serial they were filed under; the latest
    /// thousand of these.
    pub fn units(&self, policy: &str, key: KeyHash) -> Vec<(u64, u64)> {
        self.observer.units(policy, key)
    }

    /// The latest events, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &LogEntry> {
        self.observer.log.entries()
    }

    /// Takes the latest events out of the log, oldest first.
    pub fn take_log(&mut self) -> Vec<LogEntry> {
        self.observer.log.take()
    }

    /// Has an event happen at a time; at once, if that is over.
    pub(super) fn at(&mut self, at: u64, event: Event) {
        self.made = self.made.saturating_add(1);
        self.queue.insert((at.max(self.now), self.made), event);
    }

    pub(super) fn after(&mut self, ms: u64, event: Event) {
        self.at(self.now.saturating_add(ms), event);
    }

    /// A number for a new instance.
    pub(super) const fn new_life(&mut self) -> u64 {
        self.lives = self.lives.saturating_add(1);
        self.lives
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival { source } => self.arrival(source),
            Event::Ask { to, from, ask } => self.ask_arrives(to, from, &ask),
            Event::Reply(reply) => self.reply_arrives(&reply),
            Event::Failed(asker) => self.ask_failed(asker),
            Event::GiveUp { request } => self.give_up(request),
            Event::Fault(fault) => self.fail(fault),
            Event::Joined(machine) => self.join(machine),
            Event::PopWritten { pop, life } => self.pop_written(pop, life),
            Event::PopTimer { pop, life, set } => self.pop_timer(pop, life, set),
            Event::PopAlarm { pop, set } => self.pop_alarm(pop, set),
            Event::PopIdle { pop, life } => self.pop_idle(pop, life),
            Event::LedgerWritten { ledger, life } => self.ledger_written(ledger, life),
            Event::LedgerTimer { ledger, life, set } => self.ledger_timer(ledger, life, set),
            Event::LedgerAlarm { ledger, set } => self.ledger_alarm(ledger, set),
            Event::LedgerIdle { ledger, life } => self.ledger_idle(ledger, life),
        }
    }
}
