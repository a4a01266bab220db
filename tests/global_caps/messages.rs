//! The two messages on the wire.

use sluicegate::global::{
    CAP_WIRE_VERSION, CapAsk, CapAskItem, CapBook, CapLedger, CapLedgerSettings, CapNext, CapReply,
    CapReplyItem, CapRow, HolderId,
};
use sluicegate::window::{Epoch, Epochs};

use super::support::key;

/// An ask that only reports, in epoch 10.
pub fn report(holder: u64, n: u64, taken: u64, given: u64) -> CapAsk {
    let books = vec![CapBook { epoch: Epoch(10), taken, given }];
    ask(
        holder,
        n,
        CapAskItem { key: key(), r#gen: 0, books, epoch: Some(Epoch(10)), wait: 0, least: 0, rate: 0 },
    )
}

pub fn ask(holder: u64, n: u64, item: CapAskItem) -> CapAsk {
    CapAsk { v: CAP_WIRE_VERSION, holder: HolderId::new(holder), n, items: vec![item] }
}

#[test]
fn the_messages_are_the_json_that_the_design_names() {
    let ask = report(0xdead_beef_0000_0001, 3, 5, 1);
    let text = r#"{"v":1,"holder":"deadbeef00000001","n":3,"items":[{"policy":"api","key":"00000000000000000000000000000007","window_ms":60000,"gen":0,"books":[{"epoch":10,"taken":5,"given":1}],"epoch":10,"wait":0,"least":0,"rate":0}]}"#;
    assert_eq!(serde_json::to_string(&ask).unwrap(), text);
    assert_eq!(serde_json::from_str::<CapAsk>(text).unwrap(), ask);

    let next = Some(CapNext { epoch: Epoch(11), cap: 2 });
    let item = CapReplyItem {
        key: key(),
        r#gen: 0,
        epoch: Epoch(10),
        left_ms: 59_000,
        cap: 6,
        full: false,
        others: 4,
        next,
    };
    let reply = CapReply { v: 1, n: 3, items: vec![item] };
    let text = r#"{"v":1,"n":3,"items":[{"policy":"api","key":"00000000000000000000000000000007","window_ms":60000,"gen":0,"epoch":10,"left_ms":59000,"cap":6,"full":false,"others":4,"next":{"epoch":11,"cap":2}}]}"#;
    assert_eq!(serde_json::to_string(&reply).unwrap(), text);
    assert_eq!(serde_json::from_str::<CapReply>(text).unwrap(), reply);
}

/// Old and new live side by side during a deployment.
#[test]
fn fields_that_are_not_known_are_ignored_and_absent_ones_have_defaults() {
    let text = r#"{"v":1,"holder":"000000000000000a","n":1,"colo":"AMS","items":[{"policy":"api","key":"00000000000000000000000000000007","window_ms":60000,"hint":[1],"books":[{"epoch":3,"taken":2,"x":{}}]}]}"#;
    let ask: CapAsk = serde_json::from_str(text).unwrap();
    assert_eq!(ask.items[0].books, [CapBook { epoch: Epoch(3), taken: 2, given: 0 }]);
    assert_eq!((ask.items[0].epoch, ask.items[0].wait), (None, 0));
    let text = r#"{"v":1,"n":1,"load":0.5,"items":[{"policy":"api","key":"00000000000000000000000000000007","window_ms":60000,"epoch":3,"left_ms":1,"cap":2}]}"#;
    let reply: CapReply = serde_json::from_str(text).unwrap();
    assert_eq!((reply.items[0].full, reply.items[0].next), (false, None));
}

/// What was stored before there was a number of known units is still read: all of it counts as taken.
#[test]
fn a_row_goes_through_json_and_one_of_an_earlier_version_is_read() {
    let row = CapRow {
        key: key(),
        r#gen: 2,
        reserved: vec![(Epoch(10), 5), (Epoch(11), 2)],
        known: vec![(Epoch(10), 3)],
    };
    let head = r#"{"key":{"policy":"api","key":"00000000000000000000000000000007","window_ms":60000},"gen":2,"reserved":[[10,5],[11,2]]"#;
    let text = format!(r#"{head},"known":[[10,3]]}}"#);
    assert_eq!(serde_json::to_string(&row).unwrap(), text);
    assert_eq!(serde_json::from_str::<CapRow>(&text).unwrap(), row);
    let old = serde_json::from_str::<CapRow>(&format!("{head}}}")).unwrap();
    assert_eq!(old, CapRow { known: Vec::new(), ..row.clone() });
    let known = |row: CapRow| {
        let ledger: CapLedger =
            CapLedger::restore(CapLedgerSettings::default(), Epochs::default(), vec![row]);
        ledger.totals(&key()).iter().map(|total| (total.known, total.caps)).collect::<Vec<_>>()
    };
    assert_eq!((known(row), known(old)), (vec![(3, 5), (2, 2)], vec![(5, 5), (2, 2)]));
}

#[test]
fn a_holder_has_one_spelling() {
    for text in ["", "a", "000000000000000A", "+00000000000000a", "0000000000000000a", "00000000000000 a"] {
        assert!(text.parse::<HolderId>().is_err(), "{text:?}");
    }
    assert_eq!("ffffffffffffffff".parse(), Ok(HolderId::new(u64::MAX)));
}
