use serde::{Deserialize, Serialize};

use crate::Error;
use crate::window::checked_count;

/// A window limit over many points of presence: `limit` units per epoch, and how far it may be passed so
/// that most requests need not wait for the Ledger.
///
/// # Example
///
/// ```
/// use sluicegate::global::CapLimit;
///
/// let limit = CapLimit::new(1_000, 50_000)?; // 5 %
/// assert_eq!((limit.slack(), limit.ceiling()), (50, 1_050));
/// assert_eq!(CapLimit::new(9, 100_000)?.slack(), 0); // rounded down
/// # Ok::<(), sluicegate::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct CapLimit {
    limit: u64,
    tolerance_ppm: u32,
}

#[derive(Deserialize)]
struct Fields {
    limit: u64,
    tolerance_ppm: u32,
}

impl TryFrom<Fields> for CapLimit {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        Self::new(fields.limit, fields.tolerance_ppm)
    }
}

impl CapLimit {
    /// A tolerance of the whole limit, in parts per million.
    pub const WHOLE_PPM: u32 = 1_000_000;

    /// At most `limit` units per epoch, which may be passed by `tolerance_ppm` millionths of it.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error at `limit` above 2^53 - 1, or at `tolerance`
    /// above one.
    pub fn new(limit: u64, tolerance_ppm: u32) -> Result<Self, Error> {
        if tolerance_ppm > Self::WHOLE_PPM {
            return Err(Error::spec("tolerance", "is above 1"));
        }
        Ok(Self { limit: checked_count("limit", limit)?, tolerance_ppm })
    }

    /// The limit, `L`.
    pub const fn limit(self) -> u64 {
        self.limit
    }

    /// The tolerance in millionths of the limit.
    pub const fn tolerance_ppm(self) -> u32 {
        self.tolerance_ppm
    }

    /// Units that may be out at points of presence and not known to be taken: `S`, the tolerated part of
    /// the limit, rounded down.
    pub const fn slack(self) -> u64 {
        // A product of 53 and 20 bits; the quotient is at most the limit.
        (self.limit as u128 * self.tolerance_ppm as u128 / Self::WHOLE_PPM as u128) as u64
    }

    /// The most units that can be admitted in an epoch: `L + S`.
    pub const fn ceiling(self) -> u64 {
        self.limit.saturating_add(self.slack())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_COUNT;

    #[test]
    fn a_limit_is_checked_also_when_it_is_read() {
        assert_eq!(CapLimit::new(MAX_COUNT + 1, 0).unwrap_err().path(), Some("limit"));
        assert_eq!(CapLimit::new(1, 1_000_001).unwrap_err().path(), Some("tolerance"));
        assert!(serde_json::from_str::<CapLimit>(r#"{"limit":1,"tolerance_ppm":1000001}"#).is_err());
        let largest = CapLimit::new(MAX_COUNT, 1_000_000).unwrap();
        assert_eq!((largest.slack(), largest.ceiling()), (MAX_COUNT, 2 * MAX_COUNT));
        assert_eq!(CapLimit::new(MAX_COUNT, 1).unwrap().slack(), 9_007_199_254);
    }
}
