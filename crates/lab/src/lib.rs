//! Runs of scenarios and their results: rows, tables, reports, sweeps, and the path that a capture
//! shows.
//!
//! # Examples
//! ```
//! use unruffled_lab::run::run;
//! use unruffled_lab::{Scenario, cancel};
//!
//! // Every second packet is late by 200 ms.
//! let scenario = Scenario::load("half-late", &["duration=5 s".to_owned()])?;
//! let senders = scenario.senders(&["unruffled".to_owned(), "sack".to_owned()], "here")?;
//! let goodput = |sender| -> Result<f64, unruffled_lab::Error> {
//!     Ok(run(&scenario, sender, 1, None, cancel::never())?.flow.goodput_bps)
//! };
//! assert!(goodput(&senders[0])? > 5.0 * goodput(&senders[1])?);
//! # Ok::<(), unruffled_lab::Error>(())
//! ```
//!
//! # Features
//! All are on by default. Without them the crate needs no threads and no C compiler, and builds for
//! WebAssembly.
//!
//! * `threads`: runs on all threads of rayon's current pool, and many paths ([`gallery`]).
//! * `store`: the store of runs, in SQLite, and what needs it ([`store`], [`grid`]).
//! * `captures`: what a capture shows, the path that fits it, and what helps ([`analysis`], [`fit`],
//!   [`advice`]).
//! * `report`: HTML reports ([`report`]).
//! * `colour`: tables with colour.

// Reports and captures use words and columns that nothing else does.
#![cfg_attr(not(all(feature = "captures", feature = "report")), allow(dead_code, unused_imports))]

#[cfg(feature = "captures")]
pub mod advice;
#[cfg(feature = "captures")]
pub mod analysis;
mod assembly;
pub mod cancel;
pub mod capture;
pub mod compare;
pub mod comparison_sweep;
pub mod error;
pub mod files;
#[cfg(feature = "captures")]
pub mod fit;
#[cfg(feature = "threads")]
pub mod gallery;
#[cfg(feature = "store")]
pub mod grid;
mod groups;
pub mod job;
#[cfg(feature = "captures")]
pub mod matched;
pub mod metric;
mod parallel;
mod rate;
pub mod record;
pub mod reference;
#[cfg(feature = "report")]
pub mod report;
mod row;
pub mod run;
pub mod senders;
pub mod stacked;
pub mod statistics;
#[cfg(feature = "store")]
pub mod store;
mod styled;
pub mod summary;
pub mod table;
pub mod text;
#[cfg(feature = "captures")]
pub mod transfer;

pub use error::Error;
pub use unruffled_scenario::Scenario;
