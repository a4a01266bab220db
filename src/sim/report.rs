use serde::Serialize;

use super::tally::Tally;

/// What an onlooker has seen of a [`Simulation`](super::Simulation).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SimReport {
    /// Virtual time, in milliseconds from the start.
    pub now_ms: u64,
    /// One for each policy of the configuration.
    pub policies: Vec<PolicyReport>,
    /// What has no policy.
    pub totals: SimTotals,
}

/// What was seen of one policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyReport {
    /// Its name.
    pub policy: String,
    /// Its limit, `L`.
    pub limit: u64,
    /// The most that it lets through per epoch: `L + S` of a window over many points of presence.
    pub ceiling: u64,
    /// What it did.
    #[serde(flatten)]
    pub tally: Tally,
    /// What naive limiters did with the same requests, on the same clocks.
    pub naive: Vec<NaiveReport>,
}

/// What a naive limiter did. Its epochs are those of the clock of the limit's owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NaiveReport {
    /// `shared-stamp-bucket`: one bucket, whose stamps all machines write. `shared-window`, `shared-period`:
    /// one counter, and each machine computes which window it is. `each-alone`: the whole limit at each
    /// point of presence. `each-a-part`: the limit divided by the number of them.
    pub name: &'static str,
    /// What it did.
    #[serde(flatten)]
    pub tally: Tally,
}

/// Sums over the whole world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SimTotals {
    /// Messages from points of presence to Ledgers.
    pub asks: u64,
    /// Messages that did not arrive, either way.
    pub lost: u64,
    /// Rows that points of presence wrote, alarms and deletions among them.
    pub pop_rows: u64,
    /// Rows that Ledgers wrote, alarms and deletions among them.
    pub ledger_rows: u64,
    /// Requests whose callers did not wait for an answer any longer. The object may have counted them.
    pub gave_up: u64,
    /// Starts of objects.
    pub starts: u64,
    /// Faults so far.
    pub faults: u64,
    /// Replies with an epoch below one that was told before; there are none unless two instances of a Ledger
    /// ran at once.
    pub epochs_back: u64,
}

impl SimReport {
    /// What was seen of the policy with that name.
    pub fn policy(&self, name: &str) -> Option<&PolicyReport> {
        self.policies.iter().find(|policy| policy.policy == name)
    }
}

impl PolicyReport {
    /// What the naive limiter of that name did.
    pub fn naive(&self, name: &str) -> Option<&Tally> {
        self.naive.iter().find(|naive| naive.name == name).map(|naive| &naive.tally)
    }
}
