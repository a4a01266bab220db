use serde::{Deserialize, Serialize};

/// A wall-clock reading: milliseconds since 1970, as the host has it. It can step either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WallMs(pub i64);

/// A point on an object's own [steady clock](crate::clock::SteadyClock): milliseconds that never go
/// back. Steady points of two objects have nothing to do with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SteadyMs(pub u64);

impl SteadyMs {
    /// Milliseconds since `earlier`; zero if that lies ahead.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `ms` milliseconds later.
    pub const fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}
