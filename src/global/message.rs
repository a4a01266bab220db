use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::http::KeyHash;
use crate::window::{Epoch, WindowMs};

/// The version of [`CapAsk`] and [`CapReply`]. During a deployment the two sides differ for minutes: a
/// field may be added under the same version, where it is ignored or takes its default; a changed meaning
/// takes the next.
pub const CAP_WIRE_VERSION: u8 = 1;

/// Names one start of a `PopCounter`: a random number. An object that restarts, or that runs twice for a
/// while, is two holders, since neither knows what the other took.
///
/// Written as 16 hexadecimal digits: JavaScript has no such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HolderId(u64);

impl HolderId {
    /// The holder with this number.
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for HolderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text is not a holder as [`HolderId`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseHolderIdError;

impl fmt::Display for ParseHolderIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a holder is 16 lower-case hexadecimal digits")
    }
}

impl std::error::Error for ParseHolderIdError {}

impl FromStr for HolderId {
    type Err = ParseHolderIdError;

    fn from_str(text: &str) -> Result<Self, ParseHolderIdError> {
        let id = u64::from_str_radix(text, 16).map(Self).map_err(|_| ParseHolderIdError)?;
        // One spelling only: no sign, no capitals, all digits.
        if id.to_string() == text { Ok(id) } else { Err(ParseHolderIdError) }
    }
}

impl TryFrom<String> for HolderId {
    type Error = ParseHolderIdError;

    fn try_from(text: String) -> Result<Self, ParseHolderIdError> {
        text.parse()
    }
}

impl From<HolderId> for String {
    fn from(id: HolderId) -> Self {
        id.to_string()
    }
}

/// What is counted: whom, by which policy, in windows of which length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapKey {
    /// The policy's name.
    pub policy: String,
    /// The identity.
    pub key: KeyHash,
    /// The length of the window. A policy whose window was changed starts anew: an epoch of one length
    /// says nothing about another.
    pub window_ms: WindowMs,
}

/// What a holder took in one epoch: two counts that only grow, so that reports merge by maximum. Their
/// difference is the net use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapBook {
    /// The epoch.
    pub epoch: Epoch,
    /// Units taken.
    pub taken: u64,
    /// Units of these that were given back.
    #[serde(default)]
    pub given: u64,
}

/// What a holder tells and asks a Ledger: many keys in one message. Safe to lose, repeat, delay and
/// reorder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapAsk {
    /// [`CAP_WIRE_VERSION`].
    pub v: u8,
    /// Who asks.
    pub holder: HolderId,
    /// Numbers the asks of one holder, from 1.
    pub n: u64,
    /// The keys, each once.
    pub items: Vec<CapAskItem>,
}

/// One key of a [`CapAsk`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapAskItem {
    /// The key.
    #[serde(flatten)]
    pub key: CapKey,
    /// The generation that the books are of: it grows with each reset of the key.
    #[serde(default)]
    pub r#gen: u64,
    /// What was taken in the epochs that are not over, as far as the holder knows.
    #[serde(default)]
    pub books: Vec<CapBook>,
    /// The epoch that the holder files under; `None` before it was told one. For whoever reads the
    /// message: the Ledger needs only the books.
    #[serde(default)]
    pub epoch: Option<Epoch>,
    /// The sum of the costs of the requests that wait for this ask.
    #[serde(default)]
    pub wait: u64,
    /// The smallest of these costs; 0 where it is not known. A grant that lets none of them through is of
    /// no use, and would be missing elsewhere until the epoch ends.
    #[serde(default)]
    pub least: u64,
    /// Units taken since the last ask.
    #[serde(default)]
    pub rate: u64,
}

/// What the Ledger answers to a [`CapAsk`]. Safe to lose, repeat, delay and reorder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapReply {
    /// [`CAP_WIRE_VERSION`].
    pub v: u8,
    /// The number of the ask.
    pub n: u64,
    /// The keys of the ask that the Ledger counts.
    pub items: Vec<CapReplyItem>,
}

/// One key of a [`CapReply`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapReplyItem {
    /// The key.
    #[serde(flatten)]
    pub key: CapKey,
    /// The key's generation.
    #[serde(default)]
    pub r#gen: u64,
    /// The open epoch.
    pub epoch: Epoch,
    /// What is left of it, in milliseconds, by the Ledger's clock.
    pub left_ms: u64,
    /// The most that this holder may have taken in it, net of refunds.
    pub cap: u64,
    /// True when the limit is known to be used up.
    #[serde(default)]
    pub full: bool,
    /// Units that the other holders are known or presumed to have taken: for what a client is told to be
    /// left, never for a decision.
    #[serde(default)]
    pub others: u64,
    /// A cap in the next epoch, so that its first requests need not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<CapNext>,
}

/// A cap that is given ahead of its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CapNext {
    /// The epoch after the open one.
    pub epoch: Epoch,
    /// The cap in it.
    pub cap: u64,
}
