//! The host of a [`Ledger`]: what the platform is to it.

use super::gate::{Gate, Turn};
use super::pop_object::Closed;
use super::zones::Zones;
use crate::Error;
use crate::clock::{SteadyMark, WallMs};
use crate::config::Policy;
use crate::ledger::{Ledger, LedgerEvent, LedgerHost, LedgerReply, LedgerRow, LedgerSettings, LedgerWrite};
use crate::ordered::Map;
use crate::pop::AskId;

/// One Ledger, over all its lives.
#[derive(Debug, Default)]
pub(super) struct LedgerSite {
    pub stored: LedgerStorage,
    /// The instances in memory. The last one may write; the others do not know that they may not.
    pub lives: Vec<LedgerLife>,
    /// Changes with what the alarm is set to, and with the clock.
    pub alarm_set: u64,
    /// How far its own time was in the last turn of any instance.
    pub mark: Option<SteadyMark>,
}

/// One instance of it.
#[derive(Debug)]
pub(super) struct LedgerLife {
    /// Which one, over all objects.
    pub number: u64,
    pub ledger: Ledger,
    pub gate: Gate<LedgerChange, Reply>,
    /// The largest reading of the cheap clock, which never goes back within a life.
    cheap: WallMs,
    /// When the timer is due, by the cheap clock.
    pub timer: Option<WallMs>,
    /// Changes with the timer and with the clock.
    pub timer_set: u64,
    pub used_at: u64,
    is_closed: bool,
}

/// What is in its storage.
#[derive(Clone, Debug, Default)]
pub(super) struct LedgerStorage {
    rows: Map<String, LedgerRow>,
    pub alarm: Option<WallMs>,
}

#[derive(Clone, Debug)]
pub(super) enum LedgerChange {
    Rows(Vec<LedgerWrite>),
    Alarm(WallMs),
}

/// Who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub pop: usize,
    pub life: u64,
    pub id: AskId,
}

/// What leaves a Ledger.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub to: Asker,
    pub reply: Box<LedgerReply>,
}

/// What a Ledger starts with.
#[derive(Clone, Copy, Debug)]
pub(super) struct LedgerSetup<'a> {
    pub settings: LedgerSettings,
    pub policies: &'a [Policy],
    pub random: u64,
}

/// The host, for one turn.
#[derive(Debug)]
pub(super) struct LedgerTurn<'a, Z> {
    cheap: WallMs,
    exact: WallMs,
    zones: &'a Z,
    is_closed: bool,
    done: LedgerDone,
}

/// What came of a turn.
#[derive(Debug, Default)]
pub(super) struct LedgerDone {
    pub turn: Turn<LedgerChange, Reply>,
    pub wake_ms: Option<u64>,
    pub rows: u64,
}

impl LedgerStorage {
    pub fn write(&mut self, change: &LedgerChange) {
        match change {
            LedgerChange::Alarm(at) => self.alarm = Some(*at),
            LedgerChange::Rows(writes) => {
                for write in writes {
                    match write {
                        LedgerWrite::Put { key, row } => {
                            drop(self.rows.insert(key.clone(), stored(key, row)))
                        }
                        LedgerWrite::Delete { key } => drop(self.rows.remove(key)),
                    }
                }
            }
        }
    }
}

/// A row as a start will read it: storage keeps texts.
#[cfg(not(feature = "page"))]
fn stored(key: &str, row: &LedgerRow) -> LedgerRow {
    LedgerRow::read(key, &row.to_json())
}

/// The same without the detour, so that the page need not load what writes and reads the texts.
#[cfg(feature = "page")]
fn stored(_key: &str, row: &LedgerRow) -> LedgerRow {
    row.clone()
}

impl LedgerSite {
    /// Starts an instance on what is stored.
    pub fn start<Z: Zones>(
        &mut self,
        number: u64,
        setup: LedgerSetup<'_>,
        wall: WallMs,
        now: u64,
        zones: &Z,
    ) {
        let mut host =
            LedgerTurn { cheap: wall, exact: wall, zones, is_closed: false, done: LedgerDone::default() };
        let rows = self.stored.rows.clone();
        let LedgerSetup { settings, policies, random } = setup;
        let ledger = Ledger::restore(random, settings, policies.to_vec(), rows, &mut host);
        self.lives.push(LedgerLife {
            number,
            ledger,
            gate: Gate::default(),
            cheap: wall,
            timer: None,
            timer_set: 0,
            used_at: now,
            is_closed: false,
        });
    }

    pub fn life(&mut self, number: u64) -> Option<&mut LedgerLife> {
        self.lives.iter_mut().find(|life| life.number == number)
    }

    /// Runs a turn of one instance. `Err` if it used storage that is closed to it.
    pub fn run<Z: Zones, T>(
        &mut self,
        number: u64,
        wall: WallMs,
        zones: &Z,
        turn: impl FnOnce(&mut Ledger, &mut LedgerTurn<'_, Z>) -> Result<T, Closed>,
    ) -> Option<Result<(T, LedgerDone), Closed>> {
        let life = self.lives.iter_mut().find(|life| life.number == number)?;
        life.cheap = life.cheap.max(wall);
        let (cheap, is_closed) = (life.cheap, life.is_closed);
        let mut host = LedgerTurn { cheap, exact: wall, zones, is_closed, done: LedgerDone::default() };
        let result = turn(&mut life.ledger, &mut host);
        let done = host.done;
        self.mark = Some(life.ledger.mark());
        Some(result.map(|result| (result, done)))
    }
}

impl LedgerLife {
    /// Storage is closed to it from now on.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// The cheap clock, as this instance last read it.
    pub const fn cheap(&self) -> WallMs {
        self.cheap
    }

    /// The cheap clock goes on with the wall, also where nobody reads it.
    pub fn see(&mut self, wall: WallMs) {
        self.cheap = self.cheap.max(wall);
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
}

impl<Z: Zones> LedgerTurn<'_, Z> {
    /// A reply leaves when what was written before it is durable.
    pub fn reply(&mut self, reply: Reply) {
        self.done.turn.outputs.push(reply);
    }

    fn change(&mut self, change: LedgerChange, rows: u64) -> Result<u64, Closed> {
        if self.is_closed {
            return Err(Closed);
        }
        self.done.turn.writes.push(change);
        self.done.rows = self.done.rows.saturating_add(rows);
        Ok(rows)
    }
}

impl<Z: Zones> LedgerHost for LedgerTurn<'_, Z> {
    type Zone = Z::Zone;
    type Fault = Closed;

    fn cheap(&mut self) -> WallMs {
        self.cheap
    }

    fn exact(&mut self) -> WallMs {
        self.exact
    }

    fn zone(&mut self, name: &str) -> Result<Z::Zone, Error> {
        self.zones.zone(name)
    }

    fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, Closed> {
        let rows = u64::try_from(writes.len()).unwrap_or(u64::MAX);
        self.change(LedgerChange::Rows(writes.to_vec()), rows)
    }

    fn set_alarm(&mut self, at: WallMs) -> Result<(), Closed> {
        self.change(LedgerChange::Alarm(at), 1).map(drop)
    }

    fn wake_after(&mut self, ms: u64) {
        self.done.wake_ms = Some(self.done.wake_ms.map_or(ms, |sooner| sooner.min(ms)));
    }

    fn warn(&mut self, _event: LedgerEvent) {}
}
