use std::cell::{Cell, RefCell};

use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::fault::Fault;
use super::source::Source;
use super::{anomaly, js, json, period, read};
use crate::calendar::{Naming, Period};
use crate::clock::{Anomaly, Readings, RealtimeReader};
use crate::intl::IntlZone;
use crate::limiter::{self, QuotaClockConfig, QuotaClockDecision, QuotaClockSnapshot, SNAPSHOT_VERSION};
use crate::{Cost, Error};

/// How deep a listener may call its own limiter from inside a call of itself. One that does so for every
/// anomaly would otherwise end in a stack overflow, inside code that cannot clean up after one.
const DEEPEST: u32 = 16;

const CLOCK: &str = "clock";
const LISTENER: &str = "onAnomaly";
const SNAPSHOT: &str = "snapshot";

/// Makes limiters. The class `QuotaClock` of the package is written in JavaScript, which is handed one of
/// these when the package is loaded.
#[wasm_bindgen(private, skip_typescript)]
#[derive(Debug)]
pub struct Engine;

/// Hands the JavaScript side what it asks for limiters.
#[wasm_bindgen(start, private, skip_typescript)]
pub fn start() {
    js::install(Engine);
}

#[wasm_bindgen]
impl Engine {
    /// A limiter with these options, which goes on from the snapshot in `from`, if there is one.
    ///
    /// # Errors
    ///
    /// `invalid-spec` with the path of the option, or under `snapshot`; a reading that is refused, and what
    /// the clock throws.
    #[wasm_bindgen(skip_typescript)]
    pub fn begin(
        &self,
        options: &JsValue,
        clock: &JsValue,
        listener: &JsValue,
        from: &js::List,
    ) -> Result<LimiterCore, Fault> {
        let snapshot = if from.length() == 0 { None } else { Some(snapshot_of(&from.at(0))?) };
        let written = json::read_without(options, &[CLOCK, LISTENER])?;
        let config = QuotaClockConfig::from_json(&written, Naming::Camel)?;
        read::function(LISTENER, listener)?;
        let source = Source::new(clock).map_err(|fault| fault.under(CLOCK))?;
        LimiterCore::begin(config, &source, snapshot.as_ref())
    }
}

/// What is behind a `QuotaClock`. Clock and listener come with each call.
///
/// The core is borrowed from the reading of the clocks to the decision. The listener is told after that,
/// when all is settled, so it may call the limiter; a clock source may not.
#[wasm_bindgen(private, skip_typescript)]
#[derive(Debug)]
pub struct LimiterCore {
    core: RefCell<limiter::QuotaClock<IntlZone>>,
    depth: Cell<u32>,
    /// The last period that was shown, as it was shown.
    shown: RefCell<Option<(Period, JsValue)>>,
}

#[wasm_bindgen]
impl LimiterCore {
    /// `tryConsume(cost)`.
    ///
    /// # Errors
    ///
    /// `invalid-cost`, a reading that is refused, and what the clock throws: nothing is taken then. What the
    /// listener throws: the decision stands.
    #[wasm_bindgen(js_name = tryConsume, skip_typescript)]
    pub fn try_consume(&self, cost: &JsValue, clock: &JsValue, listener: &JsValue) -> Result<JsValue, Fault> {
        self.decide(read::cost(cost)?, &Source::checked(clock), listener, limiter::QuotaClock::try_consume)
    }

    /// `peek(cost)`.
    ///
    /// # Errors
    ///
    /// As `tryConsume`.
    #[wasm_bindgen(skip_typescript)]
    pub fn peek(&self, cost: &JsValue, clock: &JsValue, listener: &JsValue) -> Result<JsValue, Fault> {
        self.decide(read::cost(cost)?, &Source::checked(clock), listener, limiter::QuotaClock::peek)
    }

    /// `snapshot()`.
    ///
    /// # Errors
    ///
    /// `reentrant-call` from inside the limiter's own clock.
    #[wasm_bindgen(skip_typescript)]
    pub fn snapshot(&self) -> Result<JsValue, Fault> {
        let snapshot = self.core.try_borrow().map_err(|_| busy())?.snapshot();
        // A snapshot is plain data: it can be written.
        Ok(json::write(&serde_json::to_value(snapshot).unwrap_or_default()))
    }
}

/// `QuotaClock::try_consume` and `QuotaClock::peek` of the core.
type Ask = fn(
    &mut limiter::QuotaClock<IntlZone>,
    Readings,
    Option<RealtimeReader<'_>>,
    Cost,
) -> Result<QuotaClockDecision, Error>;

