//! The engine on the wire: a real TCP in a process of its own.
//!
//! [`codec`] turns segments into IP packets and back; [`buffer`] keeps what has been written and
//! what has arrived; [`stack`] holds many connections and, like the engine, does no I/O and knows no
//! clock. A [`driver`] runs a stack over a [`device`] in one thread, and [`stream`] has what programs
//! are written with: types like those of `std::net`.

#![forbid(unsafe_code)]

pub mod buffer;
pub mod codec;
pub mod device;
pub mod driver;
pub mod stack;
pub mod stream;
mod waiting;
