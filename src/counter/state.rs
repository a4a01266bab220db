use super::journal::{FORMAT, Header, Journal, JournalRow};
use super::message::{Ask, AskLimit, Holder, Op, Receipt, Reply, ReplyLimit, WIRE_VERSION};
use super::table::{Table, TableKey};
use super::totals::Totals;
use crate::clock::{SteadyClock, SteadyMs, StepReport, WallMs};
use crate::window::{Epochs, Position};
use crate::{Cost, Decision, Refusal};

/// Sweeping looks at every key: more often than this it would cost more than the memory is worth.
const SWEEP_EVERY_MS: u64 = 10_000;
/// An alarm is one row written, and wakes the object: sooner than this it would not pay for itself.
const SOONEST_ALARM_MS: u64 = 3_600_000;
/// A key that is never idle again (a bucket without refill) is looked at once a month.
const LATEST_ALARM_MS: u64 = 30 * 86_400_000;

/// How much a counter may lose in a crash, and how much it may remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSettings {
    /// Takes after which what changed is written.
    pub flush_hits: u32,
    /// Milliseconds after which what changed is written.
    pub flush_every_ms: u64,
    /// Keys with counters of their own; a sliding log weighs as much as several.
    pub max_keys: usize,
}

/// The decisions and the memory of one `PopCounter`.
#[derive(Debug)]
pub struct Counter {
    holder: Holder,
    settings: CounterSettings,
    clock: SteadyClock,
    epochs: Epochs,
    table: Table,
    journal: Journal,
    totals: Totals,
    /// Takes since the last flush.
    hits: u32,
    flushed_at: SteadyMs,
    swept_at: SteadyMs,
    alarm: Option<WallMs>,
    /// A step of the wall clock that nobody has been told of yet.
    step: Option<StepReport>,
}

/// What came of an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub reply: Reply,
    /// Rows to write before the answer leaves.
    pub rows: Vec<JournalRow>,
    /// When to set the object's alarm, by the wall clock, if it has none.
    pub alarm: Option<WallMs>,
}

/// What is left after [`Counter::collect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Some keys still count: set the alarm again, for this wall time.
    Later(WallMs),
    /// Nothing counts any more, and what is stored is small.
    Nothing,
    /// Nothing counts any more: write these rows, and delete those of the other slots.
    Empty {
        /// One row, with the clock and the epochs.
        rows: Vec<JournalRow>,
        /// The slots of rows that are large and of no use.
        delete: Vec<u16>,
    },
}

impl Counter {
    /// A counter that goes on from its stored rows, oldest first, or a new one where there are none.
    pub fn restore(
        holder: Holder,
        settings: CounterSettings,
        rows: impl IntoIterator<Item = JournalRow>,
        exact: WallMs,
    ) -> Self {
        let mut table = Table::new(settings.max_keys);
        let mut journal = Journal::new();
        let header = journal.restore(rows, &mut table);
        let clock = header.as_ref().map_or_else(|| SteadyClock::new(exact), |h| SteadyClock::restore(h.mark));
        let Header { epochs, totals, alarm, .. } = header.unwrap_or_default();
        Self {
            holder,
            settings,
            clock,
            epochs,
            table,
            journal,
            totals,
            hits: 0,
            flushed_at: SteadyMs(0),
            swept_at: SteadyMs(0),
            // One that lies further ahead than any that is set was set by a clock that was wrong.
            alarm: alarm.filter(|due| (0..=LATEST_ALARM_MS as i64).contains(&due.0.saturating_sub(exact.0))),
            step: None,
        }
    }

    /// Decides a batch of limits: all are taken, or none is.
    ///
    /// `cheap` and `exact` read the object's wall clock, see [`SteadyClock::observe`].
    pub fn decide(&mut self, ask: &Ask, cheap: WallMs, exact: impl FnOnce() -> WallMs) -> Outcome {
        self.observe(cheap, exact);
        self.decide_now(ask, cheap)
    }

    /// Looks at the clock, for whoever shares it with the counter.
    pub fn observe(&mut self, cheap: WallMs, exact: impl FnOnce() -> WallMs) -> SteadyMs {
        let seen = self.clock.observe(cheap, exact);
        if let Some(step) = seen.report {
            self.totals.step(step);
            self.step = Some(step);
        }
        seen.steady
    }

    /// As [`decide`](Self::decide), at the time of the last look at the clock.
    pub fn decide_now(&mut self, ask: &Ask, cheap: WallMs) -> Outcome {
        let now = self.clock.now();
        self.totals.asks = self.totals.asks.saturating_add(1);
        let (located, opened) = self.locate(&ask.limits, now);
        let reply = match ask.op {
            Op::Give => self.give_back(&ask.limits, &located),
            Op::Take | Op::Peek => self.take(ask, &located),
        };
        if opened {
            self.sweep_if_due(now);
        }
        // Before the flush, which stores when the alarm is due: another start must not set it again.
        let alarm = self.arm_alarm(cheap);
        let rows = if opened || self.is_flush_due(now) { self.flush(now) } else { Vec::new() };
        Outcome { reply, rows, alarm }
    }

