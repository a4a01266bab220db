use std::fmt;

use serde::{Deserialize, Serialize};

use super::civil::{Date, LocalMs};
use super::spec::{Anchor, PeriodSpec, Unit};

/// The name of a period, and its identity: `2026-02-28` for a day, the date of the first day for a
/// week, `2026-02` for a month, `2026` for a year.
///
/// It names where on the calendar a period stands, not when it starts: with anchor 31 the slot
/// `2026-02` starts on 28 February and `2026-03` on 31 March. A slot is named after the date, month or
/// year in which it begins. Slots are equal or not; they have no order, because a change of settings
/// can bring the same name twice (see [`OpenPeriod`](crate::calendar::OpenPeriod) for what does order
/// periods).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    unit: Unit,
    /// The first date of the slot, without regard to the anchor of a month or a year.
    date: Date,
}

impl Slot {
    /// The length of the period that is named.
    pub const fn unit(&self) -> Unit {
        self.unit
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Day | Unit::Week => self.date.fmt(f),
            Unit::Month => write!(f, "{:04}-{:02}", self.date.year(), self.date.month()),
            Unit::Year => write!(f, "{:04}", self.date.year()),
        }
    }
}

/// 1970-01-01 was a Thursday, three days into its week.
const DAYS_INTO_WEEK: i64 = 3;

/// The calendar of a specification: slots numbered in order, each with the local time it begins at.
/// Pure arithmetic; no zone is asked.
impl PeriodSpec {
    /// The number of the slot that `date` belongs to if every slot began at 00:00 of its first date,
    /// without an anchor day or month: at most one away from the truth on the calendar.
    pub(super) fn index_near(&self, date: Date) -> i64 {
        match self.anchor {
            Anchor::Day => date.days(),
            Anchor::Week { weekday } => (date.days() + DAYS_INTO_WEEK - from_monday(weekday)).div_euclid(7),
            Anchor::Month { .. } => date.year() * 12 + i64::from(date.month()) - 1,
            Anchor::Year { .. } => date.year(),
        }
    }

    /// The local time at which a slot begins.
    pub(super) fn local_start(&self, index: i64) -> LocalMs {
        let (year, month) = (index.div_euclid(12), index.rem_euclid(12) as u8 + 1);
        let date = match self.anchor {
            Anchor::Day | Anchor::Week { .. } => self.first_date(index),
            Anchor::Month { day } => Date::clamped(year, month, day),
            Anchor::Year { month, day } => Date::clamped(index, month, day),
        };
        date.at(self.time_ms())
    }

    /// The name of a slot.
    pub(super) fn slot(&self, index: i64) -> Slot {
        Slot { unit: self.unit(), date: self.first_date(index) }
    }

    fn first_date(&self, index: i64) -> Date {
        match self.anchor {
            Anchor::Day => Date::from_days(index),
            Anchor::Week { weekday } => Date::from_days(index * 7 - DAYS_INTO_WEEK + from_monday(weekday)),
            Anchor::Month { .. } => Date::clamped(index.div_euclid(12), index.rem_euclid(12) as u8 + 1, 1),
            Anchor::Year { .. } => Date::clamped(index, 1, 1),
        }
    }
}

fn from_monday(weekday: u8) -> i64 {
    i64::from(weekday) - 1
}
