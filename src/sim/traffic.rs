use serde::{Deserialize, Serialize};

use super::random::Random;
use crate::http::KeyHash;

/// Requests of one kind, from one time to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The names of the policies that they are limited by, all or nothing.
    pub policies: Vec<String>,
    /// When it begins.
    pub from_ms: u64,
    /// When it ends.
    pub until_ms: u64,
    /// How they follow each other.
    pub pace: Pace,
    /// Where they come in.
    pub place: Place,
    /// How many clients there are; each request is one's, at random.
    pub clients: u64,
    /// The lowest and the highest cost of a request, both included.
    pub cost: (u64, u64),
}

impl Stream {
    /// Requests of one client that cost one unit, limited by one policy, from the start on.
    pub fn new(policy: &str, until_ms: u64, pace: Pace, place: Place) -> Self {
        let policies = vec![policy.to_owned()];
        Self { policies, from_ms: 0, until_ms, pace, place, clients: 1, cost: (1, 1) }
    }
}

/// How requests follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Evenly.
    Steady {
        /// Microseconds from one to the next.
        gap_us: u64,
    },
    /// At random, each without regard to the others (Poisson).
    Random {
        /// Microseconds from one to the next, on average.
        gap_us: u64,
    },
    /// In bursts.
    Bursts {
        /// Milliseconds from the begin of one to that of the next.
        every_ms: u64,
        /// Milliseconds from the stream's begin to the first.
        first_ms: u64,
        /// Requests in each of them.
        requests: u64,
        /// Milliseconds from the first request of a burst to the last.
        spread_ms: u64,
    },
}

/// Where requests come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At one point of presence.
    Pop(usize),
    /// Anywhere, at random.
    Anywhere,
    /// At one point of presence after the other.
    Moving {
        /// How long at each.
        stay_ms: u64,
    },
}

/// A stream, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub stream: Stream,
    random: Random,
    /// When its next request comes.
    next_us: u64,
    /// Requests so far.
    sent: u64,
}

/// One request of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub pop: usize,
    pub key: KeyHash,
    pub cost: u64,
}

impl Source {
    pub fn new(stream: Stream, random: Random) -> Self {
        let mut source = Self { next_us: stream.from_ms.saturating_mul(1_000), stream, random, sent: 0 };
        source.pass();
        source
    }

    /// When its next request comes, if it has one.
    pub fn next_ms(&self) -> Option<u64> {
        let at = self.next_us / 1_000;
        (at < self.stream.until_ms).then_some(at)
    }

    /// The request that has come.
    pub fn take(&mut self, now: u64, pops: usize) -> Arrival {
        let pops_in_all = pops as u64;
        let pop = match self.stream.place {
            Place::Pop(pop) => pop as u64,
            Place::Anywhere => self.random.below(pops_in_all),
            Place::Moving { stay_ms } => {
                now.checked_div(stay_ms).unwrap_or(0).checked_rem(pops_in_all).unwrap_or(0)
            }
        };
        let client = self.random.below(self.stream.clients);
        let (low, high) = self.stream.cost;
        let cost = self.random.between(low, high);
        self.sent = self.sent.saturating_add(1);
        self.pass();
        let pop = usize::try_from(pop).unwrap_or(usize::MAX);
        Arrival { pop, key: KeyHash::new(u128::from(client)), cost }
    }

    /// Goes on to the next request.
    fn pass(&mut self) {
        let next_us = match self.stream.pace {
            Pace::Steady { gap_us } => self.next_us.saturating_add(gap_us.max(1)),
            Pace::Random { gap_us } => self.next_us.saturating_add(self.random.gap(gap_us.max(1))),
            Pace::Bursts { every_ms, first_ms, requests, spread_ms } => {
                let requests = requests.max(1);
                let (burst, place) = (self.sent / requests, self.sent % requests);
                let begin_ms = burst.saturating_mul(every_ms.max(1)).saturating_add(first_ms);
                let begin_us = self.stream.from_ms.saturating_add(begin_ms).saturating_mul(1_000);
                let into_us = spread_ms.saturating_mul(1_000).saturating_mul(place) / requests;
                begin_us.saturating_add(into_us)
            }
        };
        self.next_us = next_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pace: Pace, until_ms: u64) -> Vec<u64> {
        let stream = Stream { from_ms: 100, ..Stream::new("a", until_ms, pace, Place::Anywhere) };
        let mut source = Source::new(stream, Random::new(1));
        std::iter::from_fn(|| {
            let at = source.next_ms()?;
            source.take(at, 3);
            Some(at)
        })
        .collect()
    }

    #[test]
    fn requests_come_as_they_are_paced() {
        assert_eq!(times(Pace::Steady { gap_us: 2_500 }, 108), [102, 105, 107]);
        let bursts = Pace::Bursts { every_ms: 50, first_ms: 10, requests: 2, spread_ms: 4 };
        assert_eq!(times(bursts, 220), [110, 112, 160, 162, 210, 212]);
        let random = times(Pace::Random { gap_us: 500 }, 1_100).len();
        assert!((1_900..2_100).contains(&random), "{random}");
    }

    #[test]
    fn a_client_moves_on() {
        let place = Place::Moving { stay_ms: 1_000 };
        let mut source =
            Source::new(Stream::new("a", 9_000, Pace::Steady { gap_us: 1 }, place), Random::new(1));
        let pops: Vec<usize> =
            [0, 999, 1_000, 2_500, 3_000].iter().map(|at| source.take(*at, 3).pop).collect();
        assert_eq!(pops, [0, 0, 1, 2, 0]);
    }
}
