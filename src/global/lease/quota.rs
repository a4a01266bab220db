//! One tenant's quota at its ledger: settings, calendar and books.

use serde::{Deserialize, Serialize};

use super::audit::LeaseAudit;
use super::book::{BookAnswer, LeaseBook};
use super::entries::{BookWrite, HolderName};
use super::message::{LeaseAskItem, LeaseReplyItem, Terms};
use super::totals::SerialTotals;
use crate::Error;
use crate::calendar::{OpenPeriod, Step, ZoneOffsets};
use crate::clock::{EARLIEST_PLAUSIBLE_WALL, SteadyMs, WallMs};
use crate::error::ErrorKind;
use crate::fence::FenceSource;
use crate::quota::QuotaSpec;

/// What came of an ask to a [`QuotaLedger`], or of a turn of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerAnswer {
    /// The reply; `None` for an ask that is older than one that was answered.
    pub reply: Option<LeaseReplyItem>,
    /// What to write, in one transaction with `opened`, before the reply leaves.
    pub writes: Vec<BookWrite>,
    /// A period that was opened in this turn: to be stored.
    pub opened: Option<OpenPeriod>,
    /// Periods that went by unopened just before it, at most
    /// [`MOST_SKIPPED`](crate::calendar::MOST_SKIPPED).
    pub skipped_periods: u8,
    /// True when the reading lies before the open period, which is held.
    pub period_regression: bool,
    /// Books that were closed for good.
    pub closed: Vec<SerialTotals>,
}

/// How much of a quota is used. Times are in milliseconds of the ledger's wall clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUsage {
    /// Units that the open period allows.
    pub limit: u64,
    /// Units spent or forfeited.
    pub used: u64,
    /// Units that are out at a point of presence.
    pub outstanding: u64,
    /// Units that are neither.
    pub remaining: u64,
    /// How many periods were opened, this one included.
    pub serial: u64,
    /// The calendar's name for it.
    pub slot: String,
    /// The first millisecond in it.
    pub start_ms: i64,
    /// The first millisecond after it.
    pub end_ms: i64,
    /// True when the reading lies before it.
    pub held: bool,
    /// True when it is only part of a calendar period.
    pub partial: bool,
}

/// A calendar quota that many points of presence spend from: the settings, the open period, and the
/// [`LeaseBook`].
///
/// The period is chosen by the ledger's wall reading alone, and left only forward. Settings can change
/// at any time, and can be deleted and made again (which is a change to the policy's own): the open
/// period, its serial and its book stay until its end, so nothing hands out a second quota.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{PeriodSpec, Unit, Utc};
/// use sluicegate::clock::{SteadyMs, WallMs};
/// use sluicegate::fence::FenceSource;
/// use sluicegate::global::{Birth, HolderName, HolderSettings, LeaseHolder, QuotaLedger, Spend, Waiting};
/// use sluicegate::quota::QuotaSpec;
/// use sluicegate::Cost;
///
/// let spec = QuotaSpec::new(1_000, PeriodSpec::new(Unit::Month, "UTC")?)?;
/// let mut ledger = QuotaLedger::new(spec, Utc);
/// let mut fences = FenceSource::new(0x5eed); // a random number, drawn at each start
/// let (wall, now) = (WallMs(1_775_001_600_000), SteadyMs(0));
///
/// let mut storage = Vec::new();
/// let (mut holder, _) = LeaseHolder::start("acme", 1, &storage, HolderSettings::default(), now);
/// let ask = holder.ask(&storage, Waiting::default().and(Cost::ONE), now);
/// let pop = HolderName { pop: "LAX".into(), birth: Birth(7) };
/// let answer = ledger.answer(&pop, &ask, wall, now, &mut fences)?;
/// // The ledger stores answer.writes and answer.opened; then the reply leaves.
/// for write in holder.hear(&answer.reply.unwrap(), now).unwrap() {
///     write.apply(&mut storage);
/// }
/// assert!(matches!(holder.spend(Cost::ONE, 1, now), Spend::Taken { .. }));
/// assert_eq!(ledger.usage(wall)?.outstanding, 10);
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuotaLedger<Z> {
    spec: QuotaSpec,
    zone: Z,
    earliest: Option<WallMs>,
    open: Option<OpenPeriod>,
    book: LeaseBook,
}

impl<Z: ZoneOffsets> QuotaLedger<Z> {
    /// A quota that nothing was used of. `zone` is the one that the specification names.
    pub fn new(spec: QuotaSpec, zone: Z) -> Self {
        Self::restore(spec, zone, None, LeaseBook::default())
    }

    /// A quota that goes on from what was stored, under the same settings or others.
    pub const fn restore(spec: QuotaSpec, zone: Z, open: Option<OpenPeriod>, book: LeaseBook) -> Self {
        Self { spec, zone, earliest: Some(EARLIEST_PLAUSIBLE_WALL), open, book }
    }

