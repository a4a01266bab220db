//! Settings change in mid-period: no second quota, no empty period.

use proptest::prelude::*;
use sluicegate::calendar::{PeriodSpec, Unit};
use sluicegate::ledger::{TenantAnswer, TenantOp, TenantSettings};

use crate::support::{Object, Pop, wall};

fn monthly(zone: &str, day: u8) -> PeriodSpec {
    PeriodSpec::new(Unit::Month, zone).unwrap().with_anchor_day(day).unwrap()
}

fn start(zone: &str, at: &str) -> (Object, Pop) {
    (Object::new(zone, at), Pop::new("LAX", "monthly"))
}

fn settings(object: &mut Object, policy: &str) -> TenantSettings {
    match object.tenant(policy, TenantOp::Get) {
        TenantAnswer::Settings(settings) => settings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tenant_that_was_never_set_up_follows_the_policy() {
    let (mut object, mut pop) = start("Europe/Paris", "2026-05-10T12:00:00Z");
    let default = settings(&mut object, "monthly");
    assert_eq!((default.limit, default.period.time_zone(), default.configured), (100, "Europe/Paris", false));
    assert!(object.host.disk.is_empty());
    assert_eq!(pop.take_all(&mut object), 100);
    assert_eq!(object.usage("monthly").start, "2026-05-01T00:00:00+02:00");
}

#[test]
fn a_part_of_the_settings_leaves_the_rest_to_the_policy() {
    let (mut object, mut pop) = start("Europe/Paris", "2026-05-10T12:00:00Z");
    object.tenant("monthly", TenantOp::Put { limit: Some(7), period: None });
    let own = settings(&mut object, "monthly");
    assert_eq!((own.limit, own.period.time_zone(), own.configured), (7, "Europe/Paris", true));
    object.tenant("monthly", TenantOp::Put { limit: None, period: Some(monthly("Asia/Tokyo", 3)) });
    let own = settings(&mut object, "monthly");
    assert_eq!((own.limit, own.period.time_zone(), own.configured), (100, "Asia/Tokyo", true));
    object.restart();
    assert_eq!(settings(&mut object, "monthly"), own);
    assert_eq!(pop.take_all(&mut object), 100);
    assert_eq!(object.usage("monthly").start, "2026-05-03T00:00:00+09:00");
}

#[test]
fn a_lowered_limit_stops_grants_and_a_raised_one_goes_on() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    pop.exchange(&mut object, 30);
    object.put("monthly", 10, &monthly("UTC", 1));
    assert_eq!(pop.take_all(&mut object), 30, "what is out may be spent, and nothing else");
    let usage = object.usage("monthly");
    assert_eq!((usage.limit, usage.used, usage.outstanding, usage.remaining), (10, 30, 0, 0));
    object.restart();
    object.put("monthly", 40, &monthly("UTC", 1));
    assert_eq!(pop.take_all(&mut object), 10);
    assert_eq!(object.usage("monthly").serial, 1);
}

#[test]
fn deleted_and_made_again_there_is_no_second_quota() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    object.put("monthly", 50, &monthly("Asia/Tokyo", 1));
    assert_eq!(pop.take_all(&mut object), 50);
    let open = object.usage("monthly");
    for _ in 0..3 {
        assert_eq!(object.tenant("monthly", TenantOp::Delete), TenantAnswer::Deleted);
        object.restart();
        object.put("monthly", 50, &monthly("Asia/Tokyo", 1));
        assert_eq!(pop.take_all(&mut object), 0);
        object.restart();
    }
    let usage = object.usage("monthly");
    assert_eq!((usage.serial, usage.used, usage.end_ms), (open.serial, 50, open.end_ms));
    // Without settings the policy's limit counts, in the same period.
    object.tenant("monthly", TenantOp::Delete);
    assert!(!settings(&mut object, "monthly").configured);
    assert_eq!(pop.take_all(&mut object), 50);
    assert_eq!(object.usage("monthly").serial, open.serial);
}

#[test]
fn another_zone_counts_from_the_end_of_the_open_period_on() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    pop.take_all(&mut object);
    object.put("monthly", 744, &monthly("America/Los_Angeles", 1));
    assert_eq!(object.usage("monthly").end_ms, wall("2026-06-01T00:00:00Z"));
    // May has seven hours left in Los Angeles: a part, with its part of the limit.
    object.host.wall = wall("2026-06-01T00:00:00Z");
    assert_eq!(pop.take_all(&mut object), 7);
    let part = object.usage("monthly");
    assert_eq!((part.slot.as_str(), part.serial, part.partial, part.limit), ("2026-05", 2, true, 7));
    object.host.wall = wall("2026-06-01T07:00:00Z");
    assert_eq!(pop.take_all(&mut object), 744);
    let whole = object.usage("monthly");
    assert_eq!((whole.slot.as_str(), whole.serial, whole.partial), ("2026-06", 3, false));
}

#[test]
fn another_anchor_brings_a_part_first_under_a_name_that_was_there_before() {
    let (mut object, mut pop) = start("UTC", "2026-03-10T00:00:00Z");
    object.put("monthly", 310, &monthly("UTC", 1));
    assert_eq!(pop.take_all(&mut object), 310);
    object.put("monthly", 310, &monthly("UTC", 15));
    object.restart();
    object.host.wall = wall("2026-03-31T23:59:59Z");
    assert_eq!(pop.take_all(&mut object), 0, "the open period keeps its end");
    object.host.wall = wall("2026-04-01T00:00:00Z");
    assert_eq!(pop.take_all(&mut object), 140, "14 of 31 days");
    object.host.wall = wall("2026-04-15T00:00:00Z");
    assert_eq!(pop.take_all(&mut object), 310);
    assert_eq!(object.usage("monthly").serial, 3);
}

