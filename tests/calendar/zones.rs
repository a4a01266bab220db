//! What the crate takes for granted about time zones, and every clock change that ever was.

use sluicegate::calendar::{JiffZone, LocalMs, Naming, boundary, period_for, periods};
use sluicegate::clock::WallMs;

use super::oracle::{all_names, boundary_by_definition, changes, distinct_zones};
use super::{daily, wall, zone};

const HOUR_MS: i64 = 3_600_000;

#[test]
fn no_zone_is_far_from_utc_or_changes_twice_in_52_hours() {
    let (mut widest, mut closest) = (0, i64::MAX);
    for name in all_names() {
        let stretches = changes(&name, 2100);
        widest = stretches.iter().map(|&(_, offset)| offset.abs()).max().unwrap().max(widest);
        for pair in stretches[1..].windows(2) {
            closest = closest.min(pair[1].0 - pair[0].0);
        }
    }
    assert!(widest <= 16 * HOUR_MS, "{widest} ms from UTC");
    assert!(closest > 52 * HOUR_MS, "two changes within {closest} ms");
}

#[test]
fn every_name_of_the_database_is_taken_and_no_other() {
    let names = all_names();
    for name in &names {
        let spelled = [name.clone(), name.to_lowercase(), name.to_uppercase()];
        assert!(spelled.iter().all(|name| JiffZone::new(name, Naming::Snake).is_ok()), "{name}");
    }
    assert!(names.len() > 590, "{} zones", names.len());
    // Known to some runtime or to the library, but not to the database.
    for name in
        ["PST", "IST", "SystemV/EST5", "US/Pacific-New", "Etc/Unknown", "Factory", "+01:00", "Mars/Olympus"]
    {
        let error = JiffZone::new(name, Naming::Camel).unwrap_err();
        assert_eq!((error.code(), error.path()), ("invalid-spec", Some("timeZone")), "{name}");
    }
}

#[test]
fn boundaries_around_every_change_in_history_fit_the_definition() {
    let mut compared = 0;
    for name in distinct_zones() {
        let (zone, stretches) = (zone(&name), changes(&name, 2040));
        for pair in stretches.windows(2) {
            let ((_, before), (at, after)) = (pair[0], pair[1]);
            let (low, high) = (at + before.min(after), at + before.max(after));
            let edges = [low - 25 * HOUR_MS, low, (low + high) / 2, high, high + 25 * HOUR_MS];
            for local in edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1]).map(LocalMs) {
                let expected = boundary_by_definition(&stretches, local);
                assert_eq!(boundary(&zone, local).unwrap(), expected, "{name} at {local:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200_000, "{compared} boundaries");
}

/// For each clock change from 1970 to 2040: the days around it follow one another without a hole, each
/// instant near the change lies in one of them, and no reading moves back to an earlier one.
#[test]
fn days_at_odd_times_are_a_partition_around_every_change_since_1970() {
    let (from, mut seen, mut empty_slots) = (wall("1970-01-01T00:00Z").0, 0, Vec::new());
    for name in distinct_zones() {
        let zone = zone(&name);
        let specs = ["00:00", "00:30", "02:30", "23:30"].map(|time| daily(&name, time));
        for (at, _) in changes(&name, 2040).into_iter().filter(|&(at, _)| at >= from) {
            for spec in &specs {
                let days = periods(spec, &zone, WallMs(at - 26 * HOUR_MS), 4).unwrap();
                for pair in days.windows(2) {
                    assert_eq!(pair[0].end, pair[1].start, "{name} {spec:?}");
                    assert!(pair[0].slot != pair[1].slot && pair[0].length_ms() > 0, "{name} {spec:?}");
                    // One boundary of two slots, where the slot between them is empty.
                    if pair[0].end_kind != pair[1].start_kind {
                        empty_slots.push(name.clone());
                    }
                }
                for probe in [at - HOUR_MS, at - 1, at, at + 1, at + HOUR_MS / 2, at + HOUR_MS].map(WallMs) {
                    let found = period_for(spec, &zone, probe).unwrap();
                    assert!(days.contains(&found) && found.contains(probe), "{name} {spec:?} {probe:?}");
                }
            }
            seen += 1;
        }
    }
    assert!(seen > 18_000, "{seen} changes");
    empty_slots.dedup();
    assert!(empty_slots.len() >= 3, "{empty_slots:?}");
    assert!(
        empty_slots.iter().all(|name| name.contains("Pacific") || name == "Kwajalein"),
        "{empty_slots:?}"
    );
}
