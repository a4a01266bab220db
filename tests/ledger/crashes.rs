//! The object dies anywhere: between the write and the reply, in the write, before it.

use proptest::prelude::*;
use sluicegate::ledger::{LedgerReply, LedgerTotals};

use crate::support::{Broken, Object, Pop, items, wall};

const LIMIT: u64 = 100;

#[derive(Clone, Copy, Debug)]
enum Action {
    /// A request whose messages all arrive.
    Request {
        pop: usize,
        cost: u64,
    },
    /// The ask is answered and stored; the object dies before the reply leaves.
    DieBeforeReply {
        pop: usize,
        cost: u64,
    },
    /// The write fails: nothing is stored, and the object is made anew.
    FailInWrite {
        pop: usize,
        cost: u64,
    },
    /// The reply is lost on the way.
    LoseReply {
        pop: usize,
        cost: u64,
    },
    /// The last ask comes once more.
    Repeat {
        pop: usize,
    },
    RestartLedger,
    RestartPop {
        pop: usize,
    },
    /// Time passes: what is idle comes back.
    Wait,
    /// The wall clock of the Ledger is set, within the month.
    Step {
        minutes: i64,
    },
}

fn any_action() -> impl Strategy<Value = Action> {
    let (pop, cost) = (0..3_usize, 1..12_u64);
    prop_oneof![
        6 => (pop.clone(), cost.clone()).prop_map(|(pop, cost)| Action::Request { pop, cost }),
        2 => (pop.clone(), cost.clone()).prop_map(|(pop, cost)| Action::DieBeforeReply { pop, cost }),
        2 => (pop.clone(), cost.clone()).prop_map(|(pop, cost)| Action::FailInWrite { pop, cost }),
        1 => (pop.clone(), cost).prop_map(|(pop, cost)| Action::LoseReply { pop, cost }),
        1 => pop.clone().prop_map(|pop| Action::Repeat { pop }),
        1 => Just(Action::RestartLedger),
        1 => pop.prop_map(|pop| Action::RestartPop { pop }),
        1 => Just(Action::Wait),
        1 => (-120..120_i64).prop_map(|minutes| Action::Step { minutes }),
    ]
}

struct World {
    object: Object,
    pops: Vec<Pop>,
}

impl World {
    fn new() -> Self {
        let object = Object::new("America/Los_Angeles", "2026-05-10T12:00:00Z");
        let pops = ["LAX", "FRA", "NRT"].map(|name| Pop::new(name, "monthly"));
        Self { object, pops: pops.into() }
    }

    fn act(&mut self, action: Action) {
        self.object.host.wall += 1_000;
        self.pops.iter_mut().for_each(|pop| pop.now = pop.now.plus(1_000));
        let Self { object, pops } = self;
        match action {
            Action::Request { pop, cost } => {
                let _ = pops[pop].request(object, cost);
            }
            Action::DieBeforeReply { pop, cost } => {
                let _ = object.ask(&pops[pop].ask(cost));
                object.restart();
            }
            Action::FailInWrite { pop, cost } => {
                let ask = pops[pop].ask(cost);
                let before = object.host.disk.clone();
                object.host.fails = true;
                assert_eq!(object.ledger.answer(&ask, &mut object.host), Err(Broken));
                // Asked again before anybody has noticed, it says nothing.
                assert_eq!(items(&object.ledger.answer(&ask, &mut object.host).unwrap()), []);
                object.host.fails = false;
                assert_eq!(object.host.disk, before);
                object.restart();
            }
            Action::LoseReply { pop, cost } => drop(object.ask(&pops[pop].ask(cost))),
            Action::Repeat { pop } => {
                let ask = pops[pop].ask(1);
                let first = object.ask(&ask);
                let (rows, _, second) = object.rows_of(|object| object.ask(&ask));
                assert_eq!((rows, items(&second)), (0, items(&first)));
                pops[pop].hear(&second);
            }
            Action::RestartLedger => object.restart(),
            Action::RestartPop { pop } => pops[pop].restart(),
            Action::Wait => self.wait(30),
            Action::Step { minutes } => {
                object.host.wall += minutes * 60_000;
            }
        }
        self.check();
    }

