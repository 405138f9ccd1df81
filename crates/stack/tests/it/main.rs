//! The stack over packets in memory and in virtual time: no test waits for a clock.

#![allow(clippy::unwrap_used)] // A failing test may panic in its helpers.

mod arrivals;
mod codec;
mod departures;
mod info;
mod limits;
mod net;
mod options;
mod packages;
mod requests;
mod server;
mod stack;
mod transfer;
