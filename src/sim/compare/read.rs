//! Reading a specification, and what goes wrong, from JSON.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::spec::{
    Counts, LONGEST_FAULT_MS, LONGEST_MS, MOST_OFF_MS, MOST_SAMPLES, POLICY, STARTS_MS, WorldSpec,
};
use crate::calendar::Unit;
use crate::clock::WallMs;
use crate::config::read::{Fields, at, choice, show, suggest, whole};
use crate::policy::OnError;
use crate::sim::{ClockSpec, Fault, Machine, Network, Pace, Place, Stream};
use crate::{Error, MAX_COUNT};

/// A longer text is no specification.
const LONGEST_TEXT: usize = 100_000;
const MOST_POPS: usize = 12;
const MOST_STREAMS: usize = 8;
/// Requests in a thousand seconds, over all streams.
const MOST_OFFERED: u64 = 500_000;
/// Requests that come at once at the most, over all streams: each may have to wait.
const MOST_IN_BURSTS: u64 = 5_000;
const SLOWEST_US: u64 = 3_600_000_000;

pub(super) const ON_ERROR: [(&str, OnError); 3] =
    [("open", OnError::Open), ("closed", OnError::Closed), ("local", OnError::Local)];

pub(super) fn parse(text: &str) -> Result<Value, Error> {
    if text.len() > LONGEST_TEXT {
        return Err(at("", format!("is longer than {LONGEST_TEXT} bytes")));
    }
    serde_json::from_str(text).map_err(|error| at("", format!("is not JSON: {error}")))
}

/// Reads with `read`, which notes what is wrong; the first of it is the error.
fn first<T>(read: impl FnOnce(&mut Vec<Error>) -> Option<T>) -> Result<T, Error> {
    let mut errors = Vec::new();
    let value = read(&mut errors);
    match (errors.into_iter().next(), value) {
        (None, Some(value)) => Ok(value),
        (error, _) => Err(error.unwrap_or_else(|| at("", "cannot be read".to_owned()))),
    }
}

pub(super) fn spec(value: &Value) -> Result<WorldSpec, Error> {
    let spec = first(|errors| read_spec(value, errors))?;
    let too_late = spec.traffic.iter().position(|stream| stream.until_ms > spec.ends_ms());
    if let Some(index) = too_late {
        let detail = format!("is after the end at {}: {MOST_SAMPLES} samples", spec.ends_ms());
        return Err(Error::spec(format!("traffic[{index}].until_ms"), detail));
    }
    let rates = spec.traffic.iter().map(|stream| offered(stream.pace));
    let (offered, bursts) = rates.fold((0_u64, 0_u64), |(all, most), (offered, burst)| {
        (all.saturating_add(offered), most.saturating_add(burst))
    });
    if offered > MOST_OFFERED || bursts > MOST_IN_BURSTS {
        let (rate, most) = (offered.div_ceil(1_000), MOST_OFFERED / 1_000);
        let detail = format!(
            "comes to {rate} requests a second and bursts of {bursts}; {most} and {MOST_IN_BURSTS} are the most"
        );
        return Err(Error::spec("traffic", detail));
    }
    Ok(spec)
}

/// Requests in a thousand seconds, and those of one burst.
fn offered(pace: Pace) -> (u64, u64) {
    match pace {
        Pace::Steady { gap_us } | Pace::Random { gap_us } => (1_000_000_000 / gap_us.max(1), 0),
        Pace::Bursts { every_ms, requests, .. } => {
            (requests.saturating_mul(1_000_000) / every_ms.max(1), requests)
        }
    }
}

const FIELDS: [&str; 11] = [
    "seed",
    "starts_at_ms",
    "limit",
    "counts",
    "tolerance_ppm",
    "on_error",
    "pops",
    "ledger",
    "network",
    "traffic",
    "sample_ms",
];

fn read_spec(value: &Value, errors: &mut Vec<Error>) -> Option<WorldSpec> {
    let mut fields = Fields::open(value, "", &FIELDS, errors)?;
    let seed = number(&mut fields, "seed", 0..=MAX_COUNT);
    let starts_at = signed(&mut fields, "starts_at_ms", STARTS_MS).map(WallMs);
    let limit = number(&mut fields, "limit", 1..=100_000);
    let tolerance_ppm = narrow(&mut fields, "tolerance_ppm", 1_000_000);
    let on_error = fields.required("on_error", "write \"closed\"", |value| choice(value, &ON_ERROR));
    let sample_ms = number(&mut fields, "sample_ms", 10..=60_000);
    let mut there = |name: &str| fields.required(name, "it has no default", Ok);
    let (counts, pops, ledger) = (there("counts"), there("pops"), there("ledger"));
    let (network, traffic) = (there("network"), there("traffic"));
    let counts = counts.and_then(|value| read_counts(value, errors));
    let pops = pops.and_then(|value| list(value, "pops", 1..=MOST_POPS, errors, read_clock))?;
    let ledger = ledger.and_then(|value| read_clock(value, "ledger", errors));
    let network = network.and_then(|value| read_network(value, errors));
    let stream =
        |value: &Value, path: &str, errors: &mut Vec<Error>| read_stream(value, path, pops.len(), errors);
    let traffic = traffic.and_then(|value| list(value, "traffic", 0..=MOST_STREAMS, errors, stream));
    Some(WorldSpec {
        seed: seed?,
        starts_at: starts_at?,
        limit: limit?,
        counts: counts?,
        tolerance_ppm: tolerance_ppm?,
        on_error: on_error?,
        ledger: ledger?,
        network: network?,
        traffic: traffic?,
        sample_ms: sample_ms?,
        pops,
    })
}

