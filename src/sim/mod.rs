//! Many points of presence and their Ledgers, in virtual time: a world that can be replayed.
//!
//! A [`Simulation`] runs the very types that the Worker runs, [`Pop`](crate::pop::Pop) and
//! [`Ledger`](crate::ledger::Ledger), behind hosts of its own: where a Durable Object has a clock, storage
//! and a network, they have simulated ones, with all that goes wrong with these on the platform.
//!
//! * **Clocks** ([`ClockSpec`]). Each machine has its own: true time with a drift and an offset, and it can
//!   step and stand still. After a step back the cheap clock of an object stands still, and its timers and
//!   alarms with it, while the exact clock follows.
//! * **Network** ([`Network`]). Messages take their time, overtake each other, are slow, lost or repeated, and
//!   machines are cut off.
//! * **Objects.** A turn is atomic; what comes of it leaves when what it wrote is durable. A crash takes the
//!   memory and the last of the writes under way; an object that is not used leaves memory; and a second
//!   instance can run while the first still answers from memory ([`Fault`]).
//! * **Traffic** ([`Stream`]), and an onlooker who knows the true time and counts what was let through:
//!   [`Tally`]. On the same requests and clocks run the limiters that one would write first, to compare.
//!
//! Everything follows from the [`Scenario`], whose seed says what is drawn at random: the same scenario gives
//! the same run, event by event, natively and in a browser. There is no clock, no randomness of the system's
//! and no floating point in it.
//!
//! # Example
//!
//! Two points of presence whose clocks are an hour apart hold one limit of 100 a minute:
//!
//! ```
//! use sluicegate::config::Config;
//! use sluicegate::sim::{ClockSpec, Pace, Place, Scenario, Simulation, Stream};
//!
//! let config = Config::from_json(
//!     r#"{"policies": [{"name": "api", "algorithm": "fixed-window", "limit": 100, "window": "1m",
//!         "identity": "ip", "scope": "global", "tolerance": 0.1}]}"#,
//! )?;
//! let mut scenario = Scenario::new(config, 2);
//! scenario.pops[1] = ClockSpec { offset_ms: 3_600_000, drift_ppm: 50 };
//! // Ten requests a second for five minutes, at either of them.
//! scenario.traffic = vec![Stream::new("api", 300_000, Pace::Random { gap_us: 100_000 }, Place::Anywhere)];
//! let mut world = Simulation::new(scenario);
//! world.run_until(310_000);
//!
//! let report = world.report();
//! let api = report.policy("api").unwrap();
//! assert!(api.tally.worst_epoch >= 100 && api.tally.worst_epoch <= api.ceiling);
//! assert_eq!(api.ceiling, 110);
//! // A window that both machines compute from their own time lets nearly everything through.
//! assert!(api.naive("shared-window").unwrap().worst_epoch > 400);
//! # Ok::<(), sluicegate::config::ConfigErrors>(())
//! ```

mod clock;
pub mod compare;
mod fault;
mod faults;
mod gate;
mod ledger_object;
mod ledgers;
mod log;
mod naive;
mod network;
mod observer;
mod pop_object;
mod pops;
mod random;
mod report;
mod scenario;
mod tally;
mod traffic;
mod view;
mod world;
mod zones;

pub use clock::ClockSpec;
pub use compare::Comparison;
pub use fault::{Fault, Machine};
pub use log::{LogEntry, LogEvent};
pub use network::Network;
pub use random::Random;
pub use report::{NaiveReport, PolicyReport, SimReport, SimTotals};
pub use scenario::Scenario;
pub use tally::Tally;
pub use traffic::{Pace, Place, Stream};
pub use view::{LedgerView, PopView};
pub use world::Simulation;
pub use zones::{OnlyUtc, Zones};
