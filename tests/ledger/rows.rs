//! Rows: what is stored is all there is, and what cannot be read is refused.

use std::collections::BTreeMap;

use sluicegate::ledger::{LedgerEvent, LedgerRow, TenantAnswer, TenantOp};

use crate::caps::{CapPop, only};
use crate::support::{Object, Pop, items};

/// A Ledger with rows of every kind.
fn full() -> (Object, Pop) {
    let mut object = Object::new("UTC", "2026-05-10T12:00:00Z");
    object.tenant("monthly", TenantOp::Put { limit: Some(50), period: None });
    let mut pop = Pop::new("LAX", "monthly");
    assert!(pop.request(&mut object, 20));
    let mut daily = Pop::new("LAX", "daily");
    for _ in 0..80 {
        // Leases come and go, and leave their entries in the log.
        daily.exchange(&mut object, 1);
        daily.restart();
        daily.storage.clear();
    }
    CapPop::new(1).ask(&mut object, 5, 0);
    (object, pop)
}

fn kinds(object: &Object) -> Vec<String> {
    let kind =
        |key: &String| key.split('/').filter(|part| part.chars().all(|c| c.is_ascii_alphabetic())).collect();
    let mut kinds: Vec<String> = object.host.disk.keys().map(kind).collect();
    kinds.dedup();
    kinds
}

#[test]
fn a_restart_from_its_rows_is_the_same_ledger() {
    let (mut object, mut pop) = full();
    let expected = [
        "capapi",
        "head",
        "log",
        "quotadailybookholderLAX",
        "quotadailybooktotals",
        "quotadailyopen",
        "quotamonthlybookholderLAX",
        "quotamonthlybooktotals",
        "quotamonthlyopen",
        "settingsmonthly",
    ];
    assert_eq!(kinds(&object), expected);
    let shown = |object: &mut Object| {
        let ops = [TenantOp::Get, TenantOp::Usage, TenantOp::Audit, TenantOp::Log];
        let answers: Vec<_> = ["monthly", "daily"]
            .iter()
            .flat_map(|policy| ops.clone().map(|op| object.tenant(policy, op)))
            .collect();
        let report = object.ledger.report();
        (answers, report.totals.grants, report.keys, report.quotas, report.log, report.unreadable)
    };
    let before = shown(&mut object);
    object.restart();
    assert_eq!(shown(&mut object), before);
    assert_eq!(object.host.events, []);
    assert_eq!(pop.take_all(&mut object), 30);
}

#[test]
fn rows_are_json_with_a_version() {
    let (object, _) = full();
    for (key, value) in &object.host.disk {
        let row: serde_json::Value = serde_json::from_str(value).unwrap();
        assert_eq!(row["v"], 1, "{key}");
        assert!(row["row"].is_object(), "{key}");
    }
}

/// The rows of a Ledger as the first version of this format wrote them: each line is a key and a text.
fn rows_of_version_1() -> BTreeMap<String, String> {
    let pair = |line: &str| line.split_once(' ').map(|(key, text)| (key.to_owned(), text.to_owned()));
    include_str!("rows-v1.txt").lines().map(|line| pair(line).unwrap()).collect()
}

#[test]
fn rows_are_read_and_written_as_they_always_were() {
    let rows = rows_of_version_1();
    assert_eq!(rows.len(), 14);
    for (key, text) in rows {
        let row = LedgerRow::read(&key, &text);
        assert!(row.is_readable(), "{key}");
        assert_eq!(row.to_json(), text, "{key}");
    }
}

#[test]
fn a_ledger_goes_on_from_rows_that_were_always_there() {
    let mut object = Object::new("UTC", "2026-06-19T12:00:05Z");
    object.policies.extend(crate::tokens::policies());
    object.host.disk = rows_of_version_1();
    object.restart();
    assert_eq!(object.host.events, []);
    let report = object.ledger.report();
    assert_eq!((report.keys, report.buckets, report.quotas, report.log, report.unreadable), (1, 1, 2, 34, 0));
    assert_eq!((report.totals.asks, report.totals.grants, report.totals.units_granted), (49, 24, 75));
    let usage = object.usage("monthly");
    assert_eq!((usage.limit, usage.outstanding, usage.remaining, usage.serial), (50, 35, 15, 2));
    assert_eq!(usage.reset_local, "2026-06-21 06:30:00 Europe/Berlin");
    let leases = object.audit("monthly").leases;
    assert_eq!(
        leases.iter().map(|lease| (lease.pop.as_str(), lease.amount)).collect::<Vec<_>>(),
        [("FRA", 5), ("LAX", 1), ("LAX", 29)]
    );
    // 905 of 1,000 of the window were taken, and 67 of the bucket's hundred.
    assert_eq!(only(&CapPop::new(3).ask(&mut object, 500, 0)).unwrap().cap, 95);
    assert_eq!(crate::tokens::TokenPop::new(3).ask(&mut object, 34), 0);
    assert_eq!(crate::tokens::TokenPop::new(4).ask(&mut object, 33), 33);
}

