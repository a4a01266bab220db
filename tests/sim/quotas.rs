//! Calendar quotas over many points of presence: exact.

use proptest::prelude::*;
use sluicegate::clock::WallMs;
use sluicegate::ledger::TenantOp;
use sluicegate::sim::{Fault, Pace, Place, Scenario, Simulation, Stream, Tally, Zones};

use super::support::*;
use super::worlds::{config_with_cases, world};

/// Per serial at most the limit; and the Ledger's books agree with each other and with what happened.
fn agrees<Z: Zones>(world: &mut Simulation<Z>, limit: u64) -> Result<(), TestCaseError> {
    let units = world.units("quota", KEY);
    for (serial, units) in &units {
        prop_assert!(*units <= limit, "{} of {} in serial {}", units, limit, serial);
    }
    let Some(audit) = world.audit("quota", KEY) else { return Ok(()) };
    prop_assert!(audit.consistent, "{:?}", audit.faults);
    prop_assert_eq!(audit.granted, audit.spent + audit.returned + audit.forfeited + audit.outstanding);
    prop_assert!(audit.spent + audit.forfeited + audit.outstanding <= limit);
    let admitted = units.iter().find(|(serial, _)| *serial == audit.serial).map_or(0, |(_, units)| *units);
    prop_assert!(
        admitted <= audit.spent + audit.forfeited + audit.outstanding,
        "{} by {:?}",
        admitted,
        audit
    );
    Ok(())
}

const WINDOWS: u64 = 6;

proptest! {
    #![proptest_config(config_with_cases(140))]

    /// Whatever goes wrong, no period passes its limit, and no unit gets lost in the books: checked in the middle
    /// of it and at the end. Midnight comes in the middle, by the Ledger's clock or not.
    #[test]
    fn no_period_is_passed(
        (limit, world) in prop_oneof![4 => 1u64..100, 2 => 100u64..600].prop_flat_map(|limit| (Just(limit), world(limit / 2 + 5, WINDOWS))),
        before_midnight in prop_oneof![Just(0u64), 1u64..WINDOWS * WINDOW],
    ) {
        let mut scenario = world.scenario(&quota(limit, DAY), WINDOWS * WINDOW, 1);
        scenario.starts_at = WallMs(scenario.starts_at.0 - before_midnight as i64);
        let mut world = Simulation::new(scenario);
        for window in 1..WINDOWS + 2 {
            world.run_until(window * WINDOW);
            agrees(&mut world, limit)?;
        }
    }
}

/// Demand for twice the limit anywhere, then a few requests here and there.
fn twice_the_demand(limit: u64, seconds: u64) -> [Stream; 2] {
    let gap_us = seconds * 1_000_000 / (2 * limit);
    let all = Stream::new("quota", seconds * 1_000, Pace::Random { gap_us }, Place::Anywhere);
    let late = Pace::Steady { gap_us: 500_000 };
    let rest = Stream {
        from_ms: seconds * 1_000,
        ..Stream::new("quota", seconds * 1_000 + 60_000, late, Place::Moving { stay_ms: 7_000 })
    };
    [all, rest]
}

/// Where everybody lives, the whole limit is let through, to the last unit: also with clocks that are off by
/// hours, and with objects that leave memory.
#[test]
fn the_last_unit_is_reached() {
    for (limit, pops, seconds) in [(1, 3, 5), (60, 20, 60), (500, 20, 30), (5_000, 3, 20), (97, 12, 600)] {
        let mut scenario = with(scenario(&quota(limit, DAY), pops), twice_the_demand(limit, seconds));
        scenario.pops = (0..pops as i64).map(|pop| ahead((pop - 4) * 5_000_000)).collect();
        let mut world = Simulation::new(scenario);
        world.run_until(seconds * 1_000 + 70_000);
        let (report, audit) = (world.report(), world.audit("quota", KEY).unwrap());
        let tally = &report.policies[0].tally;
        assert_eq!(
            (tally.admitted_units, report.totals.gave_up),
            (limit, 0),
            "{limit} over {pops}: {audit:?}"
        );
        assert_eq!((audit.spent, audit.forfeited), (limit, 0));
    }
}

/// A few requests at one place, and all the rest at another: no unit is left behind.
#[test]
fn a_client_that_moves_gets_all_of_it() {
    // Twenty requests a second: what an idle point of presence holds comes back within ten seconds.
    for stay_ms in [900, 11_000] {
        let pace = Pace::Steady { gap_us: 50_000 };
        let stream = Stream::new("quota", 120_000, pace, Place::Moving { stay_ms });
        let tally = run(with(scenario(&quota(1_000, DAY), 20), [stream]), 130_000).tally;
        assert_eq!(tally.admitted_units, 1_000, "{tally:?}");
        assert!(tally.early <= 10 * 20, "{} refused although units were left", tally.early);
    }
}

