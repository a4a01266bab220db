//! The side of the point of presence: spends leases, and asks for more.

use serde::{Deserialize, Serialize};

use super::message::{AskNumber, LeaseAskItem, LeaseReplyItem, Terms};
use super::pace::{Pace, Turn};
use super::purse::Purse;
use super::row::{LeaseRow, LeaseWrite};
use crate::clock::SteadyMs;
use crate::fence::Fence;
use crate::{Cost, MAX_COUNT, Refusal, RetryAfterBasis};

/// How often a request may have the ledger asked on its behalf; after that it is refused.
const MOST_ASKS: u32 = 2;

/// How a holder spends and when it asks. Times are in milliseconds of its own steady clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HolderSettings {
    /// Units written off at a time: a row is written once per so many units, and so many units can be
    /// lost in a crash.
    pub chunk: u64,
    /// A holder in use asks at least this often, which is also how changed settings arrive.
    pub ask_every_ms: u64,
    /// After so long without a spend, what is written off and not spent is written back.
    pub write_back_after_ms: u64,
    /// After so long without a spend, leases are closed and returned.
    pub return_after_ms: u64,
}

impl Default for HolderSettings {
    fn default() -> Self {
        Self { chunk: 20, ask_every_ms: 5_000, write_back_after_ms: 2_000, return_after_ms: 10_000 }
    }
}

/// What a holder says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spend {
    /// The units are taken. The answer leaves when the writes are durable.
    Taken {
        /// Names what was taken.
        receipt: LeaseReceipt,
        /// What to write first; often nothing.
        writes: Vec<LeaseWrite>,
    },
    /// It does not fit what is in hand: ask the ledger, or join the ask that is under way, and try again.
    Wait,
    /// It is refused. That the request is larger than the limit, waiting does not cure.
    Refused(Refusal),
}

/// Names one take of units, so that it can be given back: only by the start of the holder that took it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseReceipt {
    /// The start that took them.
    pub boot: u64,
    /// The serial that they count in.
    pub serial: u64,
    /// The leases that they came from.
    pub spent: Vec<SpentUnits>,
}

/// Units of one lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SpentUnits {
    /// Which lease.
    pub fence: Fence,
    /// How many units; not zero.
    pub units: u64,
}

/// The requests that wait for an ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// Their costs, all together.
    pub sum: u64,
    /// The smallest of their costs; zero where none waits.
    pub least: u64,
}

impl Waiting {
    /// One more request.
    #[must_use]
    pub fn and(self, cost: Cost) -> Self {
        let least = if self.least == 0 { cost.get() } else { self.least.min(cost.get()) };
        Self { sum: self.sum.saturating_add(cost.get()), least }
    }
}

/// What is due, see [`LeaseHolder::tick`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// What to write.
    pub writes: Vec<LeaseWrite>,
    /// True when the ledger is to be asked, whether a request waits or not.
    pub ask: bool,
}

/// The leases of one quota at one start of a point of presence.
///
/// It holds units that the ledger has escrowed for it (O'Neil, "The Escrow Transactional Method", 1986)
/// and spends them without asking anyone. It keeps to an order: a lease is written down before it is
/// spent from, units are written off before they are spent, and a final figure is stored before it is
/// told. So storage never knows of fewer units than were spent, whenever the object dies; and an older
/// instance that still answers is bounded by what was written off when the newer one started.
///
/// It does no I/O. What it returns as writes is to be stored in the same turn, in one transaction, and
/// anything else that comes of the turn leaves when that is durable.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::clock::SteadyMs;
/// use sluicegate::global::{HolderSettings, LeaseHolder, Spend, Waiting};
///
/// let now = SteadyMs(0);
/// let (mut holder, _) = LeaseHolder::start("monthly/acme", 1, &[], HolderSettings::default(), now);
/// assert_eq!(holder.spend(Cost::ONE, 0, now), Spend::Wait);
/// let ask = holder.ask(&[], Waiting::default().and(Cost::ONE), now);
/// assert_eq!((ask.want, ask.min, ask.n.into()), (1, 1, (1, 1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    quota: String,
    boot: u64,
    k: u64,
    settings: HolderSettings,
    purse: Purse,
    /// The latest ask, until its reply is obeyed.
    pending: Option<Pending>,
    /// The last reply, without its lists.
    told: Option<LeaseReplyItem>,
    /// Units of the last grant.
    granted: u64,
    pace: Pace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    n: AskNumber,
    wanted: bool,
}

