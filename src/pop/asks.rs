//! Asks to Ledgers, and what comes of them.

use super::batch::{Said, Wait};
use super::holders::{Parts, Settled};
use super::host::{AskId, PopEvent, PopHost, RequestId};
use super::leases;
use super::links::Flight;
use super::message::PopReply;
use super::quotas::cost_of;
use super::state::Pop;
use crate::global::{LEASE_VERSION, LeaseAsk, LeaseAskItem, LeaseReply};
use crate::ledger::{LEDGER_VERSION, LedgerAsk, LedgerName, LedgerReply, QuotaName};
use crate::ordered::Set;

impl Pop {
    /// Takes in the reply to a message, or that there will be none. A reply that comes after its ask has
    /// failed still counts.
    ///
    /// # Errors
    ///
    /// As [`request`](Self::request), for the requests that went on.
    pub fn hear<H: PopHost>(
        &mut self,
        id: AskId,
        reply: Option<&LedgerReply>,
        host: &mut H,
    ) -> Result<(), H::Fault> {
        self.look(host);
        match reply.filter(|reply| reply.v == LEDGER_VERSION) {
            Some(reply) => self.hear_reply(id, reply, host),
            None => self.fail_ask(id, host),
        }
        self.end_turn(host)
    }

    fn hear_reply<H: PopHost>(&mut self, id: AskId, reply: &LedgerReply, host: &mut H) {
        let Some((ledger, flight)) = self.links.land(id) else { return };
        let (parts, asked) = flight.map_or_else(Default::default, |flight| (flight.parts, flight.quotas));
        // A tenant's Ledger hears of those that the tenant uses.
        if matches!(ledger, LedgerName::Shard(_)) {
            self.hear_pops(reply.pops, host);
        }
        self.fences_rejected = self.fences_rejected.saturating_add(reply.fences_rejected);
        self.fences_adopted = self.fences_adopted.saturating_add(reply.fences_adopted);
        let settled = self.holders.reply(ledger, parts, reply, self.beat.now());
        self.take_in(settled);
        let items = reply.leases.iter().filter(|leases| leases.v == LEASE_VERSION);
        let heard = self.hear_leases(ledger, items, host);
        let (mut served, mut quotas) = (Set::new(), asked);
        quotas.extend(heard.iter().cloned());
        for name in quotas {
            let Some(quota) = self.leases.quotas.get_mut(&name) else { continue };
            let is_heard = heard.contains(&name);
            if quota.flight == Some(id) {
                quota.flight = None;
                if !is_heard {
                    quota.holder.ask_failed();
                }
            } else if !is_heard {
                continue;
            }
            if served.insert(name.clone()) {
                self.serve_quota(&name, id, host);
            }
        }
    }

    /// The requests that waited at the holders can go on.
    fn take_in(&mut self, settled: Settled) {
        for (place, said) in settled {
            if let Some(id) = self.places.remove(&place)
                && let Some(batch) = self.waiting.get_mut(&id)
            {
                batch.wait = None;
                self.ready.push_back((id, said));
            }
        }
    }

