//! How frames and samples are read off the worlds.

use super::frame::{
    Admitted, BothTotals, Frame, LedgerFrame, PopFrame, PopSample, Sample, Series, SeriesName, Totals,
};
use super::spec::Counts;
use super::{Comparison, KEY};
use crate::Cost;
use crate::global::CapLimit;
use crate::ledger::Ledger;
use crate::ledger::LedgerName;
use crate::pop::{PopHeld, PopLimit};
use crate::sim::pop_object::PopSite;
use crate::sim::{LogEntry, Simulation};

/// The places of the four in a sample.
const NAMES: [SeriesName; 4] =
    [SeriesName::Shared, SeriesName::Alone, SeriesName::Tolerant, SeriesName::Exact];

impl Comparison {
    /// Everything as it stands.
    pub(super) fn look(&self, events: Vec<LogEntry>) -> Frame {
        let totals = BothTotals { exact: totals(&self.exact), tolerant: self.tolerant.as_ref().map(totals) };
        Frame {
            now_ms: self.now_ms(),
            series: NAMES.into_iter().filter_map(|name| self.series(name)).collect(),
            pops: (0..self.spec.pops.len()).filter_map(|pop| self.pop_frame(pop)).collect(),
            ledger: self.ledger_frame(),
            books: if self.spec.is_window() { Vec::new() } else { self.books.now(&self.exact, &self.spec) },
            totals,
            events,
        }
    }

    fn series(&self, name: SeriesName) -> Option<Series> {
        let limit = self.spec.limit;
        let (tally, in_epoch, ceiling) = match name {
            SeriesName::Shared | SeriesName::Alone => {
                let world = self.watched();
                let owner = world.owner_time(0, KEY)?;
                let naive = self.naive_name(name);
                let tally = world.observer.naive_tally(0, naive)?;
                (tally, world.observer.naive_in_epoch(0, naive, KEY, owner), None)
            }
            SeriesName::Tolerant => {
                let world = self.tolerant.as_ref()?;
                let ceiling = CapLimit::new(limit, self.spec.tolerance_ppm).map_or(limit, CapLimit::ceiling);
                (world.observer.tally_of(0), self.in_epoch(world), Some(ceiling))
            }
            SeriesName::Exact => (self.exact.observer.tally_of(0), self.in_epoch(&self.exact), Some(limit)),
        };
        Some(Series { name, ceiling, in_epoch, tally })
    }

    const fn naive_name(&self, name: SeriesName) -> &'static str {
        match (name, self.spec.counts) {
            (SeriesName::Alone, _) => "each-alone",
            (_, Counts::Window(_)) => "shared-stamp-bucket",
            (_, Counts::Period(_)) => "shared-period",
        }
    }

    /// The epoch or serial that is open in a world.
    fn open_epoch(&self, world: &Simulation) -> Option<u64> {
        match self.spec.counts {
            Counts::Window(window_ms) => {
                let ledger = world.owner(0, KEY)?;
                let now = world.owner_time(0, KEY).and_then(|time| u64::try_from(time.0).ok());
                let epoch = now.and_then(|now| now.checked_div(window_ms));
                // A Ledger whose clock once was ahead stays in the epoch that it told then.
                epoch.max(world.observer.told_epoch(ledger, window_ms))
            }
            Counts::Period(_) => {
                let ledger = world.owner(0, KEY).and_then(|name| world.ledger_in(name));
                let open = ledger.and_then(|ledger| ledger.open_period(super::spec::POLICY));
                open.map(|open| open.serial).or_else(|| self.books.last())
            }
        }
    }

    fn in_epoch(&self, world: &Simulation) -> u64 {
        self.open_epoch(world).map_or(0, |epoch| world.observer.units_in(0, KEY, epoch))
    }

    fn pop_frame(&self, pop: usize) -> Option<PopFrame> {
        let world = self.watched();
        let (site, now) = (world.pops.get(pop)?, world.now);
        let wall_ms = site.clock.wall(now);
        let (exact, exact_in_epoch) = admitted(&self.exact, pop, self.open_epoch(&self.exact));
        let tolerant = self.tolerant.as_ref();
        let (tolerant_ever, tolerant_in_epoch) =
            tolerant.map_or((0, 0), |world| admitted(world, pop, self.open_epoch(world)));
        Some(PopFrame {
            name: site.name.clone(),
            wall_ms,
            ahead_ms: world.ahead_ms(wall_ms),
            clock_frozen: site.clock.is_frozen(now),
            object_frozen: is_object_frozen(site, now),
            cut_off: site.cut_until > now,
            instances: site.lives.len(),
            tolerant: tolerant.map(|world| held(world, pop)),
            exact: held(&self.exact, pop),
            admitted: Admitted { exact_in_epoch, exact, tolerant_in_epoch, tolerant: tolerant_ever },
        })
    }

    fn ledger_frame(&self) -> LedgerFrame {
        let (world, books) = (self.watched(), &self.books);
        let Some(machine) = world.machines.first() else { return LedgerFrame::default() };
        let name = world.owner(0, KEY);
        let site = name.and_then(|name| world.ledgers.get(&name));
        let wall_ms = machine.clock.wall(world.now);
        let last = site.and_then(|site| site.lives.last());
        let epoch = match self.spec.counts {
            Counts::Window(window_ms) => name.and_then(|name| world.observer.told_epoch(name, window_ms)),
            Counts::Period(_) => self.open_epoch(world).or_else(|| books.last()),
        };
        LedgerFrame {
            wall_ms,
            ahead_ms: world.ahead_ms(wall_ms),
            clock_frozen: machine.clock.is_frozen(world.now),
            object_frozen: last.is_some_and(|life| life.cheap() > wall_ms),
            cut_off: machine.cut_until > world.now,
            instances: site.map_or(0, |site| site.lives.len()),
            epoch: epoch.unwrap_or(0),
        }
    }

    /// What is so now, and what came since the sample before.
    pub(super) fn sample(&mut self) -> Sample {
        let in_epoch = NAMES.map(|name| match name {
            SeriesName::Tolerant => self.tolerant.as_ref().map(|world| self.in_epoch(world)),
            SeriesName::Exact => Some(self.in_epoch(&self.exact)),
            naive => {
                let world = self.watched();
                let owner = world.owner_time(0, KEY);
                owner.map(|owner| world.observer.naive_in_epoch(0, self.naive_name(naive), KEY, owner))
            }
        });
        let mut before = std::mem::take(&mut self.before);
        let pops = (0..).zip(&mut before).map(|(pop, before)| pop_sample(self.watched(), pop, before));
        let pops = pops.collect();
        self.before = before;
        Sample { at_ms: self.now_ms(), in_epoch, pops }
    }
}

