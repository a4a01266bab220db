//! How a policy counts: the algorithm, its numbers and its scope.

use serde_json::Value;

use super::duration::duration;
use super::policy::{Counting, Rate, Scope};
use super::read::{Fields, choice, flag, quote, quote_all, show, suggest, whole};
use crate::bucket::{Refill, TokenBucket};
use crate::calendar::{Naming, PeriodSpec};
use crate::global::CapLimit;
use crate::policy::{Algorithm, OnError};
use crate::window::{FixedWindow, SlidingLog, SlidingWindow, WindowMs};
use crate::{Error, MAX_COUNT};

/// How far a global window may pass its limit unless told otherwise: a tenth.
const TOLERANCE_PPM: u32 = 100_000;

/// The fields that are read here.
pub(super) const FIELDS: [&str; 10] = [
    "algorithm",
    "limit",
    "window",
    "period",
    "sub_windows",
    "strict",
    "burst",
    "scope",
    "tolerance",
    "on_error",
];

/// What was read: how much, how it is counted, and what happens when the count is out of reach.
pub(super) struct Measured {
    pub limit: u64,
    pub counting: Counting,
    pub on_error: OnError,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    FixedWindow,
    SlidingWindow,
    SlidingLog,
    TokenBucket,
    CalendarQuota,
}

const KINDS: [(&str, Kind); 5] = [
    ("fixed-window", Kind::FixedWindow),
    ("sliding-window", Kind::SlidingWindow),
    ("sliding-log", Kind::SlidingLog),
    ("token-bucket", Kind::TokenBucket),
    ("calendar-quota", Kind::CalendarQuota),
];

/// The options that only one algorithm has: without effect on another, they are refused there.
const OWNED: [(&str, Kind); 5] = [
    ("sub_windows", Kind::SlidingWindow),
    ("strict", Kind::SlidingWindow),
    ("burst", Kind::TokenBucket),
    ("tolerance", Kind::FixedWindow),
    ("period", Kind::CalendarQuota),
];

impl Kind {
    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| *name)
    }
}

fn kind(value: &Value) -> Result<Kind, String> {
    match value.as_str() {
        Some("concurrency") => Err(format!(
            "{} is not available in this version; {}",
            show(value),
            suggest("", &KINDS.map(|(name, _)| name))
        )),
        _ => choice(value, &KINDS),
    }
}

/// Reads the algorithm, its numbers and its scope.
pub(super) fn read(fields: &mut Fields<'_, '_>) -> Option<Measured> {
    let kind = fields.required("algorithm", "use \"fixed-window\" if in doubt", kind);
    // Where the algorithm is not known, what was written tells what was meant.
    let is_quota = kind.map_or(fields.get("period").is_some(), |kind| kind == Kind::CalendarQuota);
    let hint = if is_quota { "period" } else { "window" };
    let hint = format!("give a whole number of units per {hint}");
    let limit = fields.required("limit", &hint, |value| whole(value, 0, MAX_COUNT));
    if let Some(kind) = kind {
        refuse_foreign(fields, kind);
    }
    if is_quota {
        let period = read_period(fields);
        let on_error = quota_on_error(fields, kind);
        return Some(Measured { limit: limit?, counting: Counting::Quota(period?), on_error: on_error? });
    }
    let scope = read_scope(fields, kind);
    let on_error = rate_on_error(fields, scope);
    let rate = read_rate(fields, kind, limit, scope);
    Some(Measured { limit: limit?, counting: Counting::Rate(rate?), on_error: on_error? })
}

/// Names each option that another algorithm has and this one has not.
fn refuse_foreign(fields: &mut Fields<'_, '_>, kind: Kind) {
    for (option, owner) in OWNED {
        if owner != kind && fields.get(option).is_some() {
            let (owner, name) = (quote(owner.name()), quote(kind.name()));
            fields.fail(option, format!("belongs to {owner}; a {name} has no such option"));
        }
    }
    if kind == Kind::CalendarQuota && fields.get("window").is_some() {
        let detail = "does not belong to a \"calendar-quota\": a month has no constant length; write \
                      period = { unit = \"month\", time_zone = \"Europe/Paris\" }";
        fields.fail("window", detail);
    }
}