    /// Readings before `earliest` are refused; `None` refuses none.
    #[must_use]
    pub fn with_earliest_wall(self, earliest: Option<WallMs>) -> Self {
        Self { earliest, ..self }
    }

    /// Changes the settings: another limit counts from the next ask on, another zone, unit or anchor from
    /// the end of the open period. Units that are out when the limit is lowered may still be spent.
    pub fn change(&mut self, spec: QuotaSpec, zone: Z) {
        self.spec = spec;
        self.zone = zone;
    }

    /// Answers an ask at `wall`, and opens the period that is due.
    ///
    /// # Errors
    ///
    /// [`implausible-wall`](Error::is_refused_reading) for readings before the earliest plausible one or
    /// outside the years 1 to 9999, and the zone's own errors; nothing has changed then.
    pub fn answer(
        &mut self,
        holder: &HolderName,
        ask: &LeaseAskItem,
        wall: WallMs,
        now: SteadyMs,
        fences: &mut FenceSource,
    ) -> Result<LedgerAnswer, Error> {
        let (open, step) = self.look(wall)?;
        let terms = self.terms(&open, wall);
        let answer = self.book.answer(holder, ask, &terms, now, fences);
        Ok(self.turn_to(open, step, answer))
    }

    /// Opens the period that `wall` lies in, although it is not newer than the open one, with `used` units
    /// used: for an operator who corrects what one wrong reading has done. Write down who did it. It has a
    /// serial and a book of its own; leases of the others are closed by their holders.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub fn reopen(&mut self, wall: WallMs, used: u64) -> Result<LedgerAnswer, Error> {
        self.check(wall)?;
        let (period, zone) = (self.spec.period(), &self.zone);
        let open = match &self.open {
            Some(open) => open.reopen(period, zone, wall)?,
            None => OpenPeriod::first(period, zone, wall)?,
        };
        let answer = self.book.open(open.serial, used);
        Ok(self.turn_to(open, Step::Opened { skipped: 0 }, answer))
    }

    fn turn_to(&mut self, open: OpenPeriod, step: Step, answer: BookAnswer) -> LedgerAnswer {
        let opened = (self.open != Some(open)).then_some(open);
        self.open = Some(open);
        let skipped_periods = if let Step::Opened { skipped } = step { skipped } else { 0 };
        let BookAnswer { reply, writes, closed } = answer;
        let period_regression = step == Step::Held;
        LedgerAnswer { reply, writes, opened, skipped_periods, period_regression, closed }
    }

    fn check(&self, wall: WallMs) -> Result<(), Error> {
        match self.earliest.filter(|earliest| wall < *earliest) {
            None => Ok(()),
            Some(earliest) => {
                let detail = format!("a wall reading of {} ms is before {} ms", wall.0, earliest.0);
                Err(Error::new(ErrorKind::ImplausibleWall, detail))
            }
        }
    }

    fn look(&self, wall: WallMs) -> Result<(OpenPeriod, Step), Error> {
        self.check(wall)?;
        let (period, zone) = (self.spec.period(), &self.zone);
        match &self.open {
            Some(open) => open.at(period, zone, wall),
            None => Ok((OpenPeriod::first(period, zone, wall)?, Step::Opened { skipped: 0 })),
        }
    }

    fn terms(&self, open: &OpenPeriod, wall: WallMs) -> Terms {
        Terms {
            serial: open.serial,
            slot: open.period.slot.to_string(),
            start: open.period.start,
            end: open.period.end,
            left_ms: open.left_ms(wall).min(crate::MAX_COUNT),
            limit: open.units(self.spec.limit()),
            whole: self.spec.limit(),
            partial: open.is_part(),
        }
    }

    /// How much is used at `wall`. Opens nothing: of a period that is due but not open yet, nothing is.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub fn usage(&self, wall: WallMs) -> Result<QuotaUsage, Error> {
        let (open, step) = self.look(wall)?;
        let totals = self.book.totals_of(open.serial).unwrap_or_default();
        let limit = open.units(self.spec.limit());
        Ok(QuotaUsage {
            limit,
            used: totals.used(),
            outstanding: totals.outstanding,
            remaining: limit.saturating_sub(totals.committed()),
            serial: open.serial,
            slot: open.period.slot.to_string(),
            start_ms: open.period.start.0,
            end_ms: open.period.end.0,
            held: step == Step::Held,
            partial: open.is_part(),
        })
    }

    /// Compares the books of the open serial; `None` before the first.
    pub fn audit(&self) -> Option<LeaseAudit> {
        let open = self.open?;
        self.book.audit(open.serial, open.units(self.spec.limit()))
    }

    /// What the quota allows.
    pub const fn spec(&self) -> &QuotaSpec {
        &self.spec
    }

    /// The open period; none before the first ask.
    pub const fn open_period(&self) -> Option<&OpenPeriod> {
        self.open.as_ref()
    }

    /// The books.
    pub const fn book(&self) -> &LeaseBook {
        &self.book
    }
}