fn pop_sample(world: &Simulation, pop: usize, before: &mut [u64; 3]) -> PopSample {
    let (Some(site), Some(place)) = (world.pops.get(pop), world.observer.place(0, pop)) else {
        return PopSample::default();
    };
    let counted = [place.admitted, place.refused, place.unavailable];
    let [admitted, refused, unavailable] = std::mem::replace(before, counted);
    let (held, now) = (held(world, pop), world.now);
    let flags = [
        (site.cut_until > now, PopSample::CUT_OFF),
        (site.clock.is_frozen(now), PopSample::CLOCK_FROZEN),
        (is_object_frozen(site, now), PopSample::OBJECT_FROZEN),
        (site.lives.is_empty(), PopSample::NOT_IN_MEMORY),
        (held.waiting > 0, PopSample::WAITS),
        (held.full, PopSample::FULL),
    ];
    PopSample {
        admitted: place.admitted.saturating_sub(admitted),
        refused: place.refused.saturating_sub(refused),
        unavailable: place.unavailable.saturating_sub(unavailable),
        epoch: held.epoch,
        flags: flags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, flag)| flag).sum(),
    }
}

/// Units let through at one point of presence, ever and in an epoch.
fn admitted(world: &Simulation, pop: usize, epoch: Option<u64>) -> (u64, u64) {
    let Some(place) = world.observer.place(0, pop) else { return (0, 0) };
    (place.admitted, epoch.map_or(0, |epoch| place.units_in(epoch)))
}

/// What the newest instance at a point of presence holds; nothing where none is in memory.
fn held(world: &Simulation, pop: usize) -> PopHeld {
    let life = world.pops.get(pop).and_then(|site| site.lives.last());
    let (Some(life), Some(policy)) = (life, world.scenario.config.policies().first()) else {
        return PopHeld::default();
    };
    life.pop.held(&PopLimit {
        policy: policy.name.clone(),
        measure: policy.measure(KEY, world.scenario.config.settings()),
        key: KEY,
        cost: Cost::ONE,
        shadow: false,
        receipt: None,
    })
}

fn is_object_frozen(site: &PopSite, now: u64) -> bool {
    site.lives.last().is_some_and(|life| life.cheap() > site.clock.wall(now))
}

fn totals(world: &Simulation) -> Totals {
    let totals = world.observer.totals;
    Totals {
        asks: totals.asks,
        lost: totals.lost,
        rows: totals.pop_rows.saturating_add(totals.ledger_rows),
        gave_up: totals.gave_up,
        starts: totals.starts,
        faults: totals.faults,
        epochs_back: totals.epochs_back,
    }
}

impl Simulation {
    /// The newest instance of a Ledger, if one is in memory.
    pub(super) fn ledger_in(&self, name: LedgerName) -> Option<&Ledger> {
        self.ledgers.get(&name)?.lives.last().map(|life| &life.ledger)
    }
}
