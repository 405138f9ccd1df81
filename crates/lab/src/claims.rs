//! What a paper says of its results, held against measured ones.
//!
//! A claim is an expression over samples, the measured numbers by point and seed. Its value is a
//! verdict. docs/experiments.md lists the functions.

mod engine;
mod functions;
mod samples;
pub(crate) mod tolerance;
mod values;
mod verdict;

pub(crate) use engine::{Claims, Found, Judged};
pub(crate) use functions::is_taken;
pub(crate) use samples::short;
