//! How one batch is decided.

use super::batch::{self, Batch, Part, Said, Wait};
use super::holders::said;
use super::host::{PopHost, RequestId};
use super::leases;
use super::message::{Measure, PopAsk, PopLimit, PopReceipt, PopReply, PopReplyLimit};
use super::state::Pop;
use crate::bucket::{Refill, TokenBucket};
use crate::counter::{Ask, Op, WIRE_VERSION};
use crate::decision::DecidedBy;
use crate::ledger::{LedgerName, QuotaName};
use crate::policy::{Algorithm, OnError};
use crate::window::FixedWindow;
use crate::{Cost, Refusal};

/// What came of asking a joined limit.
pub(super) enum Step {
    Said(Said),
    Wait(Wait),
}

impl Pop {
    /// Begins a batch. `None`: it waits.
    pub(super) fn begin_batch<H: PopHost>(
        &mut self,
        id: RequestId,
        batch: Batch,
        host: &mut H,
    ) -> Result<Option<PopReply>, H::Fault> {
        // Whom a limit that is counted here refuses, need not be asked about anywhere else.
        if batch.op == Op::Take && self.counter.would_refuse(&batch.local()) {
            return self.finish(batch, host).map(Some);
        }
        self.run(id, batch, host)
    }

    /// Takes the joined limits, from where the batch stands. `None`: it waits.
    pub(super) fn run<H: PopHost>(
        &mut self,
        id: RequestId,
        mut batch: Batch,
        host: &mut H,
    ) -> Result<Option<PopReply>, H::Fault> {
        while let Some(limit) = batch.next() {
            let step = match limit.measure {
                Measure::Window { ledger, on_error, .. } | Measure::Bucket { ledger, on_error, .. } => {
                    self.ask_holder(id, batch.op, limit, (ledger, on_error))
                }
                Measure::Quota => self.ask_quota(id, batch.op, limit, host),
                Measure::Pop(_) => Step::Said(Said::OutOfReach),
            };
            match step {
                Step::Wait(wait) => {
                    batch.wait = Some(wait);
                    self.waiting.insert(id, batch);
                    return Ok(None);
                }
                Step::Said(said) => {
                    if self.hear_said(&mut batch, said) {
                        break;
                    }
                }
            }
        }
        self.finish(batch, host).map(Some)
    }

    /// Goes on with a batch that has waited.
    pub(super) fn go_on<H: PopHost>(
        &mut self,
        id: RequestId,
        mut batch: Batch,
        said: Said,
        host: &mut H,
    ) -> Result<Option<PopReply>, H::Fault> {
        if self.hear_said(&mut batch, said) {
            self.finish(batch, host).map(Some)
        } else {
            self.run(id, batch, host)
        }
    }

    /// Takes in what a joined limit says; `true` if that decides the batch.
    fn hear_said(&mut self, batch: &mut Batch, said: Said) -> bool {
        let Some(limit) = batch.next() else { return true };
        let part = match said {
            Said::Decided(limit) => Part::Joined(limit),
            Said::OutOfReach => self.on_error(limit),
        };
        let is_local = matches!(part, Part::Local(..));
        batch.hear(part);
        batch.op == Op::Take
            && (batch.is_refused() || (is_local && self.counter.would_refuse(&batch.local())))
    }

    /// What the policy says to a request whose Ledger is out of reach.
    fn on_error(&mut self, limit: &PopLimit) -> Part {
        let on_error = match &limit.measure {
            Measure::Window { on_error, .. } | Measure::Bucket { on_error, .. } => *on_error,
            Measure::Quota | Measure::Pop(_) => OnError::Closed,
        };
        let mut said = self.numbers(limit);
        said.decided_by = DecidedBy::OnError;
        match (on_error, self.alone(&limit.measure)) {
            (OnError::Open, _) => {}
            (OnError::Local, Some(algorithm)) => return Part::Local(algorithm, DecidedBy::Local),
            (OnError::Closed | OnError::Local, _) => said.decision.refusal = Some(Refusal::Unavailable),
        }
        Part::Joined(Box::new(said))
    }

    /// How the point of presence counts a joined limit alone: its part of it, rounded up.
    fn alone(&self, measure: &Measure) -> Option<Algorithm> {
        let pops = u64::from(self.pops.max(1));
        match measure {
            Measure::Pop(algorithm) => Some(*algorithm),
            Measure::Window { window, .. } => {
                let part = FixedWindow::new(window.limit().div_ceil(pops), window.window());
                part.ok().map(Algorithm::FixedWindow)
            }
            Measure::Bucket { bucket, .. } => {
                let refill = bucket.refill();
                let refill = Refill::new(refill.tokens(), refill.per_ms().saturating_mul(pops));
                let part =
                    refill.and_then(|refill| TokenBucket::new(bucket.capacity().div_ceil(pops), refill));
                part.ok().map(Algorithm::TokenBucket)
            }
            Measure::Quota => None,
        }
    }

    /// What is left of a joined limit, as far as it is known here. Refuses nothing.
    fn numbers(&self, limit: &PopLimit) -> PopReplyLimit {
        let now = self.beat.now();
        let mut said = match &limit.measure {
            Measure::Quota => {
                let quota = self.leases.quotas.get(&quota_name(limit));
                quota.map_or_else(leases::unknown, |quota| quota.says(now))
            }
            _ => self.holders.peek(limit, Cost::ZERO, now),
        };
        said.decision.refusal = None;
        said
    }

