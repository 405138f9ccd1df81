//! Scenario files, runs of them, and what people look at afterwards.

pub mod record;
pub mod report;
pub mod statistics;
pub mod summary;
pub mod table;
