use super::rules::Rules;
use crate::ordered::Map;
use crate::window::Epoch;

/// How many gaps between refunds one page remembers. Past it a refund that touches none of them is turned
/// down: its units stay taken.
const MOST_SPANS: usize = 256;

/// The units of one page that were given back, by their place in the count of what was taken: so no
/// receipt, true or forged, can give a unit back twice, or one that was not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Map<u64, u64>);

impl Spans {
    /// Adds `from..to`; `false` if any of it is in there already, or if there is no room for it.
    pub fn insert(&mut self, from: u64, to: u64) -> bool {
        let before = self.0.range(..to).next_back().map(|(start, end)| (*start, *end));
        if from >= to || before.is_some_and(|(_, end)| end > from) {
            return false;
        }
        let start = before.filter(|(_, end)| *end == from).map_or(from, |(start, _)| start);
        let after = self.0.get(&to).copied();
        if start == from && after.is_none() && self.0.len() >= MOST_SPANS {
            return false;
        }
        self.0.remove(&to);
        self.0.insert(start, after.unwrap_or(to));
        true
    }
}

/// What a holder may take and has taken of one key in one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub cap: u64,
    pub taken: u64,
    pub given: u64,
    /// The Ledger said that the limit is used up. Sticks to the epoch.
    pub full: bool,
    /// Units that other holders took, as of the newest reply.
    pub others: u64,
    returned: Spans,
}

impl Page {
    pub fn new(cap: u64) -> Self {
        Self { cap, ..Self::default() }
    }

    pub const fn net(&self) -> u64 {
        self.taken.saturating_sub(self.given)
    }

    /// Takes `cost` if it fits. Returns where in the count it lies.
    pub fn take<R: Rules>(&mut self, cost: u64) -> Option<u64> {
        let from = self.taken;
        R::fits(self.cap, self.taken, self.given, cost).then(|| {
            self.taken = from.saturating_add(cost);
            from
        })
    }

    /// Gives back `cost` units that were taken at `from`.
    pub fn give<R: Rules>(&mut self, from: u64, cost: u64) -> bool {
        let counts = R::refunded(&mut self.returned, self.taken, from, cost);
        if counts {
            self.given = self.given.saturating_add(cost);
        }
        counts
    }

    /// What it says, for whoever watches.
    pub const fn view(&self, r#gen: u64, epoch: Epoch) -> CapPage {
        CapPage { r#gen, epoch, cap: self.cap, taken: self.taken, given: self.given, full: self.full }
    }

    /// What the key's limit has left, as far as this holder can tell.
    pub fn remaining(&self, limit: u64) -> u64 {
        let own = self.cap.saturating_sub(self.net());
        let all = limit.saturating_sub(self.others.saturating_add(self.net()));
        if self.full { own } else { own.max(all) }.min(limit)
    }
}

/// One page of a holder, for tests and for operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapPage {
    /// The key's generation.
    pub r#gen: u64,
    /// The epoch.
    pub epoch: Epoch,
    /// The most that may be taken, net of refunds.
    pub cap: u64,
    /// Units taken.
    pub taken: u64,
    /// Units of these given back.
    pub given: u64,
    /// True when the Ledger said that the limit is used up.
    pub full: bool,
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a plain set of units: a span goes in exactly when none of its units is there.
        #[test]
        fn no_unit_is_given_back_twice(spans in prop::collection::vec((0u64..40, 0u64..6), 1..60)) {
            let mut fast = Spans::default();
            let mut plain = std::collections::BTreeSet::new();
            for (from, cost) in spans {
                let fresh = cost > 0 && (from..from + cost).all(|unit| !plain.contains(&unit));
                prop_assert_eq!(fast.insert(from, from + cost), fresh, "{}+{}", from, cost);
                if fresh {
                    plain.extend(from..from + cost);
                }
                let kept: u64 = fast.0.iter().map(|(from, to)| to - from).sum();
                prop_assert_eq!(kept, plain.len() as u64);
            }
        }
    }

    #[test]
    fn past_the_bound_a_refund_leaves_its_units_taken() {
        let mut spans = Spans::default();
        assert!((0..MOST_SPANS as u64).all(|i| spans.insert(i * 2, i * 2 + 1)));
        assert!(!spans.insert(10_000, 10_001));
        assert!(spans.insert(1, 2), "one that closes a gap needs no room");
        assert!(spans.insert(10_000, 10_001));
    }
}
