//! The messages as JSON, between versions and from anyone.

use proptest::prelude::*;
use serde_json::json;
use sluicegate::clock::SteadyMs;
use sluicegate::fence::{Fence, FenceSource};
use sluicegate::global::{
    AskNumber, Birth, BookRow, Grant, HolderName, HolderSettings, HolderStart, LEASE_VERSION, LeaseAsk,
    LeaseAskItem, LeaseBook, LeaseHolder, LeaseReply, LeaseReplyItem, LeaseRow, ListedLease, Terms, Waiting,
};
use sluicegate::{Cost, MAX_COUNT};

use crate::sim::Sim;

#[test]
fn an_ask_is_written_so_that_javascript_can_hold_it() {
    let mut sim = Sim::new(100, 5, 1);
    sim.exchange(0, 10);
    assert!(sim.request(0, 3));
    let ask = LeaseAsk {
        v: LEASE_VERSION,
        pop: "LAX".into(),
        birth: Birth(u64::MAX),
        items: vec![sim.ask(0, 12), sim.ask(0, 0)],
    };
    let written = serde_json::to_value(&ask).unwrap();
    let listed = json!({
        "fence": "0000000000000001-1", "serial": 1, "amount": 10, "off": 5, "lost": 0, "unspent": 2, "final": false,
    });
    let expected = json!({
        "v": 1, "pop": "LAX", "birth": "ffffffffffffffff", "items": [
            {"quota": "q", "n": [2, 2], "serial": 1, "want": 5, "min": 5, "have": [listed]},
            {"quota": "q", "n": [2, 3], "serial": 1, "want": 0, "min": 0, "have": [listed]},
        ],
    });
    assert_eq!(written, expected);
    assert_eq!(serde_json::from_value::<LeaseAsk>(written).unwrap(), ask);
}

#[test]
fn fields_of_a_later_version_are_passed_over_and_those_of_an_earlier_one_filled_in() {
    let text = r#"{"v":1,"later":true,"items":[{"quota":"q","n":[1,2],"later":[],"serial":4,"slot":"2026-02",
        "start":1,"end":2,"left_ms":1,"limit":10,"grant":{"fence":"0000000000000001-1","amount":3,"later":0},
        "confirmed":[],"scarce":false,"drained":false}]}"#;
    let reply: LeaseReply = serde_json::from_str(text).unwrap();
    let item = &reply.items[0];
    assert_eq!((item.n, item.terms.serial, item.free), (AskNumber { boot: 1, k: 2 }, 4, 0));
    let again = serde_json::to_string(&reply).unwrap();
    assert_eq!(serde_json::from_str::<LeaseReply>(&again).unwrap(), reply);
    for spelling in ["1", "000000000000000A", "+00000000000000a", "00000000000000001"] {
        assert!(serde_json::from_value::<Birth>(json!(spelling)).is_err(), "{spelling}");
    }
}

#[test]
fn rows_go_through_json_and_keep_their_keys() {
    let mut sim = Sim::new(100, 5, 2);
    sim.exchange(0, 10);
    sim.exchange(1, 10);
    for (key, row) in &sim.rows {
        let again: BookRow = serde_json::from_str(&serde_json::to_string(row).unwrap()).unwrap();
        assert_eq!((&again, again.key()), (row, key.clone()));
    }
    let keys: Vec<_> = sim.rows.keys().map(ToString::to_string).collect();
    assert_eq!(keys, ["holder/00000000000003e8/POP-0", "holder/00000000000003e9/POP-1", "totals/1"]);
    let start = HolderStart::next(None, u64::MAX);
    assert_eq!(serde_json::to_value(start).unwrap(), json!({"birth": "ffffffffffffffff", "boot": 1}));
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..5, Just(MAX_COUNT), Just(u64::MAX), any::<u64>()]
}

fn fence() -> impl Strategy<Value = Fence> {
    (0_u64..4).prop_map(|start| FenceSource::new(start).issue())
}

fn listed() -> impl Strategy<Value = ListedLease> {
    let numbers = [number().boxed(), number().boxed(), number().boxed(), number().boxed(), number().boxed()];
    (fence(), numbers, any::<bool>()).prop_map(|(fence, [serial, amount, off, lost, unspent], is_final)| {
        ListedLease { fence, serial, amount, off, lost, unspent, is_final }
    })
}

fn ask() -> impl Strategy<Value = LeaseAskItem> {
    let have = prop::collection::vec(listed(), 0..6);
    (have, (number(), number()), number(), number(), number()).prop_map(|(have, n, serial, want, min)| {
        LeaseAskItem { quota: "q".into(), n: n.into(), have, serial, want, min }
    })
}

fn terms() -> impl Strategy<Value = Terms> {
    (number(), number(), number()).prop_map(|(serial, limit, left_ms)| Terms {
        serial,
        limit,
        whole: limit,
        left_ms,
        ..Terms::default()
    })
}

proptest! {
    /// Whatever comes, neither side panics, and the totals stay in balance while they can.
    #[test]
    fn a_book_survives_any_ask(asks in prop::collection::vec((ask(), terms(), number()), 1..20)) {
        let mut book = LeaseBook::default();
        let mut fences = FenceSource::new(7);
        for (ask, terms, now) in asks {
            let holder = HolderName { pop: String::new(), birth: Birth(now % 3) };
            let granted = book.answer(&holder, &ask, &terms, SteadyMs(now), &mut fences).reply;
            if let Some(Grant { amount, .. }) = granted.and_then(|reply| reply.grant) {
                prop_assert!(amount <= terms.limit || amount > 0);
            }
            book.audit(terms.serial, terms.limit);
            book = LeaseBook::restore(book.rows());
        }
    }

    #[test]
    fn a_holder_survives_any_storage_and_any_reply(
        rows in prop::collection::vec(listed(), 0..6),
        replies in prop::collection::vec((terms(), prop::option::of((fence(), number())), prop::collection::vec(fence(), 0..4), any::<[bool; 2]>(), number()), 1..10),
        cost in 0..=MAX_COUNT,
    ) {
        let stored: Vec<_> = rows.iter().map(|l| LeaseRow {
            fence: l.fence, serial: l.serial, amount: l.amount, off: l.off, sure: l.lost, lost: l.lost, closed: l.is_final,
        }).collect();
        let settings = HolderSettings { chunk: 0, ..HolderSettings::default() };
        let (mut holder, _) = LeaseHolder::start("q", u64::MAX, &stored, settings, SteadyMs(5));
        for (terms, grant, confirmed, [scarce, drained], now) in replies {
            let now = SteadyMs(now);
            holder.spend(Cost::new(cost).unwrap(), 0, now);
            let ask = holder.ask(&stored, Waiting { sum: u64::MAX, least: cost }, now);
            let grant = grant.map(|(fence, amount)| Grant { fence, amount });
            let reply = LeaseReplyItem { n: ask.n, terms, grant, confirmed, scarce, drained, free: cost, ..LeaseReplyItem::default() };
            prop_assert!(holder.hear(&reply, now).is_some());
            holder.spend(Cost::new(cost).unwrap(), 1, now);
            holder.tick(now);
            holder.next_tick();
        }
    }
}
