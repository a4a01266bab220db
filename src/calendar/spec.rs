use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{Field, Naming, brief, shown, whole_number};
use super::zone_name;
use crate::Error;

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// From the anchor time of one date to that of the next.
    Day,
    /// From the anchor weekday to the next.
    Week,
    /// From the anchor day of one month to that of the next.
    Month,
    /// From the anchor month and day of one year to that of the next.
    Year,
}

impl Unit {
    /// The name in a specification: `day`, `week`, `month` or `year`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    fn parse(text: &str, naming: Naming) -> Result<Self, Error> {
        let lower = text.trim().to_ascii_lowercase();
        let is_short = ["hour", "min", "sec", "milli"].into_iter().any(|name| lower.starts_with(name));
        match text {
            "day" => Ok(Self::Day),
            "week" => Ok(Self::Week),
            "month" => Ok(Self::Month),
            "year" => Ok(Self::Year),
            _ if is_short => Err(Field::Unit.error(
                naming,
                format!(
                    "{:?} is shorter than a day: such a rate is a duration, use a token bucket or a window",
                    brief(text)
                ),
            )),
            _ => Err(Field::Unit.error(
                naming,
                format!("{:?} is none of \"day\", \"week\", \"month\", \"year\"", brief(text)),
            )),
        }
    }
}

/// Which periods a quota counts in: a value that was checked when it was made.
///
/// `day` has an anchor time, `week` also a weekday, `month` a day, and `year` a month and a day. What is
/// not said is the start: Monday, the 1st, January, 00:00. A day that a month does not have is its last
/// one, in that month only: anchor 31 begins on 28 February and on 31 March. The zone is kept as it was
/// written, because runtimes rename zones; two spellings of one zone are two specifications.
///
/// Refused, with an error that names the field: units below a day (such a rate is a duration, which a
/// token bucket measures), an anchor that does not belong to the unit, offsets in the place of a zone
/// (`+05:30`, `UTC+3`), and names that are not in the tz database even where a runtime knows them
/// (`PST`, `US/Pacific-New`). That the database at hand has the zone is checked when the zone is loaded.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::{Naming, PeriodSpec, Unit};
///
/// let spec = PeriodSpec::new(Unit::Month, "Europe/Paris")?.with_anchor_day(31)?.with_anchor_time("06:30")?;
/// let same = serde_json::json!({
///     "unit": "month", "timeZone": "Europe/Paris", "anchorDay": 31, "anchorTime": "06:30:00",
/// });
/// assert_eq!(PeriodSpec::from_json(&same, Naming::Camel)?, spec);
///
/// let hourly = serde_json::json!({ "unit": "hour", "time_zone": "UTC" });
/// assert_eq!(PeriodSpec::from_json(&hourly, Naming::Snake).unwrap_err().path(), Some("unit"));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct PeriodSpec {
    time_zone: String,
    pub(super) anchor: Anchor,
    /// Local time of day at which a period begins, in seconds past midnight.
    time_s: u32,
}

/// The unit, with the anchors that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
    Day,
    Week { weekday: u8 },
    Month { day: u8 },
    Year { month: u8, day: u8 },
}

impl PeriodSpec {
    /// Whole units of `time_zone`'s calendar: from Monday, the 1st, 1 January, 00:00.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for a string that cannot name a time zone.
    pub fn new(unit: Unit, time_zone: impl Into<String>) -> Result<Self, Error> {
        Fields { unit: unit.name().into(), time_zone: time_zone.into(), ..Fields::default() }
            .check(Naming::Snake)
    }

    /// The same with each period beginning on that day of the month, 1 to 31.
    ///
    /// # Errors
    ///
    /// [`invalid-spec`](Error::is_invalid_spec) for another day, or with another unit than month or year.
    pub fn with_anchor_day(self, day: u8) -> Result<Self, Error> {
        Fields { anchor_day: Some(day), ..self.into() }.check(Naming::Snake)
    }

    /// The same with each period beginning on that weekday: 1 is Monday, 7 is Sunday.
    ///
    /// # Errors
    ///
    /// [`invalid-spec`](Error::is_invalid_spec) for another weekday, or with another unit than week.
    pub fn with_anchor_weekday(self, weekday: u8) -> Result<Self, Error> {
        Fields { anchor_weekday: Some(weekday), ..self.into() }.check(Naming::Snake)
    }

    /// The same with each period beginning in that month, 1 to 12.
    ///
    /// # Errors
    ///
    /// [`invalid-spec`](Error::is_invalid_spec) for another month, or with another unit than year.
    pub fn with_anchor_month(self, month: u8) -> Result<Self, Error> {
        Fields { anchor_month: Some(month), ..self.into() }.check(Naming::Snake)
    }

    /// The same with each period beginning at that local time of day, `HH:MM` or `HH:MM:SS`.
    ///
    /// # Errors
    ///
    /// [`invalid-spec`](Error::is_invalid_spec) for anything else, and for times from 24:00 on.
    pub fn with_anchor_time(self, time: &str) -> Result<Self, Error> {
        Fields { anchor_time: Some(time.to_owned()), ..self.into() }.check(Naming::Snake)
    }

    /// Reads a specification from a JSON object; `null` is a field that is not there.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error whose path is the field that is wrong, missing
    /// or unknown, spelled as `naming` says.
    pub fn from_json(value: &Value, naming: Naming) -> Result<Self, Error> {
        Fields::from_json(value, naming)?.check(naming)
    }

    /// The length of a period.
    pub const fn unit(&self) -> Unit {
        match self.anchor {
            Anchor::Day => Unit::Day,
            Anchor::Week { .. } => Unit::Week,
            Anchor::Month { .. } => Unit::Month,
            Anchor::Year { .. } => Unit::Year,
        }
    }

