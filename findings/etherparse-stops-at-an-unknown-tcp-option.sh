#!/bin/sh
# etherparse 0.21.0 (crate): the iterator over TCP options ends at the first option that it does not know.
#
# Guess:     an unknown option is skipped by its length (RFC 9293, section 3.1: all options but two have one),
#            or reported, and the next one follows.
# Behaviour: TcpOptionsIterator returns Err(UnknownId) once and then None, so that every option behind is lost.
#            MPTCP (kind 30), TCP Fast Open (34) and User Timeout (28) are unknown to it, and MPTCP stands before
#            the timestamps in Linux' segments.
# Seen:      [Err(UnknownId(30))]     (timestamps follow)
# A program that takes timestamps from there finds none on MPTCP connections. TcpOptionsIterator::rest, taken before
# each step, has what is needed to go on by hand.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat > "$work/Cargo.toml" <<'TOML'
[package]
name = "options"
version = "0.0.0"
edition = "2021"

[dependencies]
etherparse = "=0.21.0"
TOML
cat > "$work/src/main.rs" <<'RS'
use etherparse::TcpOptionsIterator;

fn main() {
    // MPTCP, of four octets; two of padding; timestamps.
    let options = [30, 4, 0x20, 0, 1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9];
    println!("{:?}", TcpOptionsIterator::from_slice(&options).collect::<Vec<_>>());
}
RS
seen=$(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "[Err(UnknownId(30))]" ]
