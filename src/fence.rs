//! Names that are given once: which lease is meant, and nothing else.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of one lease, matched exactly.
///
/// The usual fencing token is a number, and a holder with a smaller one is turned away (Kleppmann, 2016).
/// That fits a lock with one holder. A point of presence that renews has two leases at a time, and both
/// reports are true; so fences have no order, and there is nothing to compare them with:
///
/// ```compile_fail,E0369
/// use sluicegate::fence::FenceSource;
///
/// let mut source = FenceSource::new(7);
/// assert!(source.issue() < source.issue());
/// ```
///
/// Written as text, which JavaScript holds exactly: 16 hexadecimal digits of the start, a dash, the number
/// within it. Each fence has one spelling, so texts may be compared in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fence {
    start: u64,
    number: u64,
}

/// Gives out the fences of one start of an object.
///
/// The numbers begin again with each start, and a storage that was rolled back begins where it was: only
/// the random part keeps such fences from naming a lease that is still out.
///
/// # Example
///
/// ```
/// use sluicegate::fence::{Fence, FenceSource};
///
/// let mut source = FenceSource::new(0x1234_5678_9abc_def0); // drawn anew at each start
/// let fence = source.issue();
/// assert_eq!(fence.to_string(), "123456789abcdef0-1");
/// assert_eq!("123456789abcdef0-1".parse(), Ok(fence));
/// assert_ne!(source.issue(), fence);
/// ```
#[derive(Debug)]
pub struct FenceSource {
    start: u64,
    issued: u64,
}

impl FenceSource {
    /// A source for one start. `random` must be drawn anew at each: the core has no randomness of its own.
    pub const fn new(random: u64) -> Self {
        Self { start: random, issued: 0 }
    }

    /// A fence that this source has not given out before. (It would repeat after 2^64, which takes longer
    /// than there is.)
    pub const fn issue(&mut self) -> Fence {
        self.issued = self.issued.wrapping_add(1);
        Fence { start: self.start, number: self.issued }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.start, self.number)
    }
}

/// The text is not a fence as [`Fence`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseFenceError;

impl fmt::Display for ParseFenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fence is 16 lower-case hexadecimal digits, a dash and a whole number")
    }
}

impl std::error::Error for ParseFenceError {}

impl FromStr for Fence {
    type Err = ParseFenceError;

    fn from_str(text: &str) -> Result<Self, ParseFenceError> {
        let (start, number) = text.split_once('-').ok_or(ParseFenceError)?;
        let (Ok(start), Ok(number)) = (u64::from_str_radix(start, 16), number.parse()) else {
            return Err(ParseFenceError);
        };
        let fence = Self { start, number };
        // One spelling only: no sign, no capitals, no leading zeros but those of the start.
        if fence.to_string() == text { Ok(fence) } else { Err(ParseFenceError) }
    }
}

impl TryFrom<String> for Fence {
    type Error = ParseFenceError;

    fn try_from(text: String) -> Result<Self, ParseFenceError> {
        text.parse()
    }
}

impl From<Fence> for String {
    fn from(fence: Fence) -> Self {
        fence.to_string()
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_storage_that_was_rolled_back_does_not_repeat_a_fence() {
        let mut before = FenceSource::new(1);
        let out: HashSet<Fence> = (0..1_000).map(|_| before.issue()).collect();
        assert_eq!(out.len(), 1_000);
        let mut after = FenceSource::new(2);
        assert!((0..1_000).all(|_| !out.contains(&after.issue())));
    }

    #[test]
    fn other_spellings_are_refused() {
        let refused = [
            "",
            "-",
            "1-1",
            "000000000000000a",
            "000000000000000a-",
            "000000000000000A-1",
            "000000000000000a-01",
            "000000000000000a-+1",
            "+00000000000000a-1",
            "000000000000000a--1",
            "000000000000000a-18446744073709551616",
            "000000000000000a-1 ",
        ];
        for text in refused {
            assert_eq!(text.parse::<Fence>(), Err(ParseFenceError), "{text:?}");
        }
        assert!(serde_json::from_str::<Fence>("1").is_err());
        assert!(serde_json::from_str::<Fence>(r#""1-1""#).is_err());
    }

    proptest! {
        #[test]
        fn text_and_json_give_the_same_fence_back(start: u64, number: u64) {
            let fence = Fence { start, number };
            prop_assert_eq!(fence.to_string().parse(), Ok(fence));
            let json = serde_json::to_string(&fence).unwrap();
            prop_assert_eq!(&json, &format!("\"{fence}\""));
            prop_assert_eq!(serde_json::from_str::<Fence>(&json).unwrap(), fence);
            let bytes = postcard::to_allocvec(&fence).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Fence>(&bytes).unwrap(), fence);
        }

        #[test]
        fn what_parses_is_spelled_as_it_was(text in "[0-9a-f]{15,17}-?[0-9]{0,21}") {
            if let Ok(fence) = text.parse::<Fence>() {
                prop_assert_eq!(fence.to_string(), text);
            }
        }
    }
}
