//! Any segments, one after another, into a stack that listens: it answers or does not, and stays
//! bounded. The input is cut by a length octet before each piece; each piece is what follows an IPv6
//! header that is right. `cargo +nightly fuzz run stack` in `crates/wire`.

#![no_main]

use std::task::{Poll, Waker};

use libfuzzer_sys::fuzz_target;
use unruffled_tcp::Variant;
use unruffled_units::Instant;
use unruffled_wire::codec::Checksums;
use unruffled_wire::stack::{Stack, StackConfig};

/// The header of a packet from fd00::1 to fd00::2 that carries `len` octets of TCP.
fn header(len: usize) -> Vec<u8> {
    let mut header = vec![0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&(len as u16).to_be_bytes());
    (header[6], header[7]) = (6, 64);
    (header[8], header[23]) = (0xfd, 1);
    (header[24], header[39]) = (0xfd, 2);
    header
}

fuzz_target!(|bytes: &[u8]| {
    let ours = vec!["fd00::2".parse().expect("an address")];
    let variant = Variant::parse("rr-ta").expect("a variant");
    let mut config = StackConfig::new(ours, variant).expect("randomness");
    // Initial sequence numbers that the fuzzer can learn.
    config.key = [7; 16];
    let mut stack = Stack::new(config);
    let at = ("fd00::2".parse::<std::net::Ipv6Addr>().expect("an address"), 80);
    let listener = stack.listen(at.into(), 4).expect("a port");
    let (mut rest, mut now, mut out) = (bytes, Instant::from_millis(1), Vec::new());
    let mut accepted = Vec::new();
    while let Some((&len, behind)) = rest.split_first() {
        let (piece, next) = behind.split_at(usize::from(len).min(behind.len()));
        rest = next;
        now = Instant::from_nanos(now.as_nanos() + 1_000_000 * u64::from(len));
        let mut packet = header(piece.len());
        packet.extend_from_slice(piece);
        // Port 80, which the fuzzer need not find.
        if let Some(port) = packet.get_mut(42..44) {
            port.copy_from_slice(&80_u16.to_be_bytes());
        }
        stack.receive(&packet, Checksums::Trust, now);
        stack.handle_timeout(now);
        if let Poll::Ready(id) = stack.poll_accept(listener, Waker::noop()) {
            accepted.extend(id);
        }
        for &id in &accepted {
            let mut data = [0; 64];
            if let Poll::Ready(Ok(0) | Err(_)) = stack.poll_read(id, Waker::noop(), &mut data) {
                stack.finish(id);
            }
            let _ = stack.poll_write(id, Waker::noop(), &data);
        }
        out.clear();
        while stack.poll_departure(len % 2 == 0, now, &mut out).is_some() {}
    }
    assert!(stack.connections() <= 4 + accepted.len());
});
