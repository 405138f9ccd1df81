//! Tests with real namespaces and packets. Without the privileges to create them, tests print that they are
//! skipped.
#![cfg(target_os = "linux")]

mod cleanup;
mod common;
mod path;
