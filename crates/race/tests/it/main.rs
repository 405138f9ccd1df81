//! Races over real packets. Without the privileges to create namespaces, these tests are skipped.
#![cfg(target_os = "linux")]

#[path = "../../../lab/tests/it/expected.rs"]
mod expected;
#[path = "../../../lab/tests/it/paths.rs"]
mod paths;

mod claims;
mod ground_truth;
mod race;
mod simulator;