    fn wait(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.object.host.wall += 1_000;
            for pop in &mut self.pops {
                pop.now = pop.now.plus(1_000);
                let tick = pop.holder.tick(pop.now);
                tick.writes.iter().for_each(|write| write.apply(&mut pop.storage));
                if tick.ask {
                    pop.exchange(&mut self.object, 0);
                }
            }
        }
    }

    fn spent(&self) -> u64 {
        self.pops.iter().flat_map(|pop| pop.spent.values()).sum()
    }

    fn check(&mut self) {
        assert!(self.spent() <= LIMIT, "{} of {LIMIT} spent", self.spent());
        let audit = self.object.audit("monthly");
        assert!(audit.consistent, "{:?}", audit.faults);
        assert!(audit.spent + audit.forfeited + audit.outstanding <= LIMIT);
        assert_eq!(audit.granted, audit.spent + audit.returned + audit.forfeited + audit.outstanding);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever dies when: the limit holds, the books agree, and nothing but what crashes took is missing.
    #[test]
    fn units_are_conserved(actions in prop::collection::vec(any_action(), 1..60)) {
        let mut world = World::new();
        for action in actions {
            world.act(action);
        }
        world.wait(60);
        world.check();
        let usage = world.object.usage("monthly");
        let audit = world.object.audit("monthly");
        prop_assert_eq!(usage.outstanding, 0, "an idle lease is returned");
        prop_assert!(usage.used >= world.spent());
        prop_assert_eq!(usage.remaining, LIMIT - usage.used);
        prop_assert_eq!(usage.used, audit.spent + audit.forfeited);
        let more = world.pops[0].take_all(&mut world.object);
        prop_assert_eq!(more, usage.remaining, "units that nobody can get");
    }
}

#[test]
fn a_grant_whose_reply_was_never_sent_comes_back_whole() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    let reply = object.ask(&pop.ask(60));
    assert_eq!(items(&reply)[0].grant.unwrap().amount, 60);
    object.restart();
    assert_eq!(object.usage("monthly").outstanding, 60);
    pop.exchange(&mut object, 0);
    assert_eq!(object.usage("monthly").remaining, 100);
    assert_eq!(pop.take_all(&mut object), 100);
}

#[test]
fn what_is_told_is_stored_and_what_is_not_stored_is_not_told() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    let ask = pop.ask(60);
    object.host.fails = true;
    assert_eq!(object.ledger.answer(&ask, &mut object.host), Err(Broken));
    assert!(object.host.disk.is_empty());
    object.host.fails = false;
    object.restart();
    let (rows, transactions, reply) = object.rows_of(|object| object.ask(&ask));
    assert_eq!(items(&reply)[0].grant.unwrap().amount, 60);
    // The open period, its totals, the holder, and the head with clock and log.
    assert_eq!((rows, transactions), (4, 1));
}

#[test]
fn a_repeated_ask_has_the_same_reply_also_from_another_life_and_writes_nothing() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let ask = Pop::new("LAX", "monthly").ask(60);
    let first = object.ask(&ask);
    let entries = object.ledger.report().log;
    for _ in 0..3 {
        let (rows, _, again) = object.rows_of(|object| object.ask(&ask));
        assert_eq!((rows, &again), (0, &first));
        object.restart();
    }
    let report = object.ledger.report();
    assert_eq!((report.totals.grants, report.totals.units_granted, report.log), (1, 60, entries));
}

#[test]
fn an_older_ask_is_dropped_and_counted() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    let (old, new) = (pop.ask(5), pop.ask(6));
    object.ask(&new);
    let (rows, _, reply) = object.rows_of(|object| object.ask(&old));
    assert_eq!((rows, items(&reply).len()), (0, 0));
    assert_eq!(object.ledger.report().totals.asks_dropped, 1);
}

#[test]
fn fences_of_two_lives_differ_although_storage_was_rolled_back() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    let first = lax.exchange(&mut object, 10);
    object.host.disk.clear();
    object.restart();
    let second = fra.exchange(&mut object, 10);
    assert_ne!(items(&first)[0].grant.unwrap().fence, items(&second)[0].grant.unwrap().fence);
    // The lease that the storage has forgotten is charged when it is listed.
    lax.exchange(&mut object, 0);
    let usage = object.usage("monthly");
    assert_eq!((usage.outstanding, object.ledger.report().totals.fences_adopted), (20, 1));
}

#[test]
fn totals_survive_a_restart() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = Pop::new("LAX", "monthly");
    pop.exchange(&mut object, 10);
    let before = object.ledger.report().totals;
    assert_eq!((before.asks, before.grants, before.periods_opened, before.rows_written), (1, 1, 1, 4));
    object.restart();
    assert_eq!(object.ledger.report().totals, before);
    assert_ne!(before, LedgerTotals::default());
    assert_eq!(object.host.wall, wall("2026-05-10T12:00:00Z"));
    let _: LedgerReply = pop.exchange(&mut object, 0);
}
