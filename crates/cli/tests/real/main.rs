//! Tests of `race` and `emulate`, which run in real time: a process of their own, so that simulations do
//! not delay them. Without the privileges to create namespaces they are skipped.
#![cfg(target_os = "linux")]

mod lack;

mod doctor;
mod emulate;
mod live;
mod race;
mod resequence;
