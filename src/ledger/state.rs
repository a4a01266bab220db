use super::host::{LedgerEvent, LedgerHost};
use super::log::{AuditLog, LogEntry, LogEvent};
use super::message::{LEDGER_VERSION, LedgerAsk, LedgerReply};
use super::policies::Owned;
use super::pops::Heard;
use super::quota::Quota;
use super::row::{Head, LedgerRow, cap_key};
use super::rows::{Batch, Stored, is_among};
use super::totals::LedgerTotals;
use crate::clock::{HlcConfig, HybridClock, SteadyClock, SteadyMs, WallMs};
use crate::config::Policy;
use crate::fence::FenceSource;
use crate::global::{
    CapAsk, CapLedger, CapLedgerSettings, CapReply, CapStore, TokenLedger, TokenLedgerSettings,
};
use crate::http::KeyHash;
use crate::ordered::{Map, Set};
use crate::window::Epochs;

/// How much a [`Ledger`] remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSettings {
    /// About window limits.
    pub caps: CapLedgerSettings,
    /// About token buckets.
    pub tokens: TokenLedgerSettings,
    /// Whose quotas these are: asks about other identities' are left out. `None` checks nothing, for an
    /// object that does not know its own name.
    pub key: Option<KeyHash>,
    /// Holders with books per quota; of those beyond, nothing is answered.
    pub max_holders: usize,
    /// Leases that a holder may list in one ask; one that lists more is not answered.
    pub max_listed: usize,
    /// Milliseconds after the last ask at which what was stored ahead is given back. An idle object leaves
    /// memory after ten seconds.
    pub settle_ms: u64,
    /// Readings of the wall clock before this are refused where a quota is concerned; `None` refuses none.
    pub earliest_wall: Option<WallMs>,
}

impl Default for LedgerSettings {
    fn default() -> Self {
        Self {
            caps: CapLedgerSettings::default(),
            tokens: TokenLedgerSettings::default(),
            key: None,
            max_holders: 10_000,
            max_listed: 1_000,
            settle_ms: 2_000,
            earliest_wall: Some(crate::clock::EARLIEST_PLAUSIBLE_WALL),
        }
    }
}

/// What one `Ledger` object keeps and answers: caps of window limits, leases of calendar quotas, and the
/// tenant's settings.
///
/// Everything is stored before an answer is returned, in one call of [`LedgerHost::write`] per turn, and an
/// answer that changes nothing writes nothing. If that call fails the Ledger is of no more use: it answers
/// nothing from then on, and is to be made anew from what is stored.
///
/// # Example
///
/// ```
/// use sluicegate::Error;
/// use sluicegate::calendar::Utc;
/// use sluicegate::clock::WallMs;
/// use sluicegate::config::Config;
/// use sluicegate::ledger::{
///     Ledger, LedgerEvent, LedgerHost, LedgerSettings, LedgerWrite, TenantAnswer, TenantOp, TenantRequest,
/// };
///
/// /// An object whose clock stands at noon, and whose storage takes anything.
/// struct Noon;
///
/// impl LedgerHost for Noon {
///     type Zone = Utc;
///     type Fault = std::convert::Infallible;
///     fn cheap(&mut self) -> WallMs {
///         WallMs(1_780_315_200_000)
///     }
///     fn exact(&mut self) -> WallMs {
///         WallMs(1_780_315_200_000)
///     }
///     fn zone(&mut self, _: &str) -> Result<Utc, Error> {
///         Ok(Utc)
///     }
///     fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, Self::Fault> {
///         Ok(writes.len() as u64)
///     }
///     fn set_alarm(&mut self, _: WallMs) -> Result<(), Self::Fault> {
///         Ok(())
///     }
///     fn wake_after(&mut self, _: u64) {}
///     fn warn(&mut self, _: LedgerEvent) {}
/// }
///
/// let config = Config::from_json(
///     r#"{"policies": [{"name": "monthly", "algorithm": "calendar-quota", "limit": 1000,
///         "identity": "header:x-api-key", "period": {"unit": "month", "time_zone": "UTC"}}]}"#,
/// )?;
/// let mut ledger = Ledger::restore(0x5eed, LedgerSettings::default(), config.policies().to_vec(), [], &mut Noon);
/// let request = TenantRequest { policy: "monthly".into(), op: TenantOp::Usage };
/// let TenantAnswer::Usage(usage) = ledger.tenant(&request, &mut Noon).unwrap() else { panic!() };
/// assert_eq!((usage.remaining, usage.reset_local.as_str()), (1000, "2026-07-01 00:00:00 UTC"));
/// # Ok::<(), sluicegate::config::ConfigErrors>(())
/// ```
#[derive(Debug)]
pub struct Ledger {
    pub(super) settings: LedgerSettings,
    pub(super) owned: Owned,
    pub(super) clock: SteadyClock,
    stamps: HybridClock,
    stamp: crate::clock::Hlc,
    pub(super) fences: FenceSource,
    pub(super) caps: CapLedger,
    pub(super) tokens: TokenLedger,
    epochs: Epochs,
    /// Rows of windows and buckets that could not be read: their keys are not answered for.
    pub(super) blocked: Set<String>,
    pub(super) quotas: Map<String, Quota>,
    pub(super) log: AuditLog,
    pub(super) pops: Heard,
    pub(super) totals: LedgerTotals,
    pub(super) unreadable: usize,
    /// When the alarm is set for.
    pub(super) alarm: Option<WallMs>,
    /// When caps were last asked for, if something may be stored ahead since.
    pub(super) ahead_since: Option<SteadyMs>,
    /// True when nothing may be answered: the head could not be read, or a write has failed.
    pub(super) sealed: bool,
}

