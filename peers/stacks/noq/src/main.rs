//! noq in a race: iroh's fork of quinn, driven as quinn is.

#[path = "../../quinn/src/configuration.rs"]
mod configuration;
#[path = "../../quinn/src/ends.rs"]
mod ends;
mod host;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    stacks_driver::main::<ends::Quinn>(&About {
        name: "noq",
        version: version(include_str!("../Cargo.lock"), "noq-proto"),
        about: "QUIC in Rust, iroh's fork of quinn",
        controls: &["cubic", "newreno", "bbr3"],
        settings: configuration::SETTINGS,
    })
}