fn read_counts(value: &Value, errors: &mut Vec<Error>) -> Option<Counts> {
    let (name, inner) = variant(value, "counts", &["window_ms", "period"], errors)?;
    let counts = if name == "window_ms" {
        whole(inner, 1_000, 3_600_000).map(Counts::Window)
    } else {
        choice(inner, &[("day", Unit::Day), ("month", Unit::Month)]).map(Counts::Period)
    };
    counts.map_err(|detail| errors.push(Error::spec(format!("counts.{name}"), detail))).ok()
}

fn read_clock(value: &Value, path: &str, errors: &mut Vec<Error>) -> Option<ClockSpec> {
    let mut fields = Fields::open(value, path, &["offset_ms", "drift_ppm"], errors)?;
    let offset_ms = signed(&mut fields, "offset_ms", -MOST_OFF_MS..=MOST_OFF_MS);
    let drift_ppm = match fields.get("drift_ppm") {
        None => Some(0),
        Some(_) => signed(&mut fields, "drift_ppm", -100_000..=100_000),
    };
    Some(ClockSpec { offset_ms: offset_ms?, drift_ppm: i32::try_from(drift_ppm?).ok()? })
}

/// Each message is under way for the latency and, evenly at random, up to the jitter.
fn read_network(value: &Value, errors: &mut Vec<Error>) -> Option<Network> {
    let mut fields = Fields::open(value, "network", &["latency_ms", "jitter_ms", "loss_ppm"], errors)?;
    let latency_ms = number(&mut fields, "latency_ms", 0..=10_000);
    let jitter_ms = number(&mut fields, "jitter_ms", 0..=10_000);
    let loss_ppm = narrow(&mut fields, "loss_ppm", 1_000_000);
    let (least_ms, slow_ms) = (latency_ms?, latency_ms?.saturating_add(jitter_ms?));
    let none = Network { spread_ms: 0, told_after_ms: None, twice_ppm: 0, ..Network::default() };
    Some(Network { least_ms, slow_ppm: 1_000_000, slow_ms, loss_ppm: loss_ppm?, ..none })
}

fn read_stream(value: &Value, path: &str, pops: usize, errors: &mut Vec<Error>) -> Option<Stream> {
    let mut fields = Fields::open(value, path, &["from_ms", "until_ms", "pace", "place"], errors)?;
    let from_ms = number(&mut fields, "from_ms", 0..=LONGEST_MS);
    let until_ms = number(&mut fields, "until_ms", 0..=LONGEST_MS);
    let (pace, place) = (fields.required("pace", "", Ok), fields.required("place", "", Ok));
    let pace = pace.and_then(|value| read_pace(value, &format!("{path}.pace"), errors));
    let place = place.and_then(|value| read_place(value, &format!("{path}.place"), pops, errors));
    Some(Stream { from_ms: from_ms?, ..Stream::new(POLICY, until_ms?, pace?, place?) })
}

fn read_pace(value: &Value, path: &str, errors: &mut Vec<Error>) -> Option<Pace> {
    let (name, inner) = variant(value, path, &["steady", "random", "bursts"], errors)?;
    let path = format!("{path}.{name}");
    if name != "bursts" {
        let mut fields = Fields::open(inner, &path, &["gap_us"], errors)?;
        let gap_us = number(&mut fields, "gap_us", 1_000..=SLOWEST_US)?;
        return Some(if name == "steady" { Pace::Steady { gap_us } } else { Pace::Random { gap_us } });
    }
    let known = ["every_ms", "first_ms", "requests", "spread_ms"];
    let mut fields = Fields::open(inner, &path, &known, errors)?;
    let every_ms = number(&mut fields, "every_ms", 100..=LONGEST_MS);
    let first_ms = number(&mut fields, "first_ms", 0..=LONGEST_MS);
    let requests = number(&mut fields, "requests", 1..=MOST_IN_BURSTS);
    // One burst is over before the next begins.
    let spread_ms = number(&mut fields, "spread_ms", 0..=every_ms.unwrap_or(LONGEST_MS));
    Some(Pace::Bursts {
        every_ms: every_ms?,
        first_ms: first_ms?,
        requests: requests?,
        spread_ms: spread_ms?,
    })
}

