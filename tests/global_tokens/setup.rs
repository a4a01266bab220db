//! What the model is made of: a configuration, and parts that states share.

use std::fmt::{self, Debug, Write};
use std::hash::Hasher;
use std::rc::Rc;

use siphasher::sip128::{Hasher128, SipHasher13};
use sluicegate::bucket::TokenBucket;

/// A configuration: what there is, and how often each thing may happen.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub bucket: TokenBucket,
    pub costs: &'static [u64],
    /// The speed of each holder's clock, in thousandths of the Ledger's.
    pub clocks: &'static [u64],
    /// Requests, over all holders.
    pub requests: u8,
    /// An ask is given up, whatever becomes of it.
    pub fails: u8,
    /// A request is given up that waits.
    pub abandons: u8,
    /// A receipt is handed in, also one that was before.
    pub refunds: u8,
    /// A second instance of an object, or one that starts again: the first may say nothing any more.
    pub forks: u8,
    /// A holder forgets, for want of memory, what it may.
    pub forgets: u8,
    /// A holder looks at its clock.
    pub ticks: u8,
    /// So many milliseconds pass.
    pub steps: u8,
    pub step_ms: u64,
    /// The Ledger crashes: before or after storing, and then before replying.
    pub crashes: u8,
    /// Nothing is checked but the bound itself.
    pub only_bound: bool,
    /// For mutations: what the world does wrong.
    pub wrong: Wrong,
}

/// What the code around the core can do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Nothing,
    /// A second instance draws the same random number.
    SameId,
    /// The reply leaves before what it promises is stored.
    ReplyFirst,
}

/// Two holders with three requests between them, and nothing goes wrong but the network.
pub fn plain(bucket: TokenBucket) -> Setup {
    Setup {
        bucket,
        costs: &[1],
        clocks: &[1_000, 1_000],
        requests: 3,
        fails: 0,
        abandons: 0,
        refunds: 0,
        forks: 0,
        forgets: 0,
        ticks: 0,
        steps: 0,
        step_ms: 20_000,
        crashes: 0,
        only_bound: false,
        wrong: Wrong::Nothing,
    }
}

/// One holder.
pub fn alone(bucket: TokenBucket, requests: u8) -> Setup {
    Setup { clocks: &[1_000], requests, ..plain(bucket) }
}

/// A value that is shared between states, with its name.
#[derive(Clone)]
pub struct Part<T> {
    pub value: Rc<T>,
    pub name: u64,
}

impl<T: Debug + PartialEq> Part<T> {
    pub fn new(value: T) -> Self {
        let name = name_of(&value) as u64;
        Self { value: Rc::new(value), name }
    }

    /// Most messages that come again change nothing: then nothing is named anew.
    pub fn set(&mut self, value: T) {
        if *self.value != value {
            *self = Self::new(value);
        }
    }
}

struct Naming(SipHasher13);

impl Write for Naming {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// A name for a value: that of its text.
pub fn name_of(value: &impl Debug) -> u128 {
    let mut naming = Naming(SipHasher13::new());
    write!(naming, "{value:?}").unwrap();
    naming.0.finish128().as_u128()
}