    /// Asks the holder of a window or a bucket for what a limit wants.
    fn ask_holder(
        &mut self,
        id: RequestId,
        op: Op,
        limit: &PopLimit,
        (ledger, on_error): (LedgerName, OnError),
    ) -> Step {
        let now = self.beat.now();
        if op == Op::Peek {
            return Step::Said(said(self.holders.peek(limit, limit.cost, now)));
        }
        self.has_local |= on_error == OnError::Local;
        self.links.touch(ledger);
        match self.holders.request(ledger, limit, now) {
            Ok(said) => Step::Said(said),
            Err(place) if self.can_wait(ledger) => {
                self.places.insert(place, id);
                Step::Wait(Wait::Held { ledger, place })
            }
            Err(place) => {
                self.holders.abandon(ledger, place);
                Step::Said(Said::OutOfReach)
            }
        }
    }

    /// Whether one more request may wait, and for this Ledger.
    pub(super) fn can_wait(&self, ledger: LedgerName) -> bool {
        self.waiting.len() < self.settings.max_waiting
            && self.links.can_wait(ledger, self.beat, self.settings.retry_ms)
    }

    /// Takes the limits that are counted here, and answers. Where one refuses, all that the others took is
    /// given back.
    fn finish<H: PopHost>(&mut self, batch: Batch, host: &mut H) -> Result<PopReply, H::Fault> {
        let open = !batch.is_refused();
        let op = if open { batch.op } else { Op::Peek };
        let counted = self.count(&Ask { v: WIRE_VERSION, op, limits: batch.local() }, host);
        let counted = counted.inspect_err(|_| self.give_back_all(&batch))?;
        let allowed = open && counted.allowed && (batch.op == Op::Peek || batch.is_complete());
        let takes = allowed && batch.op == Op::Take;
        if !takes {
            self.give_back_all(&batch);
        }
        if batch.op == Op::Take {
            self.count_joined(&batch, allowed);
        }
        let mut local = counted.limits.into_iter();
        let answer = |(limit, part): (&PopLimit, Part)| match part {
            Part::Local(_, decided_by) => match local.next() {
                Some(said) => batch::counted(said, decided_by),
                None => self.numbers(limit),
            },
            Part::Joined(said) if takes || said.receipt.is_none() => *said,
            // What it took was given back.
            Part::Joined(_) | Part::Open => self.numbers(limit),
        };
        let limits = batch.limits.iter().zip(batch.parts).map(answer).collect();
        Ok(batch::reply(allowed, limits))
    }

    /// A refused batch says nothing about its shadow limits: they count what gets through.
    fn count_joined(&mut self, batch: &Batch, allowed: bool) {
        for (limit, part) in batch.limits.iter().zip(&batch.parts) {
            if let Part::Joined(said) = part
                && (allowed || !limit.shadow)
            {
                self.counter.count(&limit.policy, !said.decision.allowed(), limit.shadow);
            }
        }
    }

    /// Gives back whatever the joined limits of a batch have taken.
    pub(super) fn give_back_all(&mut self, batch: &Batch) {
        for (limit, part) in batch.limits.iter().zip(&batch.parts) {
            if let Part::Joined(said) = part
                && let Some(receipt) = &said.receipt
            {
                self.give_back(limit, receipt);
            }
        }
    }

    /// Gives back one take of a joined limit.
    fn give_back(&mut self, limit: &PopLimit, receipt: &PopReceipt) {
        match (&limit.measure, receipt) {
            (Measure::Quota, PopReceipt::Lease { take, lease }) => {
                let quota = self.leases.quotas.get_mut(&quota_name(limit));
                if let Some(quota) = quota.filter(|_| self.given.can_give(*take))
                    && quota.holder.give_back(lease) > 0
                {
                    self.given.gave(*take);
                    let next = quota.holder.next_tick();
                    self.leases.expect(next);
                }
            }
            (measure, receipt) => self.holders.refund(measure, receipt),
        }
    }

    /// Gives back what the receipts name. Each goes to whoever took it; one that is not known leaves its
    /// units taken: early, never over.
    pub(super) fn give<H: PopHost>(&mut self, ask: &PopAsk, host: &mut H) -> Result<PopReply, H::Fault> {
        self.name_is(&ask.pop);
        let algorithm = |limit: &PopLimit| match (&limit.measure, &limit.receipt) {
            (Measure::Pop(algorithm), _) => Some(*algorithm),
            (measure, Some(PopReceipt::Pop { .. })) => self.alone(measure),
            _ => None,
        };
        let algorithms: Vec<Option<Algorithm>> = ask.limits.iter().map(algorithm).collect();
        let local = ask.limits.iter().zip(&algorithms);
        let local = local.filter_map(|(limit, algorithm)| Some(batch::ask_limit(limit, (*algorithm)?)));
        let counted = self.count(&Ask { v: WIRE_VERSION, op: Op::Give, limits: local.collect() }, host)?;
        let mut counted = counted.limits.into_iter();
        let mut limits = Vec::with_capacity(ask.limits.len());
        for (limit, algorithm) in ask.limits.iter().zip(algorithms) {
            if let Some(said) = algorithm.and_then(|_| counted.next()) {
                let is_own = matches!(limit.measure, Measure::Pop(_));
                let by = if is_own { DecidedBy::Counter } else { DecidedBy::Local };
                limits.push(batch::counted(said, by));
            } else {
                if let Some(receipt) = &limit.receipt {
                    self.give_back(limit, receipt);
                }
                limits.push(self.numbers(limit));
            }
        }
        Ok(batch::reply(true, limits))
    }
}

pub(super) fn quota_name(limit: &PopLimit) -> QuotaName {
    QuotaName { policy: limit.policy.clone(), key: limit.key }
}
