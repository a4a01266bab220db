//! Random schedules of three points of presence: requests, lost and late messages, crashes, evictions and
//! time. No serial and no epoch sees more than it allows.

use proptest::prelude::*;
use sluicegate::ledger::{LedgerAsk, LedgerReply};
use sluicegate::policy::OnError;
use sluicegate::pop::{AskId, PopAsk, PopLimit, RequestId};

use crate::world::{World, give, local, peek, quota, shadow, take, window};

const QUOTA: u64 = 60;
const WINDOW_LIMIT: u64 = 20;
const SITES: usize = 3;

#[derive(Clone, Debug)]
enum Event {
    Request { site: usize, kind: u8, cost: u64 },
    Give { site: usize },
    Abandon { site: usize },
    Deliver { pick: usize },
    Answer { pick: usize },
    Lose { pick: usize },
    Fail { pick: usize },
    Crash { site: usize },
    StorageFails { site: usize, fails: bool },
    Pass { ms: i64 },
}

fn event() -> impl Strategy<Value = Event> {
    let site = 0..SITES;
    prop_oneof![
        10 => (site.clone(), 0u8..5, 1u64..6).prop_map(|(site, kind, cost)| Event::Request { site, kind, cost }),
        1 => site.clone().prop_map(|site| Event::Give { site }),
        1 => site.clone().prop_map(|site| Event::Abandon { site }),
        6 => (0usize..8).prop_map(|pick| Event::Deliver { pick }),
        6 => (0usize..8).prop_map(|pick| Event::Answer { pick }),
        1 => (0usize..8).prop_map(|pick| Event::Lose { pick }),
        1 => (0usize..8).prop_map(|pick| Event::Fail { pick }),
        1 => site.clone().prop_map(|site| Event::Crash { site }),
        1 => (site, any::<bool>()).prop_map(|(site, fails)| Event::StorageFails { site, fails }),
        3 => prop_oneof![1i64..100, 500i64..12_000, 30_000i64..70_000].prop_map(|ms| Event::Pass { ms }),
    ]
}

fn batch(kind: u8, cost: u64) -> PopAsk {
    let w = || window("w", WINDOW_LIMIT, cost, OnError::Closed);
    let w_open = || window("w", WINDOW_LIMIT, cost, OnError::Open);
    match kind {
        0 => take([quota("q", cost)]),
        1 => take([w_open()]),
        2 => take([quota("q", cost), w(), local("l", 30, cost)]),
        3 => take([shadow(quota("q", cost)), w(), local("l", 30, cost)]),
        _ => take([quota("q", cost), quota("r", 1), shadow(w())]),
    }
}

/// A network that keeps messages until an event takes them.
#[derive(Default)]
struct Run {
    asks: Vec<(usize, u64, AskId, LedgerAsk)>,
    replies: Vec<(usize, u64, AskId, LedgerReply)>,
    waiting: Vec<(usize, u64, RequestId, Vec<PopLimit>)>,
    /// What was taken and can be given back, with the site's life.
    taken: Vec<(usize, PopAsk)>,
    lives: [u64; SITES],
}

impl Run {
    fn gather(&mut self, world: &mut World) {
        for site in 0..SITES {
            let life = self.lives[site];
            let sent = std::mem::take(&mut world.sites[site].host.sent);
            self.asks.extend(sent.into_iter().map(|(id, _, ask)| (site, life, id, ask)));
            for (id, reply) in std::mem::take(&mut world.sites[site].host.answers) {
                let place =
                    self.waiting.iter().position(|(at, of, waits, _)| (*at, *of, *waits) == (site, life, id));
                let (.., limits) =
                    self.waiting.remove(place.expect("an answer to a request that waits, once"));
                world.note(&limits, &reply);
                self.took(site, &limits, &reply);
            }
        }
    }

    fn took(&mut self, site: usize, limits: &[PopLimit], reply: &sluicegate::pop::PopReply) {
        if reply.allowed {
            self.taken.push((site, give(limits, reply)));
        }
    }

