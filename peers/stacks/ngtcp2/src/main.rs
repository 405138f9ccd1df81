//! ngtcp2 in a race: two connections, to which time is an argument. What calls the library is in C
//! (`ends.c`), as its own programs are.

mod ends;
mod shim;

use std::process::ExitCode;

use stacks_driver::About;

fn main() -> ExitCode {
    stacks_driver::main::<ends::Ngtcp2>(&About {
        name: "ngtcp2",
        version: concat!("ngtcp2 ", env!("NGTCP2_VERSION")).to_owned(),
        about: "QUIC in C, with GnuTLS, as Debian 12 has it",
        controls: &["cubic", "reno", "bbr", "bbr2"],
        settings: &["ack_thresh", "max_tx_udp_payload_size"],
    })
}
