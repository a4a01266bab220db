use serde::Serialize;

use super::world::Simulation;
use super::zones::Zones;
use crate::clock::WallMs;
use crate::ledger::{LedgerName, LedgerReport};
use crate::pop::PopReport;

/// A point of presence, as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopView {
    /// Its name.
    pub name: String,
    /// What its wall clock reads.
    pub wall: WallMs,
    /// Milliseconds that the wall clock is ahead of true time.
    pub ahead_ms: i64,
    /// True while no message leaves or reaches it.
    pub is_cut_off: bool,
    /// How many instances of its object are in memory: two for a while, or none.
    pub instances: usize,
    /// What the newest of them says of itself.
    pub report: Option<PopReport>,
}

/// A Ledger, as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LedgerView {
    /// Its name.
    pub name: LedgerName,
    /// What the wall clock of its machine reads.
    pub wall: WallMs,
    /// Milliseconds that the wall clock is ahead of true time.
    pub ahead_ms: i64,
    /// True while no message leaves or reaches its machine.
    pub is_cut_off: bool,
    /// How many instances of it are in memory: two for a while, or none.
    pub instances: usize,
    /// What the newest of them says of itself.
    pub report: Option<LedgerReport>,
}

impl<Z: Zones> Simulation<Z> {
    /// The points of presence, as they stand.
    pub fn pops(&self) -> Vec<PopView> {
        let view = |site: &super::pop_object::PopSite| {
            let wall = site.clock.wall(self.now);
            PopView {
                name: site.name.clone(),
                wall,
                ahead_ms: self.ahead_ms(wall),
                is_cut_off: site.cut_until > self.now,
                instances: site.lives.len(),
                report: site.lives.last().map(|life| life.pop.report()),
            }
        };
        self.pops.iter().map(view).collect()
    }

    /// The Ledgers that were asked so far, as they stand.
    pub fn ledgers(&self) -> Vec<LedgerView> {
        let view = |(name, site): (&LedgerName, &super::ledger_object::LedgerSite)| {
            let machine = self.machines.get(self.machine_of(*name))?;
            let wall = machine.clock.wall(self.now);
            Some(LedgerView {
                name: *name,
                wall,
                ahead_ms: self.ahead_ms(wall),
                is_cut_off: machine.cut_until > self.now,
                instances: site.lives.len(),
                report: site.lives.last().map(|life| life.ledger.report()),
            })
        };
        self.ledgers.iter().filter_map(view).collect()
    }

    pub(super) fn ahead_ms(&self, wall: WallMs) -> i64 {
        let now = i64::try_from(self.now).unwrap_or(i64::MAX);
        wall.0.saturating_sub(self.scenario.starts_at.0).saturating_sub(now)
    }
}
