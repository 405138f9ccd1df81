//! Scenario files, runs of them, and what people look at afterwards.

pub mod advice;
pub mod analysis;
mod assembly;
pub mod capture;
mod claims;
pub mod compare;
pub mod comparison_sweep;
pub mod error;
pub mod experiment;
mod expression;
pub mod files;
pub mod fit;
pub mod flags;
pub mod gallery;
pub mod grid;
mod groups;
pub mod metric;
mod rate;
pub mod record;
pub mod reference;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod scenario;
pub mod senders;
mod stacked;
pub mod statistics;
pub mod store;
pub mod summary;
pub mod table;
pub mod text;

pub use error::Error;
pub use scenario::Scenario;
