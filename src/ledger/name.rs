use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::http::KeyHash;

/// Names one Ledger: there is one object of that name in the world.
///
/// # Example
///
/// ```
/// use sluicegate::http::KeyHash;
/// use sluicegate::ledger::LedgerName;
///
/// let name = LedgerName::Tenant(KeyHash::new(0xabc));
/// assert_eq!(name.to_string(), "tenant/00000000000000000000000000000abc");
/// assert_eq!(name.to_string().parse(), Ok(name));
/// assert_eq!(LedgerName::Shard(3).to_string(), "shard/3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LedgerName {
    /// Keeps the calendar quotas of one identity.
    Tenant(KeyHash),
    /// Keeps a part of the limits that are over all points of presence and have no tenant.
    Shard(u32),
}

impl fmt::Display for LedgerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant(key) => write!(f, "tenant/{key}"),
            Self::Shard(shard) => write!(f, "shard/{shard}"),
        }
    }
}

impl FromStr for LedgerName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let name = match text.split_once('/') {
            Some(("tenant", key)) => key.parse().ok().map(Self::Tenant),
            Some(("shard", shard)) => shard.parse().ok().map(Self::Shard),
            _ => None,
        };
        // One spelling only: names are compared as texts.
        let name = name.filter(|name| name.to_string() == text);
        name.ok_or_else(|| Error::spec("ledger", format!("{text:?} is not tenant/HASH or shard/NUMBER")))
    }
}

impl TryFrom<String> for LedgerName {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<LedgerName> for String {
    fn from(name: LedgerName) -> Self {
        name.to_string()
    }
}

/// Names one calendar quota: the policy and the identity.
///
/// # Example
///
/// ```
/// use sluicegate::http::KeyHash;
/// use sluicegate::ledger::{LedgerName, QuotaName};
///
/// let quota = QuotaName { policy: "monthly".into(), key: KeyHash::new(0xabc) };
/// assert_eq!(quota.to_string(), "monthly/00000000000000000000000000000abc");
/// assert_eq!(quota.to_string().parse(), Ok(quota.clone()));
/// assert_eq!(quota.ledger(), LedgerName::Tenant(quota.key));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QuotaName {
    /// The policy's name, which has no slash in it.
    pub policy: String,
    /// The identity.
    pub key: KeyHash,
}

impl QuotaName {
    /// The Ledger that keeps it.
    pub const fn ledger(&self) -> LedgerName {
        LedgerName::Tenant(self.key)
    }
}

impl fmt::Display for QuotaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.policy, self.key)
    }
}

impl FromStr for QuotaName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.split_once('/').filter(|(policy, _)| !policy.is_empty());
        let name =
            parts.and_then(|(policy, key)| Some(Self { policy: policy.to_owned(), key: key.parse().ok()? }));
        let name = name.filter(|name| name.to_string() == text);
        name.ok_or_else(|| Error::spec("quota", format!("{text:?} is not POLICY/HASH")))
    }
}

impl TryFrom<String> for QuotaName {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<QuotaName> for String {
    fn from(name: QuotaName) -> Self {
        name.to_string()
    }
}
