//! quiche in a race: two connections, and a clock of their own.

mod clock;
mod ends;
mod random;
mod tls;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    random::without_processor();
    clock::set(0);
    stacks_driver::main::<ends::Quiche>(&About {
        name: "quiche",
        version: version(include_str!("../Cargo.lock"), "quiche"),
        about: "QUIC in Rust, with BoringSSL",
        controls: &["cubic", "reno", "bbr2"],
        settings: ends::SETTINGS,
    })
}