impl LimiterCore {
    fn begin(
        config: QuotaClockConfig,
        source: &Source<'_>,
        snapshot: Option<&QuotaClockSnapshot>,
    ) -> Result<Self, Fault> {
        let zone = match config.quota() {
            None => IntlZone::utc(Naming::Camel),
            Some(quota) => IntlZone::load(quota.period().time_zone(), Naming::Camel)
                .map_err(|error| error.under("period").under("quota"))?,
        };
        let readings = source.readings()?;
        let core = source.with_reader(|reader| match snapshot {
            None => limiter::QuotaClock::new(config, zone, readings, reader),
            Some(snapshot) => limiter::QuotaClock::restore(snapshot, config, zone, readings, reader),
        })?;
        Ok(Self { core: RefCell::new(core), depth: Cell::new(0), shown: RefCell::new(None) })
    }

    fn decide(
        &self,
        cost: Cost,
        source: &Source<'_>,
        listener: &JsValue,
        ask: Ask,
    ) -> Result<JsValue, Fault> {
        if self.depth.get() > DEEPEST {
            return Err(Fault::Reentrant(
                "onAnomaly calls its own limiter from inside itself, without an end",
            ));
        }
        let mut core = self.core.try_borrow_mut().map_err(|_| busy())?;
        let readings = source.readings()?;
        let decided = source.with_reader(|reader| ask(&mut core, readings, reader, cost));
        let refused = core.refused();
        drop(core);
        match decided {
            Ok(decision) => {
                let told = self.tell(listener, &decision.anomalies);
                told.map(|()| self.show(&decision)).map_err(Fault::Thrown)
            }
            // The error says more than the exception of a listener that was told of it.
            Err(fault) => match self.tell(listener, refused.as_slice()) {
                Ok(()) => Err(fault),
                Err(thrown) => Err(Fault::Thrown(js::with_cause(fault.into(), thrown))),
            },
        }
    }

    /// Tells the listener of each anomaly, also when it throws, and gives its first exception.
    fn tell(&self, listener: &JsValue, anomalies: &[Anomaly]) -> Result<(), JsValue> {
        let mut told = Ok(());
        for seen in anomalies.iter().filter(|_| listener.is_function()) {
            self.depth.set(self.depth.get() + 1);
            let this = js::tell(listener, anomaly::shown(seen));
            self.depth.set(self.depth.get().saturating_sub(1));
            told = told.and(this);
        }
        told
    }

    fn show(&self, decision: &QuotaClockDecision) -> JsValue {
        let number = |units: u64| units as f64;
        js::decision(
            decision.allowed(),
            number(decision.tokens_remaining),
            decision.quota_remaining.map(number),
            decision.retry_after_ms.map(number),
            decision.retry_after_basis.map(|basis| basis.name()),
            decision.refusal.map(|refusal| refusal.name()),
            &self.show_period(decision.period.as_ref()),
            decision.skipped_periods,
        )
    }

    /// The period as it was shown last time, if it is the same.
    fn show_period(&self, open: Option<&Period>) -> JsValue {
        let Some(open) = open else { return JsValue::NULL };
        let mut shown = self.shown.borrow_mut();
        match &*shown {
            Some((last, value)) if last == open => value.clone(),
            _ => {
                let value = period::shown(open);
                *shown = Some((*open, value.clone()));
                value
            }
        }
    }
}

/// Reads a snapshot without `QuotaClockSnapshot::from_json`, whose exact paths for what is of the wrong type
/// cost a tenth of the package. What the snapshot's own check finds keeps its path.
fn snapshot_of(value: &JsValue) -> Result<QuotaClockSnapshot, Fault> {
    let written = json::read(value).map_err(|fault| fault.under(SNAPSHOT))?;
    let version = written.get("version").unwrap_or(&Value::Null);
    if version.as_f64() != Some(SNAPSHOT_VERSION.into()) {
        let detail = format!("is {version}; this build reads version {SNAPSHOT_VERSION}");
        return Err(Fault::spec("version", detail).under(SNAPSHOT));
    }
    serde_json::from_value(json::in_snake_case(written)).map_err(|error| {
        let message = error.to_string();
        match message.split_once(": ") {
            Some((path, detail)) if path.starts_with("snapshot.") => Fault::spec(&json::camel(path), detail),
            _ => Fault::spec(SNAPSHOT, message),
        }
    })
}

fn busy() -> Fault {
    Fault::Reentrant("a clock source must not call the limiter that is reading it")
}
