use super::host::{LedgerEvent, LedgerHost};
use super::log::LogEvent;
use super::name::QuotaName;
use super::pops::is_name;
use super::quota::{Answered, Asking, Quota, Unready};
use super::rows::Batch;
use super::state::{Ledger, Now};
use super::totals::LedgerTotals;
use crate::clock::WallMs;
use crate::global::{
    BookWrite, Grant, HolderName, LEASE_VERSION, LeaseAsk, LeaseAskItem, LeaseReply, LeaseReplyItem,
    LedgerAnswer,
};
use crate::ordered::{Map, Set};

/// Items of one ask that are looked at: a tenant has one quota per policy.
const MOST_ITEMS: usize = 64;

impl Ledger {
    /// Answers for each quota of an ask that can be answered for.
    pub(super) fn answer_leases<H: LedgerHost>(
        &mut self,
        ask: &LeaseAsk,
        wall: WallMs,
        now: Now,
        batch: &mut Batch,
        host: &mut H,
    ) -> LeaseReply {
        let mut reply = LeaseReply { v: LEASE_VERSION, items: Vec::new() };
        if ask.v != LEASE_VERSION || !is_name(&ask.pop) {
            return reply;
        }
        let holder = HolderName { pop: ask.pop.clone(), birth: ask.birth };
        let asking = Asking { holder: &holder, wall, now: now.steady };
        let mut seen = Set::new();
        for item in ask.items.iter().take(MOST_ITEMS) {
            // An ask lists all that its holder has of a quota: two lists cannot both be true.
            let policy = self.policy_of(item).filter(|policy| seen.insert(policy.clone()));
            let answer = policy.and_then(|policy| self.answer_lease(&policy, item, asking, batch, host));
            if answer.is_none() {
                LedgerTotals::add(&mut self.totals.items_refused, 1);
            }
            reply.items.extend(answer.flatten());
        }
        reply
    }

    /// The policy of an item; `None` for one that is not to be answered.
    fn policy_of(&self, item: &LeaseAskItem) -> Option<String> {
        let name: QuotaName = item.quota.parse().ok()?;
        let is_ours = self.settings.key.is_none_or(|key| key == name.key);
        // A list that is cut short would say that the leases beyond were never written down.
        let is_short = item.have.len() <= self.settings.max_listed;
        (is_ours && is_short).then_some(name.policy)
    }

    /// `None` for a quota that cannot be answered for; else the reply, if there is one to this ask.
    fn answer_lease<H: LedgerHost>(
        &mut self,
        policy: &str,
        item: &LeaseAskItem,
        asking: Asking<'_>,
        batch: &mut Batch,
        host: &mut H,
    ) -> Option<Option<LeaseReplyItem>> {
        let (settings, spec) = (self.settings, self.owned.quota(policy));
        let quota = quota(&mut self.quotas, policy, spec.is_some())?;
        let was_down = std::mem::take(&mut quota.is_down);
        match quota.answer(spec, item, asking, &settings, &mut self.fences, host) {
            Ok(answered) => Some(self.take_in(policy, answered, asking, batch, host)),
            Err(Unready::Zone(error) | Unready::Reading(error)) => {
                quota.is_down = true;
                if !was_down {
                    host.warn(LedgerEvent::QuotaUnavailable { policy: policy.to_owned(), error });
                }
                None
            }
            Err(Unready::Unknown | Unready::Unreadable | Unready::Full) => None,
        }
    }

    /// Counts and logs what came of an ask, and adds what is to be stored.
    fn take_in<H: LedgerHost>(
        &mut self,
        policy: &str,
        answered: Answered,
        asking: Asking<'_>,
        batch: &mut Batch,
        host: &mut H,
    ) -> Option<LeaseReplyItem> {
        let Answered { answer, is_new, counts: (before, after), newly_held } = answered;
        self.totals.counted(before, after);
        let adopted = after.fences_adopted.saturating_sub(before.fences_adopted);
        let rejected = after.fences_rejected.saturating_sub(before.fences_rejected);
        if adopted > 0 || rejected > 0 {
            host.warn(LedgerEvent::UnknownFences { policy: policy.to_owned(), adopted, rejected });
        }
        let reply = answer.reply.clone();
        if let Some(serial) = newly_held {
            LedgerTotals::add(&mut self.totals.period_regressions, 1);
            host.warn(LedgerEvent::PeriodRegression { policy: policy.to_owned(), serial });
        }
        self.store_answer(policy, answer, asking.wall, batch);
        // A repeated ask is told of its grant again.
        if let Some(reply) = &reply
            && let Some(Grant { fence, amount }) = reply.grant
            && is_new
        {
            let HolderName { pop, birth } = asking.holder.clone();
            self.totals.granted(amount);
            let event = LogEvent::Grant { pop, birth, serial: reply.terms.serial, fence, amount };
            self.record(policy, event, asking.wall, batch);
        }
        reply
    }

    /// Adds what a turn of a quota wants stored, and logs the periods that it opened and closed.
    pub(super) fn store_answer(
        &mut self,
        policy: &str,
        answer: LedgerAnswer,
        wall: WallMs,
        batch: &mut Batch,
    ) {
        for totals in answer.closed {
            self.record(policy, LogEvent::Closed { totals }, wall, batch);
        }
        if let Some(open) = answer.opened {
            LedgerTotals::add(&mut self.totals.periods_opened, 1);
            batch.put_open(policy, open);
            let event = LogEvent::Opened {
                serial: open.serial,
                slot: open.period.slot.to_string(),
                start_ms: open.period.start.0,
                end_ms: open.period.end.0,
                skipped: answer.skipped_periods,
            };
            self.record(policy, event, wall, batch);
        }
        for write in answer.writes {
            match write {
                BookWrite::Put(row) => batch.put_book(policy, row),
                BookWrite::Delete(key) => batch.delete_book(policy, &key),
            }
        }
    }
}

/// The quota of that policy. One that nothing is stored of is made only if it is configured, so that no
/// message can fill the memory with names.
pub(super) fn quota<'a>(
    quotas: &'a mut Map<String, Quota>,
    policy: &str,
    is_configured: bool,
) -> Option<&'a mut Quota> {
    if is_configured && !quotas.contains_key(policy) {
        quotas.insert(policy.to_owned(), Quota::default());
    }
    quotas.get_mut(policy)
}
