//! The functions that say what a paper claims of its results.
//!
//! A claim is an expression over samples, the measured numbers by point and seed. Its value is a
//! verdict. docs/experiments.md lists the functions.

mod combine;
mod functions;
mod limits;
mod ordering;
mod samples;
#[cfg(test)]
mod tests;
pub(crate) mod tolerance;
mod values;
mod verdict;

pub(crate) use functions::{engine, is_taken};
pub(crate) use samples::Samples;
pub(crate) use values::{function_error, kind};
pub(crate) use verdict::Verdict;
