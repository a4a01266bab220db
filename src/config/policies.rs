//! `[[policies]]`: what is limited, and by what.

use serde_json::Value;

use super::duration::{duration, duration_within};
use super::read::{Fields, choice, flag, quote, show, suggest, text, whole};
use super::settings::Settings;
use crate::bucket::{Refill, TokenBucket};
use crate::http::{HashKey, HeaderName, Identity, KeyHash, Part, RequestFacts, Resolved};
use crate::policy::{Algorithm, OnError};
use crate::window::{FixedWindow, SlidingLog, SlidingWindow, WindowMs};
use crate::{Error, MAX_COUNT};

/// One limit: a name, what it counts by, and how it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Its name, unique: letters, digits, `.`, `_` and `-`, at most 64.
    pub name: String,
    /// How it counts, with its numbers.
    pub algorithm: Algorithm,
    /// Units per window; for a token bucket the units that flow in per window.
    pub limit: u64,
    /// The window that `limit` is for.
    pub window: WindowMs,
    /// A token bucket's capacity.
    pub burst: Option<u64>,
    /// What it counts by.
    pub identity: Identity,
    /// What happens when the state is out of reach.
    pub on_error: OnError,
    /// What happens to a request without the identity.
    pub on_missing: OnMissing,
    /// Counts and reports, but never refuses.
    pub shadow: bool,
    /// The most that `Retry-After` says; without it the field is never early.
    pub max_retry_after_ms: Option<u64>,
}

/// What happens to a request without the identity that its policy counts by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMissing {
    /// All such requests share one counter.
    #[default]
    Shared,
    /// It is answered 400.
    Refuse,
    /// The policy does not count it.
    Skip,
}

/// What a policy makes of a request's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// It is counted under this key.
    Counted(KeyHash),
    /// The identity is missing, and the policy refuses such requests: answer 400.
    Refused,
    /// The identity is missing, and the policy does not count such requests.
    Skipped,
}

impl Policy {
    /// Whom a request is counted as.
    pub fn subject(&self, key: &HashKey, facts: &RequestFacts<'_>) -> Subject {
        self.decide_missing(self.identity.resolve(key, facts), key)
    }

    /// The same for an identity that a caller gives, see [`Identity::resolve_given`].
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error with a path that begins with `key`.
    pub fn subject_given(&self, key: &HashKey, given: &[&str]) -> Result<Subject, Error> {
        Ok(self.decide_missing(self.identity.resolve_given(key, given)?, key))
    }

    fn decide_missing(&self, resolved: Resolved, key: &HashKey) -> Subject {
        match (resolved, self.on_missing) {
            (Resolved::Key(hash), _) => Subject::Counted(hash),
            (Resolved::Missing, OnMissing::Shared) => Subject::Counted(self.identity.shared(key)),
            (Resolved::Missing, OnMissing::Refuse) => Subject::Refused,
            (Resolved::Missing, OnMissing::Skip) => Subject::Skipped,
        }
    }
}

const FIELDS: [&str; 13] = [
    "name",
    "algorithm",
    "limit",
    "window",
    "sub_windows",
    "strict",
    "burst",
    "identity",
    "on_error",
    "on_missing",
    "shadow",
    "scope",
    "max_retry_after",
];

/// Reads one policy. The name is returned even when something else is wrong, so that rules that use
/// it are not blamed for that.
pub(super) fn read(
    value: &Value,
    path: &str,
    settings: &Settings,
    errors: &mut Vec<Error>,
) -> (Option<String>, Option<Policy>) {
    let Some(mut fields) = Fields::open(value, path, &FIELDS, errors) else {
        return (None, None);
    };
    let before = fields.faults();
    let name = fields.required("name", "give the policy one, such as \"per-ip\"", policy_name);
    let counting = read_counting(&mut fields);
    let identity = read_identity(&mut fields, settings);
    let on_errors = [("open", OnError::Open), ("closed", OnError::Closed)];
    let on_error = fields.optional("on_error", |value| choice(value, &on_errors));
    let on_missings =
        [("shared", OnMissing::Shared), ("refuse", OnMissing::Refuse), ("skip", OnMissing::Skip)];
    let on_missing = fields.optional("on_missing", |value| choice(value, &on_missings));
    let shadow = fields.optional("shadow", flag);
    let max_retry_after_ms =
        fields.optional("max_retry_after", |value| duration_within(value, 1_000, 366 * 86_400_000));
    fields.optional("scope", scope);
    let sound = fields.faults() == before;
    let policy = name.clone().zip(counting).zip(identity).filter(|_| sound);
    let policy = policy.map(|((name, counting), identity)| Policy {
        name,
        algorithm: counting.algorithm,
        limit: counting.limit,
        window: counting.window,
        burst: counting.burst,
        identity,
        on_error: on_error.unwrap_or_default(),
        on_missing: on_missing.unwrap_or_default(),
        shadow: shadow.unwrap_or_default(),
        max_retry_after_ms,
    });
    (name, policy)
}

