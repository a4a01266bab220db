//! Readings, and the clocks that are made of them.

mod reading;
mod steady;

pub use reading::{SteadyMs, WallMs};
pub use steady::{Observation, SteadyClock, SteadyMark, StepReport};
