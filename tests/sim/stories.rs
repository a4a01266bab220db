//! The stories that the demo page tells. Each is a run whose numbers the page claims; they have to hold for other
//! seeds as well, or the claim would be about one run of chance.

use serde_json::{Value, json};
use sluicegate::sim::compare::{Frame, SerialBook, SeriesName};

use super::comparison::*;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=4;

/// The last frame, and those at the stops before; for each seed.
fn tell(spec: &Value, faults: &Faults, stops: &[u64], mut check: impl FnMut(&[Frame])) {
    for seed in SEEDS {
        let (frames, _) = play(&put(spec, "seed", json!(seed)), faults, stops);
        check(&frames);
    }
}

fn worst(frame: &Frame, name: SeriesName) -> u64 {
    series(frame, name).tally.worst_epoch
}

fn admitted(frame: &Frame, name: SeriesName) -> u64 {
    series(frame, name).tally.admitted
}

fn in_epoch(frame: &Frame, name: SeriesName) -> u64 {
    series(frame, name).in_epoch
}

/// Both limits keep what they promise, per epoch and per window.
fn promises_hold(frame: &Frame) {
    for name in [SeriesName::Tolerant, SeriesName::Exact] {
        let series = series(frame, name);
        let ceiling = series.ceiling.unwrap();
        assert!(
            series.tally.worst_epoch <= ceiling && series.tally.worst_window <= 2 * ceiling,
            "{series:?}"
        );
    }
}

/// Four times the limit at twelve points of presence. One bucket with stamps fills again whenever a slow clock has
/// written after a fast one; over ten minutes 660 would be right: 60 at the start and 60 a minute.
#[test]
fn a_pod_900_ms_ahead() {
    let near = [12, -38, 45, -7, 29, -50, 18, 50, -23, 3, -44, 36];
    let traffic = json!([random(0, 600_000, 250, json!("anywhere"))]);
    for (ahead, shared) in [(&[][..], 655..=670), (&[6], 740..=820), (&[6, 2, 9, 11], 960..=1_060)] {
        let mut offsets = near;
        ahead.iter().for_each(|pop: &usize| offsets[*pop] = 900);
        tell(&minutes(&offsets, traffic.clone()), &Faults::new(), &[600_000], |frames| {
            let frame = &frames[0];
            promises_hold(frame);
            assert!(shared.contains(&admitted(frame, SeriesName::Shared)), "{ahead:?} {frame:?}");
            assert!(worst(frame, SeriesName::Alone) >= 240);
            assert_eq!((worst(frame, SeriesName::Tolerant), worst(frame, SeriesName::Exact)), (66, 60));
            assert_eq!(admitted(frame, SeriesName::Exact), 600);
        });
    }
}

/// The clock of the busiest point of presence is set back a minute in the middle of a window. Its object's cheap
/// clock stands still until the wall has caught up; it follows the Ledger's epochs all the same.
#[test]
fn a_clock_that_stands_still_after_a_step_back() {
    let traffic =
        json!([random(0, 360_000, 300, json!({"pop": 0})), random(0, 360_000, 1_000, json!("anywhere"))]);
    let spec = minutes(&[12, -38, 45, -7], traffic);
    let faults = vec![(90_000, json!({"step": {"machine": {"pop": 0}, "ms": -60_000}}))];
    tell(&spec, &faults, &[89_900, 119_900, 125_000, 155_000, 360_000], |frames| {
        let [before, closing, next, after, last] = frames else { panic!() };
        promises_hold(last);
        // It files under the next epoch while its own clock stands still.
        let epoch = |frame: &Frame| frame.pops[0].tolerant.unwrap().epoch.unwrap();
        assert!(!before.pops[0].object_frozen && closing.pops[0].object_frozen && next.pops[0].object_frozen);
        assert!(!after.pops[0].object_frozen && after.pops[0].ahead_ms == 12 - 60_000);
        assert_eq!((epoch(next), epoch(next)), (epoch(closing) + 1, next.ledger.epoch));
        assert!(next.pops[0].admitted.tolerant_in_epoch > 0);
        assert_eq!((last.totals.tolerant.unwrap().epochs_back, last.totals.exact.epochs_back), (0, 0));
        // Of the minute in which it happened: 60 to 66 are right.
        assert!(in_epoch(closing, SeriesName::Shared) >= 130, "{closing:?}");
        assert!(in_epoch(closing, SeriesName::Alone) >= 140, "{closing:?}");
        assert_eq!(in_epoch(closing, SeriesName::Exact), 60);
        assert_eq!(admitted(last, SeriesName::Exact), 360);
    });
}

/// The Ledger's clock is set back as well: its window lasts longer, by as much as it had not looked at its clock.
/// No window is passed, and none comes twice.
#[test]
fn the_clock_of_the_owner_is_set_back() {
    let traffic = json!([random(0, 360_000, 250, json!("anywhere"))]);
    let spec = minutes(&[12, -38, 45, -7, 29, -50], traffic);
    let faults = vec![(210_000, json!({"step": {"machine": {"ledger": 0}, "ms": -60_000}}))];
    tell(&spec, &faults, &[211_000, 360_000], |frames| {
        promises_hold(&frames[1]);
        assert!(frames[0].ledger.object_frozen && !frames[1].ledger.object_frozen);
        assert_eq!(frames[1].totals.tolerant.unwrap().epochs_back, 0);
        // One window too few at the most.
        assert!((300..=360).contains(&admitted(&frames[1], SeriesName::Exact)), "{:?}", frames[1]);
    });
}

