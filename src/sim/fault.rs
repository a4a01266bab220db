use serde::{Deserialize, Serialize};

/// A machine with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Machine {
    /// The point of presence with that index.
    Pop(usize),
    /// The machine of Ledgers with that index.
    Ledger(usize),
}

/// Something that goes wrong with a machine, or with the objects on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Its wall clock steps. After a step back the cheap clock of the objects on it stands still until the
    /// wall has caught up, and their timers and alarms with it; the exact one follows.
    Step {
        /// Which one.
        machine: Machine,
        /// By how much; negative is back.
        ms: i64,
    },
    /// Its wall clock stands still, and goes on from there.
    Freeze {
        /// Which one.
        machine: Machine,
        /// For how long.
        for_ms: u64,
    },
    /// No message leaves or reaches it, and nobody is told.
    CutOff {
        /// Which one.
        machine: Machine,
        /// For how long.
        for_ms: u64,
    },
    /// Its objects lose their memory, and of the writes under way those after some point. What has not been
    /// answered is not.
    Crash {
        /// Which one.
        machine: Machine,
    },
    /// A second instance of its objects is started on what is stored, and gets every other message. The first
    /// goes on from memory; storage is closed to it.
    Split {
        /// Which one.
        machine: Machine,
        /// For how long.
        for_ms: u64,
    },
}

impl Fault {
    /// The machine that it is about.
    pub const fn machine(&self) -> Machine {
        match self {
            Self::Step { machine, .. }
            | Self::Freeze { machine, .. }
            | Self::CutOff { machine, .. }
            | Self::Crash { machine }
            | Self::Split { machine, .. } => *machine,
        }
    }
}
