//! Several ways to count on the same requests: what a comparison shows does not depend on how it is watched.

use serde_json::{Value, json};
use sluicegate::config::Config;
use sluicegate::sim::compare::{Comparison, Frame, Sample, Series, SeriesName, WorldSpec};
use sluicegate::sim::{ClockSpec, Fault, Pace, Place, Scenario, Simulation, Stream};

use super::pinned;
use super::support::*;

/// What goes wrong, and at which time.
pub type Faults = Vec<(u64, Value)>;

/// 1 April 2026, 00:00 UTC.
pub const APRIL: i64 = 1_775_001_600_000;

/// 60 a minute at points of presence with these offsets.
pub fn minutes(offsets_ms: &[i64], traffic: Value) -> Value {
    let clocks: Vec<Value> = offsets_ms.iter().map(|ms| json!({"offset_ms": ms})).collect();
    json!({
        "seed": 1, "starts_at_ms": APRIL, "limit": 60, "counts": {"window_ms": 60_000},
        "tolerance_ppm": 100_000, "on_error": "closed", "pops": clocks, "ledger": {"offset_ms": 0},
        "network": {"latency_ms": 20, "jitter_ms": 10, "loss_ppm": 0}, "traffic": traffic, "sample_ms": 500
    })
}

/// Requests at random, so far apart on average.
pub fn random(from_ms: u64, until_ms: u64, gap_ms: u64, place: Value) -> Value {
    json!({"from_ms": from_ms, "until_ms": until_ms, "pace": {"random": {"gap_us": gap_ms * 1_000}},
        "place": place})
}

/// The same with another value of one field.
pub fn put(spec: &Value, field: &str, value: Value) -> Value {
    let mut spec = spec.clone();
    spec[field] = value;
    spec
}

pub fn begin(spec: &Value) -> Comparison {
    Comparison::new(WorldSpec::from_json(&spec.to_string()).unwrap()).unwrap()
}

/// Lets time pass to each of the stops, and what goes wrong happen at its time. A frame for each of the stops.
pub fn play(spec: &Value, faults: &Faults, stops: &[u64]) -> (Vec<Frame>, Vec<Sample>) {
    let mut world = begin(spec);
    let mut faults = faults.iter().peekable();
    let mut frames = Vec::new();
    for stop in stops {
        while let Some((at, fault)) = faults.next_if(|(at, _)| at < stop) {
            world.advance(*at);
            let fault = world.spec().fault_from_json(&fault.to_string()).unwrap();
            world.fail(fault);
        }
        world.advance(*stop);
        frames.push(world.frame());
    }
    (frames, world.take_samples())
}

pub fn series(frame: &Frame, name: SeriesName) -> &Series {
    frame.series.iter().find(|series| series.name == name).unwrap()
}

/// Everything that can go wrong, to six points of presence.
fn trouble() -> Faults {
    vec![
        (7_003, json!({"step": {"machine": {"pop": 0}, "ms": -60_000}})),
        (12_000, json!({"cut-off": {"machine": {"pop": 1}, "for_ms": 30_000}})),
        (12_000, json!({"crash": {"machine": {"pop": 2}}})),
        (31_500, json!({"freeze": {"machine": {"pop": 3}, "for_ms": 9_000}})),
        (40_001, json!({"split": {"machine": {"pop": 4}, "for_ms": 20_000}})),
        (70_000, json!({"crash": {"machine": {"ledger": 0}}})),
        (82_000, json!({"step": {"machine": {"ledger": 0}, "ms": -5_000}})),
        (95_000, json!({"split": {"machine": {"ledger": 0}, "for_ms": 3_000}})),
    ]
}

fn troubled() -> Value {
    let traffic = json!([random(0, 140_000, 250, json!("anywhere")), {"from_ms": 0, "until_ms": 130_000,
        "pace": {"bursts": {"every_ms": 30_000, "first_ms": 29_900, "requests": 40, "spread_ms": 200}},
        "place": {"moving": {"stay_ms": 700}}}]);
    let spec = minutes(&[0, 900, -120, 40, -3_600_000, 7], traffic);
    put(&spec, "network", json!({"latency_ms": 30, "jitter_ms": 200, "loss_ppm": 50_000}))
}

fn without_events(frame: &Frame) -> Frame {
    Frame { events: Vec::new(), ..frame.clone() }
}