    /// The tenant's own name for the time zone.
    pub fn time_zone(&self) -> &str {
        &self.time_zone
    }

    /// Milliseconds past midnight at which a period begins.
    pub(super) fn time_ms(&self) -> i64 {
        i64::from(self.time_s) * 1_000
    }
}

/// A specification as it is written down, not checked yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    unit: Cow<'static, str>,
    #[serde(alias = "timeZone")]
    time_zone: String,
    #[serde(default, alias = "anchorDay")]
    anchor_day: Option<u8>,
    #[serde(default, alias = "anchorWeekday")]
    anchor_weekday: Option<u8>,
    #[serde(default, alias = "anchorMonth")]
    anchor_month: Option<u8>,
    #[serde(default, alias = "anchorTime")]
    anchor_time: Option<String>,
}

impl Fields {
    fn from_json(value: &Value, naming: Naming) -> Result<Self, Error> {
        let Value::Object(object) = value else {
            return Err(Error::spec("", "is not an object with unit and time zone"));
        };
        if let Some(odd) = object.keys().find(|key| !Field::OF_PERIOD.iter().any(|f| f.name(naming) == *key))
        {
            return Err(Error::spec(brief(odd), "is not a field of a period"));
        }
        let get = |field: Field| object.get(field.name(naming)).filter(|value| !value.is_null());
        let text = |field: Field| match get(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(field.error(naming, format!("{} is not a string", shown(other)))),
        };
        let number = |field: Field| match get(field) {
            None => Ok(None),
            Some(value) => match whole_number(value).map(u8::try_from) {
                Some(Ok(number)) => Ok(Some(number)),
                Some(Err(_)) => Err(field.out_of_range(naming, shown(value))),
                None => Err(field.error(naming, format!("{} is not a whole number", shown(value)))),
            },
        };
        let required = |field: Field| text(field)?.ok_or_else(|| field.error(naming, "is required"));
        Ok(Self {
            unit: required(Field::Unit)?.into(),
            time_zone: required(Field::TimeZone)?,
            anchor_day: number(Field::AnchorDay)?,
            anchor_weekday: number(Field::AnchorWeekday)?,
            anchor_month: number(Field::AnchorMonth)?,
            anchor_time: text(Field::AnchorTime)?,
        })
    }

    fn check(self, naming: Naming) -> Result<PeriodSpec, Error> {
        let unit = Unit::parse(&self.unit, naming)?;
        if let Some(fault) = zone_name::fault(&self.time_zone) {
            return Err(Field::TimeZone.error(naming, fault));
        }
        let anchor = self.anchor(unit, naming)?;
        let time_s = match &self.anchor_time {
            None => 0,
            Some(text) => parse_time(text).ok_or_else(|| {
                Field::AnchorTime.error(
                    naming,
                    format!(
                        "{:?} is not a time of day: \"HH:MM\" or \"HH:MM:SS\", 00:00 to 23:59:59",
                        brief(text)
                    ),
                )
            })?,
        };
        Ok(PeriodSpec { time_zone: self.time_zone, anchor, time_s })
    }

    fn anchor(&self, unit: Unit, naming: Naming) -> Result<Anchor, Error> {
        let given = [
            (Field::AnchorDay, self.anchor_day, matches!(unit, Unit::Month | Unit::Year)),
            (Field::AnchorWeekday, self.anchor_weekday, unit == Unit::Week),
            (Field::AnchorMonth, self.anchor_month, unit == Unit::Year),
        ];
        for (field, value, belongs) in given {
            let Some(value) = value else { continue };
            if !belongs {
                return Err(field.error(naming, format!("does not belong to the unit \"{}\"", unit.name())));
            }
            if value == 0 || value > field.largest() {
                return Err(field.out_of_range(naming, value));
            }
        }
        let (day, month) = (self.anchor_day.unwrap_or(1), self.anchor_month.unwrap_or(1));
        Ok(match unit {
            Unit::Day => Anchor::Day,
            Unit::Week => Anchor::Week { weekday: self.anchor_weekday.unwrap_or(1) },
            Unit::Month => Anchor::Month { day },
            Unit::Year => Anchor::Year { month, day },
        })
    }
}

impl TryFrom<Fields> for PeriodSpec {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        fields.check(Naming::Snake)
    }
}

impl From<PeriodSpec> for Fields {
    fn from(spec: PeriodSpec) -> Self {
        let (anchor_day, anchor_weekday, anchor_month) = match spec.anchor {
            Anchor::Day => (None, None, None),
            Anchor::Week { weekday } => (None, Some(weekday), None),
            Anchor::Month { day } => (Some(day), None, None),
            Anchor::Year { month, day } => (Some(day), None, Some(month)),
        };
        let (hours, minutes, seconds) = (spec.time_s / 3_600, spec.time_s / 60 % 60, spec.time_s % 60);
        Self {
            unit: spec.unit().name().into(),
            time_zone: spec.time_zone,
            anchor_day,
            anchor_weekday,
            anchor_month,
            anchor_time: Some(format!("{hours:02}:{minutes:02}:{seconds:02}")),
        }
    }
}

/// Seconds past midnight.
fn parse_time(text: &str) -> Option<u32> {
    let two = |part: &str, below: u32| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|&number| digits && number < below)
    };
    let mut parts = text.split(':');
    let (hours, minutes) = (two(parts.next()?, 24)?, two(parts.next()?, 60)?);
    let seconds = parts.next().map_or(Some(0), |part| two(part, 60))?;
    parts.next().is_none().then_some(hours * 3_600 + minutes * 60 + seconds)
}
