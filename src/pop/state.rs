use std::collections::VecDeque;

use super::batch::{self, Batch, Said, Wait};
use super::beat::Beat;
use super::given::Given;
use super::holders::{Holders, Place};
use super::host::{PopEvent, PopHost, RequestId};
use super::leases::Leases;
use super::links::Links;
use super::message::{POP_VERSION, PopAsk, PopReply};
use super::settings::{PopReport, PopSettings};
use crate::clock::{SteadyMs, WallMs};
use crate::counter::{Ask, Counter, Holder, JournalRow, Op, Reply};
use crate::decision::DecidedBy;
use crate::ledger::LedgerName;
use crate::ordered::Map;

/// The decisions and the memory of one `PopCounter`.
///
/// Whoever drives it is its [`PopHost`]: it hands in [requests](Self::request), what Ledgers
/// [reply](Self::hear), and that the [timer](Self::tick) or the [alarm](Self::alarm) has come; and does what
/// is asked of it meanwhile. Each call is one turn.
///
/// Where the policy's `on_error` is `local`, a point of presence that is out of its Ledger's reach goes on
/// with its part of the limit: the limit divided by how many points of presence the Ledgers knew of when one
/// last said so, rounded up, over restarts too. One that was never told takes the whole limit, as if the
/// policy's scope were `pop`.
///
/// # Example
///
/// A window over all points of presence, whose Ledger does not answer:
///
/// ```
/// # use sluicegate::clock::WallMs;
/// # use sluicegate::counter::{CounterSettings, JournalRow, Op};
/// # use sluicegate::global::{LeaseRow, LeaseWrite};
/// # use sluicegate::ledger::{LedgerAsk, LedgerName, QuotaName};
/// # use sluicegate::pop::{AskId, PopEvent, PopReply, RequestId, StoredStart};
/// use sluicegate::http::KeyHash;
/// use sluicegate::policy::OnError;
/// use sluicegate::pop::{Measure, POP_VERSION, Pop, PopAsk, PopHost, PopLimit, PopSettings};
/// use sluicegate::window::{FixedWindow, WindowMs};
/// use sluicegate::{Cost, DecidedBy};
///
/// /// A host that stores nothing.
/// #[derive(Default)]
/// struct Host {
///     sent: Vec<(AskId, LedgerName, LedgerAsk)>,
///     answers: Vec<(RequestId, PopReply)>,
/// }
///
/// impl PopHost for Host {
///     // ...
/// #     type Fault = ();
/// #     fn cheap(&mut self) -> WallMs { WallMs(1_775_001_600_000) }
/// #     fn exact(&mut self) -> WallMs { WallMs(1_775_001_600_000) }
/// #     fn random(&mut self) -> u64 { 4 }
/// #     fn write_journal(&mut self, _: &[JournalRow]) -> Result<u64, ()> { Ok(0) }
/// #     fn delete_journal(&mut self, _: &[u16]) -> Result<u64, ()> { Ok(0) }
/// #     fn read_start(&mut self) -> Result<(Option<StoredStart>, Vec<QuotaName>), ()> { Ok((None, Vec::new())) }
/// #     fn write_start(&mut self, _: &StoredStart) -> Result<u64, ()> { Ok(0) }
/// #     fn read_leases(&mut self, _: &QuotaName) -> Result<Vec<LeaseRow>, ()> { Ok(Vec::new()) }
/// #     fn write_leases(&mut self, _: &QuotaName, _: &[LeaseWrite]) -> Result<u64, ()> { Ok(0) }
/// #     fn set_alarm(&mut self, _: WallMs) -> Result<(), ()> { Ok(()) }
/// #     fn wake_after(&mut self, _: u64) {}
/// #     fn warn(&mut self, _: PopEvent) {}
///     fn send(&mut self, id: AskId, to: LedgerName, ask: LedgerAsk) {
///         self.sent.push((id, to, ask));
///     }
///     fn answer(&mut self, id: RequestId, reply: PopReply) {
///         self.answers.push((id, reply));
///     }
/// }
///
/// let mut host = Host::default();
/// let settings = PopSettings::new(CounterSettings { flush_hits: 1_000, flush_every_ms: 1_000, max_keys: 1_000 });
/// let mut pop = Pop::restore(0x5eed, settings, Vec::new(), &mut host).unwrap(); // a random number
///
/// let window = FixedWindow::new(100, WindowMs::new(60_000)?)?;
/// let (ledger, on_error) = (LedgerName::Shard(0), OnError::Open);
/// let limit = PopLimit {
///     policy: "api".into(),
///     measure: Measure::Window { window, tolerance_ppm: 100_000, ledger, on_error },
///     key: KeyHash::new(7),
///     cost: Cost::ONE,
///     shadow: false,
///     receipt: None,
/// };
/// let ask = PopAsk { v: POP_VERSION, op: Op::Take, pop: "FRA/0".into(), limits: vec![limit] };
/// let id = pop.request(&ask, &mut host).unwrap().unwrap_err(); // it waits
/// let (sent, ..) = host.sent[0];
/// pop.hear(sent, None, &mut host).unwrap();
/// let (answered, reply) = &host.answers[0];
/// assert!(*answered == id && reply.allowed);
/// assert_eq!(reply.limits[0].decided_by, DecidedBy::OnError);
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Debug)]
pub struct Pop {
    pub(super) settings: PopSettings,
    pub(super) counter: Counter,
    pub(super) holders: Holders,
    pub(super) leases: Leases,
    pub(super) links: Links,
    pub(super) given: Given,
    /// The requests that wait.
    pub(super) waiting: Map<RequestId, Batch>,
    /// Which of them waits at which place of a holder.
    pub(super) places: Map<Place, RequestId>,
    /// The request of this turn, if it waits, and its answer should that come in the same turn.
    pub(super) asking: Option<(RequestId, Option<PopReply>)>,
    /// Those that can go on in this turn.
    pub(super) ready: VecDeque<(RequestId, Said)>,
    pub(super) beat: Beat,
    /// The cheap reading of this turn.
    pub(super) wall: WallMs,
    /// The name of the point of presence, as requests say.
    pub(super) name: String,
    /// How many points of presence the Ledgers know of.
    pub(super) pops: u32,
    /// The same as it is stored, and when that was.
    pub(super) pops_stored: (u32, Option<SteadyMs>),
    /// A limit was met whose `on_error` is `local`.
    pub(super) has_local: bool,
    /// When the journal is to be flushed.
    pub(super) flush_at: Option<SteadyMs>,
    /// When a Ledger can be asked again.
    pub(super) retry_at: Option<SteadyMs>,
    /// When a quota that is idle wants the alarm.
    pub(super) idle_at: Option<SteadyMs>,
    /// When the timer is to come.
    pub(super) waking: Option<SteadyMs>,
    /// When the alarm is to come, as far as this life of the object has set it.
    pub(super) alarm_set: Option<WallMs>,
    pub(super) swept_at: SteadyMs,
    requests: u64,
    pub(super) waited: u64,
    pub(super) leases_lost: u64,
    pub(super) fences_rejected: u64,
    pub(super) fences_adopted: u64,
}

