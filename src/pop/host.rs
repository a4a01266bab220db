use super::message::PopReply;
use crate::clock::WallMs;
use crate::counter::JournalRow;
use crate::global::{HolderStart, LeaseRow, LeaseWrite};
use crate::ledger::{LedgerAsk, LedgerName, QuotaName};

/// Names a request that a `Pop` decides, within one life of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Names a message that a `Pop` sends, within one life of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub u64);

/// What the object around a `Pop` does for it. All of it is one synchronous turn: what is
/// written in it is durable before anything that is answered or sent in it leaves the object.
pub trait PopHost {
    /// Why storage failed.
    type Fault;

    /// The wall clock as it can be read without cost. It may stand still after a step back.
    fn cheap(&mut self) -> WallMs;

    /// The wall clock as it is.
    fn exact(&mut self) -> WallMs;

    /// A random number.
    fn random(&mut self) -> u64;

    /// Writes rows of the counters' journal. Returns how many were billed.
    ///
    /// # Errors
    ///
    /// Whatever kept them from being written.
    fn write_journal(&mut self, rows: &[JournalRow]) -> Result<u64, Self::Fault>;

    /// Deletes rows of the counters' journal. Returns how many were billed.
    ///
    /// # Errors
    ///
    /// Whatever kept them from being deleted.
    fn delete_journal(&mut self, slots: &[u16]) -> Result<u64, Self::Fault>;

    /// The stored start, and every quota of which leases are stored.
    ///
    /// # Errors
    ///
    /// Whatever kept them from being read.
    fn read_start(&mut self) -> Result<(Option<StoredStart>, Vec<QuotaName>), Self::Fault>;

    /// Stores the start. Returns how many rows were billed.
    ///
    /// # Errors
    ///
    /// Whatever kept it from being written.
    fn write_start(&mut self, start: &StoredStart) -> Result<u64, Self::Fault>;

    /// The rows of one quota's leases, read from storage now.
    ///
    /// # Errors
    ///
    /// Whatever kept them from being read: also that a newer instance of this object runs.
    fn read_leases(&mut self, quota: &QuotaName) -> Result<Vec<LeaseRow>, Self::Fault>;

    /// Writes all of it or nothing, in one transaction. Returns how many rows were billed.
    ///
    /// # Errors
    ///
    /// Whatever kept it from being written.
    fn write_leases(&mut self, quota: &QuotaName, writes: &[LeaseWrite]) -> Result<u64, Self::Fault>;

    /// Sends a message. Its reply, or that there is none, comes back by `Pop::hear`.
    fn send(&mut self, id: AskId, to: LedgerName, ask: LedgerAsk);

    /// Answers a request that had to wait: once, and not in the turn in which it came.
    fn answer(&mut self, id: RequestId, reply: PopReply);

    /// Sets the object's alarm, over the one that is set: it calls `Pop::alarm`, also
    /// when the object has left memory meanwhile. Costs a row.
    ///
    /// # Errors
    ///
    /// Whatever kept it from being set.
    fn set_alarm(&mut self, at: WallMs) -> Result<(), Self::Fault>;

    /// Calls `Pop::tick` after so long, if the object is still in memory and nothing was
    /// set to come sooner. Costs nothing; nothing that must happen relies on it.
    fn wake_after(&mut self, ms: u64);

    /// Something that an operator should look at.
    fn warn(&mut self, event: PopEvent);
}

/// Something that an operator should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PopEvent {
    /// The wall clock has stepped.
    ClockStep(crate::clock::StepReport),
    /// A Ledger did not answer, or not in time.
    LedgerOutOfReach(LedgerName),
    /// Leases could not be read or written: they are set up anew from what is stored.
    LeasesLost,
}

/// What is stored of an object's starts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoredStart {
    /// Whose storage it is, and how often it was started on.
    pub start: HolderStart,
    /// The name of the point of presence, for messages that no request is behind.
    pub pop: String,
    /// How many points of presence the Ledgers knew of, when one last said so.
    #[serde(default)]
    pub pops: u32,
}
