//! Summaries of the seeds of each variant: the numbers that the table and the report share.

mod columns;
mod finding;
mod means;
#[cfg(test)]
mod tests;

pub use columns::{Column, cells, columns};
pub(crate) use columns::{DISPENSABLE_COLUMNS, goodput};
pub use finding::{effort, finding, reference_in_words};
pub(crate) use means::{MEANS, scale};
pub use means::{Summary, best, leaders, summaries};