/// The same samples and the same end, in one step or in thousands, whatever is looked at in between.
#[test]
fn nothing_depends_on_the_steps() {
    let month =
        put(&put(&troubled(), "counts", json!({"period": "day"})), "starts_at_ms", json!(APRIL - 60_000));
    for spec in [troubled(), month] {
        let (frames, samples) = play(&spec, &trouble(), &[150_000]);
        assert_eq!(samples.len(), 300);
        for step in [7, 500, 977, 16_000] {
            let stops: Vec<u64> = (0..150_000).step_by(step).chain([150_000]).collect();
            let (other_frames, other_samples) = play(&spec, &trouble(), &stops);
            assert!(samples == other_samples, "in steps of {step}");
            assert_eq!(without_events(&frames[0]), without_events(other_frames.last().unwrap()));
        }
        let (_, others) = play(&put(&spec, "seed", json!(2)), &trouble(), &[150_000]);
        assert_ne!(samples, others);
    }
}

/// The naive limiters see each request as it comes in, so two worlds in which they did the same had the same
/// requests, at the same places and times.
#[test]
fn the_same_requests_come_in_whatever_is_made_of_them() {
    let naive = |tolerance_ppm| {
        let stream = Stream::new("api", 9 * WINDOW, Pace::Random { gap_us: 20_000 }, Place::Anywhere);
        let mut scenario =
            with(Scenario { naive: true, ..scenario(&window(100, tolerance_ppm), 7) }, [stream]);
        scenario.pops = (0..7).map(|pop| ClockSpec { offset_ms: pop * 777, drift_ppm: 40 }).collect();
        scenario.faults = vec![(33_000, Fault::Crash { machine: POP(2) }), (40_000, step(POP(1), -7_000))];
        run(scenario, 10 * WINDOW)
    };
    let (tolerant, exact) = (naive(100_000), naive(0));
    assert_eq!(tolerant.naive, exact.naive);
    assert_ne!(tolerant.tally, exact.tally);

    let (frames, _) = play(&troubled(), &Faults::new(), &[150_000]);
    let totals = frames[0].totals;
    let answered = |name| series(&frames[0], name).tally.decisions;
    let all = answered(SeriesName::Shared);
    assert_eq!(answered(SeriesName::Alone), all);
    assert_eq!(answered(SeriesName::Exact) + totals.exact.gave_up, all);
    assert_eq!(answered(SeriesName::Tolerant) + totals.tolerant.unwrap().gave_up, all);
    assert!(all > 500);
}

/// What the samples say adds up to what the frame says.
#[test]
fn samples_add_up() {
    let (frames, samples) = play(&troubled(), &trouble(), &[150_000]);
    let (frame, tolerant) = (&frames[0], series(&frames[0], SeriesName::Tolerant));
    let sum = |count: fn(&sluicegate::sim::compare::PopSample) -> u64| {
        samples.iter().flat_map(|sample| &sample.pops).map(count).sum::<u64>()
    };
    assert_eq!(sum(|pop| pop.admitted), tolerant.tally.admitted_units);
    assert_eq!(sum(|pop| pop.refused), tolerant.tally.refused);
    let gave_up = frame.totals.tolerant.unwrap().gave_up;
    assert_eq!(sum(|pop| pop.unavailable), tolerant.tally.unavailable + gave_up);
    assert!(tolerant.tally.unavailable + gave_up > 0 && tolerant.tally.refused > 0);
    let by_pop = frame.pops.iter().map(|pop| (pop.admitted.tolerant, pop.admitted.exact));
    let (all_tolerant, all_exact) = by_pop.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    assert_eq!(all_tolerant, tolerant.tally.admitted_units);
    assert_eq!(all_exact, series(frame, SeriesName::Exact).tally.admitted_units);
    let most = |place: usize| samples.iter().filter_map(|sample| sample.in_epoch[place]).max().unwrap();
    for (place, name) in [(0, SeriesName::Shared), (2, SeriesName::Tolerant), (3, SeriesName::Exact)] {
        let worst = series(frame, name).tally.worst_epoch;
        assert!(most(place) <= worst && most(place) * 10 >= worst * 9, "{} of {worst}", most(place));
    }
    assert_eq!(samples[0].row().count(), 5 + 6 * 5);
}

/// An owner whose clock is set back does not count two of its windows as one: that would be no fault of the
/// limiters that are measured by them.
#[test]
fn the_naive_are_not_measured_by_a_clock_that_went_back() {
    let spec =
        put(&minutes(&[0, 0, 0], json!([random(0, 300_000, 250, json!("anywhere"))])), "limit", json!(300));
    let faults = vec![(95_000, json!({"step": {"machine": {"ledger": 0}, "ms": -60_000}}))];
    let (frames, _) = play(&spec, &faults, &[300_000]);
    for name in [SeriesName::Shared, SeriesName::Alone] {
        let worst = series(&frames[0], name).tally.worst_epoch;
        assert!((200..=300).contains(&worst), "{worst}");
    }
}

