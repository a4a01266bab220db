//! The two-clock tracker on recorded traces and on hosts that are suspended, slewed and stepped at random;
//! and the naive forms beside it, on the same readings.

#![cfg(not(target_arch = "wasm32"))]

use proptest::prelude::*;
use serde_json::Value;
use sluicegate::Error;
use sluicegate::clock::{
    ClockTracker, Elapsed, ElapsedMs, ElapsedRealtimeMs, MonotonicMs, Readings, SuspendPolicy, Tolerance,
    TrackerConfig, WallMs,
};

const POLICIES: [SuspendPolicy; 3] = [SuspendPolicy::Ignore, SuspendPolicy::Credit, SuspendPolicy::Refuse];
const HOUR: i64 = 3_600_000;

/// A machine whose three clocks move together until it is suspended or its wall clock is set.
#[derive(Clone, Copy)]
struct Host {
    monotonic: i64,
    wall: i64,
    realtime: i64,
}

impl Host {
    const START: Self = Self { monotonic: 1_000_000, wall: 1_760_000_000_000, realtime: 1_000_000 };

    fn run(&mut self, ms: i64) {
        self.monotonic += ms;
        self.suspend(ms);
    }

    fn suspend(&mut self, ms: i64) {
        self.realtime += ms;
        self.wall += ms;
    }

    fn set(&mut self, by_ms: i64) {
        self.wall += by_ms;
    }

    fn readings(self) -> Readings {
        Readings { monotonic: MonotonicMs(self.monotonic), wall: WallMs(self.wall) }
    }

    fn tracker(self, policy: SuspendPolicy) -> ClockTracker {
        let mut reader = || Ok(ElapsedRealtimeMs(self.realtime));
        ClockTracker::start(TrackerConfig::new(policy), self.readings(), Some(&mut reader)).unwrap()
    }

    fn observe(self, tracker: &mut ClockTracker) -> Result<Elapsed, Error> {
        tracker.observe(self.readings(), None)
    }

    fn observe_with_reader(self, tracker: &mut ClockTracker) -> Result<Elapsed, Error> {
        tracker.observe(self.readings(), Some(&mut || Ok(ElapsedRealtimeMs(self.realtime))))
    }
}

