//! Random schedules: up to 12 points of presence, clocks from half to three times the Ledger's speed, a
//! network that loses, repeats and reorders, restarts, second instances, crashes of the Ledger and refunds.
//! The bound is that of one bucket.

use proptest::prelude::*;
use sluicegate::bucket::TokenBucket;
use sluicegate::clock::SteadyMs;
use sluicegate::global::{
    TokenAnswer, TokenAsk, TokenHolder, TokenHolderSettings, TokenLedgerSettings, TokenReceipt, TokenReply,
    TokenVerdict,
};

use super::support::{Bound, LEDGER, Shard, bucket, cost, key};

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
    /// Time passes; each holder looks at its clock, or none does.
    Pass {
        ms: u64,
        looks: bool,
    },
    Crash,
    Collect,
}

fn event() -> impl Strategy<Value = Event> {
    let some = any::<prop::sample::Index>;
    let at = |index: prop::sample::Index| index.index(1 << 20);
    prop_oneof![
        12 => (some(), 1u8..30, prop_oneof![4 => Just(1u64), 1 => 0u64..6])
            .prop_map(move |(pop, requests, cost)| Event::Burst { pop: at(pop), requests, cost }),
        40 => (some(), prop::bool::weighted(0.15))
            .prop_map(move |(message, again)| Event::Deliver { message: at(message), again }),
        2 => some().prop_map(move |message| Event::Lose { message: at(message) }),
        4 => some().prop_map(move |pop| Event::Fail { pop: at(pop) }),
        1 => (some(), any::<bool>()).prop_map(move |(pop, zombie)| Event::Restart { pop: at(pop), zombie }),
        3 => (some(), some())
            .prop_map(move |(pop, receipt)| Event::Refund { pop: at(pop), receipt: at(receipt) }),
        6 => (prop_oneof![0u64..500, 0u64..15_000, 0u64..70_000], any::<bool>())
            .prop_map(|(ms, looks)| Event::Pass { ms, looks }),
        1 => Just(Event::Crash),
        1 => Just(Event::Collect),
    ]
}

#[derive(Clone)]
enum Message {
    Ask { from: usize, ask: TokenAsk },
    Reply { to: usize, reply: TokenReply },
}

struct Pop {
    holder: TokenHolder,
    /// The speed of its clock, in thousandths.
    clock: u64,
    in_flight: Option<u64>,
    receipts: Vec<TokenReceipt>,
    dead: bool,
}

impl Pop {
    fn new(number: u64, clock: u64) -> Self {
        let settings =
            TokenHolderSettings { max_keys: 10, max_waiting: 50, ..TokenHolderSettings::default() };
        let holder = TokenHolder::new(number, settings);
        Self { holder, clock, in_flight: None, receipts: Vec::new(), dead: false }
    }

    fn now(&self, now: u64) -> SteadyMs {
        SteadyMs(now * self.clock / 1_000)
    }
}

struct World {
    shard: Shard,
    /// Milliseconds since the start.
    now: u64,
    /// All that ever started; the first are the ones in use.
    pops: Vec<Pop>,
    network: Vec<Message>,
    bound: Bound,
    owed: u64,
}

impl World {
    fn new(bucket: TokenBucket, clocks: &[u64]) -> Self {
        let mut shard = Shard::new(bucket);
        shard.settings = TokenLedgerSettings { max_holders: 8, ..TokenLedgerSettings::default() };
        shard.crash();
        let pops = clocks.iter().enumerate().map(|(i, clock)| Pop::new(i as u64, *clock)).collect();
        Self { shard, now: 0, pops, network: Vec::new(), bound: Bound::new(bucket), owed: 0 }
    }

