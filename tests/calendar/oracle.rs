//! Answers from `jiff` and from its list of transitions, by other ways than the crate's own.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};
use sluicegate::calendar::{Boundary, BoundaryKind, LocalMs};
use sluicegate::clock::WallMs;

/// The names of all zones, one for each different set of transitions.
pub fn distinct_zones() -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    all_names().into_iter().filter(|name| seen.insert(changes(name, 2040))).collect()
}

pub fn all_names() -> Vec<String> {
    let names = TimeZoneDatabase::bundled();
    let names = names.available().map(|name| name.as_str().to_owned());
    // In the database's files, but a place-holder for a machine that was not set up: refused.
    names.filter(|name| name != "Factory").collect()
}

pub fn time_zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

/// Every stretch of a zone's history with one offset: where it begins, and the offset in milliseconds.
pub fn changes(name: &str, until_year: i16) -> Vec<(i64, i64)> {
    let tz = time_zone(name);
    let offset_at = |at: Timestamp| i64::from(tz.to_offset(at).seconds()) * 1_000;
    let mut stretches = vec![(i64::MIN, offset_at(Timestamp::MIN))];
    let last = TimeZone::UTC.to_timestamp(jiff::civil::date(until_year, 1, 1).at(0, 0, 0, 0)).unwrap();
    for transition in tz.following(Timestamp::MIN).take_while(|transition| transition.timestamp() < last) {
        let (at, offset) = (transition.timestamp(), i64::from(transition.offset().seconds()) * 1_000);
        if stretches.last().is_some_and(|&(_, before)| before != offset) {
            stretches.push((at.as_millisecond(), offset));
        }
    }
    stretches
}

/// The first instant whose local time is at or past `local`, by trying each stretch of one offset. True
/// by definition, however close the changes are.
pub fn boundary_by_definition(stretches: &[(i64, i64)], local: LocalMs) -> Boundary {
    let (mut first, mut shown) = (i64::MAX, 0);
    for (at, &(begins, offset)) in stretches.iter().enumerate() {
        let ends = stretches.get(at + 1).map_or(i64::MAX, |&(next, _)| next);
        let reached = begins.max(local.0 - offset);
        if reached < ends {
            first = first.min(reached);
        }
        let shows = local.0 - offset;
        shown += usize::from(begins <= shows && shows < ends);
    }
    let kind = match shown {
        0 => BoundaryKind::Gap,
        1 => BoundaryKind::Exact,
        _ => BoundaryKind::Repeat,
    };
    Boundary { at: WallMs(first), kind }
}

/// The same by `jiff`'s own gaps and folds.
pub fn boundary_by_jiff(tz: &TimeZone, local: DateTime) -> Boundary {
    let ambiguous = tz.to_ambiguous_timestamp(local);
    let (at, kind) = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => (ambiguous.unambiguous().unwrap(), BoundaryKind::Exact),
        AmbiguousOffset::Fold { .. } => (ambiguous.earlier().unwrap(), BoundaryKind::Repeat),
        AmbiguousOffset::Gap { .. } => {
            let before = ambiguous.earlier().unwrap();
            (tz.following(before).next().unwrap().timestamp(), BoundaryKind::Gap)
        }
    };
    Boundary { at: WallMs(at.as_millisecond()), kind }
}

/// A specification in `jiff`'s terms.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    Day,
    Week { weekday: u8 },
    Month { day: u8 },
    Year { month: u8, day: u8 },
}

impl Plan {
    /// The slot names and first local times around `date`, in order.
    fn slots(self, date: Date, time: Time) -> Vec<(String, DateTime)> {
        let clamp = |first: Date, day: u8| {
            first.with().day((day as i8).min(first.days_in_month())).build().unwrap().to_datetime(time)
        };
        (-3_i64..=3)
            .map(|by| match self {
                Self::Day => {
                    let date = date.saturating_add(by.days());
                    (date.to_string(), date.to_datetime(time))
                }
                Self::Week { weekday } => {
                    let into = (date.weekday().to_monday_one_offset() - weekday as i8).rem_euclid(7);
                    let date = date.saturating_sub(i64::from(into).days()).saturating_add((by * 7).days());
                    (date.to_string(), date.to_datetime(time))
                }
                Self::Month { day } => {
                    let first = date.first_of_month().saturating_add(by.months());
                    (format!("{:04}-{:02}", first.year(), first.month()), clamp(first, day))
                }
                Self::Year { month, day } => {
                    let first = date.first_of_year().saturating_add(by.years());
                    let first_of_month = first.with().month(month as i8).build().unwrap();
                    (format!("{:04}", first.year()), clamp(first_of_month, day))
                }
            })
            .collect()
    }

    /// Slot, start and end of the period that `at` lies in.
    pub fn period(self, tz: &TimeZone, time: Time, at: WallMs) -> (String, Boundary, Boundary) {
        let date = tz.to_datetime(Timestamp::from_millisecond(at.0).unwrap()).date();
        let starts: Vec<_> = self
            .slots(date, time)
            .into_iter()
            .map(|(slot, local)| (slot, boundary_by_jiff(tz, local)))
            .collect();
        let last = starts.iter().rposition(|(_, start)| start.at <= at).unwrap();
        let (slot, start) = &starts[last];
        (slot.clone(), *start, starts[last + 1].1)
    }
}