    /// Whether an enforced limit would refuse a take at the last look at the clock. Opens no epoch and
    /// counts nothing.
    pub fn would_refuse(&mut self, limits: &[AskLimit]) -> bool {
        if limits.is_empty() {
            return false;
        }
        let epochs = self.epochs.clone();
        let (located, _) = self.locate(limits, self.clock.now());
        self.epochs = epochs;
        let refuses = |index| !self.look(limits, &located, index).allowed();
        limits.iter().enumerate().any(|(index, limit)| !limit.shadow && refuses(index))
    }

    /// Counts what a policy said to a take that was decided elsewhere.
    pub fn count(&mut self, policy: &str, refused: bool, shadow: bool) {
        self.totals.decided(policy, refused, shadow);
    }

    /// The steady time of the last look at the clock.
    pub fn now(&self) -> SteadyMs {
        self.clock.now()
    }

    /// When the counter wants the object's alarm, if it does: for whoever shares that with it.
    pub const fn alarm(&self) -> Option<WallMs> {
        self.alarm
    }

    /// Writes what changed, if anything did: for the timer.
    pub fn flush_now(&mut self, cheap: WallMs, exact: impl FnOnce() -> WallMs) -> Vec<JournalRow> {
        let now = self.observe(cheap, exact);
        if self.journal.has_dirty() { self.flush(now) } else { Vec::new() }
    }

    /// Gives memory back: for the alarm.
    pub fn collect(&mut self, cheap: WallMs, exact: impl FnOnce() -> WallMs) -> Collected {
        let now = self.observe(cheap, exact);
        self.swept_at = now;
        self.alarm = None;
        self.table.sweep(now);
        if let Some(due) = self.arm_alarm(cheap) {
            return Collected::Later(due);
        }
        let large = self.journal.clear();
        if large.is_empty() {
            return Collected::Nothing;
        }
        // The clock and the epochs stay, in a row of their own.
        let rows = self.flush(now);
        let delete = large.into_iter().filter(|slot| rows.iter().all(|row| row.slot != *slot)).collect();
        Collected::Empty { rows, delete }
    }

    /// When to set the alarm; `None` where one is set already or nothing is counted. Setting it is
    /// billed as a row.
    fn arm_alarm(&mut self, wall: WallMs) -> Option<WallMs> {
        if self.alarm.is_some() {
            return None;
        }
        let wait = self.table.idle_from()?.since(self.clock.now());
        // A twentieth more than the longest wait: what is kept outlives its window by a margin.
        let wait = wait.saturating_add(wait / 20).clamp(SOONEST_ALARM_MS, LATEST_ALARM_MS);
        self.alarm = Some(WallMs(wall.0.saturating_add_unsigned(wait)));
        self.wrote(1);
        self.alarm
    }

    /// True while the object's timers and alarms are known to stand still with its clock.
    pub fn is_frozen(&self) -> bool {
        self.clock.is_frozen()
    }

    /// True while something changed that no row holds yet.
    pub fn has_unwritten(&self) -> bool {
        self.journal.has_dirty()
    }

    /// A step of the wall clock that a look at it has revealed since this was last asked: by a
    /// decision, by the timer or by the alarm.
    pub fn take_step(&mut self) -> Option<StepReport> {
        self.step.take()
    }

    /// Takes rows back that could not be written: they will be part of the next flush.
    pub fn unwritten(&mut self, rows: &[JournalRow]) {
        self.journal.unwritten(rows, &mut self.table);
    }

    /// Notes rows that storage billed.
    pub fn wrote(&mut self, rows: u64) {
        self.totals.rows_written = self.totals.rows_written.saturating_add(rows);
    }

    /// What the object has done so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many keys are held in memory.
    pub fn keys(&self) -> usize {
        self.table.len()
    }

    /// Where each limit is counted and in which epoch, and whether an epoch had to be opened.
    fn locate(&mut self, limits: &[AskLimit], now: SteadyMs) -> (Vec<(TableKey, Position)>, bool) {
        let mut any_opened = false;
        if self.table.is_full() && now.since(self.swept_at) >= SWEEP_EVERY_MS {
            self.sweep_if_due(now);
        }
        let located = limits
            .iter()
            .map(|limit| {
                let at = match limit.algorithm.epoch_ms() {
                    Some(window) => {
                        let (at, opened) = self.epochs.position(window, now);
                        any_opened |= opened;
                        at
                    }
                    None => Position { steady: now, ..Position::default() },
                };
                (self.table.locate(&limit.policy, &limit.algorithm, limit.key, now), at)
            })
            .collect();
        (located, any_opened)
    }

