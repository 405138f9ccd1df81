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

pub mod advice;
pub mod analysis;
mod assembly;
pub mod cancel;
pub mod capture;
pub mod compare;
pub mod comparison_sweep;
pub mod error;
pub mod files;
pub mod fit;
pub mod gallery;
pub mod grid;
mod groups;
pub mod matched;
pub mod metric;
mod rate;
pub mod record;
pub mod reference;
pub mod report;
mod row;
pub mod run;
pub mod senders;
pub mod stacked;
pub mod statistics;
pub mod store;
pub mod summary;
pub mod table;
pub mod text;
pub mod transfer;

pub use error::Error;
pub use unruffled_scenario::Scenario;
