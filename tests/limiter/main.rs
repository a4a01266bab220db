//! `QuotaClock`, natively: against cases with known answers, on hosts that are suspended, stepped and
//! restarted, and beside the naive forms. All zones come from the tz data that Cargo.lock pins.

#![cfg(not(target_arch = "wasm32"))]

mod config;
mod corpus;
mod decisions;
mod examples;
mod naive;
mod properties;
mod refused;
mod snapshots;

use serde_json::{Value, json};
use sluicegate::calendar::{JiffZone, Naming};
use sluicegate::clock::{Anomaly, ElapsedRealtimeMs, MonotonicMs, Readings, RealtimeReader, WallMs};
use sluicegate::{Cost, Error, QuotaClock, QuotaClockConfig, QuotaClockDecision, QuotaClockSnapshot};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The hands of a machine's clocks; a test moves them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Host {
    monotonic: i64,
    wall: i64,
    /// `None` where the machine has no suspend-inclusive clock.
    realtime: Option<i64>,
}

impl Host {
    /// Without a suspend-inclusive clock.
    fn at(wall: &str) -> Self {
        Self { monotonic: 10_000_000, wall: ms(wall), realtime: None }
    }

    fn with_reader(self) -> Self {
        Self { realtime: Some(5_000_000), ..self }
    }

    fn advance(&mut self, ms: i64) {
        self.monotonic += ms;
        self.suspend(ms);
    }

    fn suspend(&mut self, ms: i64) {
        self.step_wall(ms);
        self.realtime = self.realtime.map(|hand| hand + ms);
    }

    fn step_wall(&mut self, ms: i64) {
        self.wall += ms;
    }

    fn read<T>(self, call: impl FnOnce(Readings, Option<RealtimeReader<'_>>) -> T) -> T {
        let readings = Readings { monotonic: MonotonicMs(self.monotonic), wall: WallMs(self.wall) };
        match self.realtime {
            None => call(readings, None),
            Some(hand) => call(readings, Some(&mut || Ok(ElapsedRealtimeMs(hand)))),
        }
    }
}

/// A limiter and the machine it runs on.
#[derive(Clone, Debug)]
struct Rig {
    host: Host,
    limiter: QuotaClock<JiffZone>,
}

impl Rig {
    fn new(options: &Value, host: Host) -> Result<Self, Error> {
        let (config, zone) = configure(options)?;
        let limiter = host.read(|readings, reader| QuotaClock::new(config, zone, readings, reader))?;
        Ok(Self { host, limiter })
    }

    fn restore(snapshot: &Value, options: &Value, host: Host) -> Result<Self, Error> {
        let snapshot = QuotaClockSnapshot::from_json(snapshot)?;
        let (config, zone) = configure(options)?;
        let limiter =
            host.read(|readings, reader| QuotaClock::restore(&snapshot, config, zone, readings, reader))?;
        Ok(Self { host, limiter })
    }

    fn snapshot(&self) -> Value {
        // Through text, as a program would store it.
        let text = serde_json::to_string(&self.limiter.snapshot()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn try_consume(&mut self, units: u64) -> Result<QuotaClockDecision, Error> {
        self.host.read(|readings, reader| self.limiter.try_consume(readings, reader, cost(units)))
    }

    /// For where nothing can be refused but the request.
    fn consume(&mut self, units: u64) -> QuotaClockDecision {
        self.try_consume(units).unwrap()
    }

    fn try_peek(&mut self, units: u64) -> Result<QuotaClockDecision, Error> {
        self.host.read(|readings, reader| self.limiter.peek(readings, reader, cost(units)))
    }

    fn peek(&mut self) -> QuotaClockDecision {
        self.try_peek(1).unwrap()
    }
}

/// The configuration that JavaScript options name, and the zone of its quota.
fn configure(options: &Value) -> Result<(QuotaClockConfig, JiffZone), Error> {
    let config = QuotaClockConfig::from_json(options, Naming::Camel)?;
    let zone = config.quota().map_or("UTC", |quota| quota.period().time_zone());
    Ok((config.clone(), JiffZone::new(zone, Naming::Camel)?))
}

/// Options without a quota.
fn bucket(capacity: u64, refill: f64, policy: &str) -> Value {
    json!({ "capacity": capacity, "refillPerSecond": refill, "suspendPolicy": policy })
}

/// Options whose bucket is never in the way.
fn quota(limit: u64, period: Value) -> Value {
    json!({
        "capacity": 1_000_000,
        "refillPerSecond": 1_000_000,
        "suspendPolicy": "ignore",
        "quota": { "limit": limit, "period": period },
    })
}

fn with(mut options: Value, field: &str, value: Value) -> Value {
    options[field] = value;
    options
}

fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

fn ms(instant: &str) -> i64 {
    instant.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn kinds(anomalies: &[Anomaly]) -> Vec<&'static str> {
    anomalies.iter().map(|anomaly| anomaly.kind.name()).collect()
}

/// Slot, units left, allowed: what most tests look at.
fn brief(decision: &QuotaClockDecision) -> (String, u64, bool) {
    let slot = decision.period.unwrap().slot.to_string();
    (slot, decision.quota_remaining.unwrap(), decision.allowed())
}

fn said(slot: &str, left: u64, allowed: bool) -> (String, u64, bool) {
    (slot.to_owned(), left, allowed)
}

/// The wait, and what it rests on.
fn wait(decision: &QuotaClockDecision) -> (Option<u64>, Option<&'static str>) {
    (decision.retry_after_ms, decision.retry_after_basis.map(|basis| basis.name()))
}
