//! Calendar quotas: what goes on between a [`Pop`] and the holders of its leases.

use std::collections::VecDeque;

use super::batch::{Said, Wait};
use super::decide::{Step, quota_name};
use super::host::{AskId, PopEvent, PopHost, RequestId, StoredStart};
use super::leases::{MOST_QUOTAS, Quota};
use super::message::{PopLimit, PopReceipt};
use super::state::Pop;
use crate::clock::SteadyMs;
use crate::counter::Op;
use crate::global::{HolderStart, LeaseHolder, LeaseWrite, Spend, Tick};
use crate::ledger::QuotaName;
use crate::{Cost, Refusal};

/// So many replies a request waits for; more than that a holder does not want to be told.
const ENOUGH_ASKS: u32 = 2;
/// After storage has failed, and while no request comes, leases are set up again this often.
const BEGIN_EVERY_MS: u64 = 5_000;
/// A memory that is full is gone through for quotas that can be forgotten no more often than this.
const MAKE_ROOM_EVERY_MS: u64 = 1_000;
/// How many points of presence there are is stored no more often than this.
const STORE_POPS_EVERY_MS: u64 = 60_000;

impl Pop {
    /// Sets the leases up from what is stored, under the next start. `false` if storage failed.
    pub(super) fn begin<H: PopHost>(&mut self, host: &mut H) -> bool {
        let done = self.try_begin(host);
        if done.is_err() {
            self.lose_leases(host);
        }
        done.is_ok()
    }

