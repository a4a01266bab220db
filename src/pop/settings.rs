use serde::Serialize;

use crate::counter::{CounterSettings, Totals};
use crate::global::{CapHolderSettings, HolderSettings, TokenHolderSettings};

/// How a [`Pop`](super::Pop) counts, asks and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopSettings {
    /// Of the limits that the point of presence counts alone.
    pub counter: CounterSettings,
    /// Of window limits over all points of presence.
    pub caps: CapHolderSettings,
    /// Of token buckets over all points of presence.
    pub tokens: TokenHolderSettings,
    /// Of calendar quotas.
    pub leases: HolderSettings,
    /// How long an ask may take before it counts as failed. Its reply still counts if it comes after all.
    pub ask_limit_ms: u64,
    /// How long a Ledger is left alone after an ask to it has failed. Then one ask probes it.
    pub retry_ms: u64,
    /// Requests that wait, over all Ledgers. Past it a request that would have to wait is decided by the
    /// policy's `on_error`.
    pub max_waiting: usize,
}

impl PopSettings {
    /// The settings that go with these of the counter.
    pub fn new(counter: CounterSettings) -> Self {
        Self {
            counter,
            caps: CapHolderSettings::default(),
            tokens: TokenHolderSettings::default(),
            leases: HolderSettings::default(),
            ask_limit_ms: 2_000,
            retry_ms: 1_000,
            max_waiting: 10_000,
        }
    }
}

/// What a [`Pop`](super::Pop) has done, and how things stand. The totals go on over restarts; the rest is of
/// this life of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PopReport {
    /// Requests, decisions by policy, rows written.
    #[serde(flatten)]
    pub totals: Totals,
    /// Keys that are counted here alone.
    pub keys: usize,
    /// Keys with caps.
    pub cap_keys: usize,
    /// Keys with leased tokens.
    pub token_keys: usize,
    /// Tokens that can be spent without asking.
    pub tokens_in_hand: u64,
    /// Quotas in memory.
    pub quotas: usize,
    /// Leases that can be spent from.
    pub leases_open: u64,
    /// Units left in them.
    pub units_in_hand: u64,
    /// Messages sent to Ledgers.
    pub asks_sent: u64,
    /// Of these: not answered, or not in time.
    pub asks_failed: u64,
    /// Requests that had to wait for a Ledger.
    pub requests_waited: u64,
    /// Of these: still waiting.
    pub requests_waiting: usize,
    /// Ledgers that are out of reach.
    pub ledgers_out_of_reach: usize,
    /// How often the leases were set up anew because storage failed.
    pub leases_lost: u64,
    /// Leases that their Ledgers did not know at all, as far as they said so.
    pub lease_fences_rejected: u64,
    /// Leases that their Ledgers did not know in the open period, and took in.
    pub lease_fences_adopted: u64,
    /// Points of presence that the Ledgers know of; 0 before one said.
    pub pops: u32,
}
