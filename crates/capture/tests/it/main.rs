//! Integration tests of the capture analysis.

mod encapsulations;
mod files;
mod handshakes;
mod interfaces;
mod json;
mod matching;
mod numbered;
mod public;
mod regressions;
mod robustness;
mod sequences;
mod trace;
mod transfers;
mod tunnels;
