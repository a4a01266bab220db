//! Token buckets at a Ledger object: the join with clock, rows and alarm.

use sluicegate::config::{Config, Policy};
use sluicegate::global::{
    HolderId, TOKEN_WIRE_VERSION, TokenAsk, TokenAskItem, TokenBook, TokenKey, TokenReplyItem,
};
use sluicegate::http::KeyHash;
use sluicegate::ledger::{LEDGER_VERSION, LedgerAsk, LedgerEvent, LedgerReply};

use crate::caps::{CapPop, key as cap_key};
use crate::support::{Broken, KEY, Object, Pop, items};

const HOUR: i64 = 3_600_000;
const ROW: &str = "token/tokens/00000000000000000000000000000abc";

/// A policy `tokens`: a hundred at once, and a hundred an hour over all points of presence; and one `own`,
/// which is a point of presence's own.
pub fn policies() -> Vec<Policy> {
    let text = serde_json::json!({"policies": [
        {"name": "tokens", "algorithm": "token-bucket", "limit": 100, "window": "1h", "identity": "ip",
            "scope": "global"},
        {"name": "own", "algorithm": "token-bucket", "limit": 100, "window": "1h", "identity": "ip"},
    ]});
    Config::from_value(&text).unwrap().policies().to_vec()
}

/// With these policies too.
fn object() -> Object {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    object.policies.extend(policies());
    object.restart();
    object
}

/// A holder of tokens, as far as its messages go.
pub struct TokenPop {
    holder: u64,
    n: u64,
    book: Option<TokenBook>,
}

impl TokenPop {
    pub const fn new(holder: u64) -> Self {
        Self { holder, n: 0, book: None }
    }

    fn message(&mut self, policy: &str, key: KeyHash, wait: u64) -> LedgerAsk {
        self.n += 1;
        let key = TokenKey { policy: policy.into(), key };
        let item = TokenAskItem { key, book: self.book, wait, least: wait, rate: 0 };
        let holder = HolderId::new(self.holder);
        let tokens = TokenAsk { v: TOKEN_WIRE_VERSION, holder, n: self.n, items: vec![item] };
        let pop = format!("POP-{}", self.holder);
        LedgerAsk { v: LEDGER_VERSION, pop, caps: None, tokens: Some(tokens), leases: None }
    }

    /// Asks for `wait` tokens, and says what it has out.
    pub fn ask(&mut self, object: &mut Object, wait: u64) -> u64 {
        let ask = self.message("tokens", KEY, wait);
        out(&object.ask(&ask))
    }
}

fn only(reply: &LedgerReply) -> Option<&TokenReplyItem> {
    reply.tokens.as_ref().and_then(|tokens| tokens.items.first())
}

fn out(reply: &LedgerReply) -> u64 {
    only(reply).and_then(|item| item.lease).map_or(0, |lease| lease.out())
}

#[test]
fn only_global_buckets_of_the_configuration_are_counted() {
    let mut object = object();
    for policy in ["own", "api", "monthly", "nobody", ""] {
        let ask = TokenPop::new(1).message(policy, KEY, 5);
        let (rows, _, reply) = object.rows_of(|object| object.ask(&ask));
        assert_eq!((reply.tokens.unwrap().items.len(), rows), (0, 0), "{policy}");
    }
    assert_eq!((object.ledger.report().buckets, TokenPop::new(1).ask(&mut object, 5)), (0, 5));
    assert_eq!(object.ledger.report().buckets, 1);
}

#[test]
fn a_grant_is_stored_with_the_clock_before_it_is_told_and_a_repeated_ask_writes_nothing() {
    let mut object = object();
    let ask = TokenPop::new(1).message("tokens", KEY, 60);
    let (rows, transactions, first) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((rows, transactions), (2, 1), "the key's row, and the head with the clock");
    assert!(object.host.disk.contains_key(ROW));
    let (rows, _, again) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((rows, again), (0, first));
    // Also where nothing else needs the head.
    object.host.wall += HOUR / 6;
    let head = object.host.disk["head"].clone();
    let later = TokenPop::new(2).message("tokens", KEY, 10);
    let (rows, transactions, _) = object.rows_of(|object| object.ask(&later));
    assert_eq!((rows, transactions), (2, 1));
    assert_ne!(object.host.disk["head"], head);
}

#[test]
fn a_restart_between_write_and_reply_does_not_grant_twice() {
    let mut object = object();
    let mut pop = TokenPop::new(1);
    let ask = pop.message("tokens", KEY, 60);
    let lost = object.ask(&ask);
    object.restart();
    // The same message once more, and the next one of a holder that knows nothing of its lease.
    let again = object.ask(&ask);
    assert_eq!(only(&again).unwrap().lease, only(&lost).unwrap().lease);
    assert_eq!((out(&again), pop.ask(&mut object, 60)), (60, 60));
    assert_eq!(TokenPop::new(2).ask(&mut object, 41), 0);
    assert_eq!(TokenPop::new(3).ask(&mut object, 40), 40);
    object.restart();
    assert_eq!(TokenPop::new(4).ask(&mut object, 1), 0);
}

#[test]
fn a_grant_that_could_not_be_stored_is_none() {
    let mut object = object();
    assert_eq!(TokenPop::new(1).ask(&mut object, 30), 30);
    object.host.fails = true;
    let ask = TokenPop::new(2).message("tokens", KEY, 60);
    assert_eq!(object.ledger.answer(&ask, &mut object.host), Err(Broken));
    object.host.fails = false;
    assert!(only(&object.ask(&ask)).is_none(), "what is in memory is not what is stored");
    object.restart();
    assert_eq!(TokenPop::new(3).ask(&mut object, 70), 70);
}

