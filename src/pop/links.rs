use super::AskId;
use super::beat::{Beat, Moment};
use super::holders::Parts;
use crate::clock::SteadyMs;
use crate::ledger::{LedgerName, QuotaName};
use crate::ordered::{Map, Set};

/// Asks that failed, and whose replies may still come.
const MOST_LATE: usize = 1_024;
/// Quotas in one ask; the rest take the next.
const MOST_QUOTAS: usize = 64;
/// A Ledger that nobody asked for so long after it was out of reach is asked as any other.
const FORGET_MS: u64 = 60_000;

/// An ask that was sent and not answered.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub ledger: LedgerName,
    pub began: Moment,
    /// What it asks of the Ledger for the holders of caps and tokens.
    pub parts: Parts,
    /// The quotas that it asks about.
    pub quotas: Vec<QuotaName>,
}

/// What is under way with one Ledger; there is none where nothing is.
#[derive(Clone, Debug, Default)]
struct Link {
    in_flight: Option<AskId>,
    /// When the last ask failed, if nothing was heard since.
    down: Option<Moment>,
    /// Quotas to ask about.
    due: Set<QuotaName>,
}

/// The asks to all Ledgers: one in flight to each, and none for a while after one has failed.
#[derive(Debug, Default)]
pub(super) struct Links {
    links: Map<LedgerName, Link>,
    /// In the order they were sent, so the oldest is the first.
    flights: Map<AskId, Flight>,
    late: Map<AskId, LedgerName>,
    /// Ledgers that there may be something to ask of.
    touched: Set<LedgerName>,
    pub sent: u64,
    pub failed: u64,
}

impl Links {
    /// Notes that there may be something to ask.
    pub fn touch(&mut self, ledger: LedgerName) {
        self.touched.insert(ledger);
    }

    /// Notes that the next ask is to be about this quota too.
    pub fn ask_about(&mut self, quota: &QuotaName) {
        let ledger = quota.ledger();
        self.links.entry(ledger).or_default().due.insert(quota.clone());
        self.touch(ledger);
    }

    /// A Ledger that there may be something to ask of.
    pub fn next_touched(&mut self) -> Option<LedgerName> {
        self.touched.pop_first()
    }

    /// Whether an ask can be sent now.
    pub fn can_send(&self, ledger: LedgerName, beat: Beat, retry_ms: u64) -> bool {
        let Some(link) = self.links.get(&ledger) else { return true };
        link.in_flight.is_none() && link.down.is_none_or(|down| beat.is_over(down, retry_ms))
    }

    /// Whether a request may wait for this Ledger: while it is out of reach, only for the ask that probes it.
    pub fn can_wait(&self, ledger: LedgerName, beat: Beat, retry_ms: u64) -> bool {
        !self.is_down(ledger) || self.can_send(ledger, beat, retry_ms)
    }

    /// True when the last ask has failed, and nothing was heard since.
    pub fn is_down(&self, ledger: LedgerName) -> bool {
        self.links.get(&ledger).is_some_and(|link| link.down.is_some())
    }

    /// True while an ask is under way.
    pub fn is_asking(&self, ledger: LedgerName) -> bool {
        self.links.get(&ledger).is_some_and(|link| link.in_flight.is_some())
    }

    /// How many Ledgers are out of reach.
    pub fn down(&self) -> usize {
        self.links.values().filter(|link| link.down.is_some()).count()
    }

    /// The quotas that the next ask is to be about.
    pub fn take_due(&mut self, ledger: LedgerName) -> Vec<QuotaName> {
        let Some(link) = self.links.get_mut(&ledger) else { return Vec::new() };
        std::iter::from_fn(|| link.due.pop_first()).take(MOST_QUOTAS).collect()
    }

    /// Notes an ask that is sent.
    pub fn launch(&mut self, flight: Flight) -> AskId {
        self.sent = self.sent.saturating_add(1);
        let id = AskId(self.sent);
        self.links.entry(flight.ledger).or_default().in_flight = Some(id);
        self.flights.insert(id, flight);
        id
    }

    /// An ask that has taken too long.
    pub fn overdue(&self, beat: Beat, limit_ms: u64) -> Option<AskId> {
        let (id, flight) = self.flights.first_key_value()?;
        beat.is_overdue(flight.began, limit_ms).then_some(*id)
    }

    /// Takes in that a reply has come: to which Ledger's ask, and the ask where it had not failed yet. `None`
    /// for one that was heard before.
    pub fn land(&mut self, id: AskId) -> Option<(LedgerName, Option<Flight>)> {
        let flight = self.flights.remove(&id);
        let ledger = flight.as_ref().map(|flight| flight.ledger).or_else(|| self.late.remove(&id))?;
        if let Some(link) = self.links.get_mut(&ledger) {
            link.down = None;
            if link.in_flight == Some(id) {
                link.in_flight = None;
            }
            if link.in_flight.is_none() && link.due.is_empty() {
                self.links.remove(&ledger);
            }
        }
        self.touch(ledger);
        Some((ledger, flight))
    }

    /// Takes in that an ask has failed; also whether its Ledger was in reach before.
    pub fn fail(&mut self, id: AskId, now: Moment) -> Option<(Flight, bool)> {
        let flight = self.flights.remove(&id)?;
        self.failed = self.failed.saturating_add(1);
        self.late.insert(id, flight.ledger);
        if self.late.len() > MOST_LATE {
            self.late.pop_first();
        }
        let link = self.links.entry(flight.ledger).or_default();
        link.in_flight = None;
        let is_news = link.down.replace(now).is_none();
        Some((flight, is_news))
    }

    /// When something will have to be done next.
    pub fn next_due(&self, beat: Beat, limit_ms: u64) -> Option<SteadyMs> {
        self.flights.first_key_value().map(|(_, flight)| beat.look_again_at(flight.began, limit_ms))
    }

    /// Forgets Ledgers with which nothing is under way, touches those that can be asked again, and says when
    /// the next of them can be.
    pub fn review(&mut self, beat: Beat, retry_ms: u64) -> Option<SteadyMs> {
        let (touched, mut next) = (&mut self.touched, None);
        self.links.retain(|ledger, link| {
            if link.in_flight.is_some() {
                return true;
            }
            if link.due.is_empty() {
                return link.down.is_some_and(|down| !beat.is_over(down, retry_ms.saturating_add(FORGET_MS)));
            }
            match link.down.filter(|down| !beat.is_over(*down, retry_ms)) {
                Some(down) => next = super::earlier(next, Some(down.plus(retry_ms))),
                None => drop(touched.insert(*ledger)),
            }
            true
        });
        next
    }
}