/// Two points of presence get one request each, and never another: what they hold comes back by itself.
#[test]
fn an_idle_lease_is_returned() {
    let once = |pop| Stream::new("quota", 1_500, Pace::Steady { gap_us: 1_000_000 }, Place::Pop(pop));
    let rest = Stream::new("quota", 60_000, Pace::Steady { gap_us: 250_000 }, Place::Pop(2));
    let tally = run(with(scenario(&quota(200, DAY), 3), [once(0), once(1), rest]), 70_000).tally;
    assert_eq!(tally.admitted_units, 200, "{tally:?}");
}

/// A point of presence that is used now and then keeps nothing from others: what it has written off and not
/// spent it returns when it is told that somebody waits; and an idle one by itself.
#[test]
fn a_slow_point_of_presence_hoards_nothing() {
    let slow = |from_ms, gap_ms: u64, until_ms| Stream {
        from_ms,
        ..Stream::new("quota", until_ms, Pace::Steady { gap_us: gap_ms * 1_000 }, Place::Pop(0))
    };
    // A lease has 20 units, which are written off at once. Eighty requests a second: nothing is left for the busy
    // one after some 25 seconds.
    let busy = || Stream::new("quota", 60_000, Pace::Steady { gap_us: 12_500 }, Place::Pop(1));
    let often = [500, 1_500, 4_000].map(|gap_ms| (slow(1_000, gap_ms, 60_000), 6_000));
    let seldom = (0..9).map(|from| (slow(500 + from * 1_000, 9_000, 60_000), 10_000));
    let no_more = (6..9).map(|from| (slow(500 + from * 1_000, 8_000, 25_000), 11_000));
    for (slow, within_ms) in often.into_iter().chain(seldom).chain(no_more) {
        let mut world = Simulation::new(with(scenario(&quota(2_000, DAY), 3), [slow.clone(), busy()]));
        let mut times = [24_000, 24_000];
        for (time, done) in
            times.iter_mut().zip([|t: &Tally| t.refused > 0, |t: &Tally| t.admitted_units == 2_000])
        {
            while !done(&world.report().policies[0].tally) {
                assert!(*time < 55_000, "units are stuck: {slow:?}, {:?}", world.report());
                *time += 100;
                world.run_until(*time);
            }
        }
        let [refused_at, used_up_at] = times;
        assert!(used_up_at <= refused_at + within_ms, "{refused_at} to {used_up_at}: {slow:?}");
    }
}

/// One request each 15 s: an eviction after each of them once cost a chunk.
#[test]
fn an_ordinary_eviction_forfeits_nothing() {
    let stream = Stream::new("quota", 300 * 15_000, Pace::Steady { gap_us: 15_000_000 }, Place::Pop(0));
    let mut world = Simulation::new(with(Scenario { log: 10, ..scenario(&quota(250, DAY), 1) }, [stream]));
    world.run_until(300 * 15_000 + 20_000);
    let audit = world.audit("quota", KEY).unwrap();
    assert!(world.report().totals.starts > 300, "it stayed in memory");
    assert_eq!((audit.spent, audit.forfeited, world.report().policies[0].tally.admitted), (250, 0, 250));
}

/// Each crash forfeits a chunk at most, and what is forfeited is never granted again.
#[test]
fn a_crash_costs_one_chunk() {
    let mut scenario = with(scenario(&quota(1_000, DAY), 4), twice_the_demand(1_000, 40));
    let crashes = 30;
    scenario.faults =
        (1..=crashes).map(|n| (n * 1_300, Fault::Crash { machine: POP((n % 4) as usize) })).collect();
    let mut world = Simulation::new(scenario);
    world.run_until(120_000);
    agrees(&mut world, 1_000).unwrap();
    let audit = world.audit("quota", KEY).unwrap();
    let admitted = world.report().policies[0].tally.admitted_units;
    assert!(audit.forfeited > 0 && audit.forfeited <= crashes * 20, "{audit:?}");
    // A caller whose request was written off in the crash got no answer.
    assert!(admitted + audit.forfeited + world.report().totals.gave_up >= 1_000, "{admitted}: {audit:?}");
    assert_eq!(audit.spent + audit.forfeited, 1_000, "{audit:?}");
}

/// Units that are out at a point of presence that is cut off come back when it does, or stay out.
#[test]
fn a_point_of_presence_out_of_reach_keeps_its_units_only() {
    for for_ms in [20_000, 10_000_000] {
        let mut scenario = with(scenario(&quota(400, DAY), 4), twice_the_demand(400, 40));
        scenario.faults = vec![(10_000, Fault::CutOff { machine: POP(0), for_ms })];
        let mut world = Simulation::new(scenario);
        world.run_until(120_000);
        agrees(&mut world, 400).unwrap();
        let audit = world.audit("quota", KEY).unwrap();
        let admitted = world.report().policies[0].tally.admitted_units;
        let comes_back = for_ms < 120_000;
        assert_eq!(admitted == 400, comes_back, "{admitted}: {audit:?}");
        // A share of the limit at most: 4 a lease, and two of them.
        assert!(admitted >= 390, "{admitted}: {audit:?}");
    }
}

