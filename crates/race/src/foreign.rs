//! Foreign stacks: QUIC and TCP by others, each behind a driver in its own language
//! (`peers/stacks/PROTOCOL.md`).
//!
//! A stack without I/O runs in virtual time, on the links of the emulator without a clock: the same path and
//! the same random numbers as for every other sender, and the same results in every run. A stack with a clock of
//! its own runs in real time, at both ends of the emulator.

mod driver;
mod manifest;
mod process;
mod real_time;
mod selection;
mod totals;
mod virtual_time;

pub use manifest::{Manifest, Stacks, Time};
pub(crate) use real_time::RealTime;
pub use selection::Foreign;
pub(crate) use totals::{Totals, missing};
pub(crate) use virtual_time::run;