impl Pop {
    /// One that goes on from what is stored: the journal's rows, oldest first, and leases. `random` must be
    /// drawn anew at each start.
    ///
    /// # Errors
    ///
    /// Where storage could not be read. Leases that could not be set up are no error: they are set up anew
    /// when the next request needs them.
    pub fn restore<H: PopHost>(
        random: u64,
        settings: PopSettings,
        journal: impl IntoIterator<Item = JournalRow>,
        host: &mut H,
    ) -> Result<Self, H::Fault> {
        let (stored, quotas) = host.read_start()?;
        let holder = Holder((random >> 32) as u32);
        let counter = Counter::restore(holder, settings.counter, journal, host.exact());
        let (name, pops) = stored.map_or_else(Default::default, |stored| (stored.pop, stored.pops));
        let mut pop = Self {
            settings,
            counter,
            holders: Holders::new(random, &settings),
            leases: Leases::default(),
            links: Links::default(),
            given: Given::default(),
            waiting: Map::new(),
            places: Map::new(),
            asking: None,
            ready: VecDeque::new(),
            beat: Beat::default(),
            wall: WallMs(0),
            name,
            pops,
            pops_stored: (pops, None),
            has_local: false,
            flush_at: None,
            retry_at: None,
            idle_at: None,
            waking: None,
            alarm_set: None,
            swept_at: SteadyMs(0),
            requests: 0,
            waited: 0,
            leases_lost: 0,
            fences_rejected: 0,
            fences_adopted: 0,
        };
        pop.look(host);
        // An object that has no leases need not pay a row for each of its starts.
        if !quotas.is_empty() {
            pop.begin(host);
            // No alarm is set here: an object can have been made for its alarm, which would take itself back.
            pop.wake(host);
        }
        Ok(pop)
    }

    /// Decides a batch of limits: all are taken, or none is. Either the answer, or the name under which it
    /// comes by [`PopHost::answer`]. One of another version takes nothing, and is told
    /// [`Unavailable`](crate::Refusal::Unavailable).
    ///
    /// # Errors
    ///
    /// Where the journal or the alarm could not be written. What the batch took may stay taken.
    pub fn request<H: PopHost>(
        &mut self,
        ask: &PopAsk,
        host: &mut H,
    ) -> Result<Result<PopReply, RequestId>, H::Fault> {
        if ask.v != POP_VERSION {
            return Ok(Ok(batch::unavailable(&ask.limits)));
        }
        self.look(host);
        let answer = match self.begin_request(ask, host) {
            Ok(answer) => answer,
            Err(fault) => {
                // Others may wait for what this turn has brought about.
                let _ended = self.end_turn(host);
                return Err(fault);
            }
        };
        let waits = answer.as_ref().err().copied();
        self.asking = waits.map(|id| (id, None));
        let ended = self.end_turn(host);
        let answered = self.asking.take().and_then(|(_, reply)| reply);
        match (ended, waits) {
            (Err(fault), Some(id)) => {
                self.abandon(id, host);
                Err(fault)
            }
            (ended, _) => ended.map(|()| answered.map_or(answer, Ok)),
        }
    }

