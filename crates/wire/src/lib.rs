//! The engine on the wire: a real TCP in a process of its own.
//!
//! [`codec`] turns segments into IP packets and back; [`buffer`] keeps what has been written and
//! what has arrived; [`stack`] holds many connections and, like the engine, does no I/O and knows no
//! clock. A [`driver`] runs a stack over a [`device`] in one thread, and programs are written with what
//! [`stream`] and [`asynchronous`] have: types like those of `std::net` and of `tokio::net`.

#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod buffer;
pub mod codec;
pub mod device;
pub mod driver;
mod held;
pub mod stack;
pub mod stream;
mod waiting;
