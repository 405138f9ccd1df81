//! Time, rates, sizes and fractions as plain values, and the notation in which people write them.
//!
//! Every value is a number with a unit. No function reads a clock: the simulator and the drivers pass
//! an [`Instant`] in.
//!
//! Without the feature `std`, only [`Duration`], [`Instant`] and [`Rate`] remain, and the crate needs neither
//! the standard library nor an allocator.

#![cfg_attr(not(any(test, feature = "std")), no_std)]

#[cfg(feature = "std")]
mod count;
#[cfg(feature = "std")]
mod notation;
mod rate;
#[cfg(feature = "std")]
mod similar;
mod time;

#[cfg(feature = "std")]
pub use count::count;
#[cfg(feature = "std")]
pub use notation::{ParseError, parse_bytes, parse_duration, parse_fraction, parse_rate};
pub use rate::Rate;
#[cfg(feature = "std")]
pub use similar::{did_you_mean, hint, similar};
pub use time::{Duration, Instant};