    fn begin_request<H: PopHost>(
        &mut self,
        ask: &PopAsk,
        host: &mut H,
    ) -> Result<Result<PopReply, RequestId>, H::Fault> {
        match batch::all_local(ask) {
            Some(local) => {
                let Reply { allowed, limits, .. } = self.count(&local, host)?;
                let limits = limits.into_iter().map(|said| batch::counted(said, DecidedBy::Counter));
                Ok(Ok(batch::reply(allowed, limits.collect())))
            }
            None if ask.op == Op::Give => self.give(ask, host).map(Ok),
            None => self.join(ask, host),
        }
    }

    fn join<H: PopHost>(
        &mut self,
        ask: &PopAsk,
        host: &mut H,
    ) -> Result<Result<PopReply, RequestId>, H::Fault> {
        self.name_is(&ask.pop);
        self.requests = self.requests.saturating_add(1);
        let id = RequestId(self.requests);
        let answer = self.begin_batch(id, Batch::new(ask), host)?;
        self.waited = self.waited.saturating_add(u64::from(answer.is_none()));
        Ok(answer.ok_or(id))
    }

    pub(super) fn name_is(&mut self, name: &str) {
        if self.name != name && !name.is_empty() {
            name.clone_into(&mut self.name);
        }
    }

    /// Takes a request out whose caller gave up: what it took is given back, and it is not answered.
    pub fn abandon<H: PopHost>(&mut self, id: RequestId, _host: &mut H) {
        let Some(batch) = self.waiting.remove(&id) else { return };
        match &batch.wait {
            Some(Wait::Held { ledger, place }) => self.leave(*ledger, *place),
            Some(Wait::Quota { quota, .. }) => {
                if let Some(quota) = self.leases.quotas.get_mut(quota) {
                    quota.queue.retain(|other| *other != id);
                }
            }
            None => self.ready.retain(|(other, _)| *other != id),
        }
        self.give_back_all(&batch);
    }

    pub(super) fn leave(&mut self, ledger: LedgerName, place: Place) {
        self.places.remove(&place);
        self.holders.abandon(ledger, place);
    }

    /// Has the counter decide, and stores what it wants stored.
    pub(super) fn count<H: PopHost>(&mut self, ask: &Ask, host: &mut H) -> Result<Reply, H::Fault> {
        let outcome = self.counter.decide_now(ask, self.wall);
        self.write_journal(&outcome.rows, host)?;
        if let Some(alarm) = outcome.alarm {
            self.want_alarm(alarm, host)?;
        }
        Ok(outcome.reply)
    }

    pub(super) fn write_journal<H: PopHost>(
        &mut self,
        rows: &[JournalRow],
        host: &mut H,
    ) -> Result<(), H::Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let billed = host.write_journal(rows).inspect_err(|_| self.counter.unwritten(rows))?;
        self.counter.wrote(billed);
        Ok(())
    }

    /// Looks at the clock: once in each turn.
    pub(super) fn look<H: PopHost>(&mut self, host: &mut H) {
        self.wall = host.cheap();
        let now = self.counter.observe(self.wall, || host.exact());
        self.beat.look(now);
        if let Some(step) = self.counter.take_step() {
            host.warn(PopEvent::ClockStep(step));
        }
    }

    /// What it has done, and how things stand.
    pub fn report(&self) -> PopReport {
        let holders = || self.leases.quotas.values().map(|quota| &quota.holder);
        PopReport {
            totals: self.counter.totals().clone(),
            keys: self.counter.keys(),
            cap_keys: self.holders.caps.keys(),
            token_keys: self.holders.tokens.keys(),
            tokens_in_hand: self.holders.tokens.all_in_hand(self.beat.now()),
            quotas: self.leases.quotas.len(),
            leases_open: holders().map(|holder| holder.leases().count() as u64).sum(),
            units_in_hand: holders().fold(0, |sum: u64, holder| sum.saturating_add(holder.in_hand())),
            asks_sent: self.links.sent,
            asks_failed: self.links.failed,
            requests_waited: self.waited,
            requests_waiting: self.waiting.len(),
            ledgers_out_of_reach: self.links.down(),
            leases_lost: self.leases_lost,
            lease_fences_rejected: self.fences_rejected,
            lease_fences_adopted: self.fences_adopted,
            pops: self.pops,
        }
    }
}
