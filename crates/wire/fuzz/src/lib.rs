//! What the fuzz targets do with the fuzzer's octets. The targets themselves, in `fuzz_targets`, only
//! hand them over, so that a test can as well.

pub mod capture;
pub mod connection;
pub mod decode;
mod input;
mod numbers;
mod ranges;
pub mod stack;
