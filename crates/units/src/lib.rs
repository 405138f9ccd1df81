//! Time, rates, sizes and fractions as plain values, and the notation that people write them in.
//!
//! Everything here is a number with a unit. Nothing here reads a clock: an [`Instant`] is passed in
//! by whoever has one, in the simulator as on the wire.

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