/// `None` when the kind or another part is faulty.
fn read_rate(
    fields: &mut Fields<'_, '_>,
    kind: Option<Kind>,
    limit: Option<u64>,
    scope: Option<Scope>,
) -> Option<Rate> {
    let window = fields.required("window", "give its length, such as \"1m\"", window);
    let sub_windows = fields.optional("sub_windows", |value| whole(value, 1, u32::MAX.into()));
    let strict = fields.optional("strict", flag).unwrap_or_default();
    let burst = fields.optional("burst", |value| whole(value, 0, MAX_COUNT));
    let (kind, limit, window) = (kind?, limit?, window?);
    let burst = (kind == Kind::TokenBucket).then(|| burst.unwrap_or(limit));
    let sub_windows = sub_windows.and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
    let algorithm = match kind {
        Kind::FixedWindow => FixedWindow::new(limit, window).map(Algorithm::FixedWindow),
        Kind::SlidingLog => SlidingLog::new(limit, window).map(Algorithm::SlidingLog),
        Kind::SlidingWindow => {
            SlidingWindow::new(limit, window, sub_windows, strict).map(Algorithm::SlidingWindow)
        }
        Kind::TokenBucket => Refill::new(limit, window.get())
            .and_then(|refill| TokenBucket::new(burst.unwrap_or(limit), refill))
            .map(Algorithm::TokenBucket),
        Kind::CalendarQuota => return None,
    };
    let algorithm = algorithm.map_err(|error| fields.fail(field_of(&error), error.detail())).ok()?;
    Some(Rate { algorithm, window, burst, scope: scope? })
}

/// The field of a policy that an algorithm's complaint is about.
fn field_of(error: &Error) -> &'static str {
    match error.path() {
        Some("capacity") => "burst",
        Some("sub_windows") => "sub_windows",
        Some("window") => "window",
        Some("strict") => "strict",
        _ => "limit",
    }
}

fn window(value: &Value) -> Result<WindowMs, String> {
    let ms = duration(value)?;
    WindowMs::new(ms).map_err(|error| format!("{} {}", show(value), error.detail()))
}

fn read_period(fields: &mut Fields<'_, '_>) -> Option<PeriodSpec> {
    let hint = "write { unit = \"month\", time_zone = \"Europe/Paris\" }";
    let value = fields.required("period", hint, Ok)?;
    let period = PeriodSpec::from_json(value, Naming::Snake);
    period.map_err(|error| fields.note(error.under("period"))).ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Pop,
    Global,
}

const SCOPES: [(&str, Word); 2] = [("pop", Word::Pop), ("global", Word::Global)];

/// The scope of a rate; `None` when it is faulty, or it cannot be told without the algorithm.
fn read_scope(fields: &mut Fields<'_, '_>, kind: Option<Kind>) -> Option<Scope> {
    let word = match fields.get("scope") {
        None => Some(Word::Pop),
        Some(_) => fields.optional("scope", |value| choice(value, &SCOPES)),
    };
    let tolerance = match fields.get("tolerance") {
        None => Some(TOLERANCE_PPM),
        Some(_) => fields.optional("tolerance", tolerance),
    };
    match (word?, kind) {
        (Word::Pop, Some(Kind::FixedWindow)) if fields.get("tolerance").is_some() => {
            let detail = "belongs to scope = \"global\"; a point of presence alone counts exactly";
            fields.fail("tolerance", detail);
            None
        }
        (Word::Pop, _) => Some(Scope::Pop),
        (Word::Global, Some(Kind::FixedWindow)) => {
            tolerance.map(|tolerance_ppm| Scope::Global { tolerance_ppm })
        }
        (Word::Global, Some(Kind::TokenBucket)) => Some(Scope::Global { tolerance_ppm: 0 }),
        (Word::Global, None) => None,
        (Word::Global, Some(kind)) => {
            let able = quote_all([Kind::FixedWindow, Kind::TokenBucket, Kind::CalendarQuota].map(Kind::name));
            fields.fail(
                "scope",
                format!(
                    "\"global\" is for {able}; where a {} stands differs from one point of presence to the next",
                    quote(kind.name())
                ),
            );
            None
        }
    }
}