    fn try_begin<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        let (start, stored) = self.next_start(host)?;
        let mut quotas = self.leases.lost.clone();
        quotas.extend(stored);
        self.leases.start = Some(start);
        quotas.into_iter().try_for_each(|quota| self.start_quota(quota, start, host))?;
        self.leases.lost.clear();
        Ok(())
    }

    /// Stores the next start: before anything else, since two with one number would take each other's
    /// replies.
    fn next_start<H: PopHost>(&mut self, host: &mut H) -> Result<(HolderStart, Vec<QuotaName>), H::Fault> {
        let (stored, quotas) = host.read_start()?;
        let start = HolderStart::next(stored.map(|stored| stored.start), host.random());
        self.store_start(start, host)?;
        Ok((start, quotas))
    }

    fn store_start<H: PopHost>(&mut self, start: HolderStart, host: &mut H) -> Result<(), H::Fault> {
        let billed = host.write_start(&StoredStart { start, pop: self.name.clone(), pops: self.pops })?;
        self.pops_stored = (self.pops, Some(self.beat.now()));
        self.counter.wrote(billed);
        Ok(())
    }

    fn start_quota<H: PopHost>(
        &mut self,
        name: QuotaName,
        start: HolderStart,
        host: &mut H,
    ) -> Result<(), H::Fault> {
        let (settings, now) = (self.settings.leases, self.beat.now());
        let stored = host.read_leases(&name)?;
        let (holder, writes) = LeaseHolder::start(name.to_string(), start.boot, &stored, settings, now);
        if !writes.is_empty() {
            let billed = host.write_leases(&name, &writes)?;
            self.counter.wrote(billed);
        }
        self.leases.expect(holder.next_tick());
        self.leases.quotas.insert(name, Quota::new(holder));
        Ok(())
    }

    /// Storage failed: nothing in memory is sure to be stored. The next request starts from what is, or a
    /// timer.
    pub(super) fn lose_leases<H: PopHost>(&mut self, host: &mut H) {
        self.leases.lose(self.beat.now().plus(BEGIN_EVERY_MS));
        self.leases_lost = self.leases_lost.saturating_add(1);
        host.warn(PopEvent::LeasesLost);
        for (id, batch) in &mut self.waiting {
            if matches!(batch.wait, Some(Wait::Quota { .. })) {
                batch.wait = None;
                self.ready.push_back((*id, Said::OutOfReach));
            }
        }
    }

    /// Stores what a holder wants stored. `false` if that failed.
    pub(super) fn write_leases<H: PopHost>(
        &mut self,
        name: &QuotaName,
        writes: &[LeaseWrite],
        host: &mut H,
    ) -> bool {
        if writes.is_empty() {
            return true;
        }
        match host.write_leases(name, writes) {
            Ok(billed) => self.counter.wrote(billed),
            Err(_) => self.lose_leases(host),
        }
        self.leases.start.is_some()
    }

    /// Makes sure that there is a holder for this quota. `false` if there cannot be one.
    fn open_quota<H: PopHost>(&mut self, name: &QuotaName, host: &mut H) -> bool {
        if self.leases.start.is_none() && !self.begin(host) {
            return false;
        }
        if self.leases.quotas.contains_key(name) {
            return true;
        }
        let now = self.beat.now();
        if self.leases.quotas.len() >= MOST_QUOTAS && now.since(self.swept_at) >= MAKE_ROOM_EVERY_MS {
            self.swept_at = now;
            self.leases.make_room(now);
        }
        if self.leases.quotas.len() >= MOST_QUOTAS {
            return false;
        }
        let opened = self.current_start(host).and_then(|start| self.start_quota(name.clone(), start, host));
        if opened.is_err() {
            self.lose_leases(host);
        }
        opened.is_ok()
    }

    /// The start that a new holder belongs to. A quota that was forgotten counts its asks anew: the Ledger
    /// would not hear them under a start that it knows.
    fn current_start<H: PopHost>(&mut self, host: &mut H) -> Result<HolderStart, H::Fault> {
        match self.leases.start.filter(|_| !self.leases.forgot) {
            Some(start) => Ok(start),
            None => {
                let (start, _) = self.next_start(host)?;
                self.leases.start = Some(start);
                self.leases.forgot = false;
                Ok(start)
            }
        }
    }

    /// Asks a quota for what a limit wants.
    pub(super) fn ask_quota<H: PopHost>(
        &mut self,
        id: RequestId,
        op: Op,
        limit: &PopLimit,
        host: &mut H,
    ) -> Step {
        let (name, now) = (quota_name(limit), self.beat.now());
        if !self.open_quota(&name, host) {
            return Step::Said(Said::OutOfReach);
        }
        let is_down = self.links.is_down(name.ledger());
        let can_wait = self.can_wait(name.ledger());
        let Some(quota) = self.leases.quotas.get_mut(&name) else { return Step::Said(Said::OutOfReach) };
        quota.used_at = Some(now);
        let cost = cost_of(op, limit);
        // None passes those that wait; while the Ledger is out of reach, what is in hand is for everyone.
        let waits = !quota.queue.is_empty() && !is_down;
        let said = if waits { None } else { self.try_quota(&name, limit, cost, 0, host) };
        let said = match said {
            // The request that probes a Ledger which was out of reach.
            Some(Said::OutOfReach) if is_down && can_wait => None,
            Some(said) => Some(said),
            None => (!can_wait).then_some(Said::OutOfReach),
        };
        let step = match (said, self.leases.quotas.get_mut(&name)) {
            (None, Some(quota)) => {
                quota.queue.push_back(id);
                self.links.ask_about(&name);
                Step::Wait(Wait::Quota { quota: name.clone(), asked: 0, part: None })
            }
            (said, _) => Step::Said(said.unwrap_or(Said::OutOfReach)),
        };
        self.tick_quota(&name, host);
        // Storage can have failed in that: then nobody would call a request that waits.
        let is_lost = !self.leases.quotas.contains_key(&name);
        if is_lost && matches!(step, Step::Wait(_)) { Step::Said(Said::OutOfReach) } else { step }
    }

    /// What a quota says to a request that has waited for `asked` replies; `None` if it is to wait. A
    /// request that takes nothing wants to know the numbers.
    fn try_quota<H: PopHost>(
        &mut self,
        name: &QuotaName,
        limit: &PopLimit,
        cost: Option<Cost>,
        asked: u32,
        host: &mut H,
    ) -> Option<Said> {
        let now = self.beat.now();
        let Some(quota) = self.leases.quotas.get_mut(name) else { return Some(Said::OutOfReach) };
        let Some(cost) = cost else {
            let known = quota.holder.terms().is_some();
            let told = || Said::Decided(Box::new(quota.would_say(limit.cost, now)));
            return if known { Some(told()) } else { (asked > 0).then_some(Said::OutOfReach) };
        };
        match quota.holder.spend(cost, asked, now) {
            Spend::Wait => None,
            Spend::Refused(Refusal::Unavailable) => Some(Said::OutOfReach),
            Spend::Refused(refusal) => {
                let mut said = quota.says(now);
                said.decision.refusal = Some(refusal);
                Some(Said::Decided(Box::new(said)))
            }
            Spend::Taken { receipt, writes } => {
                let mut said = quota.says(now);
                said.receipt = Some(PopReceipt::Lease { take: self.given.take(), lease: receipt });
                let is_stored = self.write_leases(name, &writes, host);
                Some(if is_stored { Said::Decided(Box::new(said)) } else { Said::OutOfReach })
            }
        }
    }

    /// Goes through the requests that wait for a quota, in the order they came: each takes what it can, and
    /// those that were part of `ask` have waited for one more reply.
    pub(super) fn serve_quota<H: PopHost>(&mut self, name: &QuotaName, ask: AskId, host: &mut H) {
        let Some(quota) = self.leases.quotas.get_mut(name) else { return };
        let queue = std::mem::take(&mut quota.queue);
        let is_down = self.links.is_down(name.ledger());
        let mut left = VecDeque::new();
        for id in queue {
            let Some(mut batch) = self.waiting.remove(&id) else { continue };
            let Some(Wait::Quota { asked, part, .. }) = &mut batch.wait else {
                // Storage has failed meanwhile: it goes on without.
                self.waiting.insert(id, batch);
                continue;
            };
            let was_part = part.take_if(|part| *part == ask).is_some();
            *asked = asked.saturating_add(u32::from(was_part));
            let asked = if is_down { ENOUGH_ASKS.max(*asked) } else { *asked };
            let said = match batch.next() {
                Some(limit) => self.try_quota(name, limit, cost_of(batch.op, limit), asked, host),
                None => Some(Said::OutOfReach),
            };
            match said.or_else(|| is_down.then_some(Said::OutOfReach)) {
                Some(said) => {
                    batch.wait = None;
                    self.ready.push_back((id, said));
                }
                None => left.push_back(id),
            }
            self.waiting.insert(id, batch);
        }
        if let Some(quota) = self.leases.quotas.get_mut(name) {
            quota.queue = left;
            if !quota.queue.is_empty() {
                self.links.ask_about(name);
            }
        }
        self.tick_quota(name, host);
    }

    /// Does what is due at a quota.
    pub(super) fn tick_quota<H: PopHost>(&mut self, name: &QuotaName, host: &mut H) {
        let now = self.beat.now();
        let Some(quota) = self.leases.quotas.get_mut(name) else { return };
        let Tick { mut writes, mut ask } = quota.holder.tick(now);
        // Neither timer nor alarm will come to return what is in hand: it is returned at once.
        if self.counter.is_frozen() && quota.queue.is_empty() && quota.flight.is_none() {
            let closed = quota.holder.close();
            ask |= !closed.is_empty();
            writes.extend(closed);
        }
        let (next, settings) = (quota.holder.next_tick(), self.settings.leases);
        let is_idle = quota.is_idle(now, settings.write_back_after_ms);
        if !self.write_leases(name, &writes, host) {
            return;
        }
        self.leases.expect(next);
        if is_idle {
            self.idle_at = super::earlier(self.idle_at, next);
        }
        if ask {
            self.links.ask_about(name);
        }
    }

    /// Closes the leases that nobody has used lately, so that they return. `false` if storage failed.
    pub(super) fn return_idle<H: PopHost>(&mut self, host: &mut H) {
        let (now, after_ms) = (self.beat.now(), self.settings.leases.return_after_ms);
        let idle = self.leases.quotas.iter().filter(|(_, quota)| quota.is_idle(now, after_ms));
        let idle: Vec<QuotaName> = idle.map(|(name, _)| name.clone()).collect();
        for name in idle {
            let Some(quota) = self.leases.quotas.get_mut(&name) else { return };
            let writes = quota.holder.close();
            if !self.write_leases(&name, &writes, host) {
                return;
            }
            self.tick_quota(&name, host);
        }
    }

    /// Takes in how many points of presence there are. It is stored where a policy may need it after a
    /// restart.
    pub(super) fn hear_pops<H: PopHost>(&mut self, pops: u32, host: &mut H) {
        if pops > 0 {
            self.pops = pops;
        }
        let (stored, at) = self.pops_stored;
        let is_due = at.is_none_or(|at| self.beat.now().since(at) >= STORE_POPS_EVERY_MS);
        if !self.has_local || self.pops == stored || !is_due {
            return;
        }
        // Should it fail, the next reply does it: nothing exact depends on it.
        let _stored = match self.leases.start {
            Some(start) => self.store_start(start, host),
            None => self.next_start(host).map(drop),
        };
    }
}

/// What a limit takes of a quota; `None` if it only wants to know the numbers.
pub(super) fn cost_of(op: Op, limit: &PopLimit) -> Option<Cost> {
    (op == Op::Take && limit.cost > Cost::ZERO).then_some(limit.cost)
}

/// The time at which a quota wants to be looked at is never in the past: what could not be done then is
/// tried again a little later.
pub(super) fn soon(at: SteadyMs, now: SteadyMs, least_ms: u64) -> SteadyMs {
    at.max(now.plus(least_ms))
}
