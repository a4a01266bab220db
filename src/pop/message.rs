use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::bucket::TokenBucket;
use crate::counter::{Holder, Op};
use crate::decision::DecidedBy;
use crate::global::{CapReceipt, LeaseReceipt, TokenReceipt};
use crate::http::KeyHash;
use crate::ledger::LedgerName;
use crate::policy::{Algorithm, OnError};
use crate::window::{FixedWindow, Position};
use crate::{Cost, Decision};

/// The version of [`PopAsk`] and [`PopReply`]. During a deployment the edge and an object can differ for
/// minutes: a field may be added under the same version, a changed meaning takes the next.
pub const POP_VERSION: u8 = 2;

/// What the edge asks of a point of presence: a batch of limits, decided all or nothing.
///
/// The policies' numbers travel with it, so the object cannot decide by an older configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopAsk {
    /// [`POP_VERSION`]. One of another version cannot be read.
    #[serde(deserialize_with = "this_version")]
    pub v: u8,
    /// What to do with the limits.
    pub op: Op,
    /// The name of the point of presence, for what it asks of Ledgers.
    pub pop: String,
    /// The limits, at most one per key.
    pub limits: Vec<PopLimit>,
}

fn this_version<'de, D: Deserializer<'de>>(version: D) -> Result<u8, D::Error> {
    let v = u8::deserialize(version)?;
    let other = || D::Error::custom(format_args!("version {v} is not {POP_VERSION}"));
    if v == POP_VERSION { Ok(v) } else { Err(other()) }
}

/// One limit of a [`PopAsk`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopLimit {
    /// The policy's name.
    pub policy: String,
    /// How it is counted, and by whom.
    pub measure: Measure,
    /// Whom it counts.
    pub key: KeyHash,
    /// How many units.
    pub cost: Cost,
    /// Counts, but never refuses.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shadow: bool,
    /// For [`Op::Give`]: which take is given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<PopReceipt>,
}

const fn is_false(value: &bool) -> bool {
    !*value
}

/// How a limit is counted, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// By the point of presence alone.
    Pop(Algorithm),
    /// Over all points of presence: the Ledger gives each of them caps.
    Window {
        /// The limit and the window.
        window: FixedWindow,
        /// How far the limit may be passed, in millionths of it.
        tolerance_ppm: u32,
        /// Who owns the limit.
        ledger: LedgerName,
        /// What happens when the Ledger is out of reach.
        on_error: OnError,
    },
    /// Over all points of presence: they lease tokens from the Ledger's bucket.
    Bucket {
        /// The bucket.
        bucket: TokenBucket,
        /// Who owns it.
        ledger: LedgerName,
        /// What happens when the Ledger is out of reach.
        on_error: OnError,
    },
    /// Over all points of presence, exactly: they lease units of a calendar quota. The Ledger of the
    /// identity owns it and knows its numbers; out of its reach the policy refuses.
    Quota,
}

/// Names one take, so that it can be given back: only to the life of the object that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PopReceipt {
    /// Counted by the point of presence.
    Pop {
        /// The object's start.
        holder: Holder,
        /// Where it was taken.
        at: Position,
    },
    /// Taken within a cap.
    Cap(CapReceipt),
    /// Taken from leased tokens.
    Token(TokenReceipt),
    /// Taken from leases.
    Lease {
        /// Which take of this start of the object: two takes from one lease look the same otherwise.
        take: u64,
        /// The units.
        lease: LeaseReceipt,
    },
}

/// The answer to a [`PopAsk`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopReply {
    /// [`POP_VERSION`].
    pub v: u8,
    /// True when no enforced limit refuses.
    pub allowed: bool,
    /// One for each limit asked, in order.
    pub limits: Vec<PopReplyLimit>,
}

/// One limit of a [`PopReply`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopReplyLimit {
    /// What the limit says; `remaining` is after the take, where there was one.
    pub decision: Decision,
    /// Who says so.
    #[serde(default)]
    pub decided_by: DecidedBy,
    /// The open epoch, where the limit has epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The open period of a calendar quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<OpenTerms>,
    /// Present when something was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<PopReceipt>,
}

/// The open period of a calendar quota, by its Ledger's wall clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTerms {
    /// How many periods the Ledger has opened, this one included.
    pub serial: u64,
    /// The calendar's name for it.
    pub slot: String,
    /// The first millisecond in it, since 1970.
    pub start_ms: i64,
    /// The first millisecond after it.
    pub end_ms: i64,
}
