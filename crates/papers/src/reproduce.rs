//! The evaluations of the papers: the runs that they need, the results, and the verdicts on the
//! claims.

mod curve;
mod judge;
mod measure;
mod plan;
mod results;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;

pub use plan::{Missing, Plan, Progress};
pub use results::{ClaimOutcome, FigureOutcome, Holds, LineOutcome, json, list, table, verdicts};
pub(crate) use results::{Count, by_class, summary};
