//! The settings at the top: what holds for all policies.

use serde_json::Value;

use super::duration::duration_within;
use super::read::{Fields, choice, show, text, whole};
use crate::http::{HeaderDraft, HeaderName};

/// What holds for all policies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Put before sluicegate's own routes; empty, or a path without a slash at its end.
    pub prefix: String,
    /// `PopCounter`s per point of presence.
    pub shards: u32,
    /// How long the edge waits for a `PopCounter`.
    pub time_limit_ms: u64,
    /// After how many hits a `PopCounter` writes: at most so many are lost in a crash.
    pub flush_hits: u32,
    /// After how long a `PopCounter` writes what it has counted. Well under the ten seconds after which
    /// an idle object leaves memory: an ordinary eviction loses nothing.
    pub flush_every_ms: u64,
    /// Keys with counters of their own, per object; a sliding log weighs as much as several.
    pub max_keys: usize,
    /// Ledgers that share the limits over all points of presence that have no tenant. Changing it moves such
    /// limits to other Ledgers, where they begin anew.
    pub ledger_shards: u32,
    /// Units of a calendar quota that a point of presence writes off at a time: a row is written once per so
    /// many units, and so many can be lost in a crash.
    pub lease_chunk: u64,
    /// Bits of an IPv6 address that count as the client.
    pub ipv6_prefix: u8,
    /// Which draft's parameters the `RateLimit` field has.
    pub header_draft: HeaderDraft,
    /// The header that names the tenant.
    pub tenant_header: Option<HeaderName>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            shards: 8,
            time_limit_ms: 1_000,
            flush_hits: 1_000,
            flush_every_ms: 1_000,
            max_keys: 50_000,
            ledger_shards: 8,
            lease_chunk: 20,
            ipv6_prefix: 64,
            header_draft: HeaderDraft::Eleven,
            tenant_header: None,
        }
    }
}

pub(super) const FIELDS: [&str; 11] = [
    "prefix",
    "shards",
    "time_limit",
    "flush_hits",
    "flush_every",
    "max_keys",
    "ledger_shards",
    "lease_chunk",
    "ipv6_prefix",
    "header_draft",
    "tenant_header",
];

/// Reads the settings; what is absent or faulty has its default.
pub(super) fn read(fields: &mut Fields<'_, '_>) -> Settings {
    let default = Settings::default();
    let drafts = [("11", HeaderDraft::Eleven), ("next", HeaderDraft::Next)];
    let mut count = |name, most| fields.optional(name, |value| whole(value, 1, most));
    let (shards, flush_hits, max_keys) =
        (count("shards", 256), count("flush_hits", 1_000_000), count("max_keys", 100_000));
    let (ledger_shards, lease_chunk) = (count("ledger_shards", 1_024), count("lease_chunk", 10_000));
    Settings {
        prefix: fields.optional("prefix", prefix).unwrap_or_default(),
        shards: narrow(shards, default.shards),
        time_limit_ms: fields
            .optional("time_limit", |value| duration_within(value, 10, 30_000))
            .unwrap_or(default.time_limit_ms),
        flush_hits: narrow(flush_hits, default.flush_hits),
        flush_every_ms: fields
            .optional("flush_every", |value| duration_within(value, 10, 5_000))
            .unwrap_or(default.flush_every_ms),
        max_keys: narrow(max_keys, default.max_keys),
        ledger_shards: narrow(ledger_shards, default.ledger_shards),
        lease_chunk: lease_chunk.unwrap_or(default.lease_chunk),
        ipv6_prefix: narrow(
            fields.optional("ipv6_prefix", |value| whole(value, 32, 128)),
            default.ipv6_prefix,
        ),
        header_draft: fields
            .optional("header_draft", |value| choice(value, &drafts))
            .unwrap_or(default.header_draft),
        tenant_header: fields.optional("tenant_header", |value| {
            HeaderName::parse(text(value)?).map_err(|error| error.detail().to_owned())
        }),
    }
}

/// A number that is known to fit, as the type it is kept in.
fn narrow<T: TryFrom<u64>>(number: Option<u64>, default: T) -> T {
    number.and_then(|number| T::try_from(number).ok()).unwrap_or(default)
}

fn prefix(value: &Value) -> Result<String, String> {
    let prefix = text(value)?;
    let is_plain = |segment: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
    };
    let is_path = prefix.strip_prefix('/').is_some_and(|segments| segments.split('/').all(is_plain));
    if prefix.is_empty() || is_path {
        return Ok(prefix.to_owned());
    }
    Err(format!("{} is not a plain path such as /_limits, without a slash at its end", show(value)))
}
