#!/bin/sh
# pcap-file 2.0.0 (Rust crate): pcapng timestamps are taken for nanoseconds, whatever the interface says.
#
# Guess:     EnhancedPacketBlock::timestamp, a Duration, is the time since 1970: its unit is known from
#            if_tsresol, whose default is microseconds (pcapng draft, section 4.2).
# Behaviour: the ticks become nanoseconds. Of a file with microseconds, which is what Wireshark and
#            tcpdump write by default, every time is a thousandth of what it was; if_tsoffset is not added
#            either.
# Seen:      1000000.000001s     (the packet passed at 1000000000.001)
# Time differences, hence round trips and lateness, come out a thousand times too small without an error.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cd "$work"
cat > Cargo.toml <<'TOML'
[package]
name = "read"
version = "0.0.0"
edition = "2021"

[dependencies]
pcap-file = "=2.0.0"
TOML
cat > src/main.rs <<'RS'
use pcap_file::pcapng::{Block, PcapNgReader};

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len() as u32).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn main() {
    // Byte order, version 1.0, and an unknown section length; Ethernet with the default resolution.
    let section = block(0x0A0D_0D0A, &words(&[0x1A2B_3C4D, 1, u32::MAX, u32::MAX]));
    let interface = block(1, &words(&[1, 262_144]));
    let ticks = 1_000_000_000_001_000_u64;
    let head = words(&[0, (ticks >> 32) as u32, ticks as u32, 60, 60]);
    let packet = block(6, &[head, vec![0; 60]].concat());
    let file = [section, interface, packet].concat();
    let mut reader = PcapNgReader::new(&file[..]).expect("a section");
    while let Some(read) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = read.expect("a block") {
            println!("{:?}", packet.timestamp);
        }
    }
}
RS
seen=$(CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "1000000.000001s" ]
