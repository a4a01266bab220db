//! The end of a month where it is not at a midnight of UTC, and what is reported after it.

use crate::support::{Object, Pop, wall};

/// Takes some at the end of one month and the start of the next, and reports late.
fn across(zone: &str, before: &str, end: &str, slots: [&str; 2]) {
    let mut object = Object::new(zone, before);
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    assert!(lax.request(&mut object, 30));
    // In hand, and not spent when the month ends.
    fra.exchange(&mut object, 20);
    assert_eq!(fra.spend(5, 0), Some(true));
    let old = object.usage("monthly");
    assert_eq!((old.slot.as_str(), old.used + old.outstanding), (slots[0], 50));
    assert_eq!(old.end_ms, wall(end));

    object.host.wall = wall(end) - 1;
    lax.exchange(&mut object, 0);
    assert_eq!(object.usage("monthly").serial, old.serial, "one millisecond before the end");
    object.host.wall = wall(end);
    lax.exchange(&mut object, 0);
    let new = object.usage("monthly");
    assert_eq!((new.slot.as_str(), new.serial, new.start_ms), (slots[1], old.serial + 1, old.end_ms));
    assert_eq!((new.used, new.outstanding, new.remaining), (0, 0, 100));

    // The other place hears of it late: its lease goes into the book of the month that it is for.
    object.restart();
    fra.now = fra.now.plus(3_600_000);
    fra.exchange(&mut object, 0);
    fra.exchange(&mut object, 0);
    assert_eq!(object.usage("monthly").used, 0);
    assert_eq!(fra.take_all(&mut object), 100);
    assert_eq!(fra.spent[&old.serial], 5);
    assert_eq!(fra.spent[&new.serial], 100);
    let audit = object.audit("monthly");
    assert!(audit.consistent, "{:?}", audit.faults);
    assert_eq!((audit.serial, audit.spent + audit.outstanding), (new.serial, 100));
}

#[test]
fn november_in_los_angeles_ends_in_another_offset_than_it_began() {
    across(
        "America/Los_Angeles",
        "2026-11-30T23:00:00-08:00",
        "2026-12-01T00:00:00-08:00",
        ["2026-11", "2026-12"],
    );
    let mut object = Object::new("America/Los_Angeles", "2026-11-15T00:00:00Z");
    let usage = object.usage("monthly");
    let texts = [usage.start.as_str(), usage.end.as_str(), usage.reset_local.as_str()];
    let expected =
        ["2026-11-01T00:00:00-07:00", "2026-12-01T00:00:00-08:00", "2026-12-01 00:00:00 America/Los_Angeles"];
    assert_eq!(texts, expected);
}

#[test]
fn october_2023_has_no_first_midnight_in_asuncion() {
    // The clocks went from 23:59:59 at -04:00 to 01:00:00 at -03:00.
    across(
        "America/Asuncion",
        "2023-09-30T23:30:00-04:00",
        "2023-10-01T01:00:00-03:00",
        ["2023-09", "2023-10"],
    );
    let mut object = Object::new("America/Asuncion", "2023-09-15T00:00:00Z");
    let usage = object.usage("monthly");
    let texts = (usage.end.as_str(), usage.reset_local.as_str());
    assert_eq!(texts, ("2023-10-01T01:00:00-03:00", "2023-10-01 01:00:00 America/Asuncion"));
}

#[test]
fn the_last_hour_of_february_2024_came_twice_in_almaty() {
    // On reaching midnight the clocks went back to 23:00, at +05:00.
    across("Asia/Almaty", "2024-02-29T23:30:00+06:00", "2024-03-01T00:00:00+05:00", ["2024-02", "2024-03"]);
    let mut object = Object::new("Asia/Almaty", "2024-02-29T23:30:00+05:00");
    let usage = object.usage("monthly");
    let texts = (usage.start.as_str(), usage.end.as_str(), usage.reset_local.as_str());
    let expected =
        ("2024-02-01T00:00:00+06:00", "2024-03-01T00:00:00+05:00", "2024-03-01 00:00:00 Asia/Almaty");
    assert_eq!(texts, expected);
}

#[test]
fn what_is_still_out_a_period_later_is_forfeited() {
    let mut object = Object::new("UTC", "2026-05-31T00:00:00Z");
    let (mut lax, mut fra) = (Pop::new("LAX", "monthly"), Pop::new("FRA", "monthly"));
    fra.exchange(&mut object, 20);
    for month in ["2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"] {
        object.host.wall = wall(month);
        lax.exchange(&mut object, 0);
    }
    let log = crate::admin::log(&mut object);
    let closed = log.iter().find(|entry| entry["event"] == "closed").unwrap();
    let expected = [("serial", 1), ("granted", 20), ("forfeited", 20), ("outstanding", 0)];
    expected.iter().for_each(|(field, units)| assert_eq!(closed[*field], *units, "{field}"));
    assert!(!object.host.disk.contains_key("quota/monthly/book/totals/1"));
    // It is no news of any open book.
    fra.exchange(&mut object, 0);
    let report = object.ledger.report().totals;
    assert_eq!((object.usage("monthly").used, report.fences_rejected), (0, 1));
}
