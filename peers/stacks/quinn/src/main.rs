//! quinn in a race: two endpoints of quinn-proto, a stream between them, and time as an argument.

mod configuration;
mod ends;
mod host;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    stacks_driver::main::<ends::Quinn>(&About {
        name: if cfg!(feature = "detector") { "quinn-detector" } else { "quinn" },
        version: version(include_str!("../Cargo.lock"), "quinn-proto"),
        about: if cfg!(feature = "detector") {
            "quinn with the detector of unruffled"
        } else {
            "QUIC in Rust, without I/O"
        },
        controls: &["cubic", "newreno", "bbr"],
        settings: configuration::SETTINGS,
    })
}
