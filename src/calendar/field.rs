use std::fmt;

use serde_json::Value;

use crate::Error;

/// How the fields of a specification are spelled: in what is read, and in the paths of errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `anchor_day`: configuration files and HTTP.
    #[default]
    Snake,
    /// `anchorDay`: JavaScript.
    Camel,
}

/// The fields of a quota and of its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Limit,
    Period,
    Unit,
    TimeZone,
    AnchorDay,
    AnchorWeekday,
    AnchorMonth,
    AnchorTime,
}

impl Field {
    pub(super) const OF_PERIOD: [Self; 6] = [
        Self::Unit,
        Self::TimeZone,
        Self::AnchorDay,
        Self::AnchorWeekday,
        Self::AnchorMonth,
        Self::AnchorTime,
    ];

    pub(crate) const fn name(self, naming: Naming) -> &'static str {
        match (self, naming) {
            (Self::Limit, _) => "limit",
            (Self::Period, _) => "period",
            (Self::Unit, _) => "unit",
            (Self::TimeZone, Naming::Snake) => "time_zone",
            (Self::TimeZone, Naming::Camel) => "timeZone",
            (Self::AnchorDay, Naming::Snake) => "anchor_day",
            (Self::AnchorDay, Naming::Camel) => "anchorDay",
            (Self::AnchorWeekday, Naming::Snake) => "anchor_weekday",
            (Self::AnchorWeekday, Naming::Camel) => "anchorWeekday",
            (Self::AnchorMonth, Naming::Snake) => "anchor_month",
            (Self::AnchorMonth, Naming::Camel) => "anchorMonth",
            (Self::AnchorTime, Naming::Snake) => "anchor_time",
            (Self::AnchorTime, Naming::Camel) => "anchorTime",
        }
    }

    pub(crate) fn error(self, naming: Naming, detail: impl Into<String>) -> Error {
        Error::spec(self.name(naming), detail)
    }

    pub(super) const fn largest(self) -> u8 {
        match self {
            Self::AnchorWeekday => 7,
            Self::AnchorMonth => 12,
            _ => 31,
        }
    }

    pub(super) fn out_of_range(self, naming: Naming, value: impl fmt::Display) -> Error {
        let note = if self == Self::AnchorWeekday { ", 1 is Monday" } else { "" };
        self.error(naming, format!("{value} is not from 1 to {}{note}", self.largest()))
    }
}

/// A whole number that is not negative, however JSON spells it: 1, 1.0, -0.
pub(crate) fn whole_number(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        // Above 2^53 a JavaScript number is no longer the one that was meant.
        (float.fract() == 0.0 && float >= 0.0 && float <= crate::MAX_COUNT as f64).then_some(float as u64)
    })
}

/// What was given, short enough for a message.
pub(super) fn shown(value: &Value) -> String {
    brief(&value.to_string()).to_owned()
}

/// The beginning of a text.
pub(super) fn brief(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}
