//! What the model is made of: a configuration, and parts that states share.

use std::fmt::{self, Debug, Write};
use std::hash::Hasher;
use std::rc::Rc;

use siphasher::sip128::{Hasher128, SipHasher13};
use sluicegate::global::CapLimit;

/// A configuration: what there is, and how often each thing may happen.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub limit: CapLimit,
    pub costs: &'static [u64],
    pub holders: usize,
    /// Requests, over all holders.
    pub requests: u8,
    /// An ask is given up, whatever becomes of it.
    pub fails: u8,
    /// A receipt is handed in, also one that was before.
    pub refunds: u8,
    /// A second instance of an object, or one that starts again: the first may say nothing any more.
    pub forks: u8,
    /// A holder forgets the Ledger for want of memory.
    pub forgets: u8,
    /// The Ledger opens another epoch.
    pub rolls: u8,
    /// A holder's own clock says that the epoch is over.
    pub hurries: u8,
    /// The Ledger crashes: before or after storing, and then before replying.
    pub crashes: u8,
    /// The Ledger has a moment without asks, and settles.
    pub settles: u8,
    pub resets: u8,
    pub ahead_ppm: u32,
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
    /// Epochs are told that were never stored.
    EpochsNotStored,
}

/// Two holders with three requests between them, and nothing goes wrong but the network.
pub fn plain(limit: CapLimit) -> Setup {
    Setup {
        limit,
        costs: &[1],
        holders: 2,
        requests: 3,
        fails: 0,
        refunds: 0,
        forks: 0,
        forgets: 0,
        rolls: 0,
        hurries: 0,
        crashes: 0,
        settles: 0,
        resets: 0,
        ahead_ppm: 0,
        wrong: Wrong::Nothing,
    }
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
