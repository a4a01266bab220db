//! Window limits at a Ledger object: the join with clock, rows, timer and alarm.

use sluicegate::global::{CAP_WIRE_VERSION, CapAsk, CapAskItem, CapBook, CapKey, CapReplyItem, HolderId};
use sluicegate::http::KeyHash;
use sluicegate::ledger::{LEDGER_VERSION, LedgerAsk, LedgerReply};
use sluicegate::window::{Epoch, WindowMs};

use crate::support::{KEY, Object, Pop, items};

/// A holder of caps, as far as its messages go.
pub struct CapPop {
    holder: HolderId,
    n: u64,
    epoch: u64,
    taken: u64,
}

impl CapPop {
    pub const fn new(id: u64) -> Self {
        Self { holder: HolderId::new(id), n: 0, epoch: 0, taken: 0 }
    }

    pub fn message(&mut self, key: CapKey, wait: u64, rate: u64) -> LedgerAsk {
        self.n += 1;
        let books = vec![CapBook { epoch: Epoch(self.epoch), taken: self.taken, given: 0 }];
        let item = CapAskItem {
            key,
            r#gen: 0,
            books,
            epoch: Some(Epoch(self.epoch)),
            wait,
            least: wait.min(1),
            rate,
        };
        let caps = CapAsk { v: CAP_WIRE_VERSION, holder: self.holder, n: self.n, items: vec![item] };
        let pop = format!("POP-{}", self.holder.get());
        LedgerAsk { v: LEDGER_VERSION, pop, caps: Some(caps), tokens: None, leases: None }
    }

    /// Asks for `wait` units, and takes them if they are granted.
    pub fn ask(&mut self, object: &mut Object, wait: u64, rate: u64) -> LedgerReply {
        let ask = self.message(key("api", 60_000), wait, rate);
        let reply = object.ask(&ask);
        if let Some(item) = only(&reply) {
            if item.epoch.0 > self.epoch {
                (self.epoch, self.taken) = (item.epoch.0, 0);
            }
            if self.taken + wait <= item.cap {
                self.taken += wait;
            }
        }
        reply
    }
}

pub fn key(policy: &str, window_ms: u64) -> CapKey {
    CapKey { policy: policy.into(), key: KEY, window_ms: WindowMs::new(window_ms).unwrap() }
}

pub fn only(reply: &LedgerReply) -> Option<&CapReplyItem> {
    reply.caps.as_ref().and_then(|caps| caps.items.first())
}

pub fn epoch_and_left(reply: &LedgerReply) -> (u64, u64) {
    only(reply).map(|item| (item.epoch.0, item.left_ms)).unwrap()
}

#[test]
fn only_global_windows_of_the_configuration_are_counted() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = CapPop::new(1);
    for (policy, window_ms) in [("api", 1_000), ("near", 60_000), ("monthly", 60_000), ("nobody", 60_000)] {
        let ask = pop.message(key(policy, window_ms), 1, 1);
        let (rows, _, reply) = object.rows_of(|object| object.ask(&ask));
        assert_eq!((reply.caps.unwrap().items.len(), rows), (0, 0), "{policy}");
    }
    assert_eq!(only(&pop.ask(&mut object, 5, 0)).unwrap().cap, 5);
}

#[test]
fn a_repeated_ask_about_caps_writes_nothing_and_says_the_same() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let ask = CapPop::new(1).message(key("api", 60_000), 5, 40);
    let (rows, transactions, first) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((rows, transactions), (2, 1), "the key's row, and the head with clock and epochs");
    let (rows, _, again) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((rows, again), (0, first));
}

#[test]
fn both_parts_of_a_message_are_answered_in_one_transaction() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let caps = CapPop::new(1).message(key("api", 60_000), 5, 0);
    let ask = LedgerAsk { caps: caps.caps, ..Pop::new("LAX", "monthly").ask(30) };
    let (rows, transactions, reply) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((only(&reply).unwrap().cap, items(&reply)[0].grant.unwrap().amount), (5, 30));
    // A key, the open period, its totals, the holder, and one head for all.
    assert_eq!((rows, transactions), (5, 1));
    let (rows, _, again) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((rows, again), (0, reply));
}

#[test]
fn one_pause_gives_back_a_bounded_number_of_rows() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = CapPop::new(1);
    for number in 0..2_500_u128 {
        let ask = pop.message(CapKey { key: KeyHash::new(number), ..key("api", 60_000) }, 5, 0);
        object.ask(&ask);
    }
    object.host.wall += 2_000;
    let (rows, transactions, ()) = object.rows_of(|object| object.ledger.tick(&mut object.host).unwrap());
    assert_eq!((rows, transactions), (2_000, 1));
    // Of the others, what was stored ahead counts as taken after a restart.
    object.restart();
    let cap = |object: &mut Object, number| {
        let ask =
            CapPop::new(2).message(CapKey { key: KeyHash::new(number), ..key("api", 60_000) }, 1_000, 0);
        only(&object.ask(&ask)).unwrap().cap
    };
    assert_eq!((cap(&mut object, 0), cap(&mut object, 2_499)), (995, 895));
}

