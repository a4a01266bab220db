//! Calendar periods and quotas, natively: against cases with known answers, against `jiff`, and by
//! their properties. All zones come from the tz data that Cargo.lock pins, so no case is left out.

#![cfg(not(target_arch = "wasm32"))]

mod corpus;
mod differential;
mod examples;
mod oracle;
mod properties;
mod quota;
mod settings;
mod specs;
mod zones;

use sluicegate::calendar::{JiffZone, Naming, PeriodSpec, Unit};
use sluicegate::clock::WallMs;

/// A zone of the pinned tz data.
fn zone(name: &str) -> JiffZone {
    JiffZone::new(name, Naming::Snake).unwrap()
}

/// An instant, from its ISO 8601 text.
fn wall(text: &str) -> WallMs {
    WallMs(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

/// Whole days of `zone`, beginning at `time`.
fn daily(zone: &str, time: &str) -> PeriodSpec {
    PeriodSpec::new(Unit::Day, zone).unwrap().with_anchor_time(time).unwrap()
}

/// Months of `zone`, beginning on `day`.
fn monthly(zone: &str, day: u8) -> PeriodSpec {
    PeriodSpec::new(Unit::Month, zone).unwrap().with_anchor_day(day).unwrap()
}
