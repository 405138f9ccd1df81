//! dcSCTP in a race: the SCTP of WebRTC's data channels in Chromium and Firefox, in its version in Rust. Time is an
//! argument. SCTP goes over UDP here, without the DTLS that WebRTC puts between.

mod ends;

use std::process::ExitCode;

use stacks_driver::{About, version};

fn main() -> ExitCode {
    stacks_driver::main::<ends::Dcsctp>(&About {
        name: "dcsctp",
        version: version(include_str!("../Cargo.lock"), "dcsctp"),
        about: "SCTP of data channels in Chromium and Firefox, in Rust; three misses",
        controls: &["reno"], // RFC 9260
        settings: &ends::SETTINGS,
    })
}
