//! Readings, and the clocks that are made of them.
//!
//! A limiter asks a clock two questions: how long since, and what day is it. One clock cannot answer both.
//! Which of the types here to use depends on what the host has:
//!
//! | the host | use |
//! | --- | --- |
//! | a monotonic and a wall clock (Node, browsers, native) | [`ClockTracker`] |
//! | one wall clock, and state that lives in one object (Workers) | [`SteadyClock`] |
//! | one wall clock, and stamps that others may have written | [`Stamp`] and [`safe_elapsed`] |
//!
//! What a monotonic clock does while the machine is suspended:
//!
//! | clock | stands still |
//! | --- | --- |
//! | Linux CLOCK_MONOTONIC, and Node's and browsers' `performance.now()` on it | yes |
//! | Linux CLOCK_BOOTTIME, `/proc/uptime` | no: the reader to give to a tracker |
//! | macOS `mach_absolute_time`, `performance.now()` in Chrome and Safari there | yes |
//! | macOS `mach_continuous_time`, `performance.now()` in Firefox there | no |
//! | Windows QueryPerformanceCounter, `performance.now()` in Chrome and Firefox there | no |
//! | Rust's `Instant` | yes on Linux and Apple systems, no on Windows |
//! | `performance.now()` on Workers | it is the wall clock: do not give it to a tracker |
//!
//! Where it goes on, both clocks agree after a suspend and the time is credited at once.

mod anomaly;
mod config;
mod hlc;
mod reading;
mod safe;
mod skew;
mod steady;
mod tracker;

pub use anomaly::{Anomaly, AnomalyKind};
pub use config::{EARLIEST_PLAUSIBLE_WALL, SuspendPolicy, Tolerance, TrackerConfig};
pub use hlc::{Hlc, HlcConfig, HybridClock, ParseHlcError, Received, Stamped};
pub use reading::{ElapsedMs, ElapsedRealtimeMs, MonotonicMs, Readings, SteadyMs, WallMs};
pub use safe::{
    LEAST_ELAPSED_CAP, MOST_ACCEPTED_SKEW_MS, SafeElapsed, Stamp, StampedBy, elapsed_cap, safe_elapsed,
    safe_ttl,
};
pub use skew::{Skew, SkewAlert, SkewEstimator, SkewSpread, SkewThresholds};
pub use steady::{Observation, SteadyClock, SteadyMark, StepReport};
pub use tracker::{ClockTracker, Elapsed, RealtimeReader};
