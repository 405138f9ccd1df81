//! Sweeps over any keys of a scenario: the points, the runs and their results.
//!
//! A grid file has lists and ranges, all of which are combined, and samples, which are drawn at
//! random or as a Latin hypercube. A [`Grid`] is the file, a [`Plan`] the list of its runs in a fixed
//! order. A [`Sweep`] has the results so far; missing runs are made in this process
//! ([`Sweep::run`]) or in other ones ([`Batch`]). The results depend only on the plan, not on where
//! and when a run is made.

mod again;
mod axis;
mod batch;
mod file;
mod parcel;
mod plan;
mod quantity;
mod sample;
mod shown;
mod sweep;
#[cfg(test)]
mod tests;

pub use batch::{Batch, Made};
pub use file::Grid;
pub use plan::{Plan, Value};
pub use sample::Hypercube;
pub use shown::{Standing, announcement};
pub use sweep::{Sweep, Watch};
