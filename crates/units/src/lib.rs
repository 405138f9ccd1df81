//! Time, rates, sizes and fractions as plain values, and the notation in which people write them.
//!
//! Every value is a number with a unit. No function reads a clock: the simulator and the drivers pass
//! an [`Instant`] in.

mod count;
mod notation;
mod rate;
mod similar;
mod time;

pub use count::count;
pub use notation::{ParseError, parse_bytes, parse_duration, parse_fraction, parse_rate};
pub use rate::Rate;
pub use similar::{did_you_mean, hint, similar};
pub use time::{Duration, Instant};