/// The readings of one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub cheap: WallMs,
    pub steady: SteadyMs,
}

impl Ledger {
    /// A Ledger that goes on from its stored rows, or a new one where there are none. `random` must be drawn
    /// anew at each start. What is stored in the rows of one Ledger has been written by
    /// [`LedgerHost::write`] only.
    pub fn restore<H: LedgerHost>(
        random: u64,
        settings: LedgerSettings,
        policies: Vec<Policy>,
        rows: impl IntoIterator<Item = (String, LedgerRow)>,
        host: &mut H,
    ) -> Self {
        let stored = Stored::new(rows);
        for key in &stored.unreadable {
            host.warn(LedgerEvent::Unreadable { key: key.clone() });
        }
        let (sealed, blocked, unreadable) =
            (stored.is_sealed(), stored.unreadable_keys(), stored.unreadable.len());
        let Stored { head, caps, tokens, chunks, quotas, .. } = stored;
        let exact = host.exact();
        let mut clock =
            head.as_ref().map_or_else(|| SteadyClock::new(exact), |head| SteadyClock::restore(head.mark));
        let head = head.unwrap_or_default();
        let cheap = host.cheap();
        let seen = clock.observe(cheap, || exact);
        let mut ledger = Self {
            settings,
            owned: Owned::new(&policies),
            clock,
            stamps: HybridClock::restore(HlcConfig::default(), head.stamp),
            stamp: head.stamp,
            fences: FenceSource::new(random),
            caps: CapLedger::restore(settings.caps, head.epochs.clone(), caps),
            tokens: TokenLedger::restore(settings.tokens, tokens),
            epochs: head.epochs,
            blocked,
            quotas: quotas.into_iter().map(|(policy, stored)| (policy, Quota::restore(stored))).collect(),
            log: AuditLog::restore(head.tail, head.chunks, chunks),
            pops: Heard::new(head.pops, seen.steady),
            totals: head.totals,
            unreadable,
            alarm: head.alarm,
            ahead_since: None,
            sealed,
        };
        ledger.note_step(seen.report, host);
        ledger
    }

    /// Answers a point of presence: takes in its reports, and grants what it can.
    ///
    /// What cannot be answered for is left out of the reply: items about keys and quotas that are not
    /// configured or could not be read, parts of another version, and all of it where the envelope is.
    ///
    /// # Errors
    ///
    /// The host's, when storage failed: nothing is to leave the object then.
    pub fn answer<H: LedgerHost>(&mut self, ask: &LedgerAsk, host: &mut H) -> Result<LedgerReply, H::Fault> {
        let mut reply = LedgerReply::empty();
        if ask.v != LEDGER_VERSION || self.sealed {
            return Ok(reply);
        }
        LedgerTotals::add(&mut self.totals.asks, 1);
        let exact = ask.leases.as_ref().map(|_| host.exact());
        let now = self.look(exact, host);
        self.pops.hear(&ask.pop, now.steady);
        reply.pops = self.pops.count(now.steady).max(1);
        let mut batch = Batch::default();
        reply.caps = ask.caps.as_ref().map(|caps| self.answer_caps(caps, now, &mut batch));
        reply.tokens = ask.tokens.as_ref().map(|tokens| self.answer_tokens(tokens, now, &mut batch));
        if let (Some(leases), Some(wall)) = (&ask.leases, exact) {
            let before = self.totals;
            reply.leases = Some(self.answer_leases(leases, wall, now, &mut batch, host));
            reply.fences_rejected = self.totals.fences_rejected.saturating_sub(before.fences_rejected);
            reply.fences_adopted = self.totals.fences_adopted.saturating_sub(before.fences_adopted);
        }
        self.commit(batch, now, host)?;
        if self.ahead_since.is_some() {
            host.wake_after(self.settings.settle_ms);
        }
        Ok(reply)
    }

