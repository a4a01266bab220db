use std::fmt;
use std::rc::Rc;

use super::host::LedgerHost;
use super::row::Settings;
use super::rows::StoredQuota;
use super::state::LedgerSettings;
use crate::Error;
use crate::calendar::{OpenPeriod, ZoneOffsets};
use crate::clock::{SteadyMs, WallMs};
use crate::fence::FenceSource;
use crate::global::{
    BookCounts, HolderName, LeaseAskItem, LeaseBook, LedgerAnswer, QuotaLedger, SerialTotals,
};
use crate::quota::QuotaSpec;

/// A time zone of the runtime's.
#[derive(Clone)]
pub(super) struct Zone(Rc<dyn ZoneOffsets>);

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zone(..)")
    }
}

impl ZoneOffsets for Zone {
    fn offset_ms(&self, at: WallMs) -> Result<i64, Error> {
        self.0.offset_ms(at)
    }
}

/// Why a quota cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unready {
    /// It is not configured, and the tenant has no settings that would do instead.
    Unknown,
    /// A row of it could not be read.
    Unreadable,
    /// The runtime has no such zone.
    Zone(Error),
    /// The wall reading cannot be true, or the zone cannot be asked.
    Reading(Error),
    /// It has as many holders as are kept.
    Full,
}

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    pub holder: &'a HolderName,
    pub wall: WallMs,
    pub now: SteadyMs,
}

/// What came of an ask.
#[derive(Debug)]
pub(super) struct Answered {
    pub answer: LedgerAnswer,
    /// False when the ask was answered before, or is older than one that was.
    pub is_new: bool,
    /// What the book had counted before it and after it.
    pub counts: (BookCounts, BookCounts),
    /// The serial of the open period, when the wall clock was found before it and was not the last time.
    pub newly_held: Option<u64>,
}

/// One quota of a tenant: its own settings, and the books.
#[derive(Debug)]
pub(super) struct Quota {
    pub settings: Option<Settings>,
    books: Books,
    /// Whether the wall clock was before the open period when last looked at.
    is_held: bool,
    /// Whether the last ask could not be answered. An operator is told when that begins.
    pub is_down: bool,
}

/// The books, and whether they are joined with a calendar: that needs the zone, which costs time to load.
#[derive(Debug)]
enum Books {
    Unreadable,
    Closed { open: Option<OpenPeriod>, book: LeaseBook },
    Open(Box<Opened>),
}

#[derive(Debug)]
struct Opened {
    ledger: QuotaLedger<Zone>,
    zone: Zone,
}

impl Default for Quota {
    fn default() -> Self {
        let books = Books::Closed { open: None, book: LeaseBook::default() };
        Self { settings: None, books, is_held: false, is_down: false }
    }
}

impl Quota {
    pub fn restore(stored: StoredQuota) -> Self {
        let StoredQuota { settings, open, book, readable } = stored;
        let books = if readable { Books::Closed { open, book } } else { Books::Unreadable };
        Self { settings, books, is_held: false, is_down: false }
    }

    pub const fn is_readable(&self) -> bool {
        !matches!(self.books, Books::Unreadable)
    }

    /// The period that was opened last.
    pub fn open_period(&self) -> Option<&OpenPeriod> {
        match &self.books {
            Books::Unreadable => None,
            Books::Closed { open, .. } => open.as_ref(),
            Books::Open(opened) => opened.ledger.open_period(),
        }
    }

    /// The totals of a serial that is kept.
    pub fn totals_of(&self, serial: u64) -> Option<SerialTotals> {
        match &self.books {
            Books::Unreadable => None,
            Books::Closed { book, .. } => book.totals_of(serial),
            Books::Open(opened) => opened.ledger.book().totals_of(serial),
        }
    }

    /// The quota with its calendar, which is loaded if it is not there yet.
    pub fn open<H: LedgerHost>(
        &mut self,
        policy: Option<&QuotaSpec>,
        settings: &LedgerSettings,
        host: &mut H,
    ) -> Result<(&mut QuotaLedger<Zone>, &Zone), Unready> {
        if let Books::Closed { open, book } = &mut self.books {
            let spec = spec_of(self.settings.as_ref(), policy).ok_or(Unready::Unknown)?;
            let zone = load(spec.period().time_zone(), host).map_err(Unready::Zone)?;
            let ledger = QuotaLedger::restore(spec, zone.clone(), *open, std::mem::take(book));
            let ledger = ledger.with_earliest_wall(settings.earliest_wall);
            self.books = Books::Open(Box::new(Opened { ledger, zone }));
        }
        match &mut self.books {
            Books::Open(opened) => Ok((&mut opened.ledger, &opened.zone)),
            Books::Unreadable | Books::Closed { .. } => Err(Unready::Unreadable),
        }
    }

    /// Answers an ask, unless that would need room for one holder too many.
    pub fn answer<H: LedgerHost>(
        &mut self,
        policy: Option<&QuotaSpec>,
        item: &LeaseAskItem,
        asking: Asking<'_>,
        settings: &LedgerSettings,
        fences: &mut FenceSource,
        host: &mut H,
    ) -> Result<Answered, Unready> {
        let was_held = self.is_held;
        let (ledger, _) = self.open(policy, settings, host)?;
        let book = ledger.book();
        let known = book.holders().find(|entry| entry.holder == *asking.holder).map(|entry| entry.n);
        if known.is_none() && book.holders().count() >= settings.max_holders {
            return Err(Unready::Full);
        }
        let before = book.counts();
        let answer = ledger.answer(asking.holder, item, asking.wall, asking.now, fences);
        let answer = answer.map_err(Unready::Reading)?;
        let counts = (before, ledger.book().counts());
        let serial = ledger.open_period().map(|open| open.serial);
        self.is_held = answer.period_regression;
        let newly_held = serial.filter(|_| self.is_held && !was_held);
        Ok(Answered { answer, is_new: known.is_none_or(|n| n < item.n), counts, newly_held })
    }

    /// Changes the settings. The books stay, and are joined with another calendar when next needed.
    pub fn change(&mut self, settings: Option<Settings>) {
        self.settings = settings;
        if let Books::Open(opened) = &self.books {
            let (open, book) = (opened.ledger.open_period().copied(), opened.ledger.book().clone());
            self.books = Books::Closed { open, book };
        }
    }
}

/// What a quota allows: the tenant's own settings before the policy's.
pub(super) fn spec_of(own: Option<&Settings>, policy: Option<&QuotaSpec>) -> Option<QuotaSpec> {
    let limit = own.and_then(|own| own.limit).or_else(|| policy.map(QuotaSpec::limit))?;
    let period = own.and_then(|own| own.period.as_ref()).or_else(|| policy.map(QuotaSpec::period))?;
    QuotaSpec::new(limit, period.clone()).ok()
}

/// A zone of the runtime's; an error names the field of the settings.
pub(super) fn load<H: LedgerHost>(name: &str, host: &mut H) -> Result<Zone, Error> {
    let zone = host.zone(name).map_err(|error| Error::spec("period.time_zone", error.detail()))?;
    Ok(Zone(Rc::new(zone)))
}