fn read_place(value: &Value, path: &str, pops: usize, errors: &mut Vec<Error>) -> Option<Place> {
    if value.as_str() == Some("anywhere") {
        return Some(Place::Anywhere);
    }
    let (name, inner) = variant(value, path, &["pop", "moving"], errors)?;
    let path = format!("{path}.{name}");
    if name == "pop" {
        return index(inner, &path, pops, errors).map(Place::Pop);
    }
    let mut fields = Fields::open(inner, &path, &["stay_ms"], errors)?;
    let stay_ms = number(&mut fields, "stay_ms", 1..=LONGEST_MS)?;
    Some(Place::Moving { stay_ms })
}

const FAULTS: [&str; 5] = ["step", "freeze", "cut-off", "crash", "split"];

/// A fault of one of so many points of presence, or of the one Ledger.
pub(super) fn fault(value: &Value, pops: usize) -> Result<Fault, Error> {
    first(|errors| read_fault(value, pops, errors))
}

fn read_fault(value: &Value, pops: usize, errors: &mut Vec<Error>) -> Option<Fault> {
    let (name, inner) = variant(value, "", &FAULTS, errors)?;
    let measure = match name {
        "crash" => None,
        "step" => Some("ms"),
        _ => Some("for_ms"),
    };
    let known: Vec<&str> = ["machine"].into_iter().chain(measure).collect();
    let mut fields = Fields::open(inner, name, &known, errors)?;
    let most = i64::try_from(LONGEST_FAULT_MS).unwrap_or(i64::MAX);
    let (ms, for_ms) = match measure {
        Some("ms") => (signed(&mut fields, "ms", -MOST_OFF_MS..=MOST_OFF_MS), Some(0)),
        Some(name) => (Some(0), signed(&mut fields, name, 1..=most)),
        None => (Some(0), Some(0)),
    };
    let machine = fields.required("machine", "write {\"pop\": 0} or {\"ledger\": 0}", Ok);
    let machine = machine.and_then(|value| read_machine(value, &format!("{name}.machine"), pops, errors))?;
    let for_ms = u64::try_from(for_ms?).ok()?;
    Some(match name {
        "step" => Fault::Step { machine, ms: ms? },
        "freeze" => Fault::Freeze { machine, for_ms },
        "cut-off" => Fault::CutOff { machine, for_ms },
        "split" => Fault::Split { machine, for_ms },
        _ => Fault::Crash { machine },
    })
}

fn read_machine(value: &Value, path: &str, pops: usize, errors: &mut Vec<Error>) -> Option<Machine> {
    let (name, inner) = variant(value, path, &["pop", "ledger"], errors)?;
    let there_are = if name == "pop" { pops } else { 1 };
    let index = index(inner, &format!("{path}.{name}"), there_are, errors)?;
    Some(if name == "pop" { Machine::Pop(index) } else { Machine::Ledger(index) })
}

/// An object of one field, whose name says what it is.
fn variant<'a, 'k>(
    value: &'a Value,
    path: &str,
    known: &[&'k str],
    errors: &mut Vec<Error>,
) -> Option<(&'k str, &'a Value)> {
    let one = |map: &'a Map<String, Value>| map.iter().next().filter(|_| map.len() == 1);
    let Some((name, inner)) = value.as_object().and_then(one) else {
        errors
            .push(at(path, format!("{} is not an object of one field; {}", show(value), suggest("", known))));
        return None;
    };
    match known.iter().find(|known| **known == name.as_str()) {
        Some(name) => Some((name, inner)),
        None => {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            errors.push(Error::spec(path, format!("is not known here; {}", suggest(name, known))));
            None
        }
    }
}

fn list<T>(
    value: &Value,
    path: &str,
    many: RangeInclusive<usize>,
    errors: &mut Vec<Error>,
    read: impl Fn(&Value, &str, &mut Vec<Error>) -> Option<T>,
) -> Option<Vec<T>> {
    let Some(values) = value.as_array().filter(|values| many.contains(&values.len())) else {
        let (least, most) = many.into_inner();
        errors.push(Error::spec(path, format!("is not a list of {least} to {most}")));
        return None;
    };
    let read = |(index, value): (usize, &Value)| read(value, &format!("{path}[{index}]"), errors);
    values.iter().enumerate().map(read).collect()
}

fn index(value: &Value, path: &str, there_are: usize, errors: &mut Vec<Error>) -> Option<usize> {
    let most = u64::try_from(there_are).unwrap_or(u64::MAX).saturating_sub(1);
    let index = whole(value, 0, most).map_err(|detail| errors.push(Error::spec(path, detail))).ok()?;
    usize::try_from(index).ok()
}

fn number(fields: &mut Fields<'_, '_>, name: &str, range: RangeInclusive<u64>) -> Option<u64> {
    let (least, most) = range.into_inner();
    fields.required(name, "it has no default", |value| whole(value, least, most))
}

fn narrow(fields: &mut Fields<'_, '_>, name: &str, most: u32) -> Option<u32> {
    number(fields, name, 0..=u64::from(most)).and_then(|number| u32::try_from(number).ok())
}

/// A whole number that may be negative.
fn signed(fields: &mut Fields<'_, '_>, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
    fields.required(name, "it has no default", |value| {
        let number = value.as_i64().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.ok_or_else(|| format!("{} is not a whole number from {least} to {most}", show(value)))
    })
}
