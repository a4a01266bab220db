//! Messages from somebody who wishes no good: bounded, without a panic, and without a second quota.

use proptest::prelude::*;
use sluicegate::fence::FenceSource;
use sluicegate::global::{
    AskNumber, Birth, CapAsk, CapAskItem, CapBook, HolderId, LeaseAskItem, ListedLease,
};
use sluicegate::http::KeyHash;
use sluicegate::ledger::{LedgerAsk, QuotaName, TenantAnswer, TenantOp, TenantRequest};
use sluicegate::window::Epoch;

use crate::caps::key;
use crate::support::{KEY, Object, Pop, envelope, items};

fn item(quota: &str, k: u64, have: Vec<ListedLease>, want: u64, min: u64) -> LeaseAskItem {
    LeaseAskItem { quota: quota.into(), n: AskNumber { boot: 1, k }, have, serial: 0, want, min }
}

fn monthly() -> String {
    QuotaName { policy: "monthly".into(), key: KEY }.to_string()
}

fn object() -> Object {
    Object::new("UTC", "2026-05-10T12:00:00Z")
}

#[test]
fn quotas_that_are_not_configured_are_left_out_and_remembered_nowhere() {
    let mut object = object();
    let hash = KEY.to_string();
    let names = ["api", "near", "nobody", "", "monthly/", "../monthly", "monthly/open"];
    let mut quotas: Vec<String> = names.iter().map(|name| format!("{name}/{hash}")).collect();
    quotas.extend(["monthly".into(), format!("monthly/{}", "f".repeat(31)), format!("MONTHLY/{hash}")]);
    quotas.push("x".repeat(1_000_000));
    let asked = quotas.iter().map(|quota| item(quota, 1, Vec::new(), 5, 1)).collect();
    let (rows, _, reply) = object.rows_of(|object| object.ask(&envelope("LAX", Birth(1), asked)));
    assert_eq!((items(&reply).len(), rows, object.ledger.report().quotas), (0, 0, 0));
    assert_eq!(object.ledger.report().totals.items_refused, quotas.len() as u64);
}

#[test]
fn another_identity_is_left_out_where_the_ledger_knows_its_own() {
    let mut object = object();
    object.settings.key = Some(KEY);
    object.restart();
    let other = QuotaName { policy: "monthly".into(), key: KeyHash::new(5) }.to_string();
    let asked = vec![item(&other, 1, Vec::new(), 5, 1)];
    assert!(items(&object.ask(&envelope("LAX", Birth(1), asked))).is_empty());
    let asked = vec![item(&monthly(), 1, Vec::new(), 5, 1)];
    assert_eq!(items(&object.ask(&envelope("LAX", Birth(1), asked))).len(), 1);
}

#[test]
fn two_lists_for_one_quota_in_one_ask_count_once() {
    let mut object = object();
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 20));
    let mut ask = pop.ask(1);
    let leases = ask.leases.as_mut().unwrap();
    let twice = LeaseAskItem {
        have: Vec::new(),
        n: AskNumber { boot: leases.items[0].n.boot, k: leases.items[0].n.k + 1 },
        ..leases.items[0].clone()
    };
    leases.items.push(twice);
    let reply = object.ask(&ask);
    assert_eq!(items(&reply).len(), 1);
    let usage = object.usage("monthly");
    assert!(usage.used + usage.outstanding >= 20, "{usage:?}");
}

#[test]
fn a_list_that_is_too_long_is_not_cut_short_but_refused() {
    let mut object = object();
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 20));
    let before = object.usage("monthly");
    let mut ask = pop.ask(1);
    let mut fences = FenceSource::new(99);
    let lease = |_| ListedLease {
        fence: fences.issue(),
        serial: 1,
        amount: 1,
        off: 0,
        lost: 0,
        unspent: 0,
        is_final: false,
    };
    let mut have: Vec<ListedLease> = (0..1_001).map(lease).collect();
    // What it really holds comes last.
    have.append(&mut ask.leases.as_ref().unwrap().items[0].have.clone());
    ask.leases.as_mut().unwrap().items[0].have = have;
    assert!(items(&object.ask(&ask)).is_empty());
    assert_eq!(object.usage("monthly"), before);
}

#[test]
fn names_of_points_of_presence_are_bounded() {
    let mut object = object();
    for name in ["", "two words", "a\nb", "é", &"x".repeat(65), &"x".repeat(1_000_000)] {
        let ask = envelope(name, Birth(1), vec![item(&monthly(), 1, Vec::new(), 5, 1)]);
        let (rows, _, reply) = object.rows_of(|object| object.ask(&ask));
        assert_eq!((items(&reply).len(), rows, reply.pops), (0, 0, 1));
    }
    // A slash is nothing special.
    let ask = envelope("../../head", Birth(1), vec![item(&monthly(), 1, Vec::new(), 5, 1)]);
    let first = object.ask(&ask);
    assert_eq!(items(&first).len(), 1);
    object.restart();
    assert_eq!(object.ask(&ask), first);
}

