//! Foreign stacks: QUIC and TCP by others, each behind a driver in its own language
//! (`peers/stacks/PROTOCOL.md`).
//!
//! A stack without I/O runs in virtual time, on the links of the emulator without a clock: the same path and
//! the same random numbers as for every other sender, and the same results in every run.

mod driver;
mod manifest;
mod selection;
mod totals;
mod virtual_time;

pub use manifest::{Manifest, Stacks, Time};
pub use selection::Foreign;
pub(crate) use totals::Totals;
pub(crate) use virtual_time::run;
