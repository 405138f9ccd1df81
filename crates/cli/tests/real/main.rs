//! Tests of `race` and `emulate`, which run in real time: a process of their own, so that simulations do
//! not delay them. Without the rights to make namespaces they are skipped.
#![cfg(target_os = "linux")]

mod lack;

mod emulate;
mod race;
