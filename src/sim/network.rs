use serde::{Deserialize, Serialize};

use super::random::Random;

/// What happens to messages between points of presence and Ledgers, each way, each on its own: so they also
/// overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    /// The shortest time under way.
    pub least_ms: u64,
    /// What is added to it on average; the times are spread as those of random events are.
    pub spread_ms: u64,
    /// Messages in a million that are slow.
    pub slow_ppm: u32,
    /// How long these take at most.
    pub slow_ms: u64,
    /// Messages in a million that never arrive.
    pub loss_ppm: u32,
    /// After how long the sender of an ask is told that the ask or its reply was lost; `None`: never.
    pub told_after_ms: Option<u64>,
    /// Messages in a million that arrive twice.
    pub twice_ppm: u32,
}

impl Default for Network {
    /// 20 ms and a little each way; nothing is lost.
    fn default() -> Self {
        Self {
            least_ms: 20,
            spread_ms: 5,
            slow_ppm: 0,
            slow_ms: 0,
            loss_ppm: 0,
            told_after_ms: None,
            twice_ppm: 0,
        }
    }
}

impl Network {
    /// How long each copy of a message is under way; none where it is lost.
    pub(super) fn send(&self, random: &mut Random) -> Vec<u64> {
        if random.chance(self.loss_ppm) {
            return Vec::new();
        }
        let copies = if random.chance(self.twice_ppm) { 2 } else { 1 };
        (0..copies).map(|_| self.delay(random)).collect()
    }

    fn delay(&self, random: &mut Random) -> u64 {
        let delay_ms = self.least_ms.saturating_add(random.gap(self.spread_ms));
        let is_slow = random.chance(self.slow_ppm);
        if is_slow { random.between(delay_ms, self.slow_ms.max(delay_ms)) } else { delay_ms }
    }
}
