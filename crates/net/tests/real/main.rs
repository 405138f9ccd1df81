//! Tests with real namespaces and packets. Without the rights to make them, they are skipped and
//! say so.
#![cfg(target_os = "linux")]

mod cleanup;
mod common;
mod path;