fn kinds(seen: &Elapsed) -> Vec<&'static str> {
    seen.anomalies.iter().map(|anomaly| anomaly.kind.name()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// One column of one trace; what differs from what is expected.
fn replay(trace: &Value, column: &str, policy: SuspendPolicy) -> Vec<String> {
    let mut config = TrackerConfig::new(policy);
    if trace["quota_configured"] == false {
        config.earliest_plausible_wall = None;
    }
    let mut tracker = ClockTracker::new(config);
    let mut wrong = Vec::new();
    for (at, reading) in trace["readings"].as_array().unwrap().iter().enumerate() {
        let expect = &trace["expect"][column][at];
        let had_base = tracker.base().is_some();
        let mut asked = 0;
        let mut reader = || {
            asked += 1;
            ElapsedRealtimeMs::try_from_f64(number(&reading["boottime_ms"]))
        };
        let result = Readings::try_from_f64(number(&reading["monotonic_ms"]), number(&reading["wall_ms"]))
            .and_then(|readings| {
                tracker.observe(readings, if column == "reader" { Some(&mut reader) } else { None })
            });
        // The reader is also asked once when the base is taken, which the traces do not count.
        let for_base = usize::from(column == "reader" && !had_base && result.is_ok());
        let events: Vec<_> = match &result {
            Ok(seen) => kinds(seen),
            Err(_) => tracker.refused().iter().map(|anomaly| anomaly.kind.name()).collect(),
        };
        let sizes = result.as_ref().ok().and_then(|seen| seen.anomalies.first().copied());
        let got: [(_, Value); 6] = [
            ("credit_ms", result.as_ref().ok().map(|seen| seen.elapsed.0).into()),
            ("event", Some(events.join("+")).filter(|event| !event.is_empty()).into()),
            ("refused", result.as_ref().err().map(Error::code).into()),
            ("reader_read", (asked > for_base).into()),
            ("suspended_ms", sizes.and_then(|anomaly| anomaly.suspended_ms).into()),
            ("stepped_ms", sizes.and_then(|anomaly| anomaly.stepped_ms).into()),
        ];
        wrong.extend(
            got.iter()
                .filter(|(field, got)| expect.get(field).unwrap_or(got) != got || expect.is_null())
                .map(|(field, got)| {
                    format!(
                        "{} {column} {} [{at}] {field}: {got} for {}",
                        trace["id"],
                        policy.name(),
                        expect[field]
                    )
                }),
        );
    }
    wrong
}

/// The group `quota` files usage under calendar periods; the tests of the calendar quota replay it.
#[test]
fn every_recorded_trace_gets_its_verdict_under_every_policy_and_with_a_reader() {
    let traces: Vec<Value> = include_str!("corpus/clock_traces.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is one trace"))
        .collect();
    let (quota, clock): (Vec<_>, Vec<_>) = traces.iter().partition(|trace| trace["group"] == "quota");
    let mut wrong = Vec::new();
    let mut replayed = 0;
    for trace in &clock {
        for policy in POLICIES {
            for column in [policy.name(), "reader"] {
                wrong.extend(replay(trace, column, policy));
                replayed += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    // The column `reader` is the same for all three policies.
    assert_eq!((clock.len(), quota.len(), replayed), (41, 6, 41 * 6));
}

#[test]
fn a_suspend_and_an_equal_step_back_are_invisible_until_the_clocks_disagree_again() {
    let mut host = Host::START;
    let mut with_reader = host.tracker(SuspendPolicy::Ignore);
    let mut without = host.tracker(SuspendPolicy::Ignore);
    host.run(5);
    host.suspend(6 * HOUR);
    host.set(-6 * HOUR);
    let unseen = Elapsed { elapsed: ElapsedMs(5), anomalies: vec![] };
    assert_eq!(host.observe_with_reader(&mut with_reader), Ok(unseen.clone()));
    assert_eq!(host.observe(&mut without), Ok(unseen));
    host.run(1_000);
    host.set(HOUR);
    let seen = host.observe_with_reader(&mut with_reader).unwrap();
    assert_eq!((seen.elapsed.0, kinds(&seen)), (1_000 + 6 * 3_600_000, vec!["suspend", "wall-step-back"]));
    assert_eq!(host.observe(&mut without).unwrap().elapsed, ElapsedMs(1_000), "lost without a reader");
}

#[test]
fn what_cannot_be_true_is_dropped_and_the_base_stays() {
    let mut host = Host::START;
    let mut tracker = host.tracker(SuspendPolicy::Ignore);
    host.run(1_000);
    let back = Host { monotonic: host.monotonic - 1_001, wall: 0, ..host };
    assert_eq!(back.observe(&mut tracker).unwrap_err().code(), "monotonic-regression", "before the floor");
    let unset = Host { wall: 1_577_836_799_999, ..host };
    assert_eq!(unset.observe(&mut tracker).unwrap_err().code(), "implausible-wall", "before the jump");
    host.run(500);
    host.suspend(HOUR);
    let reader_back = Host { realtime: 999_999, ..host };
    assert_eq!(reader_back.observe_with_reader(&mut tracker).unwrap_err().code(), "reader-regression");
    let failing = tracker.observe(host.readings(), Some(&mut || ElapsedRealtimeMs::try_from_f64(f64::NAN)));
    assert_eq!(failing.unwrap_err().code(), "non-finite");
    assert_eq!(tracker.base(), Some(Host::START.readings()));
    assert_eq!(host.observe_with_reader(&mut tracker).unwrap().elapsed.0, 1_500 + HOUR as u64);
}

#[test]
fn a_refused_jump_is_an_error_once_and_keeps_its_sizes() {
    let mut host = Host::START;
    let mut tracker = host.tracker(SuspendPolicy::Refuse);
    host.run(5);
    host.suspend(HOUR);
    let error = host.observe(&mut tracker).unwrap_err();
    assert!(error.code() == "ambiguous-jump" && error.detail().contains("1 h 0 min"), "{error}");
    assert_eq!(
        tracker.refused().map(|jump| (jump.kind.name(), jump.disagreement_ms)),
        Some(("wall-ahead", HOUR))
    );
    host.run(1_000);
    assert_eq!(host.observe(&mut tracker), Ok(Elapsed { elapsed: ElapsedMs(1_000), anomalies: vec![] }));
    assert_eq!(tracker.refused(), None);
}

#[test]
fn a_reader_that_comes_late_leaves_the_first_jump_to_the_policy() {
    let mut host = Host::START;
    let config = TrackerConfig::new(SuspendPolicy::Credit);
    let mut tracker = ClockTracker::start(config, host.readings(), None).unwrap();
    for (wanted, elapsed) in [("wall-ahead", HOUR), ("suspend", 2 * HOUR)] {
        host.suspend(elapsed);
        let seen = host.observe_with_reader(&mut tracker).unwrap();
        assert_eq!((kinds(&seen), seen.elapsed.0), (vec![wanted], elapsed as u64));
    }
}

#[test]
fn two_parts_that_only_together_are_an_event_are_reported_as_the_larger() {
    for (suspended, stepped, wanted) in [(200, 100, "suspend"), (100, 200, "wall-step-forward")] {
        let mut host = Host::START;
        let mut tracker = host.tracker(SuspendPolicy::Ignore);
        host.suspend(suspended);
        host.set(stepped);
        let seen = host.observe_with_reader(&mut tracker).unwrap();
        assert_eq!((kinds(&seen), seen.elapsed.0), (vec![wanted], suspended as u64));
    }
}

#[test]
fn a_step_after_a_month_of_slewing_is_named_by_its_own_direction() {
    for (stepped, wanted) in [(600_000, "wall-step-forward"), (-600_000, "wall-step-back")] {
        for slew_ppm in [-400, 400] {
            let mut host = Host::START;
            let mut tracker = host.tracker(SuspendPolicy::Ignore);
            for _ in 0..30 * 24 {
                host.run(HOUR);
                host.set(HOUR * slew_ppm / 1_000_000);
                assert_eq!(kinds(&host.observe_with_reader(&mut tracker).unwrap()), [""; 0]);
            }
            host.set(stepped);
            let seen = host.observe_with_reader(&mut tracker).unwrap();
            assert_eq!((kinds(&seen), seen.elapsed.0), (vec![wanted], 0));
            let size = seen.anomalies[0].stepped_ms.unwrap();
            assert_eq!(size.signum(), stepped.signum(), "{size} for {stepped} after {slew_ppm} ppm");
        }
    }
}

/// A request each 10 ms for 10 s; the wall clock is set back 250 ms half way.
#[test]
fn both_naive_buckets_lose_refill_at_a_step_back_and_the_tracker_none() {
    let mut host = Host::START;
    let mut tracker = host.tracker(SuspendPolicy::Ignore);
    let (mut stores_now, mut stores_larger) = ((host.wall, 0, 0), (host.wall, 0, 0));
    let mut ours = 0;
    for request in 0..1_000 {
        host.run(10);
        if request == 500 {
            host.set(-250);
        }
        for (last, credited, standing) in [&mut stores_now, &mut stores_larger] {
            let elapsed = (host.wall - *last).max(0);
            *credited += elapsed;
            *standing += i64::from(elapsed == 0);
        }
        stores_now.0 = host.wall;
        stores_larger.0 = stores_larger.0.max(host.wall);
        ours += host.observe(&mut tracker).unwrap().elapsed.0;
    }
    assert_eq!((stores_now.1, stores_now.2), (9_990, 1), "`last = now` loses one interval");
    assert_eq!((stores_larger.1, stores_larger.2), (9_750, 25), "`max(last, now)` stands still for the step");
    assert_eq!(ours, 10_000);
}

/// What happens to a host between two readings: it runs, sleeps, is set, and has a reader or not.
fn life() -> impl Strategy<Value = Vec<(i64, i64, i64, bool)>> {
    let sleep = prop_oneof![3 => Just(0i64), 1 => 0i64..400, 1 => 0..8 * HOUR];
    let set = prop_oneof![3 => Just(0i64), 1 => -400i64..400, 1 => -8 * HOUR..8 * HOUR];
    prop::collection::vec((0i64..20_000, sleep, set, any::<bool>()), 1..120)
}

fn policy() -> impl Strategy<Value = SuspendPolicy> {
    prop::sample::select(&POLICIES[..])
}

proptest! {
    /// With a reader nothing is credited that did not pass, and all of it once the clocks disagree.
    #[test]
    fn credit_is_at_most_the_monotonic_and_the_suspended_time(life in life(), policy in policy()) {
        let mut host = Host::START;
        let mut tracker = host.tracker(policy);
        let (mut total, mut unclaimed) = (0, 0);
        for (run, sleep, set, _) in life {
            host.run(run);
            host.suspend(sleep);
            host.set(set);
            unclaimed += sleep;
            let seen = host.observe_with_reader(&mut tracker).unwrap();
            let credited = i64::try_from(seen.elapsed.0).unwrap();
            prop_assert!((run..=run + unclaimed).contains(&credited));
            total += credited;
            if !seen.anomalies.is_empty() {
                prop_assert_eq!(credited, run + unclaimed);
                prop_assert_eq!(total, host.realtime - Host::START.realtime, "everything is claimed");
                unclaimed = 0;
            }
        }
    }

    /// No step: then no policy and no reader that comes and goes credits more than what really passed.
    #[test]
    fn a_suspend_is_never_credited_twice(life in life(), policy in policy()) {
        let mut host = Host::START;
        let mut tracker = host.tracker(policy);
        let mut total = 0;
        for (run, sleep, _, has_reader) in life {
            host.run(run);
            host.suspend(sleep);
            let seen =
                if has_reader { host.observe_with_reader(&mut tracker) } else { host.observe(&mut tracker) };
            let seen = seen.unwrap_or_default();
            total += seen.elapsed.0;
            let real = (host.realtime - Host::START.realtime) as u64;
            prop_assert!(total <= real);
            if policy == SuspendPolicy::Ignore && has_reader && !seen.anomalies.is_empty() {
                prop_assert_eq!(total, real, "what was ignored meanwhile is claimed");
            }
        }
    }

    /// Without a reader: dm, or what the policy says of a jump ahead; and a report beyond the budget only.
    #[test]
    fn an_event_is_reported_exactly_beyond_the_budget(life in life(), policy in policy()) {
        let mut host = Host::START;
        let mut tracker = host.tracker(policy);
        for (run, sleep, set, _) in life {
            host.run(run);
            host.suspend(sleep);
            host.set(set);
            let apart = sleep + set;
            let beyond = apart.abs() * 1_000_000 > 250 * 1_000_000 + run * 500;
            let wanted = match policy {
                SuspendPolicy::Credit if beyond && apart > 0 => Some(run + apart),
                SuspendPolicy::Refuse if beyond && apart > 0 => None,
                _ => Some(run),
            };
            let seen = host.observe(&mut tracker);
            let reported = seen.as_ref().map_or(1, |seen| seen.anomalies.len());
            prop_assert_eq!(reported, usize::from(beyond));
            prop_assert_eq!(seen.ok().map(|seen| seen.elapsed.0), wanted.map(|ms| ms as u64));
        }
    }

    /// Slewed by anything within the budget, with any tolerance: all of the monotonic time, and no report.
    #[test]
    fn slewing_within_the_budget_credits_all_of_the_monotonic_time(
        intervals in prop::collection::vec((0i64..10_000_000, -1.0..=1.0f64), 1..200),
        fixed_ms in 0u64..2_000,
        ppm in 0u32..200_000,
        policy in policy(),
    ) {
        let tolerance = Tolerance { fixed_ms, ppm };
        let mut host = Host::START;
        let config =
            TrackerConfig { tolerance, earliest_plausible_wall: None, ..TrackerConfig::new(policy) };
        let mut tracker = ClockTracker::start(config, host.readings(), None).unwrap();
        let mut total = 0;
        for (run, share) in intervals {
            host.run(run);
            host.set((tolerance.budget_ms(run as u64) as f64 * share) as i64);
            let seen = host.observe(&mut tracker).unwrap();
            prop_assert!(seen.anomalies.is_empty());
            total += seen.elapsed.0;
        }
        prop_assert_eq!(total, (host.monotonic - Host::START.monotonic) as u64);
    }

    #[test]
    fn no_reading_panics(
        readings in prop::collection::vec((any::<i64>(), any::<i64>(), any::<Option<i64>>()), 1..20),
        policy in policy(),
        fixed_ms: u64,
        ppm: u32,
    ) {
        let tolerance = Tolerance { fixed_ms, ppm };
        let mut tracker =
            ClockTracker::new(TrackerConfig { policy, tolerance, earliest_plausible_wall: None });
        for (monotonic, wall, realtime) in readings {
            let readings = Readings { monotonic: MonotonicMs(monotonic), wall: WallMs(wall) };
            let seen = match realtime {
                Some(ms) => tracker.observe(readings, Some(&mut || Ok(ElapsedRealtimeMs(ms)))),
                None => tracker.observe(readings, None),
            };
            for anomaly in seen.unwrap_or_default().anomalies {
                prop_assert!(!anomaly.to_string().is_empty());
            }
        }
    }
}