    /// Has the holders obey their parts of a reply. Returns the quotas that did.
    fn hear_leases<'a, H: PopHost>(
        &mut self,
        ledger: LedgerName,
        replies: impl Iterator<Item = &'a LeaseReply>,
        host: &mut H,
    ) -> Set<QuotaName> {
        let (mut heard, now) = (Set::new(), self.beat.now());
        for item in replies.flat_map(|reply| &reply.items) {
            let name = item.quota.parse::<QuotaName>().ok().filter(|name| name.ledger() == ledger);
            let Some(name) = name else { continue };
            let Some(quota) = self.leases.quotas.get_mut(&name) else { continue };
            if let Some(writes) = quota.holder.hear(item, now)
                && self.write_leases(&name, &writes, host)
            {
                heard.insert(name);
            }
        }
        heard
    }

    /// An ask has failed: whoever waits for its Ledger is decided by the policy's `on_error`.
    pub(super) fn fail_ask<H: PopHost>(&mut self, id: AskId, host: &mut H) {
        let Some((flight, is_news)) = self.links.fail(id, self.beat.moment()) else { return };
        let Flight { ledger, parts, quotas, .. } = flight;
        if is_news {
            host.warn(PopEvent::LedgerOutOfReach(ledger));
        }
        self.retry_at = super::earlier(self.retry_at, Some(self.beat.now().plus(self.settings.retry_ms)));
        let settled = self.holders.failed(ledger, parts);
        self.take_in(settled);
        self.leave_queue_of(ledger);
        for name in &quotas {
            if let Some(quota) = self.leases.quotas.get_mut(name).filter(|quota| quota.flight == Some(id)) {
                quota.flight = None;
                quota.holder.ask_failed();
            }
        }
        let waits = self.waiting.values().filter_map(|batch| match &batch.wait {
            Some(Wait::Quota { quota, .. }) if quota.ledger() == ledger => Some(quota.clone()),
            _ => None,
        });
        let waited: Set<QuotaName> = waits.collect();
        for name in waited {
            self.serve_quota(&name, id, host);
        }
    }

    /// Takes the requests out that wait at a holder and were not part of the ask that failed.
    fn leave_queue_of(&mut self, down: LedgerName) {
        let waits = self.waiting.iter_mut().filter_map(|(id, batch)| match &batch.wait {
            Some(Wait::Held { ledger, place }) if *ledger == down => Some((*id, *place, batch)),
            _ => None,
        });
        let mut places = Vec::new();
        for (id, place, batch) in waits {
            batch.wait = None;
            self.ready.push_back((id, Said::OutOfReach));
            places.push(place);
        }
        for place in places {
            self.leave(down, place);
        }
    }

    /// Goes on with the requests that can, and asks what there is to ask, until there is nothing left of
    /// either. What failed first is returned when all of it is done.
    pub(super) fn settle<H: PopHost>(&mut self, host: &mut H) -> Result<(), H::Fault> {
        let mut outcome = Ok(());
        loop {
            if let Some((id, said)) = self.ready.pop_front() {
                let Some(batch) = self.waiting.remove(&id) else { continue };
                let refused = super::batch::unavailable(&batch.limits);
                match self.go_on(id, batch, said, host) {
                    Ok(Some(reply)) => self.answer(id, reply, host),
                    Ok(None) => {}
                    Err(fault) => {
                        self.answer(id, refused, host);
                        outcome = outcome.and(Err(fault));
                    }
                }
            } else if let Some(ledger) = self.links.next_touched() {
                self.send(ledger, host);
            } else {
                return outcome;
            }
        }
    }

    fn answer<H: PopHost>(&mut self, id: RequestId, reply: PopReply, host: &mut H) {
        match &mut self.asking {
            Some((asking, answer)) if *asking == id => *answer = Some(reply),
            _ => host.answer(id, reply),
        }
    }

    /// Sends what there is to ask of a Ledger, if it can be asked now.
    fn send<H: PopHost>(&mut self, ledger: LedgerName, host: &mut H) {
        if !self.links.can_send(ledger, self.beat, self.settings.retry_ms) {
            return;
        }
        let due = self.links.take_due(ledger);
        let mut items = Vec::with_capacity(due.len());
        for name in due {
            items.extend(self.lease_item(&name, host).map(|item| (name, item)));
        }
        // Storage can have failed on the way.
        let start = self.leases.start;
        items.retain(|(name, _)| self.leases.quotas.contains_key(name));
        let asks = self.holders.next_ask(ledger, self.beat.now());
        if items.is_empty() && asks == (None, None) {
            return;
        }
        let (quotas, items): (Vec<QuotaName>, Vec<LeaseAskItem>) = items.into_iter().unzip();
        let (began, parts) = (self.beat.moment(), Parts::of(&asks));
        let id = self.links.launch(Flight { ledger, began, parts, quotas: quotas.clone() });
        self.join_flight(&quotas, id);
        let pop = self.name.clone();
        let leases = start.filter(|_| !items.is_empty());
        let leases =
            leases.map(|start| LeaseAsk { v: LEASE_VERSION, pop: pop.clone(), birth: start.birth, items });
        let (caps, tokens) = asks;
        host.send(id, ledger, LedgerAsk { v: LEDGER_VERSION, pop, caps, tokens, leases });
    }

    /// What to ask about a quota: with all of its rows, read in this turn.
    fn lease_item<H: PopHost>(&mut self, name: &QuotaName, host: &mut H) -> Option<LeaseAskItem> {
        let now = self.beat.now();
        let quota = self.leases.quotas.get_mut(name)?;
        let Ok(stored) = host.read_leases(name) else {
            self.lose_leases(host);
            return None;
        };
        let costs = quota.queue.iter().filter_map(|id| {
            let batch = self.waiting.get(id)?;
            cost_of(batch.op, batch.next()?)
        });
        let waiting = leases::waiting(costs);
        Some(quota.holder.ask(&stored, waiting, now))
    }

    fn join_flight(&mut self, quotas: &[QuotaName], id: AskId) {
        for name in quotas {
            let Some(quota) = self.leases.quotas.get_mut(name) else { continue };
            quota.flight = Some(id);
            self.leases.due = super::earlier(self.leases.due, quota.holder.next_tick());
            for waits in &quota.queue {
                if let Some(Wait::Quota { part, .. }) =
                    self.waiting.get_mut(waits).and_then(|batch| batch.wait.as_mut())
                {
                    *part = Some(id);
                }
            }
        }
    }
}