    fn answer_caps(&mut self, ask: &CapAsk, now: Now, batch: &mut Batch) -> CapReply {
        let (owned, blocked) = (&self.owned, &self.blocked);
        let limit_of = |key: &_| owned.window(key).filter(|_| !is_among(key, cap_key, blocked));
        let outcome = self.caps.answer(ask, limit_of, now.steady);
        if self.ahead_since.is_some() || !outcome.store.rows.is_empty() {
            self.ahead_since = Some(now.steady);
        }
        self.store_caps(outcome.store, batch);
        outcome.reply
    }

    /// Adds what the books of windows want stored.
    pub(super) fn store_caps(&mut self, store: CapStore, batch: &mut Batch) {
        if let Some(epochs) = store.epochs {
            self.epochs = epochs;
            batch.head = true;
        }
        store.forgotten.iter().for_each(|key| batch.delete_cap(key));
        store.rows.into_iter().for_each(|row| batch.put_cap(row));
    }

    /// Reads the clock, once per turn.
    pub(super) fn look<H: LedgerHost>(&mut self, exact: Option<WallMs>, host: &mut H) -> Now {
        let cheap = host.cheap();
        let seen = self.clock.observe(cheap, || exact.unwrap_or_else(|| host.exact()));
        self.note_step(seen.report, host);
        Now { cheap, steady: seen.steady }
    }

    fn note_step<H: LedgerHost>(&mut self, step: Option<crate::clock::StepReport>, host: &mut H) {
        if let Some(step) = step {
            self.totals.step(step);
            host.warn(LedgerEvent::ClockStep(step));
        }
    }

    /// Adds an entry to the audit log.
    pub(super) fn record(&mut self, policy: &str, event: LogEvent, wall: WallMs, batch: &mut Batch) {
        // No bound is needed ahead of it: a stamp is stored with the entry that has it, before it is told.
        self.stamp = self.stamps.tick(wall).stamp;
        let entry = LogEntry { stamp: self.stamp, at_ms: wall.0, policy: policy.to_owned(), event };
        if let Some(chunk) = self.log.push(entry) {
            batch.put_chunk(chunk);
        }
        batch.head = true;
    }

    /// Writes what has changed, all at once; nothing if nothing has.
    pub(super) fn commit<H: LedgerHost>(
        &mut self,
        mut batch: Batch,
        now: Now,
        host: &mut H,
    ) -> Result<(), H::Fault> {
        if batch.is_empty() {
            return Ok(());
        }
        let result = self.set_alarm(&mut batch, now, host).and_then(|()| self.write(batch, now, host));
        // What is in memory is no longer what is stored.
        self.sealed |= result.is_err();
        result
    }

    fn write<H: LedgerHost>(&mut self, mut batch: Batch, now: Now, host: &mut H) -> Result<(), H::Fault> {
        if batch.head {
            // With the rows that these will be, so that the stored figure does not fall behind.
            let mut head = self.head(now);
            LedgerTotals::add(&mut head.totals.rows_written, batch.len() as u64 + 1);
            batch.put_head(head);
        }
        let billed = host.write(&batch.into_writes())?;
        LedgerTotals::add(&mut self.totals.rows_written, billed);
        Ok(())
    }

    fn head(&self, now: Now) -> Head {
        Head {
            mark: self.clock.mark(),
            epochs: self.epochs.clone(),
            stamp: self.stamp,
            chunks: self.log.chunks,
            tail: self.log.tail.clone(),
            alarm: self.alarm,
            pops: self.pops.count(now.steady),
            totals: self.totals,
        }
    }
}
