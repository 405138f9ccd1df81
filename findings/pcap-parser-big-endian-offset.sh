#!/bin/sh
# pcap-parser 0.17.0 (Rust crate): if_tsoffset of a big-endian pcapng section is read as little-endian.
#
# Guess:     InterfaceDescriptionBlock::if_tsoffset has the section's byte order, as its other fields do.
# Behaviour: the snapshot length and link type of a big-endian section come out right, its offset in
#            seconds is byte-swapped: 1 becomes 72057594037927936.
# Seen:      snaplen 262144 offset 72057594037927936
# Times of such a section overflow or lie in another age; nothing is returned as an error.
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
pcap-parser = "=0.17.0"
TOML
cat > src/main.rs <<'RS'
use pcap_parser::pcapng::Block;
use pcap_parser::{PcapBlockOwned, PcapError, create_reader};

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len() as u32).to_be_bytes();
    [&kind.to_be_bytes()[..], &length, body, &length].concat()
}

fn main() {
    let section = block(0x0A0D_0D0A, &[&0x1A2B_3C4D_u32.to_be_bytes()[..], &[0, 1, 0, 0], &[255; 8]].concat());
    // if_tsoffset is option 14, eight octets: one second.
    let options = [&[0, 14, 0, 8][..], &1_i64.to_be_bytes(), &[0, 0, 0, 0]].concat();
    let interface = block(1, &[&[0, 1, 0, 0][..], &262_144_u32.to_be_bytes(), &options].concat());
    let file = [section, interface].concat();
    let mut reader = create_reader(65_536, &file[..]).expect("a section");
    loop {
        match reader.next() {
            Ok((offset, read)) => {
                if let PcapBlockOwned::NG(Block::InterfaceDescription(it)) = read {
                    println!("snaplen {} offset {}", it.snaplen, it.if_tsoffset);
                }
                reader.consume(offset);
            }
            Err(PcapError::Incomplete(_)) => reader.refill().expect("more"),
            Err(_) => break,
        }
    }
}
RS
seen=$(CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "snaplen 262144 offset 72057594037927936" ]
