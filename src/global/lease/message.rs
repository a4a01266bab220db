//! What a point of presence and a ledger say to each other about leases.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::WallMs;
use crate::fence::Fence;

/// The version of [`LeaseAsk`] and [`LeaseReply`]. Fields may be added under the same version, and
/// fields that are not known are passed over: old and new live side by side during a deployment. A
/// changed meaning takes the next version.
pub const LEASE_VERSION: u8 = 1;

/// When a holder's storage was made: a random number drawn then, and kept in it. A point of presence
/// that lost its storage is another holder.
///
/// Written as 16 hexadecimal digits, which JavaScript holds exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Birth(pub u64);

impl fmt::Display for Birth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<Birth> for String {
    fn from(birth: Birth) -> Self {
        birth.to_string()
    }
}

impl TryFrom<String> for Birth {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // One spelling only, since births are compared by their texts in storage.
        let birth = u64::from_str_radix(&text, 16).map(Self).ok();
        birth
            .filter(|birth| birth.to_string() == text)
            .ok_or_else(|| "a birth is 16 lower-case hexadecimal digits".to_owned())
    }
}

/// The number of an ask: larger is later. Written as the pair `[boot, k]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct AskNumber {
    /// How often the holder has started.
    pub boot: u64,
    /// Which ask of that start.
    pub k: u64,
}

impl From<(u64, u64)> for AskNumber {
    fn from((boot, k): (u64, u64)) -> Self {
        Self { boot, k }
    }
}

impl From<AskNumber> for (u64, u64) {
    fn from(number: AskNumber) -> Self {
        (number.boot, number.k)
    }
}

/// What a point of presence asks of a ledger: for one quota or for several at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseAsk {
    /// [`LEASE_VERSION`].
    pub v: u8,
    /// The name of the point of presence.
    pub pop: String,
    /// When its storage was made.
    pub birth: Birth,
    /// One for each quota.
    pub items: Vec<LeaseAskItem>,
}

/// What is asked about one quota.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseAskItem {
    /// Which quota: the name that the caller gave the [`LeaseHolder`](crate::global::LeaseHolder).
    pub quota: String,
    /// The number of this ask, per quota.
    pub n: AskNumber,
    /// Every lease in the holder's storage, read in the turn of the ask. A lease that is not here was
    /// never written down and never will be.
    pub have: Vec<ListedLease>,
    /// The serial that the holder takes for the open one; 0 before it has heard of any.
    pub serial: u64,
    /// Units that the waiting requests lack, all together. Zero asks for nothing.
    pub want: u64,
    /// The least grant that is of use: units that the smallest waiting request lacks.
    pub min: u64,
}

/// One lease as its holder has it in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ListedLease {
    /// Its name.
    pub fence: Fence,
    /// The serial it is for.
    pub serial: u64,
    /// Units it was granted with.
    pub amount: u64,
    /// Units written off: no more than these were spent.
    pub off: u64,
    /// Units among them that a crash took: written off, and perhaps not spent.
    #[serde(default)]
    pub lost: u64,
    /// Units written off and not spent, as far as the holder knows when it asks. They count as spent all the
    /// same: it only tells the ledger that there is something to be had for those who wait.
    #[serde(default)]
    pub unspent: u64,
    /// True when `off` will not change any more.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// A ledger's answer to a [`LeaseAsk`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseReply {
    /// [`LEASE_VERSION`].
    pub v: u8,
    /// One for each item that was not older than what the ledger has seen.
    pub items: Vec<LeaseReplyItem>,
}

/// What a ledger says about one quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseReplyItem {
    /// Which quota.
    pub quota: String,
    /// The ask that this is the reply to.
    pub n: AskNumber,
    /// The open period, and what it allows.
    #[serde(flatten)]
    pub terms: Terms,
    /// A new lease, for the open serial.
    pub grant: Option<Grant>,
    /// Leases whose final figure the ledger has stored: their rows can go.
    pub confirmed: Vec<Fence>,
    /// Units of the open serial that are neither counted as spent nor out.
    #[serde(default)]
    pub free: u64,
    /// True when someone waits for units that are out: return what nothing waits for.
    pub scarce: bool,
    /// True when this ask wanted units and got none.
    pub drained: bool,
}

/// A lease, as it is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// Its name.
    pub fence: Fence,
    /// Units in it; not zero.
    pub amount: u64,
}

/// The open period of a quota: which one, and what it allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Terms {
    /// How many periods the ledger has opened. Says whether two periods are the same one; their slots'
    /// names do not.
    pub serial: u64,
    /// The calendar's name for it.
    pub slot: String,
    /// The first millisecond in it, by the ledger's wall clock.
    pub start: WallMs,
    /// The first millisecond after it.
    pub end: WallMs,
    /// Milliseconds from the ledger's reading to the end: to count down, never to compare.
    pub left_ms: u64,
    /// Units that this period allows.
    pub limit: u64,
    /// Units that a whole period allows: more than `limit` where this is only part of one.
    #[serde(default)]
    pub whole: u64,
    /// True when it is only part of a calendar period.
    #[serde(default)]
    pub partial: bool,
}
