//! The Ledgers in a [`Simulation`].

use super::fault::Machine;
use super::ledger_object::{Asker, LedgerChange, LedgerDone, LedgerSetup, LedgerTurn, Reply};
use super::log::LogEvent;
use super::pop_object::Closed;
use super::world::{Event, LedgerMachine, Simulation};
use super::zones::Zones;
use crate::clock::{SteadyClock, WallMs};
use crate::global::LeaseAudit;
use crate::http::KeyHash;
use crate::ledger::{
    Ledger, LedgerAsk, LedgerName, LedgerSettings, TenantAnswer, TenantOp, TenantRequest, TenantUsage,
};
use crate::pop::Measure;

impl<Z: Zones> Simulation<Z> {
    /// The machine that a Ledger is on.
    pub(super) fn machine_of(&self, ledger: LedgerName) -> usize {
        let number = match ledger {
            LedgerName::Tenant(key) => key.get(),
            LedgerName::Shard(shard) => u128::from(shard),
        };
        let machine = number.checked_rem(self.machines.len() as u128).unwrap_or(0);
        usize::try_from(machine).unwrap_or(0)
    }

    fn machine(&self, ledger: LedgerName) -> Option<&LedgerMachine> {
        self.machines.get(self.machine_of(ledger))
    }

    /// The Ledger that owns a limit; none where each point of presence counts alone.
    pub(super) fn owner(&self, policy: usize, key: KeyHash) -> Option<LedgerName> {
        let config = &self.scenario.config;
        match config.policies().get(policy)?.measure(key, config.settings()) {
            Measure::Window { ledger, .. } | Measure::Bucket { ledger, .. } => Some(ledger),
            Measure::Quota => Some(LedgerName::Tenant(key)),
            Measure::Pop(_) => None,
        }
    }

    /// The time by which the owner of a limit opens epochs, would it look at its clock now; of a quota,
    /// periods. Neither goes back, whatever its clock does. The naive limiters are measured by it, so that no
    /// two of its epochs count as one.
    pub(super) fn owner_time(&self, policy: usize, key: KeyHash) -> Option<WallMs> {
        let ledger = self.owner(policy, key)?;
        let machine = self.machine(ledger)?;
        let wall = machine.clock.wall(self.now);
        if matches!(ledger, LedgerName::Tenant(_)) {
            return Some(wall.max(machine.latest));
        }
        let Some(mark) = self.ledgers.get(&ledger).and_then(|site| site.mark) else { return Some(wall) };
        let steady = SteadyClock::restore(mark).observe(wall, || wall).steady;
        Some(WallMs(i64::try_from(steady.0).unwrap_or(i64::MAX)))
    }

    /// Whether no message passes between the two.
    pub(super) fn is_cut(&self, pop: usize, ledger: LedgerName) -> bool {
        let pop = self.pops.get(pop).map_or(0, |site| site.cut_until);
        let ledger = self.machine(ledger).map_or(0, |machine| machine.cut_until);
        pop.max(ledger) > self.now
    }

    pub(super) fn ask_arrives(&mut self, to: LedgerName, from: Asker, ask: &LedgerAsk) {
        if self.is_cut(from.pop, to) {
            return self.lost(from);
        }
        let Some(life) = self.ledger_in_memory(to) else { return };
        self.ledger_used(to, life);
        self.ledger_turn(to, life, |ledger, host| {
            let reply = Box::new(ledger.answer(ask, host)?);
            host.reply(Reply { to: from, reply });
            Ok(())
        });
    }

    fn ledger_in_memory(&mut self, ledger: LedgerName) -> Option<u64> {
        let site = self.ledgers.entry(ledger).or_default();
        match site.lives.as_slice() {
            [] => self.start_ledger(ledger),
            [one] => Some(one.number),
            several => {
                let place = self.chance.below(several.len() as u64);
                several.get(usize::try_from(place).ok()?).map(|life| life.number)
            }
        }
    }