fn policy_name(value: &Value) -> Result<String, String> {
    let name = text(value)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if (1..=64).contains(&name.len()) && name.bytes().all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(format!("{} is not 1 to 64 letters, digits, dots, underscores and hyphens", show(value)))
}

fn scope(value: &Value) -> Result<(), String> {
    match text(value)? {
        "pop" => Ok(()),
        "global" => Err("\"global\" is not available in this version; use \"pop\"".to_owned()),
        other => Err(format!("{} is unknown; use \"pop\"", quote(other))),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    FixedWindow,
    SlidingWindow,
    SlidingLog,
    TokenBucket,
}

const KINDS: [(&str, Kind); 4] = [
    ("fixed-window", Kind::FixedWindow),
    ("sliding-window", Kind::SlidingWindow),
    ("sliding-log", Kind::SlidingLog),
    ("token-bucket", Kind::TokenBucket),
];

fn kind(value: &Value) -> Result<Kind, String> {
    match value.as_str() {
        Some("calendar-quota" | "concurrency") => Err(format!(
            "{} is not available in this version; {}",
            show(value),
            suggest("", &KINDS.map(|(name, _)| name))
        )),
        _ => choice(value, &KINDS),
    }
}

struct Counting {
    algorithm: Algorithm,
    limit: u64,
    window: WindowMs,
    burst: Option<u64>,
}

/// Reads the algorithm and its numbers.
fn read_counting(fields: &mut Fields<'_, '_>) -> Option<Counting> {
    let kind = fields.required("algorithm", "use \"fixed-window\" if in doubt", kind);
    let count = |value| whole(value, 0, MAX_COUNT);
    let limit = fields.required("limit", "give a whole number of units per window", count);
    let window = fields.required("window", "give its length, such as \"1m\"", window);
    let sub_windows = fields.optional("sub_windows", |value| whole(value, 1, u32::MAX.into()));
    let strict = fields.optional("strict", flag).unwrap_or_default();
    let burst = fields.optional("burst", count);
    let kind = kind?;
    refuse_foreign(fields, kind);
    let (limit, window) = limit.zip(window)?;
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
    };
    match algorithm {
        Ok(algorithm) => Some(Counting { algorithm, limit, window, burst }),
        Err(error) => {
            fields.fail(field_of(&error, kind), error.detail());
            None
        }
    }
}

/// The field of a policy that an algorithm's complaint is about.
fn field_of(error: &Error, kind: Kind) -> &'static str {
    match (error.path(), kind) {
        (Some("capacity"), _) => "burst",
        (Some("sub_windows"), _) => "sub_windows",
        (Some("window"), _) => "window",
        (Some("strict"), _) => "strict",
        _ => "limit",
    }
}

/// Names each option that another algorithm has and this one has not: it would be without effect.
fn refuse_foreign(fields: &mut Fields<'_, '_>, kind: Kind) {
    let options =
        [("sub_windows", Kind::SlidingWindow), ("strict", Kind::SlidingWindow), ("burst", Kind::TokenBucket)];
    for (option, owner) in options {
        if owner != kind && fields.get(option).is_some() {
            let name = |kind| KINDS.iter().find(|(_, own)| *own == kind).map_or("", |(name, _)| *name);
            fields.fail(
                option,
                format!("belongs to {}; a {} has no such option", quote(name(owner)), quote(name(kind))),
            );
        }
    }
}

fn window(value: &Value) -> Result<WindowMs, String> {
    let ms = duration(value)?;
    WindowMs::new(ms).map_err(|error| format!("{} {}", show(value), error.detail()))
}

const IDENTITIES: &str = "use \"ip\", \"header:NAME\", \"path\", \"tenant\" or a list of them";

fn read_identity(fields: &mut Fields<'_, '_>, settings: &Settings) -> Option<Identity> {
    if fields.get("identity").is_none() {
        fields.fail("identity", format!("is missing; {IDENTITIES}"));
        return None;
    }
    let mut parts = Vec::new();
    let named = fields.strings("identity")?;
    let count = named.len();
    for (path, name) in named {
        match part(name, settings) {
            Ok(part) => parts.push(part),
            Err(detail) => fields.fail(&path, detail),
        }
    }
    if parts.len() < count {
        return None;
    }
    Identity::new(parts).map_err(|error| fields.fail("identity", error.detail())).ok()
}

fn part(name: &str, settings: &Settings) -> Result<Part, String> {
    match (name, name.strip_prefix("header:")) {
        ("ip", _) => Ok(Part::Ip { ipv6_prefix: settings.ipv6_prefix }),
        ("path", _) => Ok(Part::Path),
        ("tenant", _) => match &settings.tenant_header {
            Some(header) => Ok(Part::Tenant(header.clone())),
            None => {
                Err("\"tenant\" needs tenant_header, the header that names the tenant, to be set beside \
                         the policies"
                    .to_owned())
            }
        },
        (_, Some(header)) => {
            HeaderName::parse(header).map(Part::Header).map_err(|error| error.detail().to_owned())
        }
        _ => Err(format!("{} is unknown; {IDENTITIES}", quote(name))),
    }
}
