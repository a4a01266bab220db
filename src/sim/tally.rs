use std::collections::VecDeque;

use serde::Serialize;

use crate::bucket::TokenBucket;
use crate::http::KeyHash;
use crate::ordered::Map;

/// Epochs per key that are looked at one by one; older ones are only part of the sums.
const MOST_EPOCHS: usize = 1_000;

/// What came of the requests that one policy limits, as an onlooker sees it who knows the true time.
///
/// A request that several policies limit counts for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Requests that were answered.
    pub decisions: u64,
    /// Requests that were let through.
    pub admitted: u64,
    /// Their costs.
    pub admitted_units: u64,
    /// Requests that were refused by this limit.
    pub refused: u64,
    /// Of these, those that would have fitted what was left of the limit in their epoch then: it had been
    /// handed out to others, who had not used it yet.
    pub early: u64,
    /// Of these, those in epochs that never reached the limit.
    pub early_for_good: u64,
    /// Requests that were refused since a Ledger was out of reach.
    pub unavailable: u64,
    /// Requests that were let through since a Ledger was out of reach.
    pub by_on_error: u64,
    /// Requests that had to wait for a Ledger.
    pub waited: u64,
    /// How long these waited, all together.
    pub waited_ms: u64,
    /// The longest wait.
    pub longest_wait_ms: u64,
    /// The most units of one client in one epoch (or serial) of the owner of the limit.
    pub worst_epoch: u64,
    /// The most units of one client in any interval of true time as long as the window.
    pub worst_window: u64,
    /// The most units by which a client was above capacity + rate x T in any T of true time; for buckets.
    pub worst_excess: u64,
    /// Epochs in which something was decided, over all clients.
    pub epochs: u64,
}

/// Epochs that a point of presence's units are kept by: an open one and those that end while it still counts.
const MOST_PLACE_EPOCHS: usize = 8;

/// A [`Tally`], and what it is made from.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub tally: Tally,
    limit: u64,
    window_ms: Option<u64>,
    bucket: Option<TokenBucket>,
    clients: Map<KeyHash, Client>,
}

/// How a request that is let through or refused is filed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filed {
    pub key: KeyHash,
    /// The owner's epoch or serial.
    pub epoch: Option<u64>,
    pub cost: u64,
    pub now: u64,
}

