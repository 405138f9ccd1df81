//! What the fuzz targets do with the fuzzer's octets. The targets in `fuzz_targets` only pass the
//! octets on, so that a test can play the corpus as well.

pub mod capture;
pub mod connection;
pub mod decode;
mod input;
mod numbers;
mod ranges;
pub mod stack;
