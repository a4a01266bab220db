//! What an operator sees.

use sluicegate::policy::OnError;

use crate::world::{World, local, quota, shadow, take, window};

#[test]
fn every_policy_is_counted_once_for_each_take_it_decided() {
    let mut world = World::new(1).with_window("w", 2, 0).with_quota("q", 1_000);
    let all = || {
        take([
            local("l", 100, 1),
            window("w", 2, 1, OnError::Closed),
            quota("q", 1),
            shadow(local("s", 1, 1)),
        ])
    };
    let allowed = (0..5).filter(|_| world.decide(&all()).allowed).count();
    assert_eq!(allowed, 2);
    let report = world.live(0).0.report();
    let of = |policy: &str| {
        let totals = report.totals.policies.get(policy).copied().unwrap_or_default();
        (totals.allowed, totals.refused, totals.would_refuse)
    };
    assert_eq!((of("l"), of("w"), of("q"), of("s")), ((2, 0, 0), (2, 3, 0), (2, 0, 0), (1, 0, 1)));
    assert_eq!((report.totals.asks, report.totals.decisions), (5, 11));
}

#[test]
fn the_report_tells_how_things_stand() {
    let mut world = World::new(1).with_window("w", 10, 0).with_quota("q", 1_000);
    world.owner.pops = 3;
    assert!(world.decide(&take([quota("q", 4), window("w", 10, 1, OnError::Closed)])).allowed);
    let waits = world.wait(&take([quota("q", 500)]));
    let report = world.live(0).0.report();
    assert_eq!((report.leases_open, report.units_in_hand), (1, 6));
    assert_eq!((report.requests_waited, report.requests_waiting, report.asks_sent), (2, 1, 3));
    assert_eq!((report.pops, report.quotas, report.cap_keys, report.asks_failed), (3, 1, 1, 0));
    world.fail();
    world.answer(waits).unwrap();
    let report = world.live(0).0.report();
    assert_eq!((report.asks_failed, report.ledgers_out_of_reach, report.requests_waiting), (1, 1, 0));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["asks_sent"], &json["policies"]["q"]["allowed"]), (&3.into(), &1.into()));
}

#[test]
fn a_refused_batch_says_nothing_about_its_shadow_limits() {
    let mut world = World::new(1).with_window("w", 10, 0);
    let batch = take([local("l", 10, 6), shadow(window("w", 10, 1, OnError::Closed))]);
    let ids = [world.wait(&batch), world.wait(&batch)];
    world.deliver(0);
    assert_eq!(ids.map(|id| world.answer(id).unwrap().allowed), [true, false]);
    let policies = world.live(0).0.report().totals.policies;
    let (window, local) = (policies.get("w").unwrap(), policies.get("l").unwrap());
    assert_eq!((window.allowed, local.allowed, local.refused), (1, 1, 1));
}
