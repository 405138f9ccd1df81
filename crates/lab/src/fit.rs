//! The path that a capture shows, as a scenario, with the quality of the fit.

mod beside;
mod cost;
mod limit;
mod losses;
mod path;
mod search;
mod words;

pub use crate::error::FitError;
pub use beside::Beside;
pub use cost::{Cost, Growth, cost};
pub use limit::{LimitCost, limit_cost};
pub use losses::{LossOrigin, Losses, losses};
pub use search::{Fit, OBSERVED, Reading, fit, is_long_enough};
