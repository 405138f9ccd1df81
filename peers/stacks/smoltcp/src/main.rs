//! smoltcp in a race: two interfaces, a TCP connection between them, and time as an argument.
//!
//! smoltcp counts in microseconds: an instant of the bench is rounded down to one.

mod device;
mod ends;
mod holes;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    let (name, about) = if cfg!(feature = "islands-32") {
        ("smoltcp-32", "TCP for embedded systems, 32 islands")
    } else {
        ("smoltcp", "TCP for embedded systems, 4 islands")
    };
    stacks_driver::main::<ends::Smoltcp>(&About {
        name,
        version: version(include_str!("../Cargo.lock"), "smoltcp"),
        about,
        // Without the features `socket-tcp-cubic` and `socket-tcp-reno`, which are not among the
        // default ones, there is no control.
        controls: &["none", "cubic", "reno"],
        settings: &["buffer", "ack_delay_ms"],
    })
}
