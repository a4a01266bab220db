//! Problem details (RFC 9457): why a request was not served, for programs and for people.

use serde::Serialize;

use super::answer::LimitResult;
use super::fields::retry_after_seconds;
use crate::calendar::Unit;
use crate::config::read::{quote, quote_all};
use crate::config::{ConfigErrors, Policy, in_words};
use crate::{DecidedBy, Error, Refusal};

/// The media type of [`Problem::body`].
pub const PROBLEM_CONTENT_TYPE: &str = "application/problem+json";

/// What `Retry-After` says when state is out of reach: nobody knows for how long.
const UNAVAILABLE_RETRY_S: u64 = 5;

/// The status codes that problems have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 400
    BadRequest,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 404
    NotFound,
    /// 405
    MethodNotAllowed,
    /// 409
    Conflict,
    /// 413
    ContentTooLarge,
    /// 415
    UnsupportedMediaType,
    /// 422
    UnprocessableContent,
    /// 429
    TooManyRequests,
    /// 500
    InternalServerError,
    /// 502
    BadGateway,
    /// 503
    ServiceUnavailable,
}

impl Status {
    /// The code.
    pub const fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Conflict => 409,
            Self::ContentTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::UnprocessableContent => 422,
            Self::TooManyRequests => 429,
            Self::InternalServerError => 500,
            Self::BadGateway => 502,
            Self::ServiceUnavailable => 503,
        }
    }

    /// The phrase of RFC 9110.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::BadRequest => "Bad Request",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not Found",
            Self::MethodNotAllowed => "Method Not Allowed",
            Self::Conflict => "Conflict",
            Self::ContentTooLarge => "Content Too Large",
            Self::UnsupportedMediaType => "Unsupported Media Type",
            Self::UnprocessableContent => "Unprocessable Content",
            Self::TooManyRequests => "Too Many Requests",
            Self::InternalServerError => "Internal Server Error",
            Self::BadGateway => "Bad Gateway",
            Self::ServiceUnavailable => "Service Unavailable",
        }
    }
}

/// The types of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The problem is what the status says.
    Blank,
    QuotaExceeded,
    ReducedCapacity,
}

impl Kind {
    const fn uri(self) -> &'static str {
        match self {
            Self::Blank => "about:blank",
            Self::QuotaExceeded => "https://iana.org/assignments/http-problem-types#quota-exceeded",
            Self::ReducedCapacity => {
                "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            }
        }
    }

    const fn title(self, status: Status) -> &'static str {
        match self {
            Self::Blank => status.phrase(),
            Self::QuotaExceeded => "Quota Exceeded",
            Self::ReducedCapacity => "Temporary Reduced Capacity",
        }
    }
}

/// More faults than this are not listed: an answer is not to be much larger than what was asked.
pub(super) const MOST_FAULTS: usize = 32;

/// Why a request was not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: Status,
    kind: Kind,
    detail: String,
    violated: Vec<String>,
    refusal: Option<&'static str>,
    errors: Vec<Error>,
    retry_after_s: Option<u64>,
}

impl Problem {
    /// A problem that is what its status says.
    pub fn new(status: Status, detail: impl Into<String>) -> Self {
        Self {
            status,
            kind: Kind::Blank,
            detail: detail.into(),
            violated: Vec::new(),
            refusal: None,
            errors: Vec::new(),
            retry_after_s: None,
        }
    }

    /// The problem of a refused request; `None` when no policy refuses it.
    ///
    /// Where policies refuse for different reasons, the one that waiting cures least is told: 403 for
    /// `blocked`, then 403 for `cost-exceeds-limit`, 429 for `limit`, 503 for `unavailable`.
    /// `violated-policies` names those that refuse for that reason, and `Retry-After` is the longest wait
    /// of all, after `max_retry_after`. If one of them never refills, there is no `Retry-After`.
    pub fn refusal(results: &[LimitResult<'_>]) -> Option<Self> {
        let refused = || results.iter().filter_map(|result| Some((result, result.refusal()?)));
        let (_, worst) = refused().min_by_key(|(_, refusal)| rank(refusal))?;
        let told: Vec<_> = refused().filter(|(_, refusal)| rank(refusal) == rank(&worst)).collect();
        let (status, kind) = match worst {
            Refusal::Blocked => (Status::Forbidden, Kind::Blank),
            Refusal::CostExceedsLimit => (Status::Forbidden, Kind::QuotaExceeded),
            Refusal::Limit { .. } => (Status::TooManyRequests, Kind::QuotaExceeded),
            Refusal::Unavailable => (Status::ServiceUnavailable, Kind::ReducedCapacity),
        };
        let mut problem = Self { kind, ..Self::new(status, "") };
        if problem.status != Status::Forbidden {
            let waits: Option<Vec<u64>> = refused().map(|(result, _)| retry_after_s(result)).collect();
            problem.retry_after_s = waits.and_then(|waits| waits.into_iter().max());
        }
        problem.refusal = Some(worst.name());
        problem.violated = told.iter().map(|(result, _)| result.policy.name.clone()).collect();
        problem.detail = told.iter().map(|(result, refusal)| sentence(result, refusal) + " ").collect();
        problem.detail.push_str(&advice(&worst, problem.retry_after_s));
        Some(problem)
    }

    /// The problem of input that has faults; each is named with its path.
    pub fn invalid(status: Status, detail: impl Into<String>, errors: Vec<Error>) -> Self {
        Self { errors, ..Self::new(status, detail) }
    }

    /// The problem of a request without the identity that `policy` insists on.
    pub fn missing_identity(policy: &Policy) -> Self {
        let names: Vec<String> = policy.identity.parts().iter().map(|part| part.name()).collect();
        let (name, names) = (quote(&policy.name), quote_all(names.iter().map(String::as_str)));
        Self::new(Status::BadRequest, format!("{name} counts by {names}, and the request has no such value."))
    }

    /// The problem of a request whose path [hides dots](super::RequestPath::hides_dots).
    pub fn hidden_dots() -> Self {
        Self::new(
            Status::BadRequest,
            "The path has a . or .. segment that is not one to every server (%2F beside it, or a semicolon). Send the \
             path that is meant.",
        )
    }

    /// The problem of a configuration that cannot be used, with everything that is wrong with it.
    pub fn configuration(errors: &ConfigErrors) -> Self {
        let (count, errors) =
            (errors.errors().len(), errors.errors().iter().take(MOST_FAULTS).cloned().collect());
        let detail = format!(
            "The configuration of the rate limiter cannot be used ({}). Correct it and deploy again.",
            faults(count)
        );
        Self::invalid(Status::ServiceUnavailable, detail, errors)
    }

    /// The status to answer with.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The value of `Retry-After`, in seconds, where there is to be one.
    pub const fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after_s
    }

