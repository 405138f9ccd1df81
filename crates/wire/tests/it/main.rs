//! Drivers and streams, over links in memory and, with the privileges to create network namespaces,
//! against the kernel. Without these privileges the tests that need them print that they are skipped.

#![allow(clippy::unwrap_used)] // A failing test may panic in its helpers.

mod asynchronous;
mod capture;
mod examples;
mod failure;
mod impaired;
mod impairments;
mod kernel;
mod lab;
mod streams;
mod waiting;