/// The period is the Ledger's, in the tenant's zone: wherever midnight is elsewhere.
#[test]
fn a_period_rolls_when_the_ledger_says_so() {
    // In Paris April begins two hours before it does in UTC.
    let month = r#"{"unit": "month", "time_zone": "Europe/Paris"}"#;
    let stream = Stream::new("quota", 60_000, Pace::Steady { gap_us: 100_000 }, Place::Anywhere);
    let mut scenario = with(scenario(&quota(100, month), 3), [stream]);
    scenario.starts_at = WallMs(scenario.starts_at.0 - 2 * 3_600_000 - 30_000);
    scenario.pops = vec![ahead(0), ahead(3_600_000), ahead(-3_600_000)];
    let mut world = Simulation::with_zones(scenario, Bundled);
    world.run_until(29_000);
    assert_eq!(world.usage("quota", KEY).unwrap().slot, "2026-03");
    world.run_until(70_000);
    let usage = world.usage("quota", KEY).unwrap();
    assert_eq!((usage.slot.as_str(), usage.serial, usage.used), ("2026-04", 2, 100));
    assert_eq!(world.units("quota", KEY), [(1, 100), (2, 100)]);
}

/// A step back over midnight opens nothing again; a step ahead does open the next day, once.
#[test]
fn a_step_of_the_ledgers_clock_gives_no_second_quota() {
    let stream = Stream::new("quota", 100_000, Pace::Steady { gap_us: 100_000 }, Place::Anywhere);
    let mut scenario = with(scenario(&quota(100, DAY), 3), [stream]);
    scenario.starts_at = WallMs(scenario.starts_at.0 - 20_000);
    scenario.faults = vec![
        (30_000, step(LEDGER, -60_000)),
        (60_000, step(LEDGER, DAY_MS as i64 + 60_000)),
        (80_000, step(LEDGER, -(DAY_MS as i64))),
    ];
    let mut world = Simulation::new(scenario);
    world.run_until(110_000);
    assert_eq!(world.units("quota", KEY), [(1, 100), (2, 100), (3, 100)]);
    agrees(&mut world, 100).unwrap();
}

/// New settings count within seconds where a point of presence is in use; units that are out are still spent.
#[test]
fn a_changed_limit_counts_soon() {
    let stream = Stream::new("quota", 60_000, Pace::Steady { gap_us: 20_000 }, Place::Anywhere);
    let mut world = Simulation::new(with(scenario(&quota(100_000, DAY), 3), [stream]));
    world.run_until(20_000);
    let put = |limit| TenantOp::Put { limit: Some(limit), period: None };
    world.tenant("quota", KEY, put(1_000)).unwrap();
    world.run_until(60_000);
    let out = world.units("quota", KEY)[0].1;
    assert!((1_000..=1_000 + 3_000).contains(&out), "{out}");
}

/// A request of a window and a quota takes both or neither: what a quota refuses is given back to the window.
#[test]
fn a_request_of_two_limits_takes_both_or_neither() {
    let both = Stream {
        policies: vec!["api".to_owned(), "quota".to_owned()],
        ..Stream::new("api", 6 * WINDOW, Pace::Random { gap_us: 50_000 }, Place::Anywhere)
    };
    let late = Pace::Random { gap_us: 25_000 };
    let alone = Stream { from_ms: 4 * WINDOW, ..Stream::new("api", 6 * WINDOW, late, Place::Anywhere) };
    let mut scenario = Scenario { traffic: vec![both, alone], ..scenario(&window(100, 100_000), 5) };
    scenario.config = config(&[window(100, 100_000), quota(250, DAY)]);
    let mut world = Simulation::new(scenario);
    world.run_until(4 * WINDOW);
    let report = world.report();
    let (api, spent) = (&report.policy("api").unwrap().tally, &report.policy("quota").unwrap().tally);
    assert_eq!((api.admitted, spent.admitted), (250, 250), "{api:?} {spent:?}");
    // Nothing is left of the quota, and the window is whole for others.
    world.run_until(7 * WINDOW);
    let last = world.units("api", KEY).into_iter().rev().take(2);
    assert!(
        last.map(|(_, units)| units).all(|units| (95..=110).contains(&units)),
        "{:?}",
        world.units("api", KEY)
    );
    assert_eq!(world.audit("quota", KEY).unwrap().spent, 250);
}
