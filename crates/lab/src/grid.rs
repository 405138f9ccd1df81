//! Sweeps over any keys of a scenario: which points, which runs, what came of each.
//!
//! A grid file says what is swept: lists and ranges, all of which are combined, and samples, drawn at
//! random or as a Latin hypercube. [`Grid`] is the file, [`Plan`] the runs that it asks for, in an
//! order of their own; [`Sweep`] has those that are there and takes the others, made here
//! ([`Sweep::run`]) or elsewhere ([`Batch`]). What comes out depends on the plan alone: not on who
//! made a run, nor on when.

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
