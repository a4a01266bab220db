//! (E2) to (E5) of the joined system.

use sluicegate::config::OnError;
use sluicegate::sim::{Fault, LogEvent, Network, Pace, Place, Scenario, Simulation, Stream};

use super::support::*;

/// A steady stream at the first of two points of presence, five times the limit of 100.
fn busy(windows: u64) -> Scenario {
    let stream = Stream::new("api", windows * WINDOW, Pace::Steady { gap_us: 20_000 }, Place::Pop(0));
    with(Scenario { log: 1_000_000, ..scenario(&window(100, 100_000), 2) }, [stream])
}

/// (E2) Every epoch that was filed under was told by the Ledger, and late by one ask at most.
#[test]
fn nobody_files_under_an_epoch_that_was_not_opened() {
    let mut scenario = busy(10);
    scenario.pops = vec![ahead(37_000), ahead(-3_600_000)];
    scenario.faults = vec![(23_000, step(POP(0), 90_000)), (47_000, step(POP(0), -45_000))];
    let mut world = Simulation::new(scenario);
    for window in 1..=10 {
        world.run_until(window * WINDOW);
        let told: Vec<u64> = world
            .log()
            .filter_map(|entry| match entry.event {
                LogEvent::Epoch { epoch, .. } => Some(epoch),
                _ => None,
            })
            .collect();
        let (first, last) = (told[0], told[told.len() - 1]);
        assert_eq!(last - first + 1, window, "{told:?}");
        for (epoch, units) in world.units("api", KEY) {
            assert!(epoch <= last + 1 && (units <= 110 || epoch == last), "{epoch}: {units}");
        }
    }
    assert_eq!(world.report().totals.epochs_back, 0);
}

/// (E3) A point of presence whose clock stands still in the middle of a window follows the Ledger all the same:
/// it asks on refusals number 1, 2, 4 ... 64 and on each 64th. What is refused while that ask is under way comes
/// on top.
#[test]
fn a_frozen_clock_follows_within_64_refusals() {
    let freeze = Fault::Freeze { machine: POP(0), for_ms: 20 * WINDOW };
    for fault in [freeze, step(POP(0), -3_600_000)] {
        let mut scenario = busy(10);
        scenario.faults = vec![(13_000, fault)];
        let mut world = Simulation::new(scenario);
        world.run_until(10 * WINDOW);
        let units = world.units("api", KEY);
        let full = units.iter().filter(|(_, units)| *units >= 100).count();
        assert!(full >= 9, "{fault:?}: {units:?}");
        // 500 requests in a window, of which 100 fit: one that followed late would have refused more.
        let refusals = world.report().policies.remove(0).tally.refused;
        let round_trip = 5;
        assert!(refusals <= 10 * (400 + 64 + round_trip), "{fault:?}: {refusals}");
        // No window but the first was noticed later than 64 refusals and a round trip after its begin.
        let gaps = late_starts(&world);
        assert!(gaps.iter().all(|late| *late <= (64 + round_trip) * 20 + 100), "{fault:?}: {gaps:?}");
    }
}

/// For each epoch but the first, how long after the end of the one before the first point of presence was told.
fn late_starts(world: &Simulation) -> Vec<u64> {
    let told = world.log().filter_map(|entry| match entry.event {
        LogEvent::Epoch { .. } => Some(entry.at_ms % WINDOW),
        _ => None,
    });
    told.skip(1).collect()
}

/// (E4) After any step of the Ledger's clock epochs never shrink, and the next one opens within two windows.
#[test]
fn a_step_of_the_ledgers_clock_locks_nobody_out() {
    for ms in [-86_400_000, -3_600_000, -7_000, -1_500, 4_000, 25_000, 86_400_000] {
        let mut scenario = busy(12);
        scenario.faults = vec![(33_000, step(LEDGER, ms)), (77_000, step(LEDGER, -ms))];
        let mut world = Simulation::new(scenario);
        world.run_until(12 * WINDOW);
        let mut last = (0, 0);
        for entry in world.log() {
            if let LogEvent::Epoch { epoch, .. } = entry.event {
                assert!(epoch > last.0, "{ms}");
                assert!(
                    last.0 == 0 || entry.at_ms - last.1 <= 2 * WINDOW + 1_000,
                    "{ms}: {last:?}, {entry:?}"
                );
                last = (epoch, entry.at_ms);
            }
        }
        assert!(last.1 >= 10 * WINDOW, "{ms}: no epoch after {last:?}");
        let report = world.report();
        assert_eq!(report.totals.epochs_back, 0);
        assert!(report.policies[0].tally.worst_epoch <= 110, "{ms}");
        assert!(report.policies[0].tally.admitted >= 9 * 100, "{ms}: {:?}", report.policies[0].tally);
    }
}

/// (E5) With no Ledger in reach `on_error` decides.
#[test]
fn out_of_reach_on_error_decides() {
    for (word, on_error) in [("closed", OnError::Closed), ("open", OnError::Open), ("local", OnError::Local)]
    {
        let policy = window(100, 100_000).replace("closed", word);
        let stream = Stream::new("api", 10 * WINDOW, Pace::Steady { gap_us: 20_000 }, Place::Anywhere);
        let mut scenario = with(scenario(&policy, 4), [stream]);
        scenario.faults = vec![(2 * WINDOW, Fault::CutOff { machine: LEDGER, for_ms: 20 * WINDOW })];
        scenario.network = Network { told_after_ms: Some(100), ..Network::default() };
        let tally = run(scenario, 11 * WINDOW).tally;
        let per_window = tally.by_on_error / 8;
        match on_error {
            OnError::Closed => assert!(tally.by_on_error == 0 && tally.unavailable > 2_000, "{tally:?}"),
            OnError::Open => assert!(per_window > 350, "{tally:?}"),
            // A quarter of the limit at each of four.
            OnError::Local => assert!((80..=125).contains(&per_window), "{tally:?}"),
        }
    }
}
