//! Tests of the core from outside, as packet traces.

mod budget;
mod decode;
mod harm;
mod hostile;
mod learning;
mod order;
mod properties;
mod trace;
mod tunnels;
