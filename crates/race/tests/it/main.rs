//! Races over real packets. Without the rights to make namespaces, these tests are skipped.
#![cfg(target_os = "linux")]

#[path = "../../../lab/tests/paths/expected.rs"]
mod expected;
#[path = "../../../lab/tests/paths/mod.rs"]
mod paths;

mod claims;
mod ground_truth;
mod race;