impl LeaseHolder {
    /// Starts on what is stored. `boot` is the number of this start, stored before anything else.
    pub fn start(
        quota: impl Into<String>,
        boot: u64,
        stored: &[LeaseRow],
        settings: HolderSettings,
        now: SteadyMs,
    ) -> (Self, Vec<LeaseWrite>) {
        let (purse, writes) = Purse::restore(stored);
        let (quota, pace) = (quota.into(), Pace::new(now));
        (Self { quota, boot, k: 0, settings, purse, pending: None, told: None, granted: 0, pace }, writes)
    }

    /// Takes `cost` if it fits what is in hand. `asked` says how many replies the request has waited
    /// for already.
    pub fn spend(&mut self, cost: Cost, asked: u32, now: SteadyMs) -> Spend {
        if let Some((spent, writes)) = self.purse.spend(cost.get(), self.settings.chunk) {
            if cost != Cost::ZERO {
                self.pace.spent(now);
            }
            let receipt = LeaseReceipt { boot: self.boot, serial: self.serial(), spent };
            return Spend::Taken { receipt, writes };
        }
        self.pace.used = true;
        let Some(refusal) = self.refusal(cost, asked, now) else { return Spend::Wait };
        if asked == 0 && self.pace.is_refusal_due(now, self.settings.ask_every_ms) {
            return Spend::Wait;
        }
        Spend::Refused(refusal)
    }

    /// Why a request that does not fit is refused without asking; `None` if asking may help.
    fn refusal(&self, cost: Cost, asked: u32, now: SteadyMs) -> Option<Refusal> {
        let unreachable = self.pace.out_of_reach.then_some(Refusal::Unavailable);
        let Some(told) = &self.told else {
            return unreachable.or_else(|| (asked >= MOST_ASKS).then_some(Refusal::Unavailable));
        };
        if cost.get() > told.terms.whole.max(told.terms.limit) {
            return Some(Refusal::CostExceedsLimit);
        }
        let is_known = told.drained && cost.get() > self.in_reach();
        let left_ms = self.left_ms(now).unwrap_or(0).clamp(1, MAX_COUNT);
        let limit = Refusal::Limit { retry_after_ms: Some(left_ms), basis: RetryAfterBasis::WallPeriod };
        unreachable.or((is_known || asked >= MOST_ASKS).then_some(limit))
    }

    /// Gives back what `receipt` names, as far as this start still holds its leases, and says how much.
    /// What it does not find stays spent: early, never over. The caller sees to it that a receipt is
    /// given back once.
    pub fn give_back(&mut self, receipt: &LeaseReceipt) -> u64 {
        if receipt.boot == self.boot { self.purse.give_back(&receipt.spent) } else { 0 }
    }

    /// Writes back what is written off and not spent, see [`HolderSettings::write_back_after_ms`].
    pub fn write_back(&mut self) -> Vec<LeaseWrite> {
        self.purse.write_back()
    }

    /// Closes every lease; the next ask returns what is left of them.
    pub fn close(&mut self) -> Vec<LeaseWrite> {
        self.close_if(|_| true)
    }

    fn close_if(&mut self, which: impl Fn(&LeaseRow) -> bool) -> Vec<LeaseWrite> {
        let before = self.purse.leases().count();
        let writes = self.purse.close(which);
        // Also of one that is used up: the ledger may take it for outstanding still.
        if self.purse.leases().count() < before {
            self.pace.became_final();
        }
        writes
    }

    /// What is due: call it after each request, and when [`next_tick`](Self::next_tick) has come. None
    /// of it is needed for the limit to hold; it keeps units from being stuck here.
    pub fn tick(&mut self, now: SteadyMs) -> Tick {
        let mut writes = Vec::new();
        let idle_ms = self.pace.idle_ms(now);
        if idle_ms >= self.settings.return_after_ms {
            writes = self.close();
        } else if idle_ms >= self.settings.write_back_after_ms {
            writes = self.write_back();
        }
        let ask = match self.pace.turn(now, self.settings.ask_every_ms, self.left_ms(now)) {
            Turn::InFlight | Turn::Early => false,
            Turn::Due => true,
            Turn::Free => self.pace.unsure || self.is_running_out(),
        };
        Tick { writes, ask }
    }

    /// When to call [`tick`](Self::tick) again at the latest, if nothing else happens before; `None` if
    /// nothing will be due. An object that can be taken out of memory meanwhile sets its alarm for it.
    pub fn next_tick(&self) -> Option<SteadyMs> {
        let HolderSettings { write_back_after_ms, return_after_ms, ask_every_ms, .. } = self.settings;
        let spent_at = self.pace.spent_at();
        let write_back = (!self.purse.is_settled()).then(|| spent_at.plus(write_back_after_ms));
        let close = (!self.purse.is_empty()).then(|| spent_at.plus(return_after_ms));
        let unsure = self.pace.unsure.then(|| self.pace.asked_at().plus(self.pace.patience_ms(ask_every_ms)));
        [write_back, close, unsure].into_iter().flatten().min()
    }

