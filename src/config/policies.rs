//! `[[policies]]`: what is limited, and by what.

use serde_json::Value;

use super::counting;
use super::duration::duration_within;
use super::policy::{OnMissing, Policy};
use super::read::{Fields, choice, flag, quote, show, text};
use super::settings::Settings;
use crate::Error;
use crate::http::{HeaderName, Identity, Part};

/// The fields that are read here.
const FIELDS: [&str; 5] = ["name", "identity", "on_missing", "shadow", "max_retry_after"];

/// Reads one policy. The name is returned even when something else is wrong, so that rules that use
/// it are not blamed for that.
pub(super) fn read(
    value: &Value,
    path: &str,
    settings: &Settings,
    errors: &mut Vec<Error>,
) -> (Option<String>, Option<Policy>) {
    let known = [&FIELDS[..1], &counting::FIELDS, &FIELDS[1..]].concat();
    let Some(mut fields) = Fields::open(value, path, &known, errors) else {
        return (None, None);
    };
    let before = fields.faults();
    let name = fields.required("name", "give the policy one, such as \"per-ip\"", policy_name);
    let measured = counting::read(&mut fields);
    let identity = read_identity(&mut fields, settings);
    let on_missings =
        [("shared", OnMissing::Shared), ("refuse", OnMissing::Refuse), ("skip", OnMissing::Skip)];
    let on_missing = fields.optional("on_missing", |value| choice(value, &on_missings));
    let shadow = fields.optional("shadow", flag);
    let max_retry_after_ms =
        fields.optional("max_retry_after", |value| duration_within(value, 1_000, 366 * 86_400_000));
    let sound = fields.faults() == before;
    let policy = name.clone().zip(measured).zip(identity).filter(|_| sound);
    let policy = policy.map(|((name, measured), identity)| Policy {
        name,
        counting: measured.counting,
        limit: measured.limit,
        identity,
        on_error: measured.on_error,
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
