//! What one would write first breaks its promise on traffic on which the limits here keep theirs.

use sluicegate::sim::{ClockSpec, Pace, Place, PolicyReport, Scenario, Stream};

use super::support::*;

/// Four times the limit of 100, at 20 points of presence whose clocks are a little or a lot off.
fn report(spread_ms: i64) -> PolicyReport {
    let stream =
        Stream::new("api", 10 * WINDOW, Pace::Random { gap_us: WINDOW * 1_000 / 400 }, Place::Anywhere);
    let mut scenario = with(Scenario { naive: true, ..scenario(&window(100, 100_000), 20) }, [stream]);
    scenario.pops =
        (0..20).map(|pop| ClockSpec { offset_ms: (pop - 10) * spread_ms / 10, drift_ppm: 20 }).collect();
    run(scenario, 11 * WINDOW)
}

#[test]
fn a_shared_stamp_that_many_clocks_write_is_no_limit() {
    let report = report(3_600_000);
    let naive = report.naive("shared-stamp-bucket").unwrap();
    assert!(naive.worst_window > 2 * report.ceiling && naive.worst_window > 350, "{naive:?}");
    // Offsets of a second are enough, as a bucket fills a tenth in that time.
    let close = self::report(1_000);
    let naive = close.naive("shared-stamp-bucket").unwrap();
    assert!(naive.worst_window > 2 * close.ceiling, "{naive:?}");
    for report in [report, close] {
        assert!(
            report.tally.worst_epoch <= report.ceiling && report.tally.worst_window <= 2 * report.ceiling
        );
    }
}

#[test]
fn a_window_that_each_machine_computes_is_no_limit() {
    let report = report(3_600_000);
    assert!(report.naive("shared-window").unwrap().worst_epoch > 350, "{report:?}");
    assert!(report.tally.worst_epoch <= report.ceiling);
}

#[test]
fn each_alone_lets_through_as_many_times_the_limit_as_there_are_of_them() {
    let report = report(0);
    assert!(report.naive("each-alone").unwrap().worst_epoch > 3 * report.limit, "{report:?}");
}

/// The limit divided by the points of presence is never passed, and refuses a client that stays at one of
/// them long before it has used its limit.
#[test]
fn a_part_each_refuses_early() {
    let stream = Stream::new("api", 10 * WINDOW, Pace::Random { gap_us: WINDOW * 1_000 / 90 }, Place::Pop(3));
    let scenario = with(Scenario { naive: true, ..scenario(&window(100, 100_000), 20) }, [stream]);
    let report = run(scenario, 11 * WINDOW);
    let naive = report.naive("each-a-part").unwrap();
    assert!(naive.early * 1_000 / naive.decisions > 900, "{naive:?}");
    assert!(report.tally.early * 1_000 / report.tally.decisions < 10, "{:?}", report.tally);
}

/// A quota of a day that each machine looks up in its own calendar begins anew with each request around
/// midnight.
#[test]
fn a_period_that_each_machine_computes_is_no_quota() {
    let stream = Stream::new("quota", 60_000, Pace::Random { gap_us: 50_000 }, Place::Anywhere);
    let mut scenario = with(Scenario { naive: true, ..scenario(&quota(100, DAY), 3) }, [stream]);
    scenario.pops = vec![ahead(0), ahead(-3_600_000), ahead(0)];
    let report = run(scenario, 70_000);
    assert!(report.naive("shared-period").unwrap().worst_epoch > 500, "{report:?}");
    assert_eq!(report.tally.worst_epoch, 100);
}
