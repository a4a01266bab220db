//! What a point of presence holds, for whoever watches.

use serde::Serialize;

use super::decide::quota_name;
use super::message::{Measure, PopLimit};
use super::state::Pop;
use crate::ledger::{LedgerName, QuotaName};

/// What a point of presence holds of one limit, as it knows itself. Nothing is decided by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PopHeld {
    /// The epoch or serial that it counts in; `None` before it was told one.
    pub epoch: Option<u64>,
    /// The most that it may have taken in it: its cap, or of a quota the units of its open leases.
    pub cap: u64,
    /// What it has taken, less what was given back.
    pub taken: u64,
    /// Whether it was told that the limit is used up.
    pub full: bool,
    /// Requests that wait.
    pub waiting: usize,
    /// Whether an ask is under way to the limit's Ledger.
    pub asking: bool,
    /// Whether that Ledger counts as out of reach.
    pub out_of_reach: bool,
}

impl Pop {
    /// What it holds of a window over all points of presence, or of a calendar quota; nothing of any other
    /// limit.
    pub fn held(&self, limit: &PopLimit) -> PopHeld {
        match &limit.measure {
            Measure::Window { window, ledger, .. } => {
                let page = self.holders.cap_page(*ledger, limit, window, self.beat.now());
                let held = page.map_or_else(PopHeld::default, |page| PopHeld {
                    epoch: Some(page.epoch.0),
                    cap: page.cap,
                    taken: page.taken.saturating_sub(page.given),
                    full: page.full,
                    ..PopHeld::default()
                });
                self.with_link(*ledger, held)
            }
            Measure::Quota => {
                let name = quota_name(limit);
                self.with_link(name.ledger(), self.held_leases(&name))
            }
            Measure::Bucket { .. } | Measure::Pop(_) => PopHeld::default(),
        }
    }

    fn held_leases(&self, name: &QuotaName) -> PopHeld {
        let Some(quota) = self.leases.quotas.get(name) else { return PopHeld::default() };
        let holder = &quota.holder;
        let (mut cap, mut taken) = (0_u64, 0_u64);
        for (row, used) in holder.leases() {
            (cap, taken) = (cap.saturating_add(row.amount), taken.saturating_add(used));
        }
        let epoch = holder.terms().map(|terms| terms.serial);
        PopHeld { epoch, cap, taken, full: holder.is_drained(), ..PopHeld::default() }
    }

    fn with_link(&self, ledger: LedgerName, held: PopHeld) -> PopHeld {
        let (asking, out_of_reach) = (self.links.is_asking(ledger), self.links.is_down(ledger));
        PopHeld { waiting: self.waiting.len(), asking, out_of_reach, ..held }
    }
}