    /// What went wrong and what to do about it.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The faults of the input, if that is the problem.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// The body, as [`PROBLEM_CONTENT_TYPE`].
    pub fn body(&self) -> String {
        let body = Body {
            kind: self.kind.uri(),
            title: self.kind.title(self.status),
            status: self.status.code(),
            detail: &self.detail,
            violated: &self.violated,
            refusal: self.refusal,
            errors: self.errors.iter().map(Fault::from).collect(),
        };
        serde_json::to_string(&body).unwrap_or_default()
    }
}

/// `1 fault`, `3 faults`.
pub(super) fn faults(count: usize) -> String {
    if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") }
}

/// The less waiting cures it, the lower.
const fn rank(refusal: &Refusal) -> u8 {
    match refusal {
        Refusal::Blocked => 0,
        Refusal::CostExceedsLimit => 1,
        Refusal::Limit { .. } => 2,
        Refusal::Unavailable => 3,
    }
}

/// Seconds after which a refused request may fit, capped where its policy says so.
fn retry_after_s(result: &LimitResult<'_>) -> Option<u64> {
    let seconds = match result.refusal()? {
        Refusal::Unavailable => UNAVAILABLE_RETRY_S,
        refusal => retry_after_seconds(refusal.retry_after_ms()?),
    };
    let cap = result.policy.max_retry_after_ms.map_or(u64::MAX, |ms| (ms / 1000).max(1));
    Some(seconds.min(cap))
}

fn sentence(result: &LimitResult<'_>, refusal: &Refusal) -> String {
    let name = quote(&result.policy.name);
    let limit = result.decision.limit;
    match refusal {
        Refusal::Blocked => format!("{name} blocks this caller."),
        Refusal::CostExceedsLimit if limit == 0 => {
            format!("{name} has a limit of 0 and lets nothing through.")
        }
        Refusal::CostExceedsLimit => {
            format!("The request costs more than {name} ever lets through at once, which is {limit}.")
        }
        Refusal::Limit { .. } => format!("{name} allows {}.", used_up(result)),
        Refusal::Unavailable => format!("The state of {name} is out of reach."),
    }
}

/// `60 per minute, which are used up`.
fn used_up(result: &LimitResult<'_>) -> String {
    let limit = result.limit_in_force();
    let per = match (result.policy.window_ms(), result.unit_in_force(), &result.period) {
        (Some(window), _, _) => in_words(window.get()),
        (None, Some(unit), Some(open)) => format!("{} ({})", unit.name(), open.slot),
        (None, unit, _) => unit.map_or("period", Unit::name).to_owned(),
    };
    match result.decided_by {
        DecidedBy::Local => format!("{limit} per {per}, and this place's part of them is used up"),
        _ => format!("{limit} per {per}, which are used up"),
    }
}

fn advice(refusal: &Refusal, retry_after_s: Option<u64>) -> String {
    match (refusal, retry_after_s) {
        (Refusal::Blocked | Refusal::CostExceedsLimit, _) => "Waiting does not help.".to_owned(),
        (_, Some(1)) => "Try again in 1 second.".to_owned(),
        (_, Some(seconds)) => format!("Try again in {seconds} seconds."),
        (_, None) => "They do not come back by waiting.".to_owned(),
    }
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(rename = "violated-policies", skip_serializing_if = "<[_]>::is_empty")]
    violated: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Fault<'a>>,
}

/// One fault of the input.
#[derive(Serialize)]
struct Fault<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    code: &'static str,
    detail: &'a str,
}

impl<'a> From<&'a Error> for Fault<'a> {
    fn from(error: &'a Error) -> Self {
        Self { path: error.path(), code: error.code(), detail: error.detail() }
    }
}
