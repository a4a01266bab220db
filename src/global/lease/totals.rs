//! Running totals of one serial: counted as things happen, never by adding up the leases.

use serde::{Deserialize, Serialize};

/// What became of the units of one serial.
///
/// Kept beside the lease rows and changed on its own, so that comparing the two can fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SerialTotals {
    /// Which period.
    pub serial: u64,
    /// Units granted, ever.
    pub granted: u64,
    /// Units known to be spent.
    pub spent: u64,
    /// Units that came back.
    pub returned: u64,
    /// Units that count as spent since nobody can know: lost in a crash, or never reported.
    pub forfeited: u64,
    /// Units that are out.
    pub outstanding: u64,
    /// Leases granted.
    pub leases: u64,
    /// Units that an operator counted as used when the period was opened again. Beside the equation.
    #[serde(default)]
    pub carried: u64,
}

impl SerialTotals {
    pub(super) fn new(serial: u64, carried: u64) -> Self {
        Self { serial, carried, ..Self::default() }
    }

    /// Units that count as used: spent, forfeited or carried over.
    pub fn used(&self) -> u64 {
        self.spent.saturating_add(self.forfeited).saturating_add(self.carried)
    }

    /// Units that a grant must leave alone.
    pub fn committed(&self) -> u64 {
        self.used().saturating_add(self.outstanding)
    }

    /// Whether `granted = spent + returned + forfeited + outstanding`.
    pub fn is_balanced(&self) -> bool {
        let sum = self.spent.saturating_add(self.returned).saturating_add(self.forfeited);
        self.granted == sum.saturating_add(self.outstanding)
    }

    pub(super) fn grant(&mut self, units: u64) {
        self.granted = self.granted.saturating_add(units);
        self.outstanding = self.outstanding.saturating_add(units);
        self.leases = self.leases.saturating_add(1);
    }

    /// Units that were `from` one place go `to` another.
    fn shift(from: &mut u64, to: &mut u64, units: u64) {
        *from = from.saturating_sub(units);
        *to = to.saturating_add(units);
    }

    /// A lease's figures change from `was` to `is`; while it is open its rest is outstanding.
    pub(super) fn report(&mut self, was: Figures, is: Figures, open: bool) {
        let rest = if open { &mut self.outstanding } else { &mut self.returned };
        Self::shift(&mut self.spent, rest, was.spent());
        Self::shift(&mut self.forfeited, rest, was.lost);
        Self::shift(rest, &mut self.spent, is.spent());
        Self::shift(rest, &mut self.forfeited, is.lost);
    }

    pub(super) fn give_back(&mut self, rest: u64) {
        Self::shift(&mut self.outstanding, &mut self.returned, rest);
    }

    pub(super) fn forfeit(&mut self, rest: u64) {
        Self::shift(&mut self.outstanding, &mut self.forfeited, rest);
    }
}

/// How far a lease is written off, and how much of that was lost in crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Figures {
    pub off: u64,
    pub lost: u64,
}

impl Figures {
    pub const fn spent(self) -> u64 {
        self.off.saturating_sub(self.lost)
    }
}
