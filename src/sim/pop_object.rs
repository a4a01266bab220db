//! The host of a [`Pop`]: what the platform is to a `PopCounter`.

use super::clock::Clock;
use super::gate::{Gate, Turn};
use super::random::Random;
use crate::clock::WallMs;
use crate::counter::JournalRow;
use crate::global::{LeaseRow, LeaseWrite};
use crate::ledger::{LedgerAsk, LedgerName, QuotaName};
use crate::ordered::Map;
use crate::pop::{AskId, Pop, PopAsk, PopEvent, PopHost, PopReply, PopSettings, RequestId, StoredStart};

/// Storage is closed to this instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed;

/// One object of a point of presence, over all its lives.
#[derive(Debug)]
pub(super) struct PopSite {
    pub name: String,
    pub clock: Clock,
    pub stored: PopStorage,
    /// The instances in memory. The last one may write; the others do not know that they may not.
    pub lives: Vec<PopLife>,
    /// Messages are lost until then.
    pub cut_until: u64,
    /// Changes with what the alarm is set to, and with the clock.
    pub alarm_set: u64,
}

/// One instance of the object.
#[derive(Debug)]
pub(super) struct PopLife {
    /// Which one, over all objects.
    pub number: u64,
    pub pop: Pop,
    /// Storage as this instance sees it, with the writes that are under way.
    seen: PopStorage,
    pub gate: Gate<PopWrite, PopOutput>,
    /// The largest reading of the cheap clock, which never goes back within a life.
    cheap: WallMs,
    /// When the timer is due, by the cheap clock.
    pub timer: Option<WallMs>,
    /// Changes with the timer and with the clock.
    pub timer_set: u64,
    /// The requests that wait in it.
    pub waiting: Map<RequestId, u64>,
    pub used_at: u64,
    is_closed: bool,
}

/// What is in an object's storage.
#[derive(Clone, Debug, Default)]
pub(super) struct PopStorage {
    journal: Map<u16, JournalRow>,
    start: Option<StoredStart>,
    leases: Map<QuotaName, Vec<LeaseRow>>,
    pub alarm: Option<WallMs>,
}

#[derive(Clone, Debug)]
pub(super) enum PopWrite {
    Journal(JournalRow),
    DeleteJournal(u16),
    Start(StoredStart),
    Leases(QuotaName, Vec<LeaseWrite>),
    Alarm(Option<WallMs>),
}

/// What leaves an object.
#[derive(Clone, Debug)]
pub(super) enum PopOutput {
    Answer { request: u64, reply: PopReply },
    Send { id: AskId, to: LedgerName, ask: Box<LedgerAsk> },
}

/// The host, for one turn.
#[derive(Debug)]
pub(super) struct PopTurn<'a> {
    cheap: WallMs,
    exact: WallMs,
    random: &'a mut Random,
    seen: &'a mut PopStorage,
    waiting: &'a mut Map<RequestId, u64>,
    is_closed: bool,
    done: PopDone,
}

/// What came of a turn.
#[derive(Debug, Default)]
pub(super) struct PopDone {
    pub turn: Turn<PopWrite, PopOutput>,
    pub wake_ms: Option<u64>,
    pub events: Vec<PopEvent>,
    pub rows: u64,
}

impl PopStorage {
    pub fn write(&mut self, write: &PopWrite) {
        match write {
            PopWrite::Journal(row) => drop(self.journal.insert(row.slot, row.clone())),
            PopWrite::DeleteJournal(slot) => drop(self.journal.remove(slot)),
            PopWrite::Start(start) => self.start = Some(start.clone()),
            PopWrite::Leases(quota, writes) => {
                let rows = self.leases.entry(quota.clone()).or_default();
                writes.iter().for_each(|write| write.apply(rows));
                if rows.is_empty() {
                    self.leases.remove(quota);
                }
            }
            PopWrite::Alarm(at) => self.alarm = *at,
        }
    }

    fn journal(&self) -> Vec<JournalRow> {
        let mut rows: Vec<JournalRow> = self.journal.values().cloned().collect();
        rows.sort_by_key(|row| row.seq);
        rows
    }
}

impl PopSite {
    pub fn new(name: String, clock: Clock) -> Self {
        let stored = PopStorage::default();
        Self { name, clock, stored, lives: Vec::new(), cut_until: 0, alarm_set: 0 }
    }

    /// Starts an instance on what is stored.
    pub fn start(
        &mut self,
        number: u64,
        settings: PopSettings,
        now: u64,
        random: &mut Random,
    ) -> Option<PopDone> {
        let mut seen = self.stored.clone();
        let mut waiting = Map::new();
        let wall = self.clock.wall(now);
        let (seed, journal) = (random.number(), seen.journal());
        let mut turn = PopTurn {
            cheap: wall,
            exact: wall,
            random,
            seen: &mut seen,
            waiting: &mut waiting,
            is_closed: false,
            done: PopDone::default(),
        };
        let pop = Pop::restore(seed, settings, journal, &mut turn).ok()?;
        let done = turn.done;
        self.lives.push(PopLife {
            number,
            pop,
            seen,
            gate: Gate::default(),
            cheap: wall,
            timer: None,
            timer_set: 0,
            waiting,
            used_at: now,
            is_closed: false,
        });
        Some(done)
    }