#[test]
fn fences_of_two_lives_differ() {
    let mut object = object();
    let fence = |object: &mut Object| {
        let reply = object.ask(&TokenPop::new(1).message("tokens", KEY, 5));
        only(&reply).unwrap().lease.unwrap().book.fence
    };
    let first = fence(&mut object);
    object.host.disk.clear();
    object.restart();
    assert_ne!(fence(&mut object), first);
}

#[test]
fn the_bucket_fills_on_while_the_object_is_away() {
    let mut object = object();
    let mut pop = TokenPop::new(1);
    let reply = object.ask(&pop.message("tokens", KEY, 100));
    let book = only(&reply).unwrap().lease.unwrap().book;
    pop.book = Some(TokenBook { spent: 100, ..book });
    assert_eq!(pop.ask(&mut object, 0), 0);
    object.host.wall += HOUR / 2;
    object.restart();
    assert_eq!(pop.ask(&mut object, 51), 0);
    assert_eq!(pop.ask(&mut object, 50), 50);
}

/// Unlike a key that nothing is stored of, which has a full bucket.
#[test]
fn a_row_that_cannot_be_read_blocks_its_key() {
    let other = KeyHash::new(0xdef);
    let mut object = object();
    TokenPop::new(1).ask(&mut object, 60);
    object.ask(&TokenPop::new(1).message("tokens", other, 60));
    let good = object.host.disk[ROW].clone();
    let elsewhere = object.host.disk[&ROW.replace("abc", "def")].clone();
    let later = good.replacen("\"v\":1", "\"v\":2", 1);
    for bad in [later, good[..good.len() / 2].to_owned(), String::new(), "null".into(), elsewhere] {
        object.host.disk.insert(ROW.into(), bad.clone());
        object.host.events.clear();
        object.restart();
        let report = object.ledger.report();
        assert_eq!((report.unreadable, report.buckets), (1, 1), "{bad}");
        assert_eq!(object.host.events, [LedgerEvent::Unreadable { key: ROW.into() }]);
        assert!(only(&object.ask(&TokenPop::new(2).message("tokens", KEY, 1))).is_none(), "{bad}");
        assert_eq!(object.host.disk[ROW], bad, "it is left for somebody to look at");
        // The rest goes on.
        assert!(only(&object.ask(&TokenPop::new(2).message("tokens", other, 1))).is_some());
        assert_eq!(CapPop::new(1).ask(&mut object, 5, 0).caps.unwrap().items.len(), 1);
    }
    object.host.disk.insert(ROW.into(), good);
    object.restart();
    assert_eq!(TokenPop::new(3).ask(&mut object, 41), 0);
}

#[test]
fn an_unreadable_row_of_a_window_blocks_no_bucket() {
    let mut object = object();
    CapPop::new(1).ask(&mut object, 5, 0);
    let row = object.host.disk.keys().find(|key| key.starts_with("cap/")).unwrap().clone();
    object.host.disk.insert(row, String::new());
    object.restart();
    assert!(CapPop::new(1).ask(&mut object, 5, 0).caps.unwrap().items.is_empty());
    assert_eq!(TokenPop::new(1).ask(&mut object, 5), 5);
}

#[test]
fn all_parts_of_a_message_are_answered_in_one_transaction() {
    let mut object = object();
    let caps = CapPop::new(1).message(cap_key("api", 60_000), 5, 0).caps;
    let tokens = TokenPop::new(1).message("tokens", KEY, 5).tokens;
    let ask = LedgerAsk { caps, tokens, ..Pop::new("LAX", "monthly").ask(30) };
    let (rows, transactions, reply) = object.rows_of(|object| object.ask(&ask));
    assert_eq!((out(&reply), items(&reply)[0].grant.unwrap().amount), (5, 30));
    assert_eq!(crate::caps::only(&reply).unwrap().cap, 5);
    // Two keys, the open period, its totals, the holder, and one head for all.
    assert_eq!((rows, transactions), (6, 1));
}

#[test]
fn the_alarm_ends_what_is_silent_and_deletes_what_is_full() {
    let mut object = object();
    assert_eq!(TokenPop::new(1).ask(&mut object, 60), 60);
    // Two full refills: the lease was kept for one of them, and the rest has come back in the other.
    assert_eq!(object.host.alarm, Some(object.host.wall + 2 * HOUR));
    object.host.wall += HOUR + HOUR / 4;
    object.ledger.alarm(&mut object.host).unwrap();
    assert!(object.host.disk[ROW].contains("\"leases\":[]"), "{}", object.host.disk[ROW]);
    assert_eq!(object.ledger.report().buckets, 1);
    object.host.wall = object.host.alarm.unwrap();
    let (_, transactions, ()) = object.rows_of(|object| object.ledger.alarm(&mut object.host).unwrap());
    assert_eq!((transactions, object.ledger.report().buckets), (1, 0));
    assert!(!object.host.disk.contains_key(ROW));
    // Nothing is left to wake for.
    let alarm = object.host.alarm;
    object.host.wall += HOUR;
    object.ledger.alarm(&mut object.host).unwrap();
    assert_eq!(object.host.alarm, alarm);
}
