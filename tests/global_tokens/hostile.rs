//! Messages that no honest side sends: nothing panics, and no bound moves.

use proptest::prelude::*;
use sluicegate::bucket::BucketState;
use sluicegate::fence::FenceSource;
use sluicegate::global::{
    HolderId, TOKEN_WIRE_VERSION, TokenAsk, TokenAskItem, TokenBook, TokenHolder, TokenHolderSettings,
    TokenLease, TokenLedger, TokenLedgerSettings, TokenReply, TokenReplyItem,
};

use super::support::{LEDGER, START, bucket, cost, key};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..20, Just(u64::MAX), Just(1 << 53), any::<u64>()]
}

fn book() -> impl Strategy<Value = TokenBook> {
    (0u64..3, number(), number(), number()).prop_map(|(start, spent, returned, given)| TokenBook {
        fence: FenceSource::new(start).issue(),
        spent,
        returned,
        given,
    })
}

fn asks() -> impl Strategy<Value = TokenAsk> {
    let item = (prop::option::of(book()), number(), number(), number());
    let items = prop::collection::vec(item, 0..3);
    (0u64..8, number(), items, 0u8..3).prop_map(|(holder, n, items, v)| {
        let items = items.into_iter().map(|(book, wait, least, rate)| TokenAskItem {
            key: key(),
            book,
            wait,
            least,
            rate,
        });
        TokenAsk { v, holder: HolderId::new(holder), n, items: items.collect() }
    })
}

proptest! {
    #[test]
    fn a_ledger_keeps_its_bound(
        asks in prop::collection::vec((asks(), number()), 1..40),
        capacity in number(), tokens in number(), per_ms in number(),
    ) {
        let bucket = bucket(capacity.min((1 << 53) - 1), tokens, per_ms.max(1));
        let settings = TokenLedgerSettings { max_holders: 5, ..TokenLedgerSettings::default() };
        let mut ledger: TokenLedger = TokenLedger::new(settings);
        let mut now = START;
        for (at, (ask, ms)) in asks.into_iter().enumerate() {
            now = now.plus(ms);
            let mut fences = FenceSource::new(at as u64 % 3);
            ledger.answer(&ask, |_| Some(bucket), &mut fences, now);
            if let Some(totals) = ledger.totals(&key(), bucket) {
                prop_assert!(totals.all() <= bucket.capacity() && totals.holders <= 5, "{:?}", totals);
            }
        }
    }

    #[test]
    fn a_holder_survives_any_reply(
        replies in prop::collection::vec((prop::option::of(book()), number(), number(), number(), number()), 1..40)
    ) {
        let bucket = bucket(100, 1, 10);
        let mut holder: TokenHolder = TokenHolder::new(1, TokenHolderSettings::default());
        let mut now = START;
        for (book, granted, out, keep_ms, ms) in replies {
            now = now.plus(ms % 20_000);
            holder.request(LEDGER, &key(), bucket, cost(1), now);
            holder.tick(now);
            let n = holder.next_ask(LEDGER, now).map_or(1, |ask| ask.n);
            let lease = book.map(|book| TokenLease { book, granted });
            let item = TokenReplyItem { key: key(), lease, level: BucketState::default(), out, keep_ms };
            holder.reply(LEDGER, &TokenReply { v: TOKEN_WIRE_VERSION, n, items: vec![item] }, now);
            prop_assert!(holder.next_tick().is_some());
        }
    }
}
