//! Calendar quotas: so many units in each period of a tenant's calendar, exactly.
//!
//! Everything here is a function of a wall reading and a time zone. Whether the reading can be believed
//! is the clock's business ([`crate::clock`]); that a wrong one can never hand out a second allowance is
//! this module's.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calendar::{Field, Naming, OpenPeriod, Period, PeriodSpec, Step, ZoneOffsets, whole_number};
use crate::clock::WallMs;
use crate::{Cost, Decision, Error, MAX_COUNT, Refusal, RetryAfterBasis};

/// What a quota allows: units, and the periods they are for.
///
/// # Example
///
/// ```
/// use sluicegate::calendar::Naming;
/// use sluicegate::quota::QuotaSpec;
///
/// let written = serde_json::json!({
///     "limit": 10_000,
///     "period": { "unit": "month", "timeZone": "America/Los_Angeles", "anchorDay": 1 },
/// });
/// let spec = QuotaSpec::from_json(&written, Naming::Camel)?;
/// assert_eq!((spec.limit(), spec.period().time_zone()), (10_000, "America/Los_Angeles"));
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct QuotaSpec {
    limit: u64,
    period: PeriodSpec,
}

impl QuotaSpec {
    /// `limit` units in each period.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for a limit above 2^53 - 1.
    pub fn new(limit: u64, period: PeriodSpec) -> Result<Self, Error> {
        if limit > MAX_COUNT {
            return Err(Field::Limit.error(Naming::Snake, format!("{limit} is above {MAX_COUNT}")));
        }
        Ok(Self { limit, period })
    }

    /// Reads `{limit, period: {...}}` from JSON.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error whose path is the field that is wrong, missing
    /// or unknown, spelled as `naming` says: `period.anchorDay`.
    pub fn from_json(value: &Value, naming: Naming) -> Result<Self, Error> {
        let Value::Object(object) = value else {
            return Err(Error::spec("", "is not an object with a limit and a period"));
        };
        let (limit, period) = (Field::Limit.name(naming), Field::Period.name(naming));
        if let Some(odd) = object.keys().find(|key| *key != limit && *key != period) {
            return Err(Error::spec(odd, "is not a field of a quota"));
        }
        let Some(units) = object.get(limit).filter(|units| !units.is_null()) else {
            return Err(Field::Limit.error(naming, "is required"));
        };
        let units = whole_number(units).filter(|&units| units <= MAX_COUNT).ok_or_else(|| {
            Field::Limit.error(naming, format!("{units} is not a whole number from 0 to {MAX_COUNT}"))
        })?;
        let spec = object.get(period).ok_or_else(|| Field::Period.error(naming, "is required"))?;
        Self::new(units, PeriodSpec::from_json(spec, naming).map_err(|error| error.under(period))?)
    }

    /// The most units a whole period lets through.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The periods.
    pub const fn period(&self) -> &PeriodSpec {
        &self.period
    }
}

/// A specification as it is written down, not checked yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    limit: u64,
    period: PeriodSpec,
}

impl TryFrom<Fields> for QuotaSpec {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.limit, fields.period)
    }
}

impl From<QuotaSpec> for Fields {
    fn from(spec: QuotaSpec) -> Self {
        Self { limit: spec.limit, period: spec.period }
    }
}

/// What is kept of a quota: the open period and the units used in it. The default has opened none.
///
/// It goes with any [`QuotaSpec`]: restored under another one it is a change of settings, and the open
/// period keeps its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaState {
    /// The open period; none before the first request.
    pub open: Option<OpenPeriod>,
    /// Units used in it.
    pub used: u64,
}

/// What a quota says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaVerdict {
    /// Whether the request may go on. Its `limit` is what the open period has, its `remaining` is
    /// without the request's own cost, and its waits run to the period's end by the wall clock.
    pub decision: Decision,
    /// The period that the request counts in.
    pub open: OpenPeriod,
    /// Units used in it, after the request if it was taken.
    pub used: u64,
    /// True when the reading lies before the open period, which is held: said of each such request.
    pub period_regression: bool,
    /// Periods that went by unopened just before this one, at most
    /// [`MOST_SKIPPED`](crate::calendar::MOST_SKIPPED); 0 unless this request opens one.
    pub skipped_periods: u8,
}

impl QuotaVerdict {
    /// True when the request may go on.
    pub const fn allowed(&self) -> bool {
        self.decision.allowed()
    }

    /// The calendar period that the request counts in.
    pub const fn period(&self) -> &Period {
        &self.open.period
    }
}

/// A calendar quota of one tenant in one process: specification, zone and state together.
///
/// The period is chosen by the wall reading, and then held: a step back over a boundary leaves it open,
/// with what was used, and says `period_regression`; a step forward opens the period that the reading
/// lies in. A request inside the open period asks the zone nothing.
///
/// # Example
///
/// ```
/// use sluicegate::Cost;
/// use sluicegate::calendar::{PeriodSpec, Unit, Utc};
/// use sluicegate::clock::WallMs;
/// use sluicegate::quota::{CalendarQuota, QuotaSpec};
///
/// let spec = QuotaSpec::new(100, PeriodSpec::new(Unit::Month, "UTC")?)?;
/// let mut quota = CalendarQuota::new(spec, Utc);
/// let april = WallMs(1_743_465_600_000);
/// assert!(quota.take(april, Cost::new(100)?)?.allowed());
///
/// // The clock is set back to 31 March. April is held, and it is used up.
/// let held = quota.take(WallMs(april.0 - 1), Cost::ONE)?;
/// assert!(held.period_regression && !held.allowed());
/// assert_eq!(held.period().slot.to_string(), "2025-04");
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CalendarQuota<Z> {
    spec: QuotaSpec,
    zone: Z,
    state: QuotaState,
}