/// A book that was left behind keeps its units, and what was out of it then is forfeited.
#[test]
fn books_of_days_long_over_are_kept() {
    let traffic =
        json!([random(0, 20_000, 100, json!("anywhere")), random(60_000, 120_000, 500, json!({"pop": 0}))]);
    let spec = put(&minutes(&[0, 0], traffic), "counts", json!({"period": "day"}));
    let mut faults = vec![(20_000, json!({"cut-off": {"machine": {"pop": 1}, "for_ms": 90_000}}))];
    // A day on, and another.
    for hour in 0..24 {
        let at = if hour < 12 { 60_000 } else { 90_000 };
        faults.push((at, json!({"step": {"machine": {"ledger": 0}, "ms": 7_200_000}})));
    }
    let (frames, _) = play(&put(&spec, "limit", json!(2_000)), &faults, &[59_000, 80_000, 120_000]);
    let serials = |frame: &Frame| frame.books.iter().map(|book| book.serial).collect::<Vec<_>>();
    assert_eq!(
        (serials(&frames[0]), serials(&frames[1]), serials(&frames[2])),
        (vec![1], vec![1, 2], vec![1, 2, 3])
    );
    for book in frames.iter().flat_map(|frame| &frame.books) {
        assert_eq!(book.granted, book.spent + book.returned + book.forfeited + book.outstanding, "{book:?}");
        assert!(book.admitted <= book.limit);
    }
    let first = |frame: &Frame| frame.books[0].clone();
    let left = first(&frames[1]).outstanding;
    assert!(left > 0);
    assert_eq!(
        (first(&frames[2]).outstanding, first(&frames[2]).forfeited),
        (0, left + first(&frames[1]).forfeited)
    );
    let slots: Vec<String> = frames[2].books.iter().map(|book| book.slot.clone()).collect();
    assert_eq!(slots, ["2026-04-01", "2026-04-02", "2026-04-03"]);
}

/// An end that nobody can move: not by a time that is far off, not by short samples.
#[test]
fn a_run_has_an_end() {
    let spec = put(&minutes(&[0], json!([])), "sample_ms", json!(10));
    let mut world = begin(&spec);
    world.advance(u64::MAX);
    assert_eq!((world.now_ms(), world.take_samples().len()), (1_000_000, 100_000));
    world.advance(5);
    assert_eq!((world.now_ms(), world.take_samples().len()), (1_000_000, 0));
    let traffic = json!([random(0, 1_000_001, 250, json!("anywhere"))]);
    assert_eq!(path_of(&put(&spec, "traffic", traffic)), "traffic[0].until_ms");
}

fn path_of(spec: &Value) -> String {
    let error = WorldSpec::from_json(&spec.to_string()).unwrap_err();
    assert!(error.is_invalid_spec(), "{error}");
    error.path().unwrap_or_default().to_owned()
}

fn at<'v>(value: &'v mut Value, path: &str) -> &'v mut Value {
    value.pointer_mut(path).unwrap_or_else(|| panic!("{path}"))
}

