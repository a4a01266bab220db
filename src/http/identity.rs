//! Identities: what a policy counts its requests by.

use std::fmt;

use super::address::Client;
use super::key::{HashKey, KeyHash};
use super::path::RequestPath;
use crate::Error;
use crate::config::read::quote;

/// A header field's name: a token of RFC 9110, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderName(String);

impl HeaderName {
    /// Reads a name; case does not matter.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for anything that is not a header field's name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Error::spec("header", format!("{} is not the name of a header", quote(name))));
        }
        Ok(Self(name.to_ascii_lowercase()))
    }

    /// The name in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One thing to count by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The client's address: an IPv4 address, or the IPv6 network with a prefix of this many bits.
    Ip {
        /// Bits of an IPv6 address that count; the rest is the client's own to change.
        ipv6_prefix: u8,
    },
    /// A header's value, without the blanks around it.
    Header(HeaderName),
    /// The path, [read](RequestPath) as rules read it.
    Path,
    /// The tenant, whom this header names.
    Tenant(HeaderName),
}

impl Part {
    /// How a configuration names it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Ip { .. } => "ip".to_owned(),
            Self::Header(name) => format!("header:{}", name.as_str()),
            Self::Path => "path".to_owned(),
            Self::Tenant(_) => "tenant".to_owned(),
        }
    }

    /// What a request has here; `None` where that is missing, blank or, for an address, unreadable.
    fn value(&self, facts: &RequestFacts<'_>) -> Option<Vec<u8>> {
        match self {
            Self::Ip { .. } => self.normalise(facts.ip?).ok()?,
            Self::Path => Some(facts.path.to_string().into_bytes()),
            Self::Header(name) | Self::Tenant(name) => {
                self.normalise(&(facts.header)(name.as_str())?).ok()?
            }
        }
    }

    /// The one form that all spellings of a value share; `None` for a blank one.
    fn normalise(&self, value: &str) -> Result<Option<Vec<u8>>, String> {
        let value = value.trim();
        if value.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Ip { ipv6_prefix } => match Client::parse(value, *ipv6_prefix) {
                Some(client) => Ok(Some(client.bytes())),
                None => Err(format!("{} is not an IPv4 or IPv6 address", quote(value))),
            },
            Self::Header(_) | Self::Tenant(_) => Ok(Some(value.as_bytes().to_vec())),
            Self::Path if value.contains(['?', '#']) => {
                Err(format!("{} is more than a path; leave out the query", quote(value)))
            }
            Self::Path => Ok(Some(RequestPath::parse(value).to_string().into_bytes())),
        }
    }
}

/// What an adapter knows of a request. Headers are asked for by name, in lower case, and only those
/// that a policy counts by.
#[derive(Clone, Copy)]
pub struct RequestFacts<'a> {
    /// The value of `cf-connecting-ip`; no other header says reliably where a request comes from.
    pub ip: Option<&'a str>,
    /// The path.
    pub path: &'a RequestPath,
    /// A header's value, several joined by commas.
    pub header: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for RequestFacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestFacts").field("ip", &self.ip).field("path", &self.path).finish_non_exhaustive()
    }
}

/// Whom a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The key of its counter.
    Key(KeyHash),
    /// Some part of the identity is missing or blank: the policy's `on_missing` decides.
    Missing,
}

/// What a policy counts its requests by: one part or several, all of which have to be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    parts: Vec<Part>,
}

impl Identity {
    /// An identity of these parts.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for no parts, or the same one twice.
    pub fn new(parts: Vec<Part>) -> Result<Self, Error> {
        if parts.is_empty() {
            return Err(Error::spec("identity", "names nothing to count by"));
        }
        for (index, part) in parts.iter().enumerate() {
            if parts.iter().take(index).any(|earlier| earlier == part) {
                return Err(Error::spec("identity", format!("names {} twice", quote(&part.name()))));
            }
        }
        Ok(Self { parts })
    }

    /// Its parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The key that a request is counted under.
    pub fn resolve(&self, key: &HashKey, facts: &RequestFacts<'_>) -> Resolved {
        let values: Option<Vec<_>> = self.parts.iter().map(|part| part.value(facts)).collect();
        self.hash(key, values)
    }

    /// The key to count under when the identity is told: one text for each part.
    ///
    /// Texts are normalised as a request's are, so both ways lead to the same counter.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error with the path `key` or `key[1]` for a text that
    /// no request could have, and for another number of texts than there are parts.
    pub fn resolve_given(&self, key: &HashKey, given: &[&str]) -> Result<Resolved, Error> {
        if given.len() != self.parts.len() {
            return Err(Error::spec("key", self.expected()));
        }
        let mut values = Some(Vec::with_capacity(given.len()));
        for (index, (part, text)) in self.parts.iter().zip(given).enumerate() {
            let path = || if given.len() == 1 { "key".to_owned() } else { format!("key[{index}]") };
            let value = part.normalise(text).map_err(|detail| Error::spec(path(), detail))?;
            values = values.zip(value).map(|(mut values, value)| {
                values.push(value);
                values
            });
        }
        Ok(self.hash(key, values))
    }

    /// The key that all requests without this identity share.
    pub fn shared(&self, key: &HashKey) -> KeyHash {
        key.hash(&pre_image(&[]))
    }

    /// What a key has to look like, for messages.
    pub(crate) fn expected(&self) -> String {
        let names: Vec<String> = self.parts.iter().map(Part::name).collect();
        match names.as_slice() {
            [name] => format!("is not one string, the {}", quote(name)),
            names => {
                let listed = names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
                format!("is not a list of {} strings: {listed}", names.len())
            }
        }
    }

    fn hash(&self, key: &HashKey, values: Option<Vec<Vec<u8>>>) -> Resolved {
        let Some(values) = values else {
            return Resolved::Missing;
        };
        let parts: Vec<_> = self.parts.iter().map(Part::name).zip(values).collect();
        Resolved::Key(key.hash(&pre_image(&parts)))
    }
}

/// What is hashed. Every text comes after its length, so none can pass for the end of another, and
/// every value after the name of its part, so that a policy whose identity is changed starts afresh.
fn pre_image(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut push = |text: &[u8]| {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text);
    };
    for (name, value) in parts {
        push(name.as_bytes());
        push(value);
    }
    bytes
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Parts = Vec<(String, Vec<u8>)>;

    /// Few letters and small lengths, so that wrong framing is found.
    fn parts() -> impl Strategy<Value = Parts> {
        let value = prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(b'a')], 0..12);
        prop::collection::vec(("[a\0\x01]{0,10}", value), 0..3)
    }

    fn split(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut texts = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
            let (text, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
            texts.push(text.to_vec());
            bytes = rest;
        }
        assert!(bytes.is_empty());
        texts
    }

    proptest! {
        /// A pre-image can be taken apart again, so no two identities have the same.
        #[test]
        fn a_pre_image_has_one_reading(parts in parts()) {
            let mut texts = Vec::new();
            for (name, value) in &parts {
                texts.extend([name.clone().into_bytes(), value.clone()]);
            }
            prop_assert_eq!(split(&pre_image(&parts)), texts);
        }
    }
}
