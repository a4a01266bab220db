use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::log::LoggedEntry;
use crate::calendar::{Naming, PeriodSpec, whole_number};
use crate::global::LeaseAudit;
use crate::{Error, MAX_COUNT};

/// What an operator asks of the Ledger of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantRequest {
    /// Which quota: the policy's name.
    pub policy: String,
    /// What to do.
    pub op: TenantOp,
}

/// What to do with a tenant's quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TenantOp {
    /// Show the settings.
    Get,
    /// Put the tenant's own settings in the place of those it has.
    Put {
        /// Units per period; absent: the policy's own.
        #[serde(default)]
        limit: Option<u64>,
        /// The periods; absent: the policy's own.
        #[serde(default)]
        period: Option<PeriodSpec>,
    },
    /// Remove the tenant's own settings. The open period and its book stay.
    Delete,
    /// Show what is used.
    Usage,
    /// Compare the books.
    Audit,
    /// Show the audit log, of all quotas of the tenant.
    Log,
    /// Open the period that the clock shows now, although it is not newer than the open one, with `used`
    /// units used: to correct what one wrong reading has done.
    Reopen {
        /// Units that count as used.
        used: u64,
    },
}

impl TenantOp {
    /// Reads the body of a PUT: `{"limit": 10000, "period": {...}}`, each of which may be absent.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each with the path of its field.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::ledger::TenantOp;
    ///
    /// let body = serde_json::json!({"limit": 1.5, "period": {"unit": "month", "time_zone": "PST"}});
    /// let paths: Vec<_> = TenantOp::put(&body).unwrap_err().iter().map(|e| e.path().unwrap().to_owned()).collect();
    /// assert_eq!(paths, ["limit", "period.time_zone"]);
    /// ```
    pub fn put(body: &Value) -> Result<Self, Vec<Error>> {
        let Value::Object(fields) = body else {
            return Err(vec![Error::spec("", "is not an object with a limit and a period")]);
        };
        let mut errors = Vec::new();
        for odd in fields.keys().filter(|name| !matches!(name.as_str(), "limit" | "period")) {
            let name: String = odd.chars().take(64).collect();
            errors.push(Error::spec(name, "is not a setting of a quota"));
        }
        let get = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let mut take = |found: Result<(), Error>| errors.extend(found.err());
        let (mut limit, mut period) = (None, None);
        take(get("limit").map_or(Ok(()), |value| read_limit(value).map(|units| limit = Some(units))));
        take(get("period").map_or(Ok(()), |value| read_period(value).map(|spec| period = Some(spec))));
        if errors.is_empty() { Ok(Self::Put { limit, period }) } else { Err(errors) }
    }
}

fn read_limit(value: &Value) -> Result<u64, Error> {
    whole_number(value)
        .filter(|&units| units <= MAX_COUNT)
        .ok_or_else(|| Error::spec("limit", format!("is not a whole number from 0 to {MAX_COUNT}")))
}

fn read_period(value: &Value) -> Result<PeriodSpec, Error> {
    PeriodSpec::from_json(value, Naming::Snake).map_err(|error| error.under("period"))
}

/// What a Ledger answers to a [`TenantRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TenantAnswer {
    /// The settings, after [`TenantOp::Put`] as they are now.
    Settings(TenantSettings),
    /// The tenant has no settings of its own any more.
    Deleted,
    /// What is used.
    Usage(TenantUsage),
    /// Whether the books agree.
    Audit(Box<LeaseAudit>),
    /// The audit log, oldest first.
    Log(Vec<LoggedEntry>),
    /// The policy is no calendar quota, and the tenant has no settings for it.
    Unknown,
    /// The request cannot be met; nothing has changed.
    Refused(Vec<TenantFault>),
    /// The quota cannot be answered for now; nothing has changed.
    Unavailable {
        /// Why.
        detail: String,
    },
}

/// A field of a request that is wrong: an [`Error`] that can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantFault {
    /// Which field: `period.time_zone`.
    pub path: String,
    /// What is wrong with it.
    pub detail: String,
}

impl From<&Error> for TenantFault {
    fn from(error: &Error) -> Self {
        Self { path: error.path().unwrap_or_default().to_owned(), detail: error.detail().to_owned() }
    }
}

impl From<TenantFault> for Error {
    fn from(fault: TenantFault) -> Self {
        Self::spec(fault.path, fault.detail)
    }
}

/// The settings of a quota as they count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantSettings {
    /// The policy's name.
    pub policy: String,
    /// Units per period.
    pub limit: u64,
    /// The periods. A new one counts from the end of the open period on.
    pub period: PeriodSpec,
    /// True when the tenant has settings of its own; false when they are the policy's.
    pub configured: bool,
}

/// How much of a quota is used. Of a period that is due but that nothing has opened yet, nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantUsage {
    /// Units that the open period allows.
    pub limit: u64,
    /// Units spent, forfeited, or carried over when an operator opened the period again.
    pub used: u64,
    /// Units that are out at a point of presence.
    pub outstanding: u64,
    /// Units that are neither.
    pub remaining: u64,
    /// How many periods were opened, this one included.
    pub serial: u64,
    /// The calendar's name for it.
    pub slot: String,
    /// Its start as ISO 8601, with the offset of the tenant's zone.
    pub start: String,
    /// Its end likewise.
    pub end: String,
    /// The first millisecond in it, since 1970.
    pub start_ms: i64,
    /// The first millisecond after it.
    pub end_ms: i64,
    /// Its end for a person: the date and time on the zone's own clocks, and the zone's name.
    pub reset_local: String,
    /// True when the wall clock reads a time before it: it is held.
    pub held: bool,
    /// True when it is only part of a calendar period.
    pub partial: bool,
}
