//! One limit counted in several ways on the same requests: for people to watch.
//!
//! A [`Comparison`] runs one [`WorldSpec`] in two [simulations](super::Simulation) at once, with a tolerance
//! and without, and the naive limiters on the same requests and clocks beside them. A calendar quota has no
//! tolerance, so there is one simulation of it. What comes in is the same everywhere: it follows from the seed, and
//! not from what the limits do. And whatever goes wrong does so in both.
//!
//! It can be looked at in two ways: as a [`Frame`], which says how things stand, and as [`Sample`]s, which are
//! taken on a grid of true time. Neither depends on the steps in which time is let pass.
//!
//! # Example
//!
//! ```
//! use sluicegate::sim::compare::{Comparison, SeriesName, WorldSpec};
//!
//! let spec = WorldSpec::from_json(r#"{"seed": 1, "starts_at_ms": 1775001600000, "limit": 60,
//!     "counts": {"window_ms": 60000}, "tolerance_ppm": 100000, "on_error": "closed",
//!     "pops": [{"offset_ms": 0}, {"offset_ms": 900}, {"offset_ms": -50}], "ledger": {"offset_ms": 0},
//!     "network": {"latency_ms": 20, "jitter_ms": 10, "loss_ppm": 0}, "sample_ms": 1000,
//!     "traffic": [{"from_ms": 0, "until_ms": 300000, "pace": {"random": {"gap_us": 200000}}, "place": "anywhere"}]}"#)?;
//! let mut comparison = Comparison::new(spec)?;
//! comparison.advance(300_000);
//! let frame = comparison.frame();
//! let worst = |name| frame.series.iter().find(|series| series.name == name).unwrap().tally.worst_epoch;
//! assert!(worst(SeriesName::Exact) <= 60 && worst(SeriesName::Tolerant) <= 66);
//! assert!(worst(SeriesName::Alone) > 150);
//! assert_eq!(comparison.take_samples().len(), 300);
//! # Ok::<(), sluicegate::Error>(())
//! ```

mod books;
mod frame;
mod look;
mod read;
mod spec;

pub use frame::{
    Admitted, BothTotals, Frame, LedgerFrame, PopFrame, PopSample, Sample, SerialBook, Series, SeriesName,
    Totals,
};
pub use spec::{Counts, WorldSpec};

use books::Books;

use super::{Fault, Simulation};
use crate::Error;
use crate::http::KeyHash;

/// The one client.
const KEY: KeyHash = KeyHash::new(0);

/// Several ways to count, on the same requests.
#[derive(Debug)]
pub struct Comparison {
    spec: WorldSpec,
    exact: Simulation,
    tolerant: Option<Simulation>,
    /// Samples taken so far.
    sampled: u64,
    samples: Vec<Sample>,
    /// What each point of presence had admitted, refused and been unable to decide at the last sample.
    before: Vec<[u64; 3]>,
    books: Books,
}

impl Comparison {
    /// The worlds of a specification at time 0.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for one that no limit can be made from. There is none
    /// for what [`WorldSpec::from_json`] has read.
    pub fn new(spec: WorldSpec) -> Result<Self, Error> {
        let tolerant = match spec.is_window() {
            true => Some(Simulation::new(spec.scenario(spec.tolerance_ppm, true)?)),
            false => None,
        };
        let exact = Simulation::new(spec.scenario(0, tolerant.is_none())?);
        let (before, books) = (vec![[0; 3]; spec.pops.len()], Books::default());
        Ok(Self { spec, exact, tolerant, sampled: 0, samples: Vec::new(), before, books })
    }

    /// What it runs on.
    pub const fn spec(&self) -> &WorldSpec {
        &self.spec
    }

    /// True time, in milliseconds from the start.
    pub const fn now_ms(&self) -> u64 {
        self.exact.now()
    }

    /// Lets everything happen up to and including that time, or to the [end](WorldSpec::ends_ms). Going back
    /// does nothing.
    pub fn advance(&mut self, to_ms: u64) {
        let to_ms = to_ms.min(self.spec.ends_ms());
        loop {
            let next_ms = self.sampled.saturating_add(1).saturating_mul(self.spec.sample_ms);
            if next_ms > to_ms {
                break;
            }
            self.run_until(next_ms);
            self.sampled = self.sampled.saturating_add(1);
            let sample = self.sample();
            self.samples.push(sample);
            self.books.note(&self.exact, &self.spec);
        }
        self.run_until(to_ms);
    }

    fn run_until(&mut self, to_ms: u64) {
        self.exact.run_until(to_ms);
        if let Some(tolerant) = &mut self.tolerant {
            tolerant.run_until(to_ms);
        }
    }

    /// Something goes wrong now, in both worlds.
    pub fn fail(&mut self, fault: Fault) {
        self.exact.inject(fault);
        if let Some(tolerant) = &mut self.tolerant {
            tolerant.inject(fault);
        }
    }

    /// The world that has the naive limiters and the log in it.
    const fn watched(&self) -> &Simulation {
        match &self.tolerant {
            Some(tolerant) => tolerant,
            None => &self.exact,
        }
    }

    /// How things stand, with what happened since this was last called.
    pub fn frame(&mut self) -> Frame {
        let events = match &mut self.tolerant {
            Some(tolerant) => tolerant.take_log(),
            None => self.exact.take_log(),
        };
        self.look(events)
    }

    /// The samples since this was last called.
    pub fn take_samples(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }
}
