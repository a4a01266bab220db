//! Random zones, specifications and instants: the same periods as by `jiff`'s gaps and folds.

use std::sync::LazyLock;

use jiff::civil::Time;
use proptest::prelude::*;
use sluicegate::calendar::{PeriodSpec, Unit, period_for};
use sluicegate::clock::WallMs;

use super::oracle::{Plan, all_names, changes, time_zone};
use super::zone;

static NAMES: LazyLock<Vec<String>> = LazyLock::new(all_names);

pub fn any_name() -> impl Strategy<Value = String> {
    any::<prop::sample::Index>().prop_map(|index| index.get(&NAMES).clone())
}

pub fn any_plan() -> impl Strategy<Value = Plan> {
    prop_oneof![
        3 => Just(Plan::Day),
        1 => (1_u8..=7).prop_map(|weekday| Plan::Week { weekday }),
        2 => (1_u8..=31).prop_map(|day| Plan::Month { day }),
        1 => (1_u8..=12, 1_u8..=31).prop_map(|(month, day)| Plan::Year { month, day }),
    ]
}

/// Times of day in seconds, most of them where clocks are changed.
pub fn any_time() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        0_u32..86_400,
        (0_u32..16).prop_map(|quarter| quarter * 900),
        (88_u32..96).prop_map(|quarter| quarter * 900),
    ]
}

/// Instants of `name`: from 1800 to 2200, half of them close to a change of its clocks.
pub fn any_instant(name: &str) -> impl Strategy<Value = WallMs> + use<> {
    const YEAR_MS: i64 = 31_556_952_000;
    let changes = changes(name, 2100);
    let near = (any::<prop::sample::Index>(), -90_000_000_i64..90_000_000)
        .prop_map(move |(index, by)| index.get(&changes).0.saturating_add(by).max(-170 * YEAR_MS));
    prop_oneof![-170 * YEAR_MS..230 * YEAR_MS, near].prop_map(WallMs)
}

pub fn spec_of(plan: Plan, name: &str, time: u32) -> PeriodSpec {
    let new = |unit| PeriodSpec::new(unit, name);
    let spec = match plan {
        Plan::Day => new(Unit::Day),
        Plan::Week { weekday } => new(Unit::Week).and_then(|spec| spec.with_anchor_weekday(weekday)),
        Plan::Month { day } => new(Unit::Month).and_then(|spec| spec.with_anchor_day(day)),
        Plan::Year { month, day } => {
            new(Unit::Year).and_then(|spec| spec.with_anchor_month(month)?.with_anchor_day(day))
        }
    };
    let time = format!("{:02}:{:02}:{:02}", time / 3_600, time / 60 % 60, time % 60);
    spec.and_then(|spec| spec.with_anchor_time(&time)).unwrap()
}

prop_compose! {
    /// A zone's name, a plan, a time of day and an instant.
    pub fn any_case()(name in any_name(), plan in any_plan(), time in any_time())
        (at in any_instant(&name), name in Just(name), plan in Just(plan), time in Just(time))
        -> (String, Plan, u32, WallMs)
    {
        (name, plan, time, at)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn periods_are_those_of_jiff((name, plan, time, at) in any_case()) {
        let (spec, zone) = (spec_of(plan, &name, time), zone(&name));
        let clock = Time::midnight() + jiff::SignedDuration::from_secs(time.into());
        let (slot, start, end) = plan.period(&time_zone(&name), clock, at);
        let found = period_for(&spec, &zone, at).unwrap();
        prop_assert_eq!(found.slot.to_string(), slot);
        prop_assert_eq!((found.start, found.start_kind), (start.at, start.kind));
        prop_assert_eq!((found.end, found.end_kind), (end.at, end.kind));
    }
}