#[test]
fn after_a_crash_what_was_reserved_counts_as_taken_and_after_a_pause_nothing_is_lost() {
    for pause in [false, true] {
        let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
        let mut pop = CapPop::new(1);
        pop.ask(&mut object, 5, 0);
        assert_eq!(object.host.wake, Some(2_000));
        if pause {
            object.host.wall += 1_999;
            assert_eq!(object.rows_of(|object| object.ledger.tick(&mut object.host).unwrap()).0, 0);
            object.host.wall += 1;
            assert_eq!(object.rows_of(|object| object.ledger.tick(&mut object.host).unwrap()).0, 1);
            assert_eq!(object.rows_of(|object| object.ledger.tick(&mut object.host).unwrap()).0, 0);
        }
        object.restart();
        // 5 units were granted, and 100 more were stored ahead of being granted. (L = 1,000, S = 100)
        let cap = only(&CapPop::new(2).ask(&mut object, 1_000, 0)).unwrap().cap;
        assert_eq!(cap, if pause { 995 } else { 895 });
        assert_eq!(only(&pop.ask(&mut object, 0, 0)).unwrap().cap, 5, "a cap that was told stands");
    }
}

#[test]
fn asks_that_keep_coming_put_the_pause_off() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pop = CapPop::new(1);
    pop.ask(&mut object, 5, 0);
    object.host.wall += 1_500;
    pop.ask(&mut object, 1, 0);
    object.host.wall += 500;
    object.host.wake = None;
    assert_eq!(object.rows_of(|object| object.ledger.tick(&mut object.host).unwrap()).0, 0);
    assert_eq!(object.host.wake, Some(1_500), "it comes again when it is due");
}

#[test]
fn the_alarm_deletes_the_rows_of_windows_that_are_over() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    CapPop::new(1).ask(&mut object, 5, 0);
    let due = object.host.alarm.take().unwrap();
    assert_eq!(due - object.host.wall, 3_600_000);
    assert!(object.host.disk.keys().any(|key| key.starts_with("cap/")));

    // Asks do not set it again, nor does another life.
    CapPop::new(2).ask(&mut object, 5, 0);
    object.restart();
    CapPop::new(3).ask(&mut object, 500, 0);
    assert_eq!(object.host.alarm, None);

    // Too early, it finds a window that still counts, and comes again.
    object.ledger.alarm(&mut object.host).unwrap();
    assert!(object.host.alarm.take().is_some());
    object.host.wall = due + 3_600_000;
    object.ledger.alarm(&mut object.host).unwrap();
    assert!(!object.host.disk.keys().any(|key| key.starts_with("cap/")));
    assert_eq!((object.host.alarm, object.ledger.report().keys), (None, 0));
    CapPop::new(4).ask(&mut object, 5, 0);
    assert!(object.host.alarm.is_some());
}

#[test]
fn an_alarm_that_was_lost_is_set_again() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    CapPop::new(1).ask(&mut object, 5, 0);
    for far in [86_400_000_i64, -90 * 86_400_000] {
        object.host.alarm = None;
        object.host.wall += far;
        object.restart();
        CapPop::new(2).ask(&mut object, 500, 0);
        assert!(object.host.alarm.take().is_some(), "{far}");
        object.restart();
        let other = CapKey { key: KeyHash::new(far.unsigned_abs().into()), ..key("api", 60_000) };
        assert!(object.rows_of(|object| object.ask(&CapPop::new(3).message(other, 5, 0))).0 > 0);
        assert_eq!(object.host.alarm, None, "{far}: it was stored that it is set");
    }
}

#[test]
fn the_sum_of_the_caps_stays_within_the_bound_through_restarts() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let mut pops: Vec<CapPop> = (1..=5).map(CapPop::new).collect();
    let mut caps = [0; 5];
    for round in 0..200 {
        let index = round % 5;
        let reply = pops[index].ask(&mut object, 17, 30);
        caps[index] = caps[index].max(only(&reply).unwrap().cap);
        if round % 7 == 0 {
            object.restart();
        }
        assert!(caps.iter().sum::<u64>() <= 1_100);
    }
    let taken: u64 = pops.iter().map(|pop| pop.taken).sum();
    assert!(taken >= 400, "restarts cost units, but not all: {taken}");
}

#[test]
fn points_of_presence_are_counted_over_a_restart_too() {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    let counts: Vec<u32> = (1..=3).map(|id| CapPop::new(id).ask(&mut object, 1, 0).pops).collect();
    assert_eq!(counts, [1, 2, 3]);
    object.host.wall += 60_000;
    assert_eq!(CapPop::new(1).ask(&mut object, 1, 0).pops, 3);
    object.restart();
    assert_eq!(CapPop::new(1).ask(&mut object, 1, 0).pops, 3, "the others have not had the time to ask");
    object.host.wall += 300_000;
    assert_eq!(CapPop::new(1).ask(&mut object, 1, 0).pops, 1);
}