#[test]
fn a_deployment_with_another_period_is_a_change_like_any_other() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    assert_eq!(pop.take_all(&mut object), 100);
    object.policies = crate::support::policies("Asia/Tokyo");
    object.restart();
    assert_eq!(pop.take_all(&mut object), 0);
    assert_eq!(object.usage("monthly").end_ms, wall("2026-06-01T00:00:00Z"));
}

#[test]
fn a_policy_that_comes_back_finds_its_book() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    assert_eq!(pop.take_all(&mut object), 100);
    let all = std::mem::take(&mut object.policies);
    object.restart();
    assert_eq!(object.tenant("monthly", TenantOp::Get), TenantAnswer::Unknown);
    assert!(!pop.request(&mut object, 1));
    object.policies = all;
    object.restart();
    assert_eq!(pop.take_all(&mut object), 0);
}

#[test]
fn settings_keep_a_quota_whose_policy_is_gone() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    object.put("monthly", 20, &monthly("UTC", 1));
    object.policies.clear();
    object.restart();
    assert_eq!(pop.take_all(&mut object), 20);
    let half = TenantOp::Put { limit: Some(5), period: None };
    let TenantAnswer::Refused(faults) = object.tenant("monthly", half) else { panic!() };
    assert_eq!(faults[0].path, "period");
    object.tenant("monthly", TenantOp::Delete);
    assert_eq!(object.tenant("monthly", TenantOp::Usage), TenantAnswer::Unknown);
    let put = TenantOp::Put { limit: Some(5), period: Some(monthly("UTC", 1)) };
    assert_eq!(object.tenant("monthly", put), TenantAnswer::Unknown);
    assert!(object.host.disk.contains_key("quota/monthly/open"));
}

#[test]
fn the_same_settings_again_write_nothing() {
    let (mut object, _) = start("UTC", "2026-05-10T12:00:00Z");
    let (rows, transactions, ()) = object.rows_of(|object| object.put("monthly", 5, &monthly("UTC", 1)));
    assert_eq!((rows, transactions), (2, 1), "the settings and the head");
    assert_eq!(object.rows_of(|object| object.put("monthly", 5, &monthly("UTC", 1))).0, 0);
    assert_eq!(object.rows_of(|object| object.tenant("monthly", TenantOp::Delete)).0, 2);
    assert_eq!(object.rows_of(|object| object.tenant("monthly", TenantOp::Delete)).0, 0);
    assert_eq!(object.rows_of(|object| object.tenant("monthly", TenantOp::Get)).0, 0);
    assert_eq!(object.rows_of(|object| object.usage("monthly")).0, 0);
    assert_eq!(object.rows_of(|object| object.audit("monthly")).0, 0);
}

#[test]
fn a_period_that_one_wrong_reading_opened_can_be_left_with_what_was_used() {
    let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
    assert!(pop.request(&mut object, 70));
    object.host.wall = wall("2036-01-01T00:00:00Z");
    pop.exchange(&mut object, 1);
    object.host.wall = wall("2026-05-10T12:01:00Z");
    pop.exchange(&mut object, 1);
    assert!(object.usage("monthly").held);
    let TenantAnswer::Usage(now) = object.tenant("monthly", TenantOp::Reopen { used: 70 }) else { panic!() };
    assert_eq!(
        (now.slot.as_str(), now.serial, now.used, now.remaining, now.held),
        ("2026-05", 3, 70, 30, false)
    );
    object.restart();
    assert_eq!(pop.take_all(&mut object), 30);
    assert!(object.audit("monthly").consistent);
}

fn any_change() -> impl Strategy<Value = (u64, Option<(u64, PeriodSpec)>, i64)> {
    let period = (prop::sample::select(vec!["UTC", "Asia/Tokyo", "America/Havana"]), 0..3_u8, 1..=28_u8);
    let period = period.prop_map(|(zone, unit, day)| match unit {
        0 => PeriodSpec::new(Unit::Day, zone).unwrap(),
        1 => PeriodSpec::new(Unit::Week, zone).unwrap(),
        _ => monthly(zone, day),
    });
    let change = prop::option::weighted(0.8, (1..40_u64, period));
    (0..30_u64, change, 0..2_000_000_000_i64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Through any changes, deletions and restarts: what is spent in a serial is within the largest limit
    /// that it ever had, and periods follow one another without a gap at the seams or an overlap.
    #[test]
    fn no_change_gives_a_second_quota(changes in prop::collection::vec(any_change(), 1..12)) {
        let (mut object, mut pop) = start("UTC", "2026-05-10T12:00:00Z");
        let mut most = std::collections::BTreeMap::new();
        let mut last: Option<(u64, i64)> = None;
        for (requests, change, by) in changes {
            match change {
                Some((limit, period)) => object.put("monthly", limit, &period),
                None => drop(object.tenant("monthly", TenantOp::Delete)),
            }
            object.restart();
            object.host.wall += by;
            for _ in 0..requests {
                pop.request(&mut object, 1);
                let usage = object.usage("monthly");
                let limit = most.entry(usage.serial).or_insert(0);
                *limit = usage.limit.max(*limit);
                prop_assert!(usage.start_ms < usage.end_ms);
                if let Some((serial, end)) = last.filter(|(serial, _)| *serial != usage.serial) {
                    prop_assert!(usage.serial > serial && usage.start_ms >= end);
                }
                last = Some((usage.serial, usage.end_ms));
            }
        }
        for (serial, spent) in &pop.spent {
            prop_assert!(*spent <= most[serial], "{spent} in serial {serial}");
        }
    }
}
