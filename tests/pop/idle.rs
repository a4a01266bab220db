//! What becomes of leases when nobody comes: written back, returned, and fetched home by the alarm.

use crate::world::{World, local, quota, quota_name, take};

fn world() -> World {
    World::new(1).with_quota("q", 10_000)
}

fn totals(world: &World) -> (u64, u64) {
    let book = world.owner.quotas[&quota_name("q").to_string()].book().open_totals();
    (book.used(), book.outstanding)
}

#[test]
fn in_memory_they_return_after_ten_seconds() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    assert_eq!(totals(&world).1, 100);
    world.run(2_100);
    let row = world.host().rows(&quota_name("q"))[0];
    assert_eq!((row.off, row.sure), (3, 3), "written back");
    world.run(8_000);
    assert_eq!(totals(&world), (3, 0));
    assert!(world.host().rows(&quota_name("q")).is_empty());
    world.run(600_000);
    assert!(world.host().wake.is_none(), "nothing is due any more");
}

#[test]
fn an_eviction_after_ten_seconds_forfeits_nothing_and_the_alarm_returns_them() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    world.run(9_900);
    world.evict(0);
    let alarms = world.host().alarms_set;
    assert!(alarms <= 2, "one for the busy phase, one for the idle one");
    world.run(5_000);
    assert_eq!(totals(&world), (3, 0));
    assert!(world.host().rows(&quota_name("q")).is_empty());
}

#[test]
fn a_crash_in_use_forfeits_a_chunk_and_the_alarm_returns_the_rest() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    world.evict(0);
    assert_eq!(totals(&world).1, 100);
    world.run(61_000);
    assert_eq!(totals(&world), (20, 0));
}

#[test]
fn leases_that_could_not_be_returned_are_until_it_is_confirmed() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    world.run_cut_off(200_000);
    world.host().sent.clear();
    assert!(world.host().rows(&quota_name("q")).iter().all(|row| row.closed));
    assert_eq!(totals(&world).1, 100);
    // It leaves memory at last; nobody comes for it but the alarm.
    world.evict(0);
    world.run(70_000);
    assert_eq!(totals(&world), (3, 0));
}

#[test]
fn alarms_are_set_once_for_a_phase_and_not_for_a_request() {
    let mut world = world();
    for _ in 0..100 {
        assert!(world.decide(&take([quota("q", 1)])).allowed);
        world.run(100);
    }
    assert!(world.host().alarms_set <= 2, "{}", world.host().alarms_set);
    world.run(60_000);
    assert_eq!(totals(&world), (100, 0));
    assert!(world.host().alarms_set <= 6, "{}", world.host().alarms_set);
}

#[test]
fn the_counters_alarm_and_the_leases_share_the_one_there_is() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1), local("l", 5, 1)])).allowed);
    world.run(3_700_000);
    assert_eq!(totals(&world), (1, 0));
    assert_eq!(world.live(0).0.report().keys, 0, "the counter's came after it");
    assert_eq!(world.host().stored.alarm, None);
}

#[test]
fn an_object_without_leases_pays_no_row_for_a_start() {
    let mut world = world();
    for _ in 0..5 {
        world.request(&take([local("l", 5, 1)]));
        world.run(1_500);
        world.evict(0);
    }
    assert_eq!(world.host().start_writes, 0);
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    world.run(15_000);
    world.evict(0);
    // They are home: the next life is free again.
    world.request(&take([local("l", 5, 1)]));
    assert_eq!(world.host().start_writes, 1);
}

#[test]
fn the_journal_is_flushed_by_the_timer() {
    let mut world = world();
    world.request(&take([local("l", 5, 1)]));
    let writes = world.host().journal_writes;
    world.request(&take([local("l", 5, 1)]));
    assert_eq!(world.host().journal_writes, writes);
    world.run(1_000);
    world.evict(0);
    let reply = world.request(&take([local("l", 5, 1)]));
    assert_eq!(reply.limits[0].decision.remaining, 2);
}

