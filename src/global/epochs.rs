use super::rules::Rules;
use crate::clock::SteadyMs;
use crate::window::Epoch;

/// What a holder knows of one Ledger's windows of one length: the largest epoch it was told, and a
/// duration measured on the Ledger's clock and counted down on its own. No clock is compared with another:
/// a wrong one only changes when the holder asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub epoch: Epoch,
    left_ms: u64,
    learned: SteadyMs,
    /// The number of the ask that was answered with `left_ms`: an older answer is no news.
    n: u64,
}

impl Told {
    pub const fn new(epoch: Epoch, left_ms: u64, n: u64, now: SteadyMs) -> Self {
        Self { epoch, left_ms, learned: now, n }
    }

    /// Hears the answer to ask `n`.
    pub fn hear<R: Rules>(&mut self, epoch: Epoch, left_ms: u64, n: u64, now: SteadyMs) {
        let newest = R::told_epoch(self.epoch, epoch);
        if newest != self.epoch || (epoch == self.epoch && n > self.n) {
            *self = Self::new(newest, left_ms, n, now);
        }
    }

    /// What is left of the epoch by the holder's own clock; zero when that says it is over.
    pub const fn left_ms(&self, now: SteadyMs) -> u64 {
        self.left_ms.saturating_sub(now.since(self.learned))
    }
}