    pub fn life(&mut self, number: u64) -> Option<&mut PopLife> {
        self.lives.iter_mut().find(|life| life.number == number)
    }

    /// Runs a turn of one instance. `Err` if it used storage that is closed to it.
    pub fn run<T>(
        &mut self,
        number: u64,
        now: u64,
        random: &mut Random,
        turn: impl FnOnce(&mut Pop, &mut PopTurn<'_>) -> Result<T, Closed>,
    ) -> Option<Result<(T, PopDone), Closed>> {
        let wall = self.clock.wall(now);
        let life = self.lives.iter_mut().find(|life| life.number == number)?;
        life.cheap = life.cheap.max(wall);
        let mut host = PopTurn {
            cheap: life.cheap,
            exact: wall,
            random,
            seen: &mut life.seen,
            waiting: &mut life.waiting,
            is_closed: life.is_closed,
            done: PopDone::default(),
        };
        let result = turn(&mut life.pop, &mut host);
        let done = host.done;
        Some(result.map(|result| (result, done)))
    }
}

impl PopLife {
    /// Storage is closed to it from now on.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Sets its timer, if it is not to come sooner already. `true` if it is to be armed.
    pub fn wake_after(&mut self, ms: u64) -> bool {
        let due = WallMs(self.cheap.0.saturating_add_unsigned(ms));
        let is_sooner = self.timer.is_none_or(|set| due < set);
        if is_sooner {
            self.timer = Some(due);
        }
        is_sooner
    }

    /// The cheap clock, as this instance last read it.
    pub const fn cheap(&self) -> WallMs {
        self.cheap
    }

    /// The cheap clock goes on with the wall, also where nobody reads it.
    pub fn see(&mut self, wall: WallMs) {
        self.cheap = self.cheap.max(wall);
    }

    /// True when nothing keeps it in memory but its being used.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.gate.is_empty()
    }
}

impl PopTurn<'_> {
    /// Hands in a request. Returns its name if it waits.
    pub fn request(
        &mut self,
        pop: &mut Pop,
        ask: &PopAsk,
        request: u64,
    ) -> Result<Option<RequestId>, Closed> {
        match pop.request(ask, self)? {
            Ok(reply) => {
                self.done.turn.outputs.push(PopOutput::Answer { request, reply });
                Ok(None)
            }
            Err(id) => {
                self.waiting.insert(id, request);
                Ok(Some(id))
            }
        }
    }

    /// Nobody waits for that answer any more.
    pub fn forget(&mut self, id: RequestId) {
        self.waiting.remove(&id);
    }

    fn open(&self) -> Result<(), Closed> {
        if self.is_closed { Err(Closed) } else { Ok(()) }
    }

    fn write(&mut self, write: PopWrite, rows: u64) -> Result<u64, Closed> {
        self.open()?;
        self.seen.write(&write);
        self.done.turn.writes.push(write);
        self.done.rows = self.done.rows.saturating_add(rows);
        Ok(rows)
    }
}

impl PopHost for PopTurn<'_> {
    type Fault = Closed;

    fn cheap(&mut self) -> WallMs {
        self.cheap
    }

    fn exact(&mut self) -> WallMs {
        self.exact
    }

    fn random(&mut self) -> u64 {
        self.random.number()
    }

    fn write_journal(&mut self, rows: &[JournalRow]) -> Result<u64, Closed> {
        rows.iter().try_fold(0, |sum, row| Ok(sum + self.write(PopWrite::Journal(row.clone()), 1)?))
    }

    fn delete_journal(&mut self, slots: &[u16]) -> Result<u64, Closed> {
        slots.iter().try_fold(0, |sum, slot| Ok(sum + self.write(PopWrite::DeleteJournal(*slot), 1)?))
    }

    fn read_start(&mut self) -> Result<(Option<StoredStart>, Vec<QuotaName>), Closed> {
        self.open()?;
        Ok((self.seen.start.clone(), self.seen.leases.keys().cloned().collect()))
    }

    fn write_start(&mut self, start: &StoredStart) -> Result<u64, Closed> {
        self.write(PopWrite::Start(start.clone()), 1)
    }

    fn read_leases(&mut self, quota: &QuotaName) -> Result<Vec<LeaseRow>, Closed> {
        self.open()?;
        Ok(self.seen.leases.get(quota).cloned().unwrap_or_default())
    }

    fn write_leases(&mut self, quota: &QuotaName, writes: &[LeaseWrite]) -> Result<u64, Closed> {
        let rows = u64::try_from(writes.len()).unwrap_or(u64::MAX);
        self.write(PopWrite::Leases(quota.clone(), writes.to_vec()), rows)
    }

    fn send(&mut self, id: AskId, to: LedgerName, ask: LedgerAsk) {
        self.done.turn.outputs.push(PopOutput::Send { id, to, ask: Box::new(ask) });
    }

    fn answer(&mut self, id: RequestId, reply: PopReply) {
        if let Some(request) = self.waiting.remove(&id) {
            self.done.turn.outputs.push(PopOutput::Answer { request, reply });
        }
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), Closed> {
        self.write(PopWrite::Alarm(Some(at)), 1).map(drop)
    }

    fn wake_after(&mut self, ms: u64) {
        self.done.wake_ms = Some(self.done.wake_ms.map_or(ms, |sooner| sooner.min(ms)));
    }

    fn warn(&mut self, event: PopEvent) {
        self.done.events.push(event);
    }
}
