use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds in a day without a clock change.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// A reading of a local clock: the milliseconds since 1970-01-01 00:00 that the same clock face would
/// mean in UTC.
///
/// It is not an instant. A local reading happens once, never, or more than once:
/// [`boundary`](crate::calendar::boundary) tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalMs(pub i64);

impl LocalMs {
    /// The date that this clock face shows.
    pub(crate) fn date(self) -> Date {
        Date::from_days(self.0.div_euclid(DAY_MS))
    }
}

/// A date of the Gregorian calendar, extended to all years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Date {
    year: i32,
    month: u8,
    day: u8,
}

/// Years beyond these are outside what a calendar period can begin or end in, with room to spare.
const YEARS: std::ops::RangeInclusive<i64> = -1..=10_001;

impl Date {
    /// The date `day` of that month, or the last one of the month where `day` is past it.
    pub(crate) fn clamped(year: i64, month: u8, day: u8) -> Self {
        // No panic whatever comes in: the calendar's callers stay far inside these bounds.
        let year = year.clamp(*YEARS.start(), *YEARS.end());
        let month = month.clamp(1, 12);
        Self { year: year as i32, month, day: day.clamp(1, days_in_month(year, month)) }
    }

    /// The date that is `days` days after 1970-01-01.
    ///
    /// Counts in eras of 400 years that begin on 1 March, so that the leap day comes last: the method
    /// of Howard Hinnant's "chrono-compatible low-level date algorithms".
    pub(crate) fn from_days(days: i64) -> Self {
        let shifted = days.saturating_add(DAYS_TO_1970);
        let (era, day_of_era) = (shifted.div_euclid(DAYS_PER_ERA), shifted.rem_euclid(DAYS_PER_ERA));
        let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = era.saturating_mul(400).saturating_add(year_of_era + i64::from(month <= 2));
        Self::clamped(year, month as u8, day as u8)
    }

    /// Days since 1970-01-01.
    pub(crate) fn days(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let march_year = i64::from(self.year) - i64::from(month <= 2);
        let (era, year_of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
        let march_month = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * march_month + 2) / 5 + day - 1;
        let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
    }

    /// The clock face that shows this date and `ms` milliseconds past midnight.
    pub(crate) fn at(self, ms: i64) -> LocalMs {
        LocalMs(self.days() * DAY_MS + ms)
    }

    pub(crate) fn year(self) -> i64 {
        i64::from(self.year)
    }

    pub(crate) fn month(self) -> u8 {
        self.month
    }
}

const DAYS_PER_ERA: i64 = 146_097;
/// From 1 March of year 0, the first day of an era, to 1 January 1970.
const DAYS_TO_1970: i64 = 719_468;

/// How many days a month has.
pub(crate) fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // From the right: the year may carry a minus sign of its own.
        let mut parts = text.rsplitn(3, '-');
        let (day, month, year) = (parts.next(), parts.next(), parts.next());
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<i32>().ok());
        let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day)) else {
            return Err(format!("{text:?} is not a date"));
        };
        let (Ok(month8), Ok(day8)) = (u8::try_from(month), u8::try_from(day)) else {
            return Err(format!("{text:?} is not a date"));
        };
        let date = Self::clamped(i64::from(year), month8, day8);
        if (date.year, date.month, date.day) == (year, month8, day8) {
            Ok(date)
        } else {
            Err(format!("{text:?} is not a date"))
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn jiff_date(days: i64) -> jiff::civil::Date {
        let span = jiff::Span::new().days(days);
        jiff::civil::date(1970, 1, 1).checked_add(span).unwrap()
    }

    fn assert_agrees(days: i64) {
        let (ours, theirs) = (Date::from_days(days), jiff_date(days));
        assert_eq!(
            (ours.year(), ours.month as i8, ours.day as i8),
            (i64::from(theirs.year()), theirs.month(), theirs.day()),
            "day {days}"
        );
        assert_eq!(ours.days(), days);
        assert_eq!(days_in_month(ours.year(), ours.month) as i8, theirs.days_in_month());
    }

    #[test]
    fn every_day_of_800_years_agrees_with_jiff() {
        for days in -146_097..=146_097 {
            assert_agrees(days);
        }
    }

    #[test]
    fn extremes_do_not_panic() {
        for days in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
            let _ = Date::from_days(days).at(DAY_MS - 1).date();
        }
        for ms in [i64::MIN, i64::MAX] {
            let _ = LocalMs(ms).date().days();
        }
    }

    #[test]
    fn text_round_trips_and_rubbish_is_refused() {
        for days in [-719_528, -719_529, 0, 2_932_896, 2_932_897] {
            let date = Date::from_days(days);
            assert_eq!(Date::try_from(date.to_string()), Ok(date));
        }
        for bad in ["", "2026", "2026-02", "2026-02-30", "2026-13-01", "2026-00-01", "2026-02-00", "x-1-1"] {
            assert!(Date::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_day_agrees_with_jiff(days in -719_893_i64..=2_932_896) {
            assert_agrees(days);
        }
    }
}
