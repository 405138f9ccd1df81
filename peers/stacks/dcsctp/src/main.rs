//! dcSCTP in a race: SCTP for WebRTC's data channels, in Rust, by the authors of the C++ version in Chromium. Time is an
//! argument. SCTP goes over UDP here, without the DTLS that WebRTC puts between.

mod ends;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    stacks_driver::main::<ends::Dcsctp>(&About {
        name: "dcsctp",
        version: version(include_str!("../Cargo.lock"), "dcsctp"),
        about: "SCTP for data channels by the authors of Chromium's, in Rust; three misses",
        controls: &["reno"], // RFC 9260
        settings: &ends::SETTINGS,
    })
}
