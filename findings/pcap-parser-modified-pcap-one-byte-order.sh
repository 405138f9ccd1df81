#!/bin/sh
# pcap-parser 0.17.0 (Rust crate): the modified pcap format is read in one byte order only.
#
# Guess:     the magic number 0xa1b2cd34 (Kuznetsov's format, whose packet headers have eight octets more)
#            is recognised in both byte orders, as 0xa1b2c3d4 is, since a file has that of its writer.
# Behaviour: a little-endian file is read with its longer packet headers. The same file from a
#            big-endian host is refused by its magic number.
# Seen:      little: header read
#            big: refused
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
use pcap_parser::pcap::parse_pcap_header;

/// The file header: magic number, version 2.4, no zone and accuracy, snapshot length, Ethernet.
fn header(long: fn(u32) -> [u8; 4], short: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let version = [short(2), short(4)].concat();
    let rest = [long(0), long(0), long(65_535), long(1)].concat();
    [&long(0xA1B2_CD34)[..], &version, &rest].concat()
}

fn main() {
    let files = [
        ("little", header(u32::to_le_bytes, u16::to_le_bytes)),
        ("big", header(u32::to_be_bytes, u16::to_be_bytes)),
    ];
    for (order, file) in files {
        let read = parse_pcap_header(&file).is_ok();
        println!("{order}: {}", if read { "header read" } else { "refused" });
    }
}
RS
seen=$(CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "little: header read
big: refused" ]