    /// True when a grant of ordinary size is nearly spent, and units are not what others wait for.
    fn is_running_out(&self) -> bool {
        let Some(told) = self.told.as_ref().filter(|told| !told.scarce && !told.drained) else {
            return false;
        };
        self.pace.used && told.free > 0 && self.purse.left() < self.granted / 4
    }

    /// Makes the next ask. `stored` are all the rows in storage, read in this turn: a read that fails
    /// because a newer instance runs must fail the turn. It supersedes any ask before it.
    pub fn ask(&mut self, stored: &[LeaseRow], waiting: Waiting, now: SteadyMs) -> LeaseAskItem {
        let have: Vec<_> = stored.iter().map(|row| self.purse.list(row)).collect();
        let left = self.purse.left();
        let (mut want, mut min) = (waiting.sum.saturating_sub(left), waiting.least.saturating_sub(left));
        if waiting.sum == 0 && self.is_running_out() {
            (want, min) = (1, 1);
        }
        self.k = self.k.saturating_add(1);
        let n = AskNumber { boot: self.boot, k: self.k };
        self.pending = Some(Pending { n, wanted: want > 0 });
        self.pace.asked(now);
        LeaseAskItem { quota: self.quota.clone(), n, have, serial: self.serial(), want, min: min.min(want) }
    }

    /// Notes that the ask under way has failed: requests that wait for it are to be answered as the
    /// policy's `on_error` says. Its reply is still obeyed if it comes after all.
    pub fn ask_failed(&mut self) {
        self.pace.failed();
    }

    /// Obeys a reply, if it is the one to the latest ask; says whether it was. Any other is dropped: what
    /// it grants is not listed in the next ask, and returns whole.
    pub fn hear(&mut self, reply: &LeaseReplyItem, now: SteadyMs) -> Option<Vec<LeaseWrite>> {
        let pending = self.pending.filter(|pending| pending.n == reply.n)?;
        self.pending = None;
        let mut writes = Vec::new();
        // Leases of any serial but the open one: an older one, or one of a ledger that was rolled back.
        let serial = reply.terms.serial;
        self.pace.answered(now, reply.drained);
        self.told = Some(LeaseReplyItem { confirmed: Vec::new(), ..reply.clone() });
        writes.extend(self.close_if(|row| row.serial != serial));
        // What is in hand was not enough, and others wait for it as well.
        if reply.scarce && (reply.grant.is_none() || !pending.wanted) {
            writes.extend(self.close());
        }
        if let Some(grant) = &reply.grant {
            self.granted = grant.amount;
            writes.extend(self.purse.add(LeaseRow::granted(grant.fence, serial, grant.amount)));
        }
        for fence in reply.confirmed.iter().filter(|fence| self.purse.forget(**fence)) {
            writes.push(LeaseWrite::Delete(*fence));
        }
        Some(writes)
    }

    /// The open leases, each as it is in storage and with the units used of it.
    pub fn leases(&self) -> impl Iterator<Item = (LeaseRow, u64)> {
        self.purse.leases()
    }

    /// Units in hand.
    pub fn in_hand(&self) -> u64 {
        self.purse.left()
    }

    /// Units that this holder could take at most, as far as it knows: in hand, or free at the ledger when
    /// it last replied.
    pub fn in_reach(&self) -> u64 {
        self.purse.left().saturating_add(self.told.as_ref().map_or(0, |told| told.free))
    }

    /// The open period, as the ledger last told it.
    pub fn terms(&self) -> Option<&Terms> {
        self.told.as_ref().map(|told| &told.terms)
    }

    /// Milliseconds to the end of the open period: the ledger's figure, counted down here.
    pub fn left_ms(&self, now: SteadyMs) -> Option<u64> {
        self.terms().map(|terms| terms.left_ms.saturating_sub(self.pace.since_reply_ms(now)))
    }

    /// Whether the ledger said that there is nothing left of the open period.
    pub fn is_drained(&self) -> bool {
        self.told.as_ref().is_some_and(|told| told.drained)
    }

    /// True while an ask is under way.
    pub fn is_asking(&self) -> bool {
        self.pace.is_asking()
    }

    fn serial(&self) -> u64 {
        self.terms().map_or(0, |terms| terms.serial)
    }
}
