//! A TCP stack without I/O and without a clock.
#![forbid(unsafe_code)]

pub mod buffer;
pub mod codec;
mod stack;

pub use stack::{
    BufferSizes, ConnectionId, Counters, Departure, FourTuple, Info, Limits, ListenerId, Offload,
    Options, Secret, Stack, StackConfig, StackError, Watcher, info,
};
