//! Any octets give a packet or a reason, and what was read can be written and read again:
//! `cargo +nightly fuzz run decode` in `crates/wire`.

#![no_main]

use etherparse::checksum::Sum16BitWords;
use libfuzzer_sys::fuzz_target;
use unruffled_wire::codec::{Checksums, Packet, decode, encode};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    // The fuzzer need not find the IPv4 header's checksum.
    if bytes.len() >= 20 && bytes[0] == 0x45 {
        bytes[10..12].fill(0);
        let sum = Sum16BitWords::new().add_slice(&bytes[..20]).ones_complement();
        bytes[10..12].copy_from_slice(&sum.to_ne_bytes());
    }
    let bytes = &bytes[..];
    let _ = decode(bytes, Checksums::Verify);
    let Ok(Packet::Tcp(first)) = decode(bytes, Checksums::Trust) else { return };
    let mut out = Vec::new();
    if encode(first.from, first.to, &first.segment, (first.payload, &[]), &mut out).is_none() {
        return;
    }
    let Ok(Packet::Tcp(second)) = decode(&out, Checksums::Verify) else { panic!("unreadable") };
    assert_eq!((first.from, first.to, first.payload), (second.from, second.to, second.payload));
    assert_eq!(first.segment.seq, second.segment.seq);
    assert_eq!(first.segment.flags, second.segment.flags);
    assert_eq!(first.segment.timestamps, second.segment.timestamps);
});