/// What came of the requests at one point of presence.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceCount {
    /// Units that were let through.
    pub admitted: u64,
    pub refused: u64,
    /// Requests that were refused since a Ledger was out of reach, or that nobody answered in time.
    pub unavailable: u64,
    /// Units of the latest epochs.
    epochs: VecDeque<(u64, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Client {
    epochs: Map<u64, EpochCount>,
    /// Units by the time they were let through, within one window.
    window: VecDeque<(u64, u64)>,
    in_window: u64,
    /// Units out of a bucket that is filled in true time, times the milliseconds in which a token comes in.
    owed: u128,
    owed_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct EpochCount {
    units: u64,
    early: u64,
}

impl Counts {
    pub fn new(limit: u64, window_ms: Option<u64>, bucket: Option<TokenBucket>) -> Self {
        Self { tally: Tally::default(), limit, window_ms, bucket, clients: Map::new() }
    }

    pub fn waited(&mut self, ms: u64) {
        let tally = &mut self.tally;
        tally.waited += 1;
        tally.waited_ms = tally.waited_ms.saturating_add(ms);
        tally.longest_wait_ms = tally.longest_wait_ms.max(ms);
    }

    pub fn admit(&mut self, filed: Filed) {
        let Filed { key, epoch, cost, now } = filed;
        let tally = &mut self.tally;
        tally.decisions += 1;
        tally.admitted += 1;
        tally.admitted_units = tally.admitted_units.saturating_add(cost);
        let client = self.clients.entry(key).or_default();
        if let Some(epoch) = epoch {
            let count = client.epoch(epoch, self.limit, tally);
            count.units = count.units.saturating_add(cost);
            tally.worst_epoch = tally.worst_epoch.max(count.units);
        }
        if let Some(window_ms) = self.window_ms {
            tally.worst_window = tally.worst_window.max(client.pass(now, cost, window_ms));
        }
        if let Some(bucket) = &self.bucket {
            tally.worst_excess = tally.worst_excess.max(client.pour(now, cost, bucket));
        }
    }

    /// Counts a refusal; says whether it came early.
    pub fn refuse(&mut self, filed: Filed) -> bool {
        let Filed { key, epoch, cost, now } = filed;
        self.tally.decisions += 1;
        self.tally.refused += 1;
        let client = self.clients.entry(key).or_default();
        let is_early = match (epoch, &self.bucket) {
            (Some(epoch), _) => {
                let count = client.epoch(epoch, self.limit, &mut self.tally);
                let is_early = count.units.saturating_add(cost) <= self.limit;
                count.early += u64::from(is_early);
                is_early
            }
            (None, Some(bucket)) => client.lacks(now, cost, bucket).1 == 0,
            // Nobody had told the point of presence of an epoch: it did not know of a limit used up.
            (None, None) => true,
        };
        self.tally.early += u64::from(is_early);
        is_early
    }

    /// The units of each epoch of one client.
    pub fn epochs(&self, key: KeyHash) -> Vec<(u64, u64)> {
        let client = self.clients.get(&key);
        client.map_or_else(Vec::new, |client| {
            client.epochs.iter().map(|(epoch, c)| (*epoch, c.units)).collect()
        })
    }

    /// The units of one epoch of one client.
    pub fn units_in(&self, key: KeyHash, epoch: u64) -> u64 {
        self.clients.get(&key).and_then(|client| client.epochs.get(&epoch)).map_or(0, |count| count.units)
    }

    /// As it stands, with the epochs that are still looked at.
    pub fn sum(&self) -> Tally {
        let mut tally = self.tally.clone();
        for count in self.clients.values().flat_map(|client| client.epochs.values()) {
            count.close(self.limit, &mut tally);
        }
        tally
    }
}

impl Client {
    fn epoch(&mut self, epoch: u64, limit: u64, tally: &mut Tally) -> &mut EpochCount {
        if self.epochs.len() >= MOST_EPOCHS
            && !self.epochs.contains_key(&epoch)
            && let Some((_, oldest)) = self.epochs.pop_first()
        {
            oldest.close(limit, tally);
        }
        self.epochs.entry(epoch).or_default()
    }

    /// Units let through in the window that ends now.
    fn pass(&mut self, now: u64, cost: u64, window_ms: u64) -> u64 {
        while let Some((at, units)) = self.window.front().copied()
            && now.saturating_sub(at) >= window_ms
        {
            self.in_window = self.in_window.saturating_sub(units);
            self.window.pop_front();
        }
        self.in_window = self.in_window.saturating_add(cost);
        match self.window.back_mut() {
            Some((at, units)) if *at == now => *units = units.saturating_add(cost),
            _ => self.window.push_back((now, cost)),
        }
        self.in_window
    }

    /// Takes from a bucket that lends what it does not have, and says how much that is, in whole tokens.
    fn pour(&mut self, now: u64, cost: u64, bucket: &TokenBucket) -> u64 {
        let (owed, lacks) = self.lacks(now, cost, bucket);
        (self.owed, self.owed_at) = (owed, now);
        lacks
    }

    /// What would be out of the bucket with `cost` more, and how much of it the bucket does not have.
    fn lacks(&self, now: u64, cost: u64, bucket: &TokenBucket) -> (u128, u64) {
        let (tokens, per_ms) = (u128::from(bucket.refill().tokens()), u128::from(bucket.refill().per_ms()));
        let came_in = u128::from(now.saturating_sub(self.owed_at)).saturating_mul(tokens);
        let owed = self.owed.saturating_sub(came_in).saturating_add(u128::from(cost).saturating_mul(per_ms));
        let above = owed.saturating_sub(u128::from(bucket.capacity()).saturating_mul(per_ms));
        (owed, u64::try_from(above.div_ceil(per_ms)).unwrap_or(u64::MAX))
    }
}

impl PlaceCount {
    pub fn admit(&mut self, filed: Filed) {
        self.admitted = self.admitted.saturating_add(filed.cost);
        let Some(epoch) = filed.epoch else { return };
        match self.epochs.iter_mut().rev().find(|(other, _)| *other == epoch) {
            Some((_, units)) => *units = units.saturating_add(filed.cost),
            None => {
                if self.epochs.len() >= MOST_PLACE_EPOCHS {
                    self.epochs.pop_front();
                }
                self.epochs.push_back((epoch, filed.cost));
            }
        }
    }

    /// The units of one of the latest epochs.
    pub fn units_in(&self, epoch: u64) -> u64 {
        self.epochs.iter().find(|(other, _)| *other == epoch).map_or(0, |(_, units)| *units)
    }
}

impl EpochCount {
    fn close(&self, limit: u64, tally: &mut Tally) {
        tally.epochs += 1;
        if self.units < limit {
            tally.early_for_good = tally.early_for_good.saturating_add(self.early);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::Refill;

    const KEY: KeyHash = KeyHash::new(1);

    fn filed(now: u64, epoch: u64, cost: u64) -> Filed {
        Filed { key: KEY, epoch: Some(epoch), cost, now }
    }

    #[test]
    fn a_window_ends_where_it_begins() {
        let mut counts = Counts::new(10, Some(1_000), None);
        for now in [0, 999, 1_000, 1_500] {
            counts.admit(filed(now, now / 1_000, 3));
        }
        // From 999 to 1,500: what came at 0 is out of it.
        assert_eq!((counts.tally.worst_window, counts.tally.worst_epoch), (9, 6));
    }

    #[test]
    fn a_refusal_is_early_while_it_would_have_fitted() {
        let mut counts = Counts::new(10, Some(1_000), None);
        counts.admit(filed(0, 0, 9));
        assert!(counts.refuse(filed(1, 0, 1)));
        assert!(!counts.refuse(filed(1, 0, 2)));
        assert!(counts.refuse(filed(1, 1, 10)));
        counts.admit(filed(2, 0, 1));
        let tally = counts.sum();
        assert_eq!((tally.early, tally.early_for_good, tally.epochs), (2, 1, 2));
    }

    #[test]
    fn a_bucket_lends_what_it_does_not_have() {
        let bucket = TokenBucket::new(10, Refill::new(1, 100).unwrap()).unwrap();
        let mut counts = Counts::new(10, None, Some(bucket));
        counts.admit(filed(0, 0, 10));
        counts.admit(filed(100, 0, 1));
        assert_eq!(counts.tally.worst_excess, 0);
        counts.admit(filed(250, 0, 2));
        assert_eq!(counts.tally.worst_excess, 1);
        // It does not hold more than its capacity either.
        counts.admit(filed(100_000, 0, 11));
        assert_eq!(counts.tally.worst_excess, 1);
    }
}
