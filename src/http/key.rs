//! Keyed hashes: what is stored instead of addresses and tokens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use siphasher::sip128::SipHasher24;

use crate::Error;

/// The key of the hashes, so that nobody without it can tell whose counter is whose.
///
/// The counters depend on it: changing it starts them all afresh. The default is public and is what
/// runs until a secret is set; with it, hashes of addresses can be guessed by trying all addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashKey([u8; 16]);

impl HashKey {
    /// The default: these 16 bytes, for everybody.
    const PUBLIC: [u8; 16] = *b"sluicegate/key/0";
    const FIRST_PASS: [u8; 16] = *b"sluicegate/key/1";

    /// A key made from a secret text, such as a Worker's secret of 32 random letters.
    ///
    /// # Example
    ///
    /// ```
    /// use sluicegate::http::HashKey;
    ///
    /// assert_ne!(HashKey::from_secret("correct horse"), HashKey::from_secret("battery staple"));
    /// assert_ne!(HashKey::from_secret(""), HashKey::default());
    /// ```
    pub fn from_secret(secret: &str) -> Self {
        // The second pass is keyed by what the first made of the secret: no fixed key sees it alone.
        let first = SipHasher24::new_with_key(&Self::FIRST_PASS).hash(secret.as_bytes()).as_bytes();
        Self(SipHasher24::new_with_key(&first).hash(secret.as_bytes()).as_bytes())
    }

    pub(super) fn hash(&self, bytes: &[u8]) -> KeyHash {
        KeyHash(SipHasher24::new_with_key(&self.0).hash(bytes).as_u128())
    }
}

impl Default for HashKey {
    fn default() -> Self {
        Self(Self::PUBLIC)
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(..)")
    }
}

/// Names an identity: a keyed hash of it. Shown as 32 hexadecimal digits.
///
/// Policies that count by the same identity have the same hash, so their counters live in the same
/// object, which can then decide all of them in one turn; there the policy's name tells them apart.
///
/// # Example
///
/// ```
/// use sluicegate::http::KeyHash;
///
/// let hash: KeyHash = "00000000000000000000000000000abc".parse()?;
/// assert_eq!(hash, KeyHash::new(0xabc));
/// assert_eq!(hash.to_string(), "00000000000000000000000000000abc");
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash(u128);

impl KeyHash {
    /// The hash with this number.
    pub const fn new(hash: u128) -> Self {
        Self(hash)
    }

    /// The number.
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for KeyHash {
    type Err = Error;

    fn from_str(digits: &str) -> Result<Self, Error> {
        // `from_str_radix` alone would take a sign.
        let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u128::from_str_radix(digits, 16).ok()).flatten();
        number.map(Self).ok_or_else(|| Error::spec("key", "is not 32 hexadecimal digits"))
    }
}

/// As text in JSON, because JavaScript has no such numbers; as 16 bytes where nobody reads it.
impl Serialize for KeyHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.to_le_bytes().serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for KeyHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
        } else {
            <[u8; 16]>::deserialize(deserializer).map(|bytes| Self(u128::from_le_bytes(bytes)))
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_hash_is_32_digits_and_nothing_else() {
        for bad in [
            "",
            "abc",
            "+0000000000000000000000000000abc",
            "0000000000000000000000000000000g",
            &"0".repeat(33),
        ] {
            assert!(bad.parse::<KeyHash>().is_err(), "{bad}");
        }
        assert_eq!("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF".parse(), Ok(KeyHash::new(u128::MAX)));
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", HashKey::from_secret("hidden")), "HashKey(..)");
    }

    /// Stored counters are found again only while this does not change.
    #[test]
    fn hashes_stay_what_they_are() {
        assert_eq!(HashKey::default().hash(b"abc").to_string(), "1ee9f365ff0627dbf4dcb5f556d186ea");
        assert_eq!(HashKey::from_secret("s").hash(b"abc").to_string(), "af799d5f37383036f61e971b03148529");
    }

    proptest! {
        #[test]
        fn a_hash_survives_text_and_bytes(number: u128) {
            let hash = KeyHash::new(number);
            prop_assert_eq!(hash.to_string().parse(), Ok(hash));
            let json = serde_json::to_string(&hash).unwrap();
            prop_assert_eq!(serde_json::from_str::<KeyHash>(&json).unwrap(), hash);
            let bytes = postcard::to_allocvec(&hash).unwrap();
            prop_assert_eq!(bytes.len(), 16);
            prop_assert_eq!(postcard::from_bytes::<KeyHash>(&bytes).unwrap(), hash);
        }
    }
}