impl<Z: ZoneOffsets> CalendarQuota<Z> {
    /// A quota that nothing was used of. `zone` is the one that the specification names.
    pub fn new(spec: QuotaSpec, zone: Z) -> Self {
        Self::restore(spec, zone, QuotaState::default())
    }

    /// A quota that goes on from a stored state, under the same settings or others.
    pub const fn restore(spec: QuotaSpec, zone: Z, state: QuotaState) -> Self {
        Self { spec, zone, state }
    }

    /// What to store so that the quota survives a restart.
    pub const fn state(&self) -> &QuotaState {
        &self.state
    }

    /// What the quota allows.
    pub const fn spec(&self) -> &QuotaSpec {
        &self.spec
    }

    /// Changes the settings. Another limit counts at once, what is used stays used. Another zone, unit
    /// or anchor counts from the end of the open period on, and where that is inside a period of the
    /// new calendar, the rest of it comes first, with its part of the limit.
    pub fn change(&mut self, spec: QuotaSpec, zone: Z) {
        self.spec = spec;
        self.zone = zone;
    }

    /// What the quota says to `cost` at `wall`. Takes nothing and opens nothing.
    ///
    /// # Errors
    ///
    /// [`implausible-wall`](Error::is_refused_reading) for readings outside the years 1 to 9999 and the
    /// zone's own errors, and neither as long as the open period is not over.
    pub fn look(&self, wall: WallMs, cost: Cost) -> Result<QuotaVerdict, Error> {
        let (period, zone) = (&self.spec.period, &self.zone);
        let (open, step) = match &self.state.open {
            Some(open) => open.at(period, zone, wall)?,
            None => (OpenPeriod::first(period, zone, wall)?, Step::Opened { skipped: 0 }),
        };
        let (used, skipped_periods) = match step {
            Step::Opened { skipped } => (0, skipped),
            Step::Inside | Step::Held => (self.state.used, 0),
        };
        Ok(QuotaVerdict {
            decision: self.decide(&open, used, wall, cost),
            open,
            used,
            period_regression: step == Step::Held,
            skipped_periods,
        })
    }

    /// Takes `cost` at `wall` if it fits, and opens the period that is due either way: also for a
    /// refused request, and for one that costs nothing.
    ///
    /// # Errors
    ///
    /// As [`look`](Self::look); nothing has changed then.
    pub fn take(&mut self, wall: WallMs, cost: Cost) -> Result<QuotaVerdict, Error> {
        let mut verdict = self.look(wall, cost)?;
        if verdict.allowed() {
            verdict.used = verdict.used.saturating_add(cost.get());
        }
        self.state = QuotaState { open: Some(verdict.open), used: verdict.used };
        Ok(verdict)
    }

    /// Gives back `cost` that was taken in the open period number `serial`, at most what is used of it.
    /// Nothing for any other serial: what an older period took is gone with it. Says how much.
    pub fn give_back(&mut self, serial: u64, cost: Cost) -> u64 {
        if self.state.open.is_none_or(|open| open.serial != serial) {
            return 0;
        }
        let given = cost.get().min(self.state.used);
        self.state.used -= given;
        given
    }

    /// Opens the period that `wall` lies in, with `used` units used, although it is not newer than the
    /// open one: for an operator who corrects what one wrong reading has done. Write down who did it.
    ///
    /// # Errors
    ///
    /// As [`look`](Self::look); nothing has changed then.
    pub fn reopen(&mut self, wall: WallMs, used: u64) -> Result<OpenPeriod, Error> {
        let (period, zone) = (&self.spec.period, &self.zone);
        let open = match &self.state.open {
            Some(open) => open.reopen(period, zone, wall)?,
            None => OpenPeriod::first(period, zone, wall)?,
        };
        self.state = QuotaState { open: Some(open), used };
        Ok(open)
    }

    fn decide(&self, open: &OpenPeriod, used: u64, wall: WallMs, cost: Cost) -> Decision {
        let limit = open.units(self.spec.limit);
        let remaining = limit.saturating_sub(used);
        // A clock that is centuries behind makes a wait that JavaScript could not hold.
        let left_ms = open.left_ms(wall).min(MAX_COUNT);
        let refusal = if cost == Cost::ZERO || cost.get() <= remaining {
            None
        } else if cost.get() > self.spec.limit {
            Some(Refusal::CostExceedsLimit)
        } else {
            // Of a part, too: what does not fit into it may well fit into the whole period after it.
            Some(Refusal::Limit { retry_after_ms: Some(left_ms), basis: RetryAfterBasis::WallPeriod })
        };
        let until_whole = if used == 0 { 0 } else { left_ms };
        Decision { limit, remaining, reset_ms: until_whole, grows_ms: until_whole, refusal }
    }
}
