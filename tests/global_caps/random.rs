//! Random schedules: up to 20 points of presence, clocks of their own, a network that loses, repeats and
//! reorders, restarts, second instances, crashes of the Ledger and refunds. The bound is the theorem.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sluicegate::clock::SteadyMs;
use sluicegate::global::rules::{Rules, Standard};
use sluicegate::global::{
    CapAnswer, CapAsk, CapHolder, CapHolderSettings, CapLedger, CapLedgerSettings, CapLimit, CapReceipt,
    CapReply, CapVerdict,
};
use sluicegate::window::Epoch;

use super::support::{LEDGER, START, Stored, WINDOW, cost, key, limit};

#[derive(Clone, Debug)]
enum Event {
    /// Requests at one holder.
    Burst {
        pop: usize,
        requests: u8,
        cost: u64,
    },
    /// Delivers a message; keeps it in the network where it is to come again.
    Deliver {
        message: usize,
        again: bool,
    },
    Lose {
        message: usize,
    },
    Fail {
        pop: usize,
    },
    Restart {
        pop: usize,
        zombie: bool,
    },
    Refund {
        pop: usize,
        receipt: usize,
    },
    PopClock {
        pop: usize,
        ms: u64,
    },
    LedgerClock {
        ms: u64,
    },
    LedgerCrash,
    Settle,
}

fn event() -> impl Strategy<Value = Event> {
    let some = any::<prop::sample::Index>;
    let at = |index: prop::sample::Index| index.index(1 << 20);
    prop_oneof![
        12 => (some(), 1u8..40, prop_oneof![4 => Just(1u64), 1 => 0u64..6])
            .prop_map(move |(pop, requests, cost)| Event::Burst { pop: at(pop), requests, cost }),
        40 => (some(), prop::bool::weighted(0.15))
            .prop_map(move |(message, again)| Event::Deliver { message: at(message), again }),
        2 => some().prop_map(move |message| Event::Lose { message: at(message) }),
        4 => some().prop_map(move |pop| Event::Fail { pop: at(pop) }),
        1 => (some(), any::<bool>()).prop_map(move |(pop, zombie)| Event::Restart { pop: at(pop), zombie }),
        3 => (some(), some()).prop_map(move |(pop, receipt)| Event::Refund { pop: at(pop), receipt: at(receipt) }),
        3 => (some(), 0u64..2 * WINDOW).prop_map(move |(pop, ms)| Event::PopClock { pop: at(pop), ms }),
        1 => (0u64..WINDOW).prop_map(|ms| Event::LedgerClock { ms }),
        1 => Just(Event::LedgerCrash),
        1 => Just(Event::Settle),
    ]
}

enum Message {
    Ask { from: usize, ask: CapAsk },
    Reply { to: usize, reply: CapReply },
}

struct Pop {
    holder: CapHolder,
    now: u64,
    in_flight: Option<u64>,
    receipts: Vec<CapReceipt>,
    dead: bool,
}

/// Units admitted and given back, by epoch: what truly happened.
#[derive(Default)]
struct Truth {
    taken: BTreeMap<Epoch, u64>,
    given: BTreeMap<Epoch, u64>,
}

impl Truth {
    fn net(&self, epoch: Epoch) -> u64 {
        self.taken.get(&epoch).copied().unwrap_or(0) - self.given.get(&epoch).copied().unwrap_or(0)
    }
}

struct World {
    limit: CapLimit,
    settings: CapLedgerSettings,
    ledger: CapLedger,
    stored: Stored,
    ledger_now: u64,
    told: u64,
    /// All that ever started; the first are the ones in use.
    pops: Vec<Pop>,
    network: Vec<Message>,
    truth: Truth,
}

impl World {
    fn new(limit: CapLimit, pops: usize) -> Self {
        let settings = CapLedgerSettings { max_holders: 12, ..CapLedgerSettings::default() };
        let ledger = CapLedger::new(settings);
        let pops = (0..pops as u64).map(pop).collect();
        let (stored, network, truth) = (Stored::default(), Vec::new(), Truth::default());
        Self { limit, settings, ledger, stored, ledger_now: START.0, told: 0, pops, network, truth }
    }

