//! The points of presence in a [`Simulation`].

use super::fault::Machine;
use super::ledger_object::{Asker, Reply};
use super::log::LogEvent;
use super::observer::Pending;
use super::pop_object::{Closed, PopDone, PopOutput, PopTurn, PopWrite};
use super::tally::Filed;
use super::world::{Event, Simulation};
use super::zones::Zones;
use crate::Cost;
use crate::counter::Op;
use crate::http::KeyHash;
use crate::ledger::{LedgerAsk, LedgerName};
use crate::pop::{POP_VERSION, Pop, PopAsk, PopLimit};

impl<Z: Zones> Simulation<Z> {
    pub(super) fn expect_arrival(&mut self, source: usize) {
        if let Some(at) = self.sources.get(source).and_then(super::traffic::Source::next_ms) {
            self.at(at, Event::Arrival { source });
        }
    }

    pub(super) fn arrival(&mut self, source: usize) {
        let pops = self.pops.len();
        let Some(from) = self.sources.get_mut(source) else { return };
        let arrival = from.take(self.now, pops);
        let policies = from.stream.policies.clone();
        self.expect_arrival(source);
        self.request(arrival.pop, &policies, arrival.key, arrival.cost);
    }

    /// A request comes in now: of the client with that key, limited by the policies of those names.
    pub fn request(&mut self, pop: usize, policies: &[String], key: KeyHash, cost: u64) {
        let Some(site) = self.pops.get(pop) else { return };
        let (wall, name) = (site.clock.wall(self.now), site.name.clone());
        let config = &self.scenario.config;
        let mut limits = Vec::new();
        let mut places = Vec::new();
        for (place, policy) in policies.iter().filter_map(|name| config.policy(name)) {
            places.push(place);
            limits.push(PopLimit {
                policy: policy.name.clone(),
                measure: policy.measure(key, config.settings()),
                key,
                cost: Cost::saturating(cost),
                shadow: policy.shadow,
                receipt: None,
            });
        }
        let owner = places.first().and_then(|place| self.owner_time(*place, key));
        for place in &places {
            let filed = Filed { key, epoch: None, cost, now: self.now };
            self.observer.naive(*place, pop, wall, owner.unwrap_or(wall), filed);
        }
        let Some(life) = self.pop_in_memory(pop) else { return };
        self.requests = self.requests.saturating_add(1);
        let request = self.requests;
        let pending = Pending { pop, life, waits: None, policies: places, key, cost, at: self.now };
        self.pending.insert(request, pending);
        let ask = PopAsk { v: POP_VERSION, op: Op::Take, pop: name, limits };
        self.pop_used(pop, life);
        let waits = self.pop_turn(pop, life, |object, host| host.request(object, &ask, request));
        if let Some(pending) = self.pending.get_mut(&request) {
            pending.waits = waits.flatten();
            self.after(self.scenario.patience_ms, Event::GiveUp { request });
        }
    }

    /// The caller of a request has waited long enough. An object need not hear of that.
    pub(super) fn give_up(&mut self, request: u64) {
        let Some(pending) = self.pending.remove(&request) else { return };
        self.observer.gave_up(&pending, self.now);
        let hears = self.chance.chance(500_000);
        if let Some(id) = pending.waits.filter(|_| hears) {
            self.pop_turn(pending.pop, pending.life, |object, host| {
                host.forget(id);
                object.abandon(id, host);
                Ok(())
            });
        }
    }

    /// An instance to ask: any of those in memory, or one that is started.
    fn pop_in_memory(&mut self, pop: usize) -> Option<u64> {
        let site = self.pops.get(pop)?;
        match site.lives.as_slice() {
            [] => self.start_pop(pop),
            [one] => Some(one.number),
            several => {
                let place = self.chance.below(several.len() as u64);
                several.get(usize::try_from(place).ok()?).map(|life| life.number)
            }
        }
    }

