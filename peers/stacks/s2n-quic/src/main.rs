//! s2n-quic in a race: two endpoints on its testing I/O, whose executor has a clock of its own.
//!
//! The stack counts in microseconds; the executor's clock, which the bench moves, in nanoseconds.
//! Keys of TLS come from the system: no size and no time depends on them.

mod counts;
mod ends;
mod network;
mod play;
mod random;
mod tls;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    let about = About {
        name: if cfg!(feature = "detector") { "s2n-quic-detector" } else { "s2n-quic" },
        version: version(include_str!("../Cargo.lock"), "s2n-quic"),
        about: if cfg!(feature = "detector") {
            "s2n-quic with the detector of unruffled"
        } else {
            "QUIC in Rust, asynchronous, on its testing I/O"
        },
        controls: &["cubic", "bbr"],
        settings: ends::SETTINGS,
    };
    let Some((bench, request)) = stacks_driver::open(&about) else {
        return ExitCode::SUCCESS;
    };
    let bench = play::share(bench);
    let outcome = request.and_then(|request| ends::race(&bench, &about, &request));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            play::lock(&bench).fail(&error);
            ExitCode::from(2)
        }
    }
}
