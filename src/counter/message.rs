use serde::{Deserialize, Serialize};

use crate::http::KeyHash;
use crate::policy::Algorithm;
use crate::window::Position;
use crate::{Cost, Decision};

/// The version of [`Ask`] and [`Reply`]. During a deployment the edge and an object can differ for
/// minutes: a field may be added under the same version, a changed meaning takes the next.
pub const WIRE_VERSION: u8 = 1;

/// What the edge asks of a counter: a batch of limits, decided all or nothing.
///
/// The policy's numbers travel with it, so the object needs no configuration of its own and cannot
/// decide by an older one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// [`WIRE_VERSION`].
    pub v: u8,
    /// What to do with the limits.
    pub op: Op,
    /// The limits, at most one per key.
    pub limits: Vec<AskLimit>,
}

/// What an [`Ask`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// Take every cost, or nothing.
    Take,
    /// Tell what a take would say, and take nothing.
    Peek,
    /// Give back what an earlier take took.
    Give,
}

/// One limit of an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskLimit {
    /// The policy's name: for metrics, and for the counters that keys share when memory is full.
    pub policy: String,
    /// How it counts.
    pub algorithm: Algorithm,
    /// Whom it counts.
    pub key: KeyHash,
    /// How many units.
    pub cost: Cost,
    /// Counts, but never refuses.
    #[serde(default)]
    pub shadow: bool,
    /// For [`Op::Give`]: which take is given back.
    #[serde(default)]
    pub receipt: Option<Receipt>,
}

/// Names one take, so that it can be given back: only by the life of the object that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The random number of the object's start; another life of it does not know the take.
    pub holder: Holder,
    /// Where it was taken.
    pub at: Position,
}

/// One start of an object: a random number drawn when it starts. An object that restarts, or that
/// runs twice for a while, is two holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder(pub u32);

/// A counter's answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// [`WIRE_VERSION`].
    pub v: u8,
    /// True when no enforced limit refuses.
    pub allowed: bool,
    /// One for each limit asked, in order.
    pub limits: Vec<ReplyLimit>,
}

/// One limit of a [`Reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyLimit {
    /// What the limit says; `remaining` is after the take, where there was one.
    pub decision: Decision,
    /// The open epoch, where the algorithm has epochs.
    pub epoch: Option<u64>,
    /// Present when something was taken.
    pub receipt: Option<Receipt>,
}
