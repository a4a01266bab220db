//! Messages that no honest side sends: nothing panics, and no bound moves.

use proptest::prelude::*;
use sluicegate::clock::SteadyMs;
use sluicegate::global::{
    CAP_WIRE_VERSION, CapAsk, CapAskItem, CapBook, CapHolder, CapHolderSettings, CapLedger,
    CapLedgerSettings, CapNext, CapReply, CapReplyItem, HolderId,
};
use sluicegate::window::Epoch;

use super::support::{LEDGER, START, cost, key, key_number, limit};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..20, Just(u64::MAX), Just(1 << 53), any::<u64>()]
}

fn asks() -> impl Strategy<Value = CapAsk> {
    let book = (number(), number(), number());
    let item = (number(), prop::collection::vec(book, 0..4), number(), number());
    (number(), number(), prop::collection::vec(item, 0..3), 0u8..3).prop_map(|(holder, n, items, v)| {
        let book = |(epoch, taken, given)| CapBook { epoch: Epoch(epoch), taken, given };
        let item = |(r#gen, books, wait, rate): (u64, Vec<(u64, u64, u64)>, u64, u64)| CapAskItem {
            key: key(),
            r#gen: r#gen % 2,
            books: books.into_iter().map(book).collect(),
            epoch: None,
            wait,
            least: rate,
            rate,
        };
        let items = items.into_iter().map(item).collect();
        CapAsk { v, holder: HolderId::new(holder), n, items }
    })
}

proptest! {
    #[test]
    fn a_ledger_keeps_its_bound(asks in prop::collection::vec(asks(), 1..40), size in number(), ppm in 0u32..=1_000_000) {
        let limit = limit(size.min((1 << 53) - 1), ppm);
        let settings = CapLedgerSettings { max_holders: 5, ..CapLedgerSettings::default() };
        let mut ledger: CapLedger = CapLedger::new(settings);
        for ask in asks {
            let outcome = ledger.answer(&ask, |_| Some(limit), START);
            prop_assert!(outcome.reply.items.iter().all(|item| item.left_ms > 0 && item.cap <= limit.ceiling()));
            for total in ledger.totals(&key()) {
                prop_assert!(total.caps <= limit.ceiling() && total.holders <= 5, "{:?}", total);
            }
        }
    }

    #[test]
    fn a_holder_survives_any_reply(
        replies in prop::collection::vec((number(), number(), number(), number(), any::<bool>(), number()), 1..40)
    ) {
        let limit = limit(100, 100_000);
        let mut holder: CapHolder = CapHolder::new(1, CapHolderSettings::default());
        for (epoch, r#gen, left_ms, cap, full, next) in replies {
            let now = START;
            holder.request(LEDGER, &key(), limit, cost(1), now);
            let n = holder.next_ask(LEDGER, now).map_or(1, |ask| ask.n);
            let next = Some(CapNext { epoch: Epoch(next), cap });
            let item = CapReplyItem {
                key: key(), r#gen, epoch: Epoch(epoch), left_ms, cap, full, others: cap, next,
            };
            let reply = CapReply { v: CAP_WIRE_VERSION, n, items: vec![item] };
            holder.reply(LEDGER, &reply, now);
            let pages = holder.pages(LEDGER, &key());
            prop_assert!(pages.len() <= 4 && pages.iter().all(|page| page.taken - page.given <= page.cap));
        }
    }
}

/// The books of windows that are over are given up while there is room, so that an hour's keys are not all
/// in memory.
#[test]
fn books_that_are_over_do_not_wait_for_memory_to_be_full() {
    let limit = limit(10, 0);
    let mut ledger: CapLedger = CapLedger::new(CapLedgerSettings::default());
    for minute in 0..60_u64 {
        let now = SteadyMs(START.0 + minute * 60_000);
        for number in 0..10 {
            let mut pop: CapHolder = CapHolder::new(minute * 10 + number, CapHolderSettings::default());
            let key = key_number((minute * 10 + number).into());
            pop.request(LEDGER, &key, limit, cost(1), now);
            ledger.answer(&pop.next_ask(LEDGER, now).unwrap(), |_| Some(limit), now);
        }
        assert!(ledger.keys() <= 20, "{} keys after {minute} minutes", ledger.keys());
    }
}