/// A part of one in millionths, exactly as it was written: 0.1 is 100,000.
fn tolerance(value: &Value) -> Result<u32, String> {
    let whole_ppm = f64::from(CapLimit::WHOLE_PPM);
    let Some(part) = value.as_f64().filter(|part| (0.0..=1.0).contains(part)) else {
        let unquote = if value.is_string() { "; write it without quotes" } else { "" };
        return Err(format!("{} is not a number from 0 to 1, such as 0.1 for a tenth{unquote}", show(value)));
    };
    let ppm = (part * whole_ppm).round();
    // A number with up to six decimals is the f64 nearest to this quotient, and no other number is.
    if ppm / whole_ppm == part {
        return Ok(ppm as u32);
    }
    Err(format!("{} has more than 6 decimals", show(value)))
}

/// What happens when the state of a rate is out of reach. `scope` is `None` where it is faulty, and
/// then `local` is not blamed for it.
fn rate_on_error(fields: &mut Fields<'_, '_>, scope: Option<Scope>) -> Option<OnError> {
    let choices = [("open", OnError::Open), ("closed", OnError::Closed), ("local", OnError::Local)];
    let Some(_) = fields.get("on_error") else { return Some(OnError::Open) };
    fields.optional("on_error", |value| match choice(value, &choices)? {
        OnError::Local if scope == Some(Scope::Pop) => Err(
            "\"local\" belongs to scope = \"global\": a counter that a point of presence keeps alone has no \
                 Ledger to lose; use \"open\" or \"closed\""
                .to_owned(),
        ),
        on_error => Ok(on_error),
    })
}

/// The same of a calendar quota, which leaves no choice.
fn quota_on_error(fields: &mut Fields<'_, '_>, kind: Option<Kind>) -> Option<OnError> {
    // Where the algorithm is not known, nothing is to follow from it.
    kind?;
    if let Some(Value::String(word)) = fields.get("scope")
        && word == "pop"
    {
        let detail = "\"pop\" is not for a \"calendar-quota\", which is one quota over all points of presence; \
                      leave it out";
        fields.fail("scope", detail);
    } else {
        fields.optional("scope", |value| choice(value, &SCOPES));
    }
    let Some(value) = fields.get("on_error") else { return Some(OnError::Closed) };
    match value.as_str() {
        Some("closed") => Some(OnError::Closed),
        Some(word @ ("open" | "local")) => {
            let detail = format!(
                "{} would let units through that nobody counts, and a \"calendar-quota\" is exact: its leases in hand \
                 are spent, then it refuses; use \"closed\" or leave it out",
                quote(word)
            );
            fields.fail("on_error", detail);
            None
        }
        _ => fields.optional("on_error", |value| choice(value, &[("closed", OnError::Closed)])),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every number of millionths, however it is written.
        #[test]
        fn a_tolerance_is_read_exactly(ppm in 0..=1_000_000_u32, zeros in 0..6_usize) {
            let (whole, part) = (ppm / 1_000_000, ppm % 1_000_000);
            let mut spellings = vec![format!("{whole}.{part:06}{}", "0".repeat(zeros)), format!("{ppm}e-6")];
            if part == 0 {
                spellings.push(whole.to_string());
            }
            for text in spellings {
                let value: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(tolerance(&value), Ok(ppm), "{}", text);
            }
        }

        #[test]
        fn a_seventh_decimal_is_refused(ppm in 0..1_000_000_u32, digit in 1..10_u32, zeros in 0..7_usize) {
            let text = format!("0.{ppm:06}{}{digit}", "0".repeat(zeros));
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(tolerance(&value).is_err(), "{}", text);
        }
    }
}
