//! The time to decode and to encode a packet: `cargo bench -p unruffled-wire --bench codec`.

use std::hint::black_box;
use std::net::SocketAddr;
use std::time::Instant;

use unruffled_tcp::{Flags, Segment, SeqNr, Timestamps};
use unruffled_wire::codec::{Checksums, decode, encode};

const ROUNDS: u32 = 2_000_000;

fn time(what: &str, mut round: impl FnMut()) {
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        round();
    }
    println!("{what:40} {:6.0} ns", begin.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS));
}

fn main() {
    let from: SocketAddr = ([10, 0, 0, 1], 4000).into();
    let to: SocketAddr = ([10, 0, 0, 2], 80).into();
    for (name, len) in [("acknowledgement", 0), ("1448 octets", 1448)] {
        let segment = Segment {
            seq: SeqNr(1),
            len,
            flags: Flags { ack: true, ..Flags::default() },
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            ..Segment::default()
        };
        let payload = vec![0x5a; len as usize];
        let mut out = Vec::with_capacity(2048);
        time(&format!("encode {name}"), || {
            out.clear();
            encode(from, to, black_box(&segment), (&payload, &[]), &mut out);
        });
        for checksums in [Checksums::Verify, Checksums::Trust] {
            time(&format!("decode {name}, {checksums:?}"), || {
                assert!(decode(black_box(&out), checksums).is_ok());
            });
        }
    }
}