#[test]
fn holders_are_bounded_and_those_that_are_known_go_on() {
    let mut object = object();
    object.settings.max_holders = 3;
    object.restart();
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 1));
    let ask = |birth| envelope("LAX", Birth(birth), vec![item(&monthly(), 1, Vec::new(), 0, 0)]);
    let answered = (1..=50).filter(|birth| items(&object.ask(&ask(*birth))).len() == 1).count();
    assert_eq!(answered, 2);
    assert!(pop.request(&mut object, 1));
}

#[test]
fn many_items_are_bounded() {
    let mut object = object();
    let asked: Vec<_> = (0..100_000).map(|k| item("x/1", k, Vec::new(), 1, 1)).collect();
    object.ask(&envelope("LAX", Birth(1), asked));
    assert_eq!(object.ledger.report().totals.items_refused, 64);
}

#[test]
fn envelopes_and_parts_of_other_versions_are_answered_with_nothing() {
    let mut object = object();
    let good = Pop::new("LAX", "monthly").ask(5);
    let (rows, _, reply) = object.rows_of(|object| object.ask(&LedgerAsk { v: 9, ..good.clone() }));
    assert_eq!((rows, reply.v, reply.leases, reply.caps, reply.pops), (0, 1, None, None, 0));
    let mut other = good;
    other.leases.as_mut().unwrap().v = 9;
    let (rows, _, reply) = object.rows_of(|object| object.ask(&other));
    assert_eq!((rows, items(&reply).len()), (0, 0));
}

fn any_units() -> impl Strategy<Value = u64> {
    prop_oneof![0..200_u64, Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 53), any::<u64>()]
}

fn any_lease() -> impl Strategy<Value = ListedLease> {
    (0..6_u64, 0..4_u64, any_units(), any_units(), any_units(), any::<bool>()).prop_map(
        |(fence, serial, amount, off, lost, is_final)| {
            let text = format!("{:016x}-{}", 1, fence + 1);
            let serial = if serial == 3 { u64::MAX } else { serial };
            ListedLease { fence: text.parse().unwrap(), serial, amount, off, lost, unspent: amount, is_final }
        },
    )
}

fn any_ask() -> impl Strategy<Value = LedgerAsk> {
    let lease =
        (any_units(), any_units(), prop::collection::vec(any_lease(), 0..6), any_units(), any_units());
    let lease = lease.prop_map(|(boot, k, have, want, min)| LeaseAskItem {
        n: AskNumber { boot, k },
        ..item(&monthly(), 0, have, want, min)
    });
    let cap = (any_units(), any_units(), any_units(), any_units(), any_units(), any_units());
    let cap = cap.prop_map(|(epoch, taken, given, wait, rate, n)| CapAsk {
        v: 1,
        holder: HolderId::new(n % 3),
        n,
        items: vec![CapAskItem {
            key: key("api", 60_000),
            r#gen: 0,
            books: vec![CapBook { epoch: Epoch(epoch), taken, given }; 3],
            epoch: Some(Epoch(epoch)),
            wait,
            least: rate,
            rate,
        }],
    });
    (lease, cap, 0..3_u64).prop_map(|(lease, cap, birth)| LedgerAsk {
        caps: Some(cap),
        ..envelope("EVIL", Birth(birth), vec![lease])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Absurd numbers never panic, never grant past the limit, and are answered the same after a restart.
    #[test]
    fn absurd_numbers_do_no_more_than_use_the_quota_up(
        asks in prop::collection::vec((any_ask(), -4_000_000_000_i64..4_000_000_000), 1..20),
    ) {
        let mut object = object();
        for (ask, by) in asks {
            object.host.wall += by;
            let before = object.ledger.report().totals.grants;
            let reply = object.ask(&ask);
            for item in items(&reply) {
                prop_assert!(item.grant.is_none_or(|grant| grant.amount <= item.terms.limit));
            }
            if object.ledger.report().totals.grants > before {
                let usage = object.usage("monthly");
                prop_assert!(usage.used + usage.outstanding <= usage.limit, "{usage:?}");
            }
            object.restart();
            prop_assert_eq!(object.ledger.report().unreadable, 0, "a row that cannot be read back");
            let again = object.ask(&ask);
            prop_assert_eq!(items(&again), items(&reply));
        }
        let _ = (object.usage("monthly"), object.audit("monthly"));
    }

    /// Admin requests with any numbers, at any time, do not panic either.
    #[test]
    fn any_admin_request_is_answered(units in any_units(), used in any_units(), at in any::<i64>()) {
        let mut object = object();
        object.host.wall = at;
        let put = TenantOp::Put { limit: Some(units), period: None };
        for op in [put, TenantOp::Reopen { used }, TenantOp::Usage, TenantOp::Audit, TenantOp::Get] {
            let request = TenantRequest { policy: "monthly".into(), op };
            let answer: TenantAnswer = object.ledger.tenant(&request, &mut object.host).unwrap();
            let text = serde_json::to_string(&answer).unwrap();
            prop_assert_eq!(serde_json::from_str::<TenantAnswer>(&text).unwrap(), answer);
        }
    }
}
