//! sctp-proto in a race: the SCTP of str0m, WebRTC in Rust. Time is an argument. SCTP goes over UDP here, without the
//! DTLS that WebRTC puts between.

mod ends;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    stacks_driver::main::<ends::SctpProto>(&About {
        name: "sctp-proto",
        version: version(include_str!("../Cargo.lock"), "sctp-proto"),
        about: "SCTP of data channels in str0m, in Rust; three misses",
        controls: &["reno"], // RFC 4960
        settings: &["max_payload_size", "rto_initial_ms", "rto_min_ms", "rto_max_ms"],
    })
}