    fn note(&mut self, place: usize, verdicts: impl IntoIterator<Item = CapVerdict>) {
        for receipt in verdicts.into_iter().filter_map(|verdict| verdict.receipt) {
            *self.truth.taken.entry(receipt.epoch).or_default() += receipt.cost.get();
            self.pops[place].receipts.push(receipt);
        }
        let pop = &mut self.pops[place];
        if let Some(ask) = pop.holder.next_ask(LEDGER, SteadyMs(pop.now)) {
            pop.in_flight = Some(ask.n);
            self.network.push(Message::Ask { from: place, ask });
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::Ask { from, ask } => {
                let limit = self.limit;
                let outcome = self.ledger.answer(&ask, |_| Some(limit), SteadyMs(self.ledger_now));
                self.stored.write(&outcome.store);
                for item in &outcome.reply.items {
                    assert!(item.epoch.0 >= self.told, "an epoch shrank");
                    self.told = item.epoch.0;
                }
                self.network.push(Message::Reply { to: from, reply: outcome.reply });
            }
            Message::Reply { to, .. } if self.pops[to].dead => {}
            Message::Reply { to, reply } => {
                let pop = &mut self.pops[to];
                pop.in_flight = pop.in_flight.filter(|n| *n != reply.n);
                let settled = pop.holder.reply(LEDGER, &reply, SteadyMs(pop.now));
                self.note(to, settled.into_iter().map(|settled| settled.verdict));
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let pops = self.pops.len();
        match event {
            Event::Burst { pop, requests, cost } => self.burst(pop % pops, requests, cost),
            Event::Deliver { message, again } if !self.network.is_empty() => {
                let message = self.network.swap_remove(message % self.network.len());
                if again {
                    self.network.push(match &message {
                        Message::Ask { from, ask } => Message::Ask { from: *from, ask: ask.clone() },
                        Message::Reply { to, reply } => Message::Reply { to: *to, reply: reply.clone() },
                    });
                }
                self.deliver(message);
            }
            Event::Lose { message } if !self.network.is_empty() => {
                let _lost = self.network.swap_remove(message % self.network.len());
            }
            Event::Fail { pop } => {
                let place = pop % pops;
                if let Some(n) = self.pops[place].in_flight.take() {
                    let settled = self.pops[place].holder.failed(LEDGER, n);
                    self.note(place, settled.into_iter().map(|settled| settled.verdict));
                }
            }
            Event::Restart { pop: place, zombie } if pops < 60 => {
                // The first instance goes on for a while, or says nothing any more.
                self.pops.push(pop(pops as u64));
                self.pops[place % pops].dead = !zombie;
            }
            Event::Refund { pop, receipt } => self.refund(pop % pops, receipt),
            Event::PopClock { pop, ms } => self.pops[pop % pops].now += ms,
            Event::LedgerClock { ms } => self.ledger_now += ms,
            Event::LedgerCrash => {
                let (epochs, rows) = (self.stored.epochs.clone(), self.stored.rows.clone());
                self.ledger = CapLedger::restore(self.settings, epochs, rows);
            }
            Event::Settle => {
                let store = self.ledger.settle();
                self.stored.write(&store);
            }
            Event::Deliver { .. } | Event::Lose { .. } | Event::Restart { .. } => {}
        }
    }

    fn burst(&mut self, place: usize, requests: u8, units: u64) {
        let requests = if self.pops[place].dead { 0 } else { requests };
        for _ in 0..requests {
            let pop = &mut self.pops[place];
            let now = SteadyMs(pop.now);
            let answer = pop.holder.request(LEDGER, &key(), self.limit, cost(units), now);
            let verdict = if let CapAnswer::Decided(verdict) = answer { Some(verdict) } else { None };
            self.note(place, verdict);
        }
    }

    fn refund(&mut self, place: usize, receipt: usize) {
        let pop = &mut self.pops[place];
        if pop.receipts.is_empty() {
            return;
        }
        // Kept, so that it can be handed in again.
        let receipt = pop.receipts[receipt % pop.receipts.len()].clone();
        if pop.holder.refund(LEDGER, &receipt) {
            *self.truth.given.entry(receipt.epoch).or_default() += receipt.cost.get();
        }
    }

    /// The theorem, and what it rests on.
    fn check(&self) {
        let ceiling = self.limit.ceiling();
        for (epoch, taken) in &self.truth.taken {
            let given = self.truth.given.get(epoch).copied().unwrap_or(0);
            assert!(given <= *taken, "{given} of {taken} came back");
            assert!(self.truth.net(*epoch) <= ceiling, "{} of {ceiling}", self.truth.net(*epoch));
        }
        let totals = self.ledger.totals(&key());
        let mut out: BTreeMap<Epoch, u64> = BTreeMap::new();
        for pop in &self.pops {
            for page in pop.holder.pages(LEDGER, &key()) {
                assert!(page.taken - page.given <= page.cap, "{page:?}");
                assert!(page.epoch.0 <= self.told + 1, "{page:?} was never opened");
                *out.entry(page.epoch).or_default() += page.cap;
            }
        }
        for total in totals {
            assert!(total.caps <= ceiling && total.caps <= total.reserved, "{total:?}");
            assert!(out.get(&total.epoch).copied().unwrap_or(0) <= total.caps, "{out:?}, {total:?}");
        }
    }
}

fn pop(number: u64) -> Pop {
    let settings = CapHolderSettings { max_keys: 10, max_waiting: 50 };
    let holder = CapHolder::new(number, settings);
    Pop { holder, now: number * 977, in_flight: None, receipts: Vec::new(), dead: false }
}

fn limits() -> impl Strategy<Value = CapLimit> {
    let limits = prop_oneof![10u64..60, 10u64..=10_000];
    (limits, prop::sample::select(vec![0u32, 10_000, 100_000, 500_000])).prop_map(|(l, ppm)| limit(l, ppm))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn at_most_the_limit_and_the_slack_are_admitted(
        limit in limits(),
        pops in 1usize..=20,
        events in prop::collection::vec(event(), 1..400),
    ) {
        let mut world = World::new(limit, pops);
        for event in events {
            world.happen(event);
            world.check();
        }
    }
}

/// What the books say after reports that came in this order.
fn booked<R: Rules>(reports: &[CapAsk]) -> u64 {
    let limit = limit(1_000, 100_000);
    let mut ledger: CapLedger<R> = CapLedger::new(CapLedgerSettings::default());
    for ask in reports {
        ledger.answer(ask, |_| Some(limit), START);
    }
    ledger.totals(&key())[0].known
}

/// A Ledger that keeps the last report in place of the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastReport;

impl Rules for LastReport {
    fn reported(_: u64, told: u64) -> u64 {
        told
    }
}

/// Reports of a few holders whose counts only grow. They ask for nothing.
fn reports() -> impl Strategy<Value = Vec<CapAsk>> {
    prop::collection::vec((0u64..4, 0u64..20, 0u64..5), 1..25).prop_map(|moves| {
        let mut counts = BTreeMap::<u64, (u64, u64, u64)>::new();
        let report = |(holder, took, gave): (u64, u64, u64)| {
            let (n, taken, given) = counts.entry(holder).or_default();
            (*n, *taken) = (*n + 1, *taken + took);
            *given = (*given + gave).min(*taken);
            super::messages::report(holder, *n, *taken, *given)
        };
        moves.into_iter().map(report).collect()
    })
}

proptest! {
    /// (E1) Reports in any order, repeated or late, give the same books.
    #[test]
    fn the_order_of_reports_does_not_matter(
        (reports, mixed) in reports().prop_flat_map(|all| {
            let twice: Vec<CapAsk> = all.iter().chain(&all).cloned().collect();
            (Just(all), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(booked::<Standard>(&reports), booked::<Standard>(&mixed));
    }
}

#[test]
fn a_late_report_lowers_books_that_keep_the_last_one() {
    use super::messages::report;
    let (first, second) = (report(1, 1, 5, 0), report(1, 2, 9, 4));
    let (ordered, late) = ([first.clone(), second.clone()], [second, first]);
    assert_eq!(booked::<Standard>(&ordered), booked::<Standard>(&late));
    assert_ne!(booked::<LastReport>(&ordered), booked::<LastReport>(&late));
}
