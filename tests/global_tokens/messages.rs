//! The two messages and the row, as JSON.

use sluicegate::fence::FenceSource;
use sluicegate::global::{
    HolderId, TokenAsk, TokenAskItem, TokenBook, TokenHolder, TokenHolderSettings, TokenLease, TokenReply,
    TokenReplyItem, TokenRow,
};

use super::support::{LEDGER, Pop, Shard, bucket, cost, key};

#[test]
fn the_messages_are_this_json() {
    let book = TokenBook { fence: FenceSource::new(7).issue(), spent: 5, returned: 1, given: 2 };
    let item = TokenAskItem { key: key(), book: Some(book), wait: 3, least: 1, rate: 4 };
    let ask = TokenAsk { v: 1, holder: HolderId::new(0xdead_beef_0000_0001), n: 3, items: vec![item] };
    let text = r#"{"v":1,"holder":"deadbeef00000001","n":3,"items":[{"policy":"api","key":"00000000000000000000000000000007","book":{"fence":"0000000000000007-1","spent":5,"returned":1,"given":2},"wait":3,"least":1,"rate":4}]}"#;
    assert_eq!(serde_json::to_string(&ask).unwrap(), text);
    assert_eq!(serde_json::from_str::<TokenAsk>(text).unwrap(), ask);

    let item = TokenReplyItem {
        key: key(),
        lease: Some(TokenLease { book, granted: 9 }),
        level: bucket(10, 1, 100).fresh(2),
        out: 1,
        keep_ms: 60_000,
    };
    let reply = TokenReply { v: 1, n: 3, items: vec![item] };
    let text = r#"{"v":1,"n":3,"items":[{"policy":"api","key":"00000000000000000000000000000007","lease":{"fence":"0000000000000007-1","spent":5,"returned":1,"given":2,"granted":9},"level":{"level":{"tokens":2,"part":0,"parts":100},"mark":0},"out":1,"keep_ms":60000}]}"#;
    assert_eq!(serde_json::to_string(&reply).unwrap(), text);
    assert_eq!(serde_json::from_str::<TokenReply>(text).unwrap(), reply);
}

/// Old and new live side by side during a deployment.
#[test]
fn fields_that_are_not_known_are_ignored_and_absent_ones_have_defaults() {
    let text = r#"{"v":1,"holder":"000000000000000a","n":1,"colo":"AMS","items":[{"policy":"api","key":"00000000000000000000000000000007","hint":[1],"book":{"fence":"0000000000000007-1","spent":5}}]}"#;
    let ask: TokenAsk = serde_json::from_str(text).unwrap();
    let book = ask.items[0].book.unwrap();
    assert_eq!((book.spent, book.returned, book.given), (5, 0, 0));
    assert_eq!((ask.items[0].wait, ask.items[0].least, ask.items[0].rate), (0, 0, 0));
    let text = r#"{"v":1,"n":1,"items":[{"policy":"api","key":"00000000000000000000000000000007"}]}"#;
    let reply: TokenReply = serde_json::from_str(text).unwrap();
    assert_eq!((reply.items[0].lease, reply.items[0].out, reply.items[0].keep_ms), (None, 0, 0));
}

/// A Ledger that promises nothing has its tokens spent at once or not at all.
#[test]
fn a_grant_without_a_promise_is_returned() {
    let mut shard: Shard = Shard::new(bucket(10, 1, 100));
    let mut holder: TokenHolder = TokenHolder::new(1, TokenHolderSettings::default());
    let mut pop: Pop = Pop::new(1);
    holder.request(LEDGER, &key(), shard.bucket, cost(4), pop.now);
    let ask = holder.next_ask(LEDGER, pop.now).unwrap();
    let mut reply = shard.answer(&ask).reply;
    reply.items[0].keep_ms = 0;
    holder.reply(LEDGER, &reply, pop.now);
    assert_eq!(holder.in_hand(LEDGER, &key(), pop.now), 0);
    assert_eq!(holder.lease(LEDGER, &key()).map(|lease| lease.book.returned), Some(4));
    assert!(pop.admits(&mut shard, 6));
}

#[test]
fn a_row_goes_through_json() {
    let mut shard: Shard = Shard::new(bucket(10, 1, 700));
    let mut pop: Pop = Pop::new(1);
    assert!(pop.admits(&mut shard, 3));
    let text = serde_json::to_string(&shard.stored.rows[0]).unwrap();
    assert_eq!(serde_json::from_str::<TokenRow>(&text).unwrap(), shard.stored.rows[0]);
}
