//! Implementation of the fuzz targets. The targets in `fuzz_targets` only pass the fuzzer's octets on,
//! so that a test can replay the corpus as well.

pub mod capture;
pub mod connection;
pub mod decode;
pub mod encapsulations;
pub mod formats;
mod input;
mod numbers;
mod ranges;
pub mod resequence;
pub mod stack;