/// There is one alarm: a life that has leases to return does not let the counter's take its place.
#[test]
fn a_life_without_quotas_does_not_forget_those_of_the_last() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    world.evict(0);
    world.request(&take([local("l", 5, 1)]));
    world.evict(0);
    world.run(70_000);
    assert_eq!(totals(&world), (20, 0));
}

/// Timers and alarms stand still with the clock that was set back, and what reads it cheaply does too.
fn set_back(world: &mut World) {
    world.host().cheap_stuck = Some(world.host().wall);
    world.host().wall -= 3_600_000;
}

/// What a visit does: it looks twice, since one look does not see a clock that stands.
fn visit(world: &mut World) {
    for _ in 0..2 {
        let (pop, host) = world.live(0);
        pop.tick(host).unwrap();
    }
    world.deliver(0);
}

/// A quota of the same Ledger that nobody asked for lately is one of them.
#[test]
fn on_a_clock_that_was_set_back_a_visit_brings_all_leases_home() {
    let mut world = world().with_quota("r", 10_000);
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    assert!(world.decide(&take([quota("r", 2)])).allowed);
    world.run(1_000);
    set_back(&mut world);
    visit(&mut world);
    let other = world.owner.quotas[&quota_name("r").to_string()].book().open_totals();
    assert_eq!((totals(&world), other.used(), other.outstanding), ((3, 0), 2, 0));
    for policy in ["q", "r"] {
        assert!(world.host().rows(&quota_name(policy)).is_empty(), "{policy}");
    }
    assert_eq!(world.live(0).0.report().leases_open, 0);
}

#[test]
fn on_a_clock_that_was_set_back_whoever_comes_brings_all_leases_home() {
    for its in [local("l", 1_000, 1), quota("r", 1)] {
        let mut world = world().with_quota("r", 10_000);
        assert!(world.decide(&take([quota("q", 3)])).allowed);
        set_back(&mut world);
        // The second look sees the clock stand.
        for _ in 0..2 {
            assert!(world.decide(&take([its.clone()])).allowed);
        }
        assert_eq!(totals(&world), (3, 0), "{}", its.policy);
    }
}

/// It is served as ever, and leaves nothing behind.
#[test]
fn on_a_clock_that_was_set_back_a_quota_keeps_nothing_in_hand() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    set_back(&mut world);
    visit(&mut world);
    for spent in 2..20 {
        assert!(world.decide(&take([quota("q", 1)])).allowed);
        world.deliver(0);
        assert_eq!(totals(&world), (spent, 0));
    }
    // The wall has caught up: units stay in hand again, and the timer returns them.
    world.host().cheap_stuck = None;
    world.host().wall += 3_600_001;
    assert!(world.decide(&take([quota("q", 1)])).allowed);
    assert!(totals(&world).1 > 0);
    world.run(15_000);
    assert_eq!(totals(&world), (20, 0));
}

/// An object is often made for its alarm: one that is set meanwhile takes its place, and cancels it.
#[test]
fn a_start_sets_no_alarm_of_its_own() {
    let mut world = world();
    assert!(world.decide(&take([quota("q", 3)])).allowed);
    world.run(3_000);
    world.evict(0);
    assert!(!world.host().rows(&quota_name("q")).is_empty() && world.host().stored.alarm.is_some());
    let (set, alarm) = (world.host().alarms_set, world.host().stored.alarm);
    world.live(0);
    assert_eq!((world.host().alarms_set, world.host().stored.alarm), (set, alarm));
    assert!(world.host().wake.is_some(), "the timer sees to the rest");
    // The alarm itself sets the next, while there is something to return.
    let (pop, host) = world.live(0);
    host.stored.alarm = None;
    pop.alarm(host).unwrap();
    assert!(world.host().stored.alarm.is_some());
    world.deliver(0);
    assert_eq!(totals(&world), (3, 0));
}
