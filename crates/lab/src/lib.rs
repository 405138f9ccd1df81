//! Runs of scenarios, and what people look at afterwards: rows, tables, reports, sweeps, and the path that
//! a capture shows.

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