/// The ways in which a row can be one that this code does not understand.
fn spoilt(value: &str) -> Vec<String> {
    let later = value.replacen("\"v\":1", "\"v\":2", 1);
    let renamed = value.replacen("\"row\":{", "\"row\":{\"was\":{", 1) + "}";
    let cut = value.get(..value.len() / 2).unwrap_or_default().to_owned();
    vec![later, renamed, cut, String::new(), "null".into(), "{\"v\":1,\"row\":[]}".into()]
}

#[test]
fn a_quota_whose_row_cannot_be_read_is_refused_and_the_row_stays() {
    let keys: Vec<String> =
        full().0.host.disk.keys().filter(|key| key.contains("monthly")).cloned().collect();
    assert_eq!(keys.len(), 4);
    for key in keys {
        let (object, _) = full();
        for value in spoilt(&object.host.disk[&key]) {
            let (mut object, mut pop) = full();
            object.host.disk.insert(key.clone(), value.clone());
            let disk = object.host.disk.clone();
            object.restart();
            assert_eq!(object.host.events, [LedgerEvent::Unreadable { key: key.clone() }], "{value}");
            assert_eq!(object.ledger.report().unreadable, 1);
            assert!(items(&pop.exchange(&mut object, 40)).is_empty(), "{key} as {value} was answered");
            let put = TenantOp::Put { limit: Some(90), period: None };
            let ops = [TenantOp::Get, TenantOp::Usage, TenantOp::Audit, put, TenantOp::Delete];
            for op in ops.into_iter().chain([TenantOp::Reopen { used: 0 }]) {
                assert!(matches!(object.tenant("monthly", op), TenantAnswer::Unavailable { .. }));
            }
            assert_eq!(object.host.disk, disk, "{key} as {value}");
            // What else is kept here goes on.
            assert_eq!(items(&Pop::new("FRA", "daily").exchange(&mut object, 1)).len(), 1);
        }
    }
}

#[test]
fn a_quota_of_which_a_row_is_missing_is_refused() {
    for key in ["quota/monthly/open", "quota/monthly/book/totals/1"] {
        let (mut object, mut pop) = full();
        assert!(object.host.disk.remove(key).is_some());
        object.restart();
        assert!(items(&pop.exchange(&mut object, 40)).is_empty(), "without {key} it was answered");
        assert_eq!(object.ledger.report().unreadable, 1);
    }
}

#[test]
fn a_row_of_a_quota_of_a_kind_that_is_not_known_is_refused_too() {
    let (mut object, mut pop) = full();
    object.host.disk.insert("quota/monthly/sealed".into(), "{\"v\":1,\"row\":{}}".into());
    object.restart();
    assert!(items(&pop.exchange(&mut object, 1)).is_empty());
}

#[test]
fn a_head_that_cannot_be_read_closes_the_ledger() {
    for value in spoilt(&full().0.host.disk["head"]) {
        let (mut object, mut pop) = full();
        object.host.disk.insert("head".into(), value);
        let disk = object.host.disk.clone();
        object.restart();
        assert!(items(&pop.exchange(&mut object, 1)).is_empty());
        assert_eq!(only(&CapPop::new(2).ask(&mut object, 1, 1)), None);
        let put = TenantOp::Put { limit: Some(90), period: None };
        assert!(matches!(object.tenant("monthly", put), TenantAnswer::Unavailable { .. }));
        object.ledger.tick(&mut object.host).unwrap();
        object.ledger.alarm(&mut object.host).unwrap();
        assert_eq!(object.host.disk, disk);
    }
}

#[test]
fn a_window_whose_row_cannot_be_read_is_left_out() {
    let (mut object, _) = full();
    let key = object.host.disk.keys().find(|key| key.starts_with("cap/")).unwrap().clone();
    for value in spoilt(&object.host.disk[&key]) {
        let (mut object, _) = full();
        object.host.disk.insert(key.clone(), value.clone());
        object.restart();
        assert_eq!(only(&CapPop::new(2).ask(&mut object, 1, 1)), None);
        assert_eq!(object.host.disk[&key], value);
    }
    // Under the key of another: no row of anything.
    let value = object.host.disk.remove(&key).unwrap();
    object.host.disk.insert("cap/api/1/60000".into(), value);
    object.restart();
    assert_eq!(object.ledger.report().unreadable, 1);
}

#[test]
fn what_is_not_a_row_of_this_table_is_left_alone() {
    let (mut object, mut pop) = full();
    let before = object.host.disk["quota/monthly/open"].clone();
    for key in ["", "else", "token/api/1", "log/x", "heads", "quota", "settings"] {
        object.host.disk.insert(key.into(), "?".into());
    }
    object.restart();
    assert_eq!(object.ledger.report().unreadable, 7);
    assert_eq!(pop.take_all(&mut object), 30);
    assert_eq!((object.host.disk["else"].as_str(), &object.host.disk["quota/monthly/open"]), ("?", &before));
}