    /// Starts an instance on what is stored.
    pub(super) fn start_ledger(&mut self, ledger: LedgerName) -> Option<u64> {
        let number = self.new_life();
        let machine = self.machine_of(ledger);
        let wall = self.machines.get(machine)?.clock.wall(self.now);
        let key = if let LedgerName::Tenant(key) = ledger { Some(key) } else { None };
        let setup = LedgerSetup {
            settings: LedgerSettings { key, ..self.scenario.ledger },
            policies: self.scenario.config.policies(),
            random: self.chance.number(),
        };
        self.ledgers.get_mut(&ledger)?.start(number, setup, wall, self.now, &self.zones);
        self.observer.totals.starts += 1;
        self.observer.log.add(self.now, || LogEvent::Started { machine: Machine::Ledger(machine) });
        if let Some(ms) = self.scenario.evict_after_ms {
            self.after(ms, Event::LedgerIdle { ledger, life: number });
        }
        Some(number)
    }

    fn ledger_used(&mut self, ledger: LedgerName, life: u64) {
        let now = self.now;
        if let Some(life) = self.ledgers.get_mut(&ledger).and_then(|site| site.life(life)) {
            life.used_at = now;
        }
    }

    /// A turn of one instance, and what comes of it.
    fn ledger_turn<T>(
        &mut self,
        name: LedgerName,
        life: u64,
        turn: impl FnOnce(&mut Ledger, &mut LedgerTurn<'_, Z>) -> Result<T, Closed>,
    ) -> Option<T> {
        let wall = self.machine(name)?.clock.wall(self.now);
        match self.ledgers.get_mut(&name)?.run(life, wall, &self.zones, turn)? {
            Ok((result, done)) => {
                self.ledger_done(name, life, done);
                Some(result)
            }
            Err(Closed) => {
                let machine = Machine::Ledger(self.machine_of(name));
                self.observer.log.add(self.now, || LogEvent::Broken { machine });
                self.ledgers.get_mut(&name)?.lives.retain(|other| other.number != life);
                None
            }
        }
    }

    fn ledger_done(&mut self, name: LedgerName, number: u64, done: LedgerDone) {
        let LedgerDone { turn, wake_ms, rows } = done;
        self.observer.totals.ledger_rows += rows;
        let Some(life) = self.ledgers.get_mut(&name).and_then(|site| site.life(number)) else { return };
        let is_sooner = wake_ms.is_some_and(|ms| life.wake_after(ms));
        let outputs = life.gate.pass(turn);
        if is_sooner {
            self.arm_ledger_timer(name, number);
        }
        match outputs {
            Some(replies) => self.leave_ledger(name, replies),
            None => self.after(self.scenario.write_ms, Event::LedgerWritten { ledger: name, life: number }),
        }
    }

    pub(super) fn ledger_written(&mut self, name: LedgerName, number: u64) {
        let Some(site) = self.ledgers.get_mut(&name) else { return };
        let Some(turn) = site.life(number).and_then(|life| life.gate.made()) else { return };
        self.store_ledger(name, &turn.writes);
        self.leave_ledger(name, turn.outputs);
    }

    pub(super) fn store_ledger(&mut self, name: LedgerName, writes: &[LedgerChange]) {
        let Some(site) = self.ledgers.get_mut(&name) else { return };
        writes.iter().for_each(|write| site.stored.write(write));
        if writes.iter().any(|write| matches!(write, LedgerChange::Alarm(_))) {
            self.arm_ledger_alarm(name);
        }
    }

    pub(super) fn leave_ledger(&mut self, name: LedgerName, replies: Vec<Reply>) {
        for reply in replies {
            self.observer.told(name, &reply, self.now);
            let is_cut = self.is_cut(reply.to.pop, name);
            let delays = if is_cut { Vec::new() } else { self.scenario.network.send(&mut self.network) };
            if delays.is_empty() {
                self.lost(reply.to);
            }
            for ms in delays {
                self.after(ms, Event::Reply(reply.clone()));
            }
        }
    }

    pub(super) fn arm_ledger_timer(&mut self, name: LedgerName, number: u64) {
        let (now, machine) = (self.now, self.machine_of(name));
        let Some(life) = self.ledgers.get_mut(&name).and_then(|site| site.life(number)) else { return };
        let (Some(due), Some(machine)) = (life.timer, self.machines.get(machine)) else { return };
        life.timer_set = life.timer_set.saturating_add(1);
        let at = if life.cheap() >= due { now } else { machine.clock.reaches(now, due) };
        let set = life.timer_set;
        self.at(at, Event::LedgerTimer { ledger: name, life: number, set });
    }

    pub(super) fn ledger_timer(&mut self, name: LedgerName, number: u64, set: u64) {
        let Some(life) = self.ledgers.get_mut(&name).and_then(|site| site.life(number)) else { return };
        if life.timer_set == set {
            life.timer = None;
            self.ledger_turn(name, number, |ledger, host| ledger.tick(host));
        }
    }

    pub(super) fn arm_ledger_alarm(&mut self, name: LedgerName) {
        let (now, machine) = (self.now, self.machine_of(name));
        let Some(site) = self.ledgers.get_mut(&name) else { return };
        let (Some(due), Some(machine)) = (site.stored.alarm, self.machines.get(machine)) else { return };
        site.alarm_set = site.alarm_set.saturating_add(1);
        let (at, set) = (machine.clock.reaches(now, due), site.alarm_set);
        self.at(at, Event::LedgerAlarm { ledger: name, set });
    }

    pub(super) fn ledger_alarm(&mut self, name: LedgerName, set: u64) {
        let Some(site) = self.ledgers.get_mut(&name).filter(|site| site.alarm_set == set) else { return };
        site.stored.alarm = None;
        if let Some(life) = self.last_ledger_life(name) {
            self.ledger_used(name, life);
            self.ledger_turn(name, life, |ledger, host| ledger.alarm(host));
        }
    }

    fn last_ledger_life(&mut self, name: LedgerName) -> Option<u64> {
        let last = self.ledgers.get(&name)?.lives.last().map(|life| life.number);
        last.or_else(|| self.start_ledger(name))
    }

    /// Takes a Ledger out of memory that has not been used for a while.
    pub(super) fn ledger_idle(&mut self, name: LedgerName, number: u64) {
        let (now, Some(after_ms)) = (self.now, self.scenario.evict_after_ms) else { return };
        let Some(site) = self.ledgers.get_mut(&name) else { return };
        let Some(life) = site.life(number) else { return };
        let due = life.used_at.saturating_add(after_ms);
        if now < due || !life.gate.is_empty() {
            let at = due.max(now.saturating_add(1_000));
            return self.at(at, Event::LedgerIdle { ledger: name, life: number });
        }
        site.lives.retain(|other| other.number != number);
        let machine = Machine::Ledger(self.machine_of(name));
        self.observer.log.add(now, || LogEvent::Evicted { machine });
    }

    /// Has the Ledger of a calendar quota compare its books. `None` before its first period.
    pub fn audit(&mut self, policy: &str, key: KeyHash) -> Option<LeaseAudit> {
        match self.tenant(policy, key, TenantOp::Audit)? {
            TenantAnswer::Audit(audit) => Some(*audit),
            _ => None,
        }
    }

    /// How much of a calendar quota is used, by its Ledger.
    pub fn usage(&mut self, policy: &str, key: KeyHash) -> Option<TenantUsage> {
        match self.tenant(policy, key, TenantOp::Usage)? {
            TenantAnswer::Usage(usage) => Some(usage),
            _ => None,
        }
    }

    /// An operator's request to the Ledger of an identity.
    pub fn tenant(&mut self, policy: &str, key: KeyHash, op: TenantOp) -> Option<TenantAnswer> {
        let (name, policy) = (LedgerName::Tenant(key), policy.to_owned());
        self.ledgers.entry(name).or_default();
        let life = self.last_ledger_life(name)?;
        let request = TenantRequest { policy, op };
        self.ledger_turn(name, life, |ledger, host| ledger.tenant(&request, host))
    }
}