    /// Starts an instance on what is stored.
    pub(super) fn start_pop(&mut self, pop: usize) -> Option<u64> {
        let (number, settings) = (self.new_life(), self.scenario.pop);
        let (now, chance) = (self.now, &mut self.chance);
        let done = self.pops.get_mut(pop)?.start(number, settings, now, chance)?;
        self.observer.totals.starts += 1;
        self.observer.log.add(now, || LogEvent::Started { machine: Machine::Pop(pop) });
        self.pop_done(pop, number, done);
        if let Some(ms) = self.scenario.evict_after_ms {
            self.after(ms, Event::PopIdle { pop, life: number });
        }
        Some(number)
    }

    fn pop_used(&mut self, pop: usize, life: u64) {
        let now = self.now;
        if let Some(life) = self.pops.get_mut(pop).and_then(|site| site.life(life)) {
            life.used_at = now;
        }
    }

    /// A turn of one instance, and what comes of it.
    pub(super) fn pop_turn<T>(
        &mut self,
        pop: usize,
        life: u64,
        turn: impl FnOnce(&mut Pop, &mut PopTurn<'_>) -> Result<T, Closed>,
    ) -> Option<T> {
        let (now, chance) = (self.now, &mut self.chance);
        match self.pops.get_mut(pop)?.run(life, now, chance, turn)? {
            Ok((result, done)) => {
                self.pop_done(pop, life, done);
                Some(result)
            }
            Err(Closed) => {
                self.observer.log.add(now, || LogEvent::Broken { machine: Machine::Pop(pop) });
                self.pops.get_mut(pop)?.lives.retain(|other| other.number != life);
                None
            }
        }
    }

    fn pop_done(&mut self, pop: usize, number: u64, done: PopDone) {
        let PopDone { turn, wake_ms, events: _, rows } = done;
        self.observer.totals.pop_rows += rows;
        let Some(life) = self.pops.get_mut(pop).and_then(|site| site.life(number)) else { return };
        let is_sooner = wake_ms.is_some_and(|ms| life.wake_after(ms));
        let outputs = life.gate.pass(turn);
        if is_sooner {
            self.arm_pop_timer(pop, number);
        }
        match outputs {
            Some(outputs) => self.leave_pop(pop, number, outputs),
            None => self.after(self.scenario.write_ms, Event::PopWritten { pop, life: number }),
        }
    }

    pub(super) fn pop_written(&mut self, pop: usize, number: u64) {
        let Some(site) = self.pops.get_mut(pop) else { return };
        let Some(turn) = site.life(number).and_then(|life| life.gate.made()) else { return };
        self.store_pop(pop, &turn.writes);
        self.leave_pop(pop, number, turn.outputs);
    }

    pub(super) fn store_pop(&mut self, pop: usize, writes: &[PopWrite]) {
        let Some(site) = self.pops.get_mut(pop) else { return };
        writes.iter().for_each(|write| site.stored.write(write));
        if writes.iter().any(|write| matches!(write, PopWrite::Alarm(_))) {
            self.arm_pop_alarm(pop);
        }
    }

    /// What was held back until the writes before it were made.
    pub(super) fn leave_pop(&mut self, pop: usize, life: u64, outputs: Vec<PopOutput>) {
        for output in outputs {
            match output {
                PopOutput::Answer { request, reply } => {
                    if let Some(pending) = self.pending.remove(&request) {
                        self.observer.answered(&pending, &reply, self.now);
                    }
                }
                PopOutput::Send { id, to, ask } => self.send_ask(to, Asker { pop, life, id }, *ask),
            }
        }
    }

    fn send_ask(&mut self, to: LedgerName, from: Asker, ask: LedgerAsk) {
        self.observer.totals.asks += 1;
        self.observer.log.add(self.now, || LogEvent::Asked { pop: from.pop, ledger: to });
        self.pop_used(from.pop, from.life);
        let delays = if self.is_cut(from.pop, to) {
            Vec::new()
        } else {
            self.scenario.network.send(&mut self.network)
        };
        if delays.is_empty() {
            self.lost(from);
        }
        for ms in delays {
            self.after(ms, Event::Ask { to, from, ask: Box::new(ask.clone()) });
        }
    }

    /// A message about this ask will not arrive. Its sender may be told, some time.
    pub(super) fn lost(&mut self, asker: Asker) {
        self.observer.totals.lost += 1;
        self.observer.log.add(self.now, || LogEvent::Lost { pop: asker.pop });
        if let Some(ms) = self.scenario.network.told_after_ms {
            self.after(ms, Event::Failed(asker));
        }
    }

    pub(super) fn reply_arrives(&mut self, reply: &Reply) {
        let Asker { pop, life, id } = reply.to;
        if self.pops.get(pop).is_some_and(|site| site.cut_until > self.now) {
            return self.lost(reply.to);
        }
        self.pop_used(pop, life);
        self.pop_turn(pop, life, |object, host| object.hear(id, Some(&reply.reply), host));
    }

    pub(super) fn ask_failed(&mut self, asker: Asker) {
        let Asker { pop, life, id } = asker;
        self.pop_turn(pop, life, |object, host| object.hear(id, None::<&_>, host));
    }

    pub(super) fn arm_pop_timer(&mut self, pop: usize, number: u64) {
        let now = self.now;
        let Some(site) = self.pops.get_mut(pop) else { return };
        let Some(life) = site.lives.iter_mut().find(|life| life.number == number) else { return };
        let Some(due) = life.timer else { return };
        life.timer_set = life.timer_set.saturating_add(1);
        // The cheap clock may read as much already, ahead of a wall that was set back.
        let at = if life.cheap() >= due { now } else { site.clock.reaches(now, due) };
        let set = life.timer_set;
        self.at(at, Event::PopTimer { pop, life: number, set });
    }

    pub(super) fn pop_timer(&mut self, pop: usize, number: u64, set: u64) {
        let Some(life) = self.pops.get_mut(pop).and_then(|site| site.life(number)) else { return };
        if life.timer_set == set {
            life.timer = None;
            self.pop_turn(pop, number, |object, host| object.tick(host));
        }
    }

    pub(super) fn arm_pop_alarm(&mut self, pop: usize) {
        let now = self.now;
        let Some(site) = self.pops.get_mut(pop) else { return };
        let Some(due) = site.stored.alarm else { return };
        site.alarm_set = site.alarm_set.saturating_add(1);
        let (at, set) = (site.clock.reaches(now, due), site.alarm_set);
        self.at(at, Event::PopAlarm { pop, set });
    }

    pub(super) fn pop_alarm(&mut self, pop: usize, set: u64) {
        let Some(site) = self.pops.get_mut(pop).filter(|site| site.alarm_set == set) else { return };
        site.stored.alarm = None;
        let last = site.lives.last().map(|life| life.number);
        if let Some(life) = last.or_else(|| self.start_pop(pop)) {
            self.pop_used(pop, life);
            self.pop_turn(pop, life, |object, host| object.alarm(host));
        }
    }

    /// Takes an object out of memory that has not been used for a while.
    pub(super) fn pop_idle(&mut self, pop: usize, number: u64) {
        let (now, Some(after_ms)) = (self.now, self.scenario.evict_after_ms) else { return };
        let Some(site) = self.pops.get_mut(pop) else { return };
        let Some(life) = site.life(number) else { return };
        let due = life.used_at.saturating_add(after_ms);
        if now < due || !life.is_idle() {
            return self.at(due.max(now.saturating_add(1_000)), Event::PopIdle { pop, life: number });
        }
        site.lives.retain(|other| other.number != number);
        self.observer.log.add(now, || LogEvent::Evicted { machine: Machine::Pop(pop) });
    }
}
