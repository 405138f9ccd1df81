//! The integration tests of the crate, in one binary.

mod documents;
mod experiments;
mod second_look;