/// Four times the limit within two seconds around each boundary. A fixed window lets twice its limit through
/// there: that is what it promises.
#[test]
fn a_burst_at_the_boundary() {
    let bursts =
        json!({"bursts": {"every_ms": 60_000, "first_ms": 59_000, "requests": 240, "spread_ms": 2_000}});
    let traffic = json!([{"from_ms": 0, "until_ms": 630_000, "pace": bursts, "place": "anywhere"}]);
    let spec = minutes(&[0, 400, -400, 300, -300, 500], traffic);
    tell(&spec, &Faults::new(), &[630_000], |frames| {
        let frame = &frames[0];
        promises_hold(frame);
        assert_eq!(
            (worst(frame, SeriesName::Exact), series(frame, SeriesName::Exact).tally.worst_window),
            (60, 120)
        );
        let tolerant = &series(frame, SeriesName::Tolerant).tally;
        assert!(tolerant.worst_epoch >= 62 && (122..=132).contains(&tolerant.worst_window), "{tolerant:?}");
        assert!(worst(frame, SeriesName::Shared) >= 100, "{frame:?}");
        assert_eq!(worst(frame, SeriesName::Alone), 240);
    });
}

/// The last minute of March. A point of presence with units in hand is cut off, and comes back in April: its report
/// goes into March's book. Clocks that are seconds apart meanwhile open the month again and again.
#[test]
fn a_lease_that_comes_back_after_the_month_has_closed() {
    let mut traffic: Vec<Value> = (0..3).map(|pop| random(0, 150_000, 220, json!({"pop": pop}))).collect();
    traffic.extend([1, 2].map(|pop| random(46_000, 75_000, 50, json!({"pop": pop}))));
    traffic.push(json!({"from_ms": 0, "until_ms": 44_000, "pace": {"steady": {"gap_us": 300_000}}, "place": {"pop": 3}}));
    let mut spec = minutes(&[0, 8_000, -8_000, 500], json!(traffic));
    for (field, value) in [
        ("starts_at_ms", json!(APRIL - 60_000)),
        ("limit", json!(1_000)),
        ("counts", json!({"period": "month"})),
    ] {
        spec[field] = value;
    }
    let faults = vec![(45_000, json!({"cut-off": {"machine": {"pop": 3}, "for_ms": 50_000}}))];
    tell(&spec, &faults, &[44_900, 61_000, 94_900, 180_000], |frames| {
        let [in_hand, closed, still_out, last] = frames else { panic!() };
        let march = |frame: &Frame| -> SerialBook { frame.books[0].clone() };
        assert!(in_hand.pops[3].exact.cap > in_hand.pops[3].exact.taken, "{in_hand:?}");
        assert_eq!(
            (closed.books.len(), march(closed).slot.as_str(), closed.books[1].slot.as_str()),
            (2, "2026-03", "2026-04")
        );
        let out = march(closed).outstanding;
        assert!(out > 0 && march(still_out).outstanding == out, "{closed:?}");
        let (before, after) = (march(still_out), march(last));
        assert_eq!((after.outstanding, after.granted), (0, before.granted));
        assert!(after.returned > before.returned && after.spent > before.spent, "{last:?}");
        assert_eq!(after.spent - before.spent + after.returned - before.returned, out);
        for book in &last.books {
            assert!(book.admitted == book.spent && book.admitted <= 1_000, "{book:?}");
        }
        assert_eq!((last.books[1].admitted, worst(last, SeriesName::Exact)), (1_000, 1_000));
        assert!(worst(last, SeriesName::Shared) >= 1_350, "{last:?}");
        assert!(worst(last, SeriesName::Alone) >= 1_650, "{last:?}");
        assert!(last.series.iter().all(|series| series.name != SeriesName::Tolerant));
    });
}

/// One of six is cut off for a minute and a half. It refuses what it has no units for, or goes on with a sixth of the
/// limit, which then comes on top.
#[test]
fn a_partition() {
    let traffic = json!([random(0, 300_000, 500, json!("anywhere"))]);
    let spec = minutes(&[0, 40, -25, 10, -45, 30], traffic);
    let faults = vec![(75_000, json!({"cut-off": {"machine": {"pop": 2}, "for_ms": 90_000}}))];
    let stops = [119_000, 164_000, 179_000, 310_000];
    tell(&put(&spec, "on_error", json!("closed")), &faults, &stops, |frames| {
        let [_, cut_off, healed, last] = frames else { panic!() };
        promises_hold(last);
        assert!(cut_off.pops[2].cut_off && cut_off.pops[2].admitted.exact_in_epoch == 0);
        assert!(!healed.pops[2].cut_off && !healed.pops[2].tolerant.unwrap().out_of_reach);
        for name in [SeriesName::Tolerant, SeriesName::Exact] {
            let tally = &series(last, name).tally;
            assert!(tally.unavailable >= 20 && tally.by_on_error == 0, "{tally:?}");
        }
        assert_eq!(worst(last, SeriesName::Exact), 60);
    });
    tell(&put(&spec, "on_error", json!("local")), &faults, &stops, |frames| {
        let (cut_off, last) = (&frames[1], &frames[3]);
        assert_eq!(cut_off.pops[2].admitted.exact_in_epoch, 10);
        let tally = &series(last, SeriesName::Exact).tally;
        assert_eq!((tally.worst_epoch, tally.unavailable), (70, 0));
        assert!(tally.by_on_error >= 10 && worst(last, SeriesName::Tolerant) <= 66 + 10, "{last:?}");
    });
}