    fn note(&mut self, place: usize, verdicts: impl IntoIterator<Item = TokenVerdict>) {
        for receipt in verdicts.into_iter().filter_map(|verdict| verdict.receipt) {
            self.bound.admit(receipt.cost.get()).unwrap();
            self.pops[place].receipts.push(receipt);
        }
        let pop = &mut self.pops[place];
        let now = pop.now(self.now);
        if let Some(ask) = pop.holder.next_ask(LEDGER, now) {
            pop.in_flight = Some(ask.n);
            self.network.push(Message::Ask { from: place, ask });
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::Ask { from, ask } => {
                let before = self.shard.ledger.lease(&key(), ask.holder);
                let reply = self.shard.answer(&ask).reply;
                let after = self.shard.ledger.lease(&key(), ask.holder);
                if let (Some(before), Some(after)) = (before, after)
                    && before.book.fence == after.book.fence
                {
                    let heard = after.book.given - before.book.given;
                    assert!(heard <= self.owed, "{heard} came back of {}", self.owed);
                    self.owed -= heard;
                    self.bound.give_back(heard);
                }
                self.network.push(Message::Reply { to: from, reply });
            }
            Message::Reply { to, .. } if self.pops[to].dead => {}
            Message::Reply { to, reply } => {
                let pop = &mut self.pops[to];
                pop.in_flight = pop.in_flight.filter(|n| *n != reply.n);
                let now = pop.now(self.now);
                let settled = pop.holder.reply(LEDGER, &reply, now);
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
                    self.network.push(message.clone());
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
            Event::Restart { pop, zombie } if pops < 40 => {
                // The first instance goes on for a while, or says nothing any more.
                let clock = self.pops[pop % pops].clock;
                self.pops.push(Pop::new(pops as u64, clock));
                self.pops[pop % pops].dead = !zombie;
            }
            Event::Refund { pop, receipt } => self.refund(pop % pops, receipt),
            Event::Pass { ms, looks } => {
                self.now += ms;
                self.shard.pass(ms);
                self.bound.pass(ms);
                for place in (0..pops).filter(|_| looks) {
                    if !self.pops[place].dead {
                        let now = self.pops[place].now(self.now);
                        self.pops[place].holder.tick(now);
                        self.note(place, None);
                    }
                }
            }
            Event::Crash => self.shard.crash(),
            Event::Collect => self.shard.collect(),
            Event::Deliver { .. } | Event::Lose { .. } | Event::Restart { .. } => {}
        }
    }

    fn burst(&mut self, place: usize, requests: u8, units: u64) {
        let requests = if self.pops[place].dead { 0 } else { requests };
        for _ in 0..requests {
            let pop = &mut self.pops[place];
            let now = pop.now(self.now);
            let answer = pop.holder.request(LEDGER, &key(), self.shard.bucket, cost(units), now);
            let verdict = if let TokenAnswer::Decided(verdict) = answer { Some(verdict) } else { None };
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
            self.owed += receipt.cost.get();
        }
    }

    /// What the bound rests on.
    fn check(&self) {
        let bucket = self.shard.bucket;
        if let Some(totals) = self.shard.ledger.totals(&key(), bucket) {
            assert!(totals.all() <= bucket.capacity() && totals.holders <= 8, "{totals:?}");
        }
        for pop in self.pops.iter().filter(|pop| !pop.dead) {
            let in_hand = pop.holder.in_hand(LEDGER, &key(), pop.now(self.now));
            let kept = self.shard.ledger.lease(&key(), pop.holder.id());
            let out = kept.map_or(0, |lease| lease.out());
            assert!(in_hand <= out, "{in_hand} in hand, {out} out");
        }
    }
}

fn buckets() -> impl Strategy<Value = TokenBucket> {
    (prop_oneof![5u64..60, 10u64..=5_000], 0u64..5, 1u64..3_000).prop_map(|(c, t, ms)| bucket(c, t, ms))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_more_is_admitted_than_one_bucket_would(
        bucket in buckets(),
        clocks in prop::collection::vec(500u64..=3_000, 1..=12),
        events in prop::collection::vec(event(), 1..400),
    ) {
        let mut world = World::new(bucket, &clocks);
        for event in events {
            world.happen(event);
            world.check();
        }
    }
}