    fn take(&mut self, ask: &Ask, located: &[(TableKey, Position)]) -> Reply {
        let limits = &ask.limits;
        let looks: Vec<Decision> = (0..limits.len()).map(|index| self.look(limits, located, index)).collect();
        let refused = |(limit, look): (&AskLimit, &Decision)| !limit.shadow && !look.allowed();
        let allowed = !limits.iter().zip(&looks).any(refused);
        let taking = allowed && ask.op == Op::Take;
        if ask.op == Op::Take {
            for (limit, look) in limits.iter().zip(&looks) {
                // A refused batch says nothing about its shadow limits: they count what gets through.
                if allowed || !limit.shadow {
                    self.totals.decided(&limit.policy, !look.allowed(), limit.shadow);
                }
            }
        }
        let answers = limits.iter().zip(located).zip(looks).map(|((limit, &(key, at)), look)| {
            let epoch = limit.algorithm.epoch_ms().map(|_| at.epoch.0);
            if !(taking && look.allowed()) {
                return ReplyLimit { decision: look, epoch, receipt: None };
            }
            if limit.cost > Cost::ZERO {
                self.change(key, limit, |state| limit.algorithm.take(state, at, limit.cost));
            }
            let after = self.look_at(key, limit, at, Cost::ZERO);
            let receipt = Some(Receipt { holder: self.holder, at });
            ReplyLimit { decision: after, epoch, receipt }
        });
        let answers = answers.collect();
        self.hits = self.hits.saturating_add(u32::from(taking));
        Reply { v: WIRE_VERSION, allowed, limits: answers }
    }

    /// What limit number `index` says, as if the earlier ones of the batch that share its counter had
    /// been taken already.
    fn look(&self, limits: &[AskLimit], located: &[(TableKey, Position)], index: usize) -> Decision {
        let (limit, (key, at)) = (&limits[index], located[index]);
        let earlier = limits.iter().zip(located).take(index);
        let same = earlier.filter(|(_, (other, _))| *other == key).map(|(limit, _)| limit.cost.get());
        let cost = same.fold(limit.cost.get(), u64::saturating_add);
        let alone = self.look_at(key, limit, at, limit.cost);
        if cost == limit.cost.get() || !alone.allowed() {
            return alone;
        }
        let together = self.look_at(key, limit, at, Cost::saturating(cost));
        match together.refusal {
            // Each fits by itself: they are only too much in one batch.
            Some(Refusal::CostExceedsLimit) => {
                let basis = limit.algorithm.basis();
                let refusal = Refusal::Limit { retry_after_ms: Some(alone.reset_ms), basis };
                Decision { refusal: Some(refusal), ..alone }
            }
            _ => together,
        }
    }

    fn look_at(&self, key: TableKey, limit: &AskLimit, at: Position, cost: Cost) -> Decision {
        match self.table.get(key) {
            Some(entry) => limit.algorithm.look(&entry.state, at, cost),
            None => limit.algorithm.look(&limit.algorithm.fresh(), at, cost),
        }
    }

    fn give_back(&mut self, limits: &[AskLimit], located: &[(TableKey, Position)]) -> Reply {
        for (limit, &(key, at)) in limits.iter().zip(located) {
            let known = limit.receipt.filter(|receipt| receipt.holder == self.holder);
            // Unknown, or of another life of the object: the units stay taken. Early, never over.
            if let Some(receipt) = known
                && self.table.get(key).is_some()
            {
                self.change(key, limit, |state| {
                    limit.algorithm.give_back(state, at, receipt.at, limit.cost);
                });
            }
        }
        let answers = limits.iter().zip(located).map(|(limit, &(key, at))| ReplyLimit {
            decision: self.look_at(key, limit, at, Cost::ZERO),
            epoch: limit.algorithm.epoch_ms().map(|_| at.epoch.0),
            receipt: None,
        });
        Reply { v: WIRE_VERSION, allowed: true, limits: answers.collect() }
    }

    fn change(
        &mut self,
        key: TableKey,
        limit: &AskLimit,
        change: impl FnOnce(&mut crate::policy::CounterState),
    ) {
        if self.table.update(key, &limit.algorithm, change) {
            self.journal.touched(key);
        }
    }

    fn sweep_if_due(&mut self, now: SteadyMs) {
        if now.since(self.swept_at) >= SWEEP_EVERY_MS {
            self.swept_at = now;
            self.table.sweep(now);
        }
    }

    fn is_flush_due(&self, now: SteadyMs) -> bool {
        // After a step back the object's timers stand still with its clock: nothing but requests comes
        // to write, and any of them can be the last one before a crash.
        self.journal.has_dirty()
            && (self.hits >= self.settings.flush_hits
                || now.since(self.flushed_at) >= self.settings.flush_every_ms
                || self.clock.is_frozen())
    }

    fn flush(&mut self, now: SteadyMs) -> Vec<JournalRow> {
        self.hits = 0;
        self.flushed_at = now;
        self.totals.flushes = self.totals.flushes.saturating_add(1);
        let header = Header {
            format: FORMAT,
            mark: self.clock.mark(),
            epochs: self.epochs.clone(),
            alarm: self.alarm,
            // With the row that this will be, so that the stored figure does not fall behind.
            totals: Totals {
                rows_written: self.totals.rows_written.saturating_add(1),
                ..self.totals.clone()
            },
        };
        self.journal.flush(&header, &mut self.table, now)
    }
}
