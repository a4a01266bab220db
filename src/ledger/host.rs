use super::row::LedgerRow;
use crate::Error;
use crate::calendar::ZoneOffsets;
use crate::clock::{StepReport, WallMs};

/// A change of a Ledger's storage, which is a table of rows by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerWrite {
    /// Writes the row, over the one with the same key.
    Put {
        /// The row's key.
        key: String,
        /// What it says, which storage keeps as [text](LedgerRow::to_json).
        row: LedgerRow,
    },
    /// Deletes the row with this key, if there is one.
    Delete {
        /// The row's key.
        key: String,
    },
}

/// What the object around a [`Ledger`](super::Ledger) does for it: reads the clock, knows time zones, and
/// writes. All of it is one synchronous turn.
pub trait LedgerHost {
    /// A time zone by the rules of the runtime.
    type Zone: ZoneOffsets + 'static;
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

    /// Sets the object's alarm, over the one that is set: it calls [`Ledger::alarm`](super::Ledger::alarm),
    /// also when the object has left memory meanwhile. Costs a row.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    fn set_alarm(&mut self, at: WallMs) -> Result<(), Self::Fault>;

    /// Calls [`Ledger::tick`](super::Ledger::tick) after so long, if the object is still in memory and
    /// nothing was set to come sooner. Costs nothing; nothing that must happen relies on it.
    fn wake_after(&mut self, ms: u64);

    /// Something that an operator should look at.
    fn warn(&mut self, event: LedgerEvent);
}

/// Something that an operator should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEvent {
    /// The wall clock has stepped.
    ClockStep(StepReport),
    /// A row is of a later format, or damaged. What it is about is refused from now on, and the row stays as
    /// it is: guessing could hand out a second quota.
    Unreadable {
        /// The row's key.
        key: String,
    },
    /// A quota cannot be answered for, since the runtime does not know its time zone any more or the wall
    /// reading cannot be true.
    QuotaUnavailable {
        /// The policy's name.
        policy: String,
        /// Why.
        error: Error,
    },
    /// The wall clock was found before the open period of a quota, which is held.
    PeriodRegression {
        /// The policy's name.
        policy: String,
        /// The serial of the period.
        serial: u64,
    },
    /// A point of presence listed leases that the books do not know.
    UnknownFences {
        /// The policy's name.
        policy: String,
        /// Leases of the open period, which were charged: the Ledger's storage was rolled back.
        adopted: u64,
        /// Leases of other periods, which change nothing.
        rejected: u64,
    },
}
