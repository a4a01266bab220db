use serde::{Deserialize, Serialize};

use crate::clock::StepReport;
use crate::ordered::Map;

/// What an object has done since it was first made: stored with its rows, so that the figures keep
/// growing over restarts as a Prometheus counter should.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Requests that reached the object.
    pub asks: u64,
    /// Limits decided, peeks left out.
    pub decisions: u64,
    /// Rows written to storage, deletions and alarms among them: this is what storage bills.
    pub rows_written: u64,
    /// Flushes of the write-behind journal.
    pub flushes: u64,
    /// Steps back of the wall clock that were seen.
    pub steps_back: u64,
    /// Steps ahead of the wall clock (or suspends) that were seen.
    pub steps_ahead: u64,
    /// The last step, in milliseconds; negative is back.
    pub last_step_ms: i64,
    /// By policy.
    pub policies: Map<String, PolicyTotals>,
}

/// What came out for one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyTotals {
    /// Takes that the policy allowed.
    pub allowed: u64,
    /// Takes that the policy refused.
    pub refused: u64,
    /// Takes that a shadow policy let through and would have refused.
    pub would_refuse: u64,
}

impl Totals {
    pub(super) fn step(&mut self, report: StepReport) {
        let count = if report.stepped_ms < 0 { &mut self.steps_back } else { &mut self.steps_ahead };
        *count = count.saturating_add(1);
        self.last_step_ms = report.stepped_ms;
    }

    pub(super) fn decided(&mut self, policy: &str, refused: bool, shadow: bool) {
        if !self.policies.contains_key(policy) {
            self.policies.insert(policy.to_owned(), PolicyTotals::default());
        }
        let Some(totals) = self.policies.get_mut(policy) else { return };
        let count = match (refused, shadow) {
            (false, _) => &mut totals.allowed,
            (true, false) => &mut totals.refused,
            (true, true) => &mut totals.would_refuse,
        };
        *count = count.saturating_add(1);
        self.decisions = self.decisions.saturating_add(1);
    }
}
