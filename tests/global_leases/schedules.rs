//! Random schedules of up to ten points of presence.

use proptest::prelude::*;
use sluicegate::global::{LeaseBook, Spend};

use crate::sim::{Message, Sim};

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A request; if it has to wait, its ask goes into the network.
    Request(usize, u64),
    /// A request on a network without faults.
    Served(usize, u64),
    /// A message arrives, and a copy of it stays under way if so wished.
    Arrives(usize, bool),
    Lost(usize),
    Crash(usize),
    CrashInSpend(usize, u64),
    Evict(usize),
    Time(u64),
    Tick(usize),
    LedgerRestarts,
    PeriodOpens,
}

fn event(pops: usize, most_cost: u64) -> impl Strategy<Value = Event> {
    let cost = 1..=most_cost;
    prop_oneof![
        6 => (0..pops, cost.clone()).prop_map(|(pop, cost)| Event::Request(pop, cost)),
        12 => (0..pops, cost.clone()).prop_map(|(pop, cost)| Event::Served(pop, cost)),
        10 => (any::<usize>(), any::<bool>()).prop_map(|(which, stays)| Event::Arrives(which, stays)),
        2 => any::<usize>().prop_map(Event::Lost),
        1 => (0..pops).prop_map(Event::Crash),
        1 => (0..pops, cost).prop_map(|(pop, cost)| Event::CrashInSpend(pop, cost)),
        1 => (0..pops).prop_map(Event::Evict),
        3 => (1_u64..6_000).prop_map(Event::Time),
        6 => (0..pops).prop_map(Event::Tick),
        1 => Just(Event::LedgerRestarts),
    ]
}

fn play(sim: &mut Sim, event: Event, chunk: u64, most_cost: u64) {
    let lost = sim.lost;
    match event {
        Event::Request(pop, cost) => {
            if sim.spend(pop, cost, 0) == Spend::Wait {
                let ask = sim.ask(pop, cost);
                sim.net.push(Message::Ask(pop, ask));
            }
        }
        Event::Served(pop, cost) => drop(sim.request(pop, cost)),
        Event::Arrives(which, stays) if !sim.net.is_empty() => {
            let index = which % sim.net.len();
            let news = match &sim.net[index] {
                Message::Ask(pop, ask) => {
                    let (pop, ask) = (*pop, ask.clone());
                    sim.answer(pop, &ask).map(|reply| Message::Reply(pop, reply))
                }
                Message::Reply(pop, reply) => {
                    let (pop, reply) = (*pop, reply.clone());
                    sim.hear(pop, &reply);
                    None
                }
            };
            if !stays {
                sim.net.swap_remove(index);
            }
            sim.net.extend(news);
        }
        Event::Lost(which) if !sim.net.is_empty() => {
            sim.net.swap_remove(which % sim.net.len());
        }
        Event::Arrives(..) | Event::Lost(_) => (),
        Event::Crash(pop) => sim.crash(pop),
        Event::CrashInSpend(pop, cost) => sim.crash_in_spend(pop, cost),
        Event::Evict(pop) => sim.evict(pop),
        Event::Time(ms) => sim.pass(ms),
        Event::Tick(pop) => {
            if sim.tick(pop) {
                let ask = sim.ask(pop, 0);
                sim.net.push(Message::Ask(pop, ask));
            }
        }
        Event::LedgerRestarts => {
            sim.restart_ledger();
        }
        Event::PeriodOpens => {
            sim.serial += 1;
            sim.lost = 0;
            return;
        }
    }
    let in_flight = if matches!(event, Event::CrashInSpend(..)) { most_cost } else { 0 };
    assert!(sim.lost - lost < chunk + in_flight.max(1), "a crash cost {}", sim.lost - lost);
}

fn world() -> impl Strategy<Value = (u64, u64, u64, Vec<Event>)> {
    let sizes = (2_usize..=10, prop_oneof![10_u64..100, 100_u64..10_000], 1_u64..30, 1_u64..=20);
    sizes.prop_flat_map(|(pops, limit, chunk, most_cost)| {
        let events = prop::collection::vec(event(pops, most_cost), 1..300);
        (Just(limit), Just(chunk), Just(most_cost), events)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Never over; and in the end every unit is admitted, but for those that crashes took.
    #[test]
    fn exactly_the_limit_in_the_end((limit, chunk, most_cost, events) in world()) {
        let mut sim = Sim::new(limit, chunk, 10);
        for event in events {
            play(&mut sim, event, chunk, most_cost);
            sim.check();
        }
        sim.drain(0);
        sim.check();
        prop_assert_eq!(sim.admitted() + sim.lost, limit);
        let totals = sim.book.open_totals();
        prop_assert_eq!((totals.spent + totals.forfeited, totals.outstanding), (limit, 0));
        let again = LeaseBook::restore(sim.rows.values().cloned());
        prop_assert!(again.rows().eq(sim.book.rows()), "what is stored is not what is in memory");
    }

    /// Periods that open in between: each unit is booked in one serial, and none is over.
    #[test]
    fn every_serial_keeps_its_limit(
        (limit, chunk, most_cost, mut events) in world(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        for turn in turns {
            events.insert(turn.index(events.len()), Event::PeriodOpens);
        }
        let mut sim = Sim::new(limit, chunk, 10);
        for event in events {
            play(&mut sim, event, chunk, most_cost);
            sim.check();
        }
        sim.drain(0);
        sim.check();
        prop_assert_eq!(sim.admitted() + sim.lost, limit);
        for totals in &sim.closed {
            let admitted = sim.admitted.get(&totals.serial).copied().unwrap_or(0);
            prop_assert!(totals.is_balanced() && totals.outstanding == 0);
            prop_assert!(admitted <= totals.used() && totals.used() <= limit);
        }
    }

    /// Evictions alone, however many, forfeit nothing.
    #[test]
    fn evictions_forfeit_nothing(requests in prop::collection::vec((0_usize..4, 1_u64..5, any::<bool>()), 1..60)) {
        let mut sim = Sim::new(500, 20, 4);
        for (pop, cost, evict) in requests {
            sim.request(pop, cost);
            if evict {
                sim.evict(pop);
            }
        }
        sim.drain(1);
        prop_assert_eq!(sim.admitted(), 500);
        prop_assert_eq!(sim.book.open_totals().forfeited, 0);
    }
}