    fn step(&mut self, world: &mut World, event: Event) {
        match event {
            Event::Request { site, kind, cost } => {
                let ask = batch(kind, cost);
                match world.try_request(site, &ask) {
                    Ok(Ok(reply)) => self.took(site, &ask.limits, &reply),
                    Ok(Err(id)) => self.waiting.push((site, self.lives[site], id, ask.limits)),
                    Err(_) => {}
                }
            }
            Event::Give { site } => {
                if let Some(place) = self.taken.iter().position(|(at, _)| *at == site) {
                    let (_, back) = self.taken.remove(place);
                    let (pop, host) = world.live(site);
                    // Twice: the second one changes nothing. What clients were let through with stays as it
                    // is counted, so that units which come back twice would show.
                    let before = pop.report().units_in_hand;
                    pop.request(&back, host).unwrap().unwrap();
                    let once = pop.report().units_in_hand;
                    pop.request(&back, host).unwrap().unwrap();
                    assert_eq!(pop.report().units_in_hand, once);
                    let given = once - before;
                    for limit in &back.limits {
                        if let Some(sluicegate::pop::PopReceipt::Lease { lease, .. }) = &limit.receipt
                            && given > 0
                        {
                            *world.spent.get_mut(&(limit.policy.clone(), lease.serial)).unwrap() -=
                                given.min(limit.cost.get());
                        }
                        if let Some(sluicegate::pop::PopReceipt::Cap(receipt)) = &limit.receipt {
                            // A cap may take it back or not; the bound counts it as taken only if not.
                            let units =
                                world.taken.get_mut(&(limit.policy.clone(), receipt.epoch.0)).unwrap();
                            *units -= limit.cost.get();
                        }
                    }
                }
            }
            Event::Abandon { site } => {
                let place =
                    self.waiting.iter().position(|(at, of, ..)| (*at, *of) == (site, self.lives[site]));
                if let Some(place) = place {
                    let (_, _, id, _) = self.waiting.remove(place);
                    let (pop, host) = world.live(site);
                    pop.abandon(id, host);
                }
            }
            Event::Deliver { pick } if !self.asks.is_empty() => {
                // Kept: it may be delivered again.
                let (site, life, id, ask) = self.asks[pick % self.asks.len()].clone();
                if pick % 4 != 0 {
                    self.asks.remove(pick % self.asks.len());
                }
                let reply = world.owner.answer(&ask, world.sites[site].host.wall);
                self.replies.push((site, life, id, reply));
            }
            Event::Answer { pick } if !self.replies.is_empty() => {
                let (site, life, id, reply) = self.replies.remove(pick % self.replies.len());
                if self.lives[site] == life {
                    world.hear(site, id, Some(&reply));
                }
            }
            Event::Lose { pick } if !self.asks.is_empty() => {
                self.asks.remove(pick % self.asks.len());
            }
            Event::Fail { pick } if !self.asks.is_empty() => {
                let (site, life, id, _) = self.asks[pick % self.asks.len()].clone();
                if self.lives[site] == life {
                    world.hear(site, id, None);
                }
            }
            Event::Crash { site } => {
                world.evict(site);
                self.lives[site] += 1;
                self.waiting.retain(|(at, ..)| *at != site);
                world.sites[site].host.answers.clear();
            }
            Event::StorageFails { site, fails } => world.sites[site].host.leases_fail = fails,
            Event::Pass { ms } => {
                for site in 0..SITES {
                    world.sites[site].host.wall += ms;
                    let (pop, host) = world.live(site);
                    pop.tick(host).unwrap();
                    if host.stored.alarm.is_some_and(|at| at <= host.wall) {
                        host.stored.alarm = None;
                        pop.alarm(host).unwrap();
                    }
                }
            }
            _ => {}
        }
        self.gather(world);
    }
}

fn check(world: &World) {
    for ((policy, period), units) in &world.spent {
        assert!(*units <= QUOTA, "{policy}, serial {period}: {units}");
    }
    for ((policy, epoch), units) in &world.taken {
        assert!(*units <= WINDOW_LIMIT + WINDOW_LIMIT / 10, "{policy}, epoch {epoch}: {units}");
    }
    for book in world.owner.quotas.values().map(|quota| quota.book().open_totals()) {
        assert_eq!(book.granted, book.spent + book.returned + book.forfeited + book.outstanding);
        assert!(book.used() + book.outstanding <= QUOTA);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn no_schedule_passes_a_limit(events in prop::collection::vec(event(), 1..250)) {
        let mut world = World::new(SITES).with_window("w", WINDOW_LIMIT, 100_000);
        world = world.with_quota("q", QUOTA).with_quota("r", QUOTA);
        let mut run = Run::default();
        for event in events {
            run.step(&mut world, event);
            check(&world);
        }
        // In the end everyone who still waits is answered, and everything returns.
        world.sites.iter_mut().for_each(|site| site.host.leases_fail = false);
        for round in 0..40 {
            for site in 0..SITES {
                // A site that died with an ask under way knows of it when it meets the quota again.
                for policy in ["q", "r"].into_iter().filter(|_| round % 10 == 0) {
                    let ask = peek([quota(policy, 0)]);
                    if let Err(id) = world.try_request(site, &ask).unwrap() {
                        run.waiting.push((site, run.lives[site], id, ask.limits));
                    }
                }
                world.sites[site].host.wall += 5_000;
                let (pop, host) = world.live(site);
                pop.tick(host).unwrap();
            }
            run.gather(&mut world);
            for (site, life, id, ask) in std::mem::take(&mut run.asks) {
                let reply = world.owner.answer(&ask, world.sites[site].host.wall);
                if run.lives[site] == life {
                    world.hear(site, id, Some(&reply));
                }
            }
            run.gather(&mut world);
            check(&world);
        }
        prop_assert!(run.waiting.is_empty(), "{:?}", run.waiting);
        for site in 0..SITES {
            let report = world.live(site).0.report();
            prop_assert_eq!((report.requests_waiting, report.leases_open, report.units_in_hand), (0, 0, 0));
        }
        for (name, quota) in &world.owner.quotas {
            let book = quota.book().open_totals();
            let policy = name.split('/').next().unwrap_or_default();
            let spent: u64 = world.spent.iter().filter(|((p, _), _)| p == policy).map(|(_, units)| units).sum();
            prop_assert_eq!(book.outstanding, 0);
            prop_assert!(book.used() >= spent, "{} of {} spent", book.used(), spent);
        }
    }
}
