//! The papers' evaluations: experiments, what their claims mean in numbers, and what became of them.
//!
//! An [`Experiment`](experiment::Experiment) is a figure or table of a paper as data. A
//! [`Plan`](reproduce::Plan) makes the runs that it needs, and says which claims hold.

mod claims;
mod error;
pub mod experiment;
mod expression;
pub mod report;
pub mod reproduce;

pub use error::Error;
