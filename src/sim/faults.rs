//! What goes wrong in a [`Simulation`].

use super::fault::{Fault, Machine};
use super::log::LogEvent;
use super::world::{Event, Simulation};
use super::zones::Zones;
use crate::ledger::LedgerName;

impl<Z: Zones> Simulation<Z> {
    pub(super) fn fail(&mut self, fault: Fault) {
        self.observer.totals.faults += 1;
        self.observer.log.add(self.now, || LogEvent::Fault { fault });
        let until = |for_ms: u64| self.now.saturating_add(for_ms);
        match fault {
            Fault::Step { machine, ms } => self.change_clock(machine, |clock, now| clock.step(now, ms)),
            Fault::Freeze { machine, for_ms } => {
                self.change_clock(machine, |clock, now| clock.freeze(now, for_ms));
            }
            Fault::CutOff { machine, for_ms } => {
                let until = until(for_ms);
                let cut = match machine {
                    Machine::Pop(index) => self.pops.get_mut(index).map(|site| &mut site.cut_until),
                    Machine::Ledger(index) => {
                        self.machines.get_mut(index).map(|machine| &mut machine.cut_until)
                    }
                };
                if let Some(cut) = cut {
                    *cut = until.max(*cut);
                }
            }
            Fault::Crash { machine: Machine::Pop(pop) } => self.crash_pop(pop),
            Fault::Crash { machine: Machine::Ledger(index) } => {
                self.ledgers_on(index).into_iter().for_each(|name| self.crash_ledger(name));
            }
            Fault::Split { machine, for_ms } => {
                match machine {
                    Machine::Pop(pop) => self.split_pop(pop),
                    Machine::Ledger(index) => {
                        self.ledgers_on(index).into_iter().for_each(|name| self.split_ledger(name));
                    }
                }
                self.after(for_ms, Event::Joined(machine));
            }
        }
    }

    fn ledgers_on(&self, machine: usize) -> Vec<LedgerName> {
        self.ledgers.keys().copied().filter(|name| self.machine_of(*name) == machine).collect()
    }

    /// Does something to a clock; timers and alarms that go by it then come at another time.
    fn change_clock(&mut self, machine: Machine, change: impl FnOnce(&mut super::clock::Clock, u64)) {
        let now = self.now;
        match machine {
            Machine::Pop(pop) => {
                let Some(site) = self.pops.get_mut(pop) else { return };
                let wall = site.clock.wall(now);
                site.lives.iter_mut().for_each(|life| life.see(wall));
                change(&mut site.clock, now);
                let lives: Vec<u64> = site.lives.iter().map(|life| life.number).collect();
                lives.into_iter().for_each(|life| self.arm_pop_timer(pop, life));
                self.arm_pop_alarm(pop);
            }
            Machine::Ledger(index) => {
                let Some(machine) = self.machines.get_mut(index) else { return };
                let wall = machine.clock.wall(now);
                machine.latest = machine.latest.max(wall);
                change(&mut machine.clock, now);
                for name in self.ledgers_on(index) {
                    let Some(site) = self.ledgers.get_mut(&name) else { continue };
                    site.lives.iter_mut().for_each(|life| life.see(wall));
                    let lives: Vec<u64> = site.lives.iter().map(|life| life.number).collect();
                    lives.into_iter().for_each(|life| self.arm_ledger_timer(name, life));
                    self.arm_ledger_alarm(name);
                }
            }
        }
    }

    /// Of the writes under way some are made, in order; nothing that waited for them leaves.
    fn crash_pop(&mut self, pop: usize) {
        let Some(site) = self.pops.get_mut(pop) else { return };
        let Some(mut last) = site.lives.pop() else { return };
        site.lives.clear();
        let made = self.chance.between(0, last.gate.len() as u64);
        for _ in 0..made {
            if let Some(turn) = last.gate.made() {
                self.store_pop(pop, &turn.writes);
            }
        }
    }

    fn crash_ledger(&mut self, name: LedgerName) {
        let Some(site) = self.ledgers.get_mut(&name) else { return };
        let Some(mut last) = site.lives.pop() else { return };
        site.lives.clear();
        let made = self.chance.between(0, last.gate.len() as u64);
        for _ in 0..made {
            if let Some(turn) = last.gate.made() {
                self.store_ledger(name, &turn.writes);
            }
        }
    }

    /// Storage goes to a new instance. Of the old one's writes under way some are made, and what waited for
    /// these leaves; it lives on unless others are not.
    fn split_pop(&mut self, pop: usize) {
        let Some(old) = self.pops.get_mut(pop).and_then(|site| site.lives.last_mut()) else { return };
        let (life, under_way) = (old.number, old.gate.len() as u64);
        old.close();
        let made = self.chance.between(0, under_way);
        for _ in 0..made {
            self.pop_written(pop, life);
        }
        if made < under_way
            && let Some(site) = self.pops.get_mut(pop)
        {
            site.lives.retain(|other| other.number != life);
        }
        self.start_pop(pop);
    }

    fn split_ledger(&mut self, name: LedgerName) {
        let Some(old) = self.ledgers.get_mut(&name).and_then(|site| site.lives.last_mut()) else { return };
        let (life, under_way) = (old.number, old.gate.len() as u64);
        old.close();
        let made = self.chance.between(0, under_way);
        for _ in 0..made {
            self.ledger_written(name, life);
        }
        if made < under_way
            && let Some(site) = self.ledgers.get_mut(&name)
        {
            site.lives.retain(|other| other.number != life);
        }
        self.start_ledger(name);
    }

    /// The instances that may not write are gone.
    pub(super) fn join(&mut self, machine: Machine) {
        match machine {
            Machine::Pop(pop) => {
                if let Some(site) = self.pops.get_mut(pop) {
                    let last = site.lives.pop();
                    site.lives = last.into_iter().collect();
                }
            }
            Machine::Ledger(index) => {
                for name in self.ledgers_on(index) {
                    let Some(site) = self.ledgers.get_mut(&name) else { continue };
                    let last = site.lives.pop();
                    site.lives = last.into_iter().collect();
                }
            }
        }
    }
}
