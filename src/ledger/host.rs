use crate::Error;
use crate::calendar::ZoneOffsets;
use crate::clock::WallMs;

/// A change of a Ledger's storage, which is a table of texts by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// Writes the row, over the one with the same key.
    Put {
        /// The row's key.
        key: String,
        /// Its contents, as JSON: rows outlive the code that wrote them.
        value: String,
    },
    /// Deletes the row with this key, if there is one.
    Delete {
        /// The row's key.
        key: String,
    },
}

/// What the object around a [`Ledger`](super::Ledger) does for it: reads the clock, knows time zones, and
/// writes.
pub trait LedgerHost {
    /// A time zone by the rules of the runtime.
    type Zone: ZoneOffsets;
    /// Why a write failed.
    type Fault;

    /// The wall clock as it can be read without cost. It may stand still after a step back.
    fn cheap(&mut self) -> WallMs;

    /// The wall clock as it is.
    fn exact(&mut self) -> WallMs;

    /// The zone of that name.
    ///
    /// # Errors
    ///
    /// An [`invalid-spec`](Error::is_invalid_spec) error for a zone that the runtime does not know.
    fn zone(&mut self, name: &str) -> Result<Self::Zone, Error>;

    /// Writes all of it or nothing, in one transaction, which is durable before anything else that comes of
    /// the turn leaves the object. Returns how many rows were billed.
    ///
    /// # Errors
    ///
    /// Whatever kept it from being written. The Ledger is then of no more use: it is to be dropped, and made
    /// anew from what is stored.
    fn write(&mut self, writes: &[LedgerWrite]) -> Result<u64, Self::Fault>;
}