#[test]
fn every_fault_of_a_specification_is_named() {
    let spec = troubled();
    assert!(WorldSpec::from_json(&spec.to_string()).is_ok());
    let cases = [
        ("/seed", json!(-1), "seed"),
        ("/starts_at_ms", json!(0), "starts_at_ms"),
        ("/limit", json!(0), "limit"),
        ("/limit", json!(100_001), "limit"),
        ("/limit", json!("60"), "limit"),
        ("/counts", json!({"window_ms": 999}), "counts.window_ms"),
        ("/counts", json!({"window_ms": 3_600_001}), "counts.window_ms"),
        ("/counts", json!({"period": "year"}), "counts.period"),
        ("/counts", json!({"period": "day", "window_ms": 60_000}), "counts"),
        ("/counts", json!({"hour": 1}), "counts.hour"),
        ("/tolerance_ppm", json!(1_000_001), "tolerance_ppm"),
        ("/on_error", json!("maybe"), "on_error"),
        ("/pops", json!([]), "pops"),
        ("/pops", json!(vec![json!({"offset_ms": 0}); 13]), "pops"),
        ("/pops/4/offset_ms", json!(7_200_001), "pops[4].offset_ms"),
        ("/pops/4/offset_ms", json!(0.5), "pops[4].offset_ms"),
        ("/pops/1", json!({"offset_ms": 0, "drift_ppm": 100_001}), "pops[1].drift_ppm"),
        ("/pops/1", json!({"offset_ms": 0, "drift": 1}), "pops[1].drift"),
        ("/ledger", json!(null), "ledger"),
        ("/network/latency_ms", json!(10_001), "network.latency_ms"),
        ("/network/loss_ppm", json!(-1), "network.loss_ppm"),
        ("/traffic", json!(vec![random(0, 1_000, 250, json!("anywhere")); 9]), "traffic"),
        ("/traffic/0/place", json!("nowhere"), "traffic[0].place"),
        ("/traffic/0/place", json!({"pop": 6}), "traffic[0].place.pop"),
        ("/traffic/0/pace", json!({"random": {"gap_us": 999}}), "traffic[0].pace.random.gap_us"),
        ("/traffic/0/pace", json!({"random": {"gap_us": 1_000}}), "traffic"),
        ("/traffic/1/pace/bursts/spread_ms", json!(30_001), "traffic[1].pace.bursts.spread_ms"),
        ("/traffic/1/pace/bursts/requests", json!(5_001), "traffic[1].pace.bursts.requests"),
        ("/traffic/1/place/moving/stay_ms", json!(0), "traffic[1].place.moving.stay_ms"),
        ("/sample_ms", json!(9), "sample_ms"),
    ];
    for (place, value, path) in cases {
        let mut broken = spec.clone();
        *at(&mut broken, place) = value.clone();
        assert_eq!(path_of(&broken), path, "{place} = {value}");
    }
    let fields = spec.as_object().unwrap().keys();
    for field in fields {
        let mut broken = spec.clone();
        broken.as_object_mut().unwrap().remove(field);
        assert_eq!(path_of(&broken), *field);
    }
    let objects = [
        "",
        "/pops/0",
        "/ledger",
        "/network",
        "/traffic/0",
        "/traffic/0/pace/random",
        "/traffic/1/pace/bursts",
        "/traffic/1/place/moving",
    ];
    for place in objects {
        let mut broken = spec.clone();
        at(&mut broken, place)["x"] = json!(1);
        assert!(path_of(&broken).ends_with('x'), "{place}");
    }
    for text in ["", "[", "[]", "7", &"[".repeat(99_000), &" ".repeat(100_001)] {
        let error = WorldSpec::from_json(text).unwrap_err();
        assert!(error.is_invalid_spec() && error.path().is_none_or(str::is_empty), "{error}");
    }
}

#[test]
fn every_fault_of_a_fault_is_named() {
    let spec = WorldSpec::from_json(&troubled().to_string()).unwrap();
    for (_, fault) in trouble() {
        assert!(spec.fault_from_json(&fault.to_string()).is_ok());
    }
    let cases = [
        (json!({"step": {"machine": {"pop": 6}, "ms": 1}}), "step.machine.pop"),
        (json!({"step": {"machine": {"ledger": 1}, "ms": 1}}), "step.machine.ledger"),
        (json!({"step": {"machine": {"pop": 0}, "ms": 7_200_001}}), "step.ms"),
        (json!({"step": {"machine": {"pop": 0}}}), "step.ms"),
        (json!({"freeze": {"machine": {"pop": 0}, "for_ms": 0}}), "freeze.for_ms"),
        (json!({"crash": {"machine": {"pop": 0}, "for_ms": 5}}), "crash.for_ms"),
        (json!({"cut-off": {"for_ms": 5}}), "cut-off.machine"),
        (json!({"cutoff": {"machine": {"pop": 0}, "for_ms": 5}}), "cutoff"),
        (json!({}), ""),
        (json!("crash"), ""),
    ];
    for (fault, path) in cases {
        let error = spec.fault_from_json(&fault.to_string()).unwrap_err();
        assert_eq!((error.is_invalid_spec(), error.path().unwrap_or_default()), (true, path), "{fault}");
    }
}

/// A run is the same natively and in a browser, and in years to come: `tests/wasm.rs` compares the same numbers.
#[test]
fn a_run_is_the_same_everywhere() {
    assert_eq!((pinned::windows(1_000), pinned::days(1_000)), (pinned::WINDOWS, pinned::DAYS));
    assert_eq!((pinned::windows(150_000), pinned::days(77)), (pinned::WINDOWS, pinned::DAYS));
}

/// The log of a simulation can leave refusals out, and is empty once it was taken.
#[test]
fn a_log_without_refusals_has_room_for_the_rest() {
    let stream = Stream::new("api", 30_000, Pace::Steady { gap_us: 10_000 }, Place::Anywhere);
    let config: Config = config(&[window(10, 0)]);
    let mut scenario = with(Scenario { log_refusals: false, ..Scenario::new(config, 3) }, [stream]);
    scenario.log = 50;
    let mut world = Simulation::new(scenario);
    world.run_until(30_000);
    let log = world.take_log();
    let is_refused =
        |entry: &&sluicegate::sim::LogEntry| matches!(entry.event, sluicegate::sim::LogEvent::Refused { .. });
    assert_eq!((log.len(), log.iter().filter(is_refused).count(), world.take_log().len()), (50, 0, 0));
}
