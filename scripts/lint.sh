#!/bin/sh
# Formatting, clippy, documentation and prose of all crates; warnings are errors.
. "$(dirname "$0")/lib.sh"
set -ex
fuzz=crates/wire/fuzz/Cargo.toml
drill=peers/packetdrill/Cargo.toml
features=$(scripts/features.sh)

"$CARGO" fmt --all --check
"$CARGO" fmt --manifest-path $fuzz --check
"$CARGO" fmt --manifest-path $drill --check
for driver in peers/stacks/*/Cargo.toml; do
    "$CARGO" fmt --manifest-path "$driver" --check
done
"$CARGO" xtask lint
# shellcheck disable=SC2086 # $features is none or two words
"$CARGO" clippy --workspace --all-targets --locked $features -- -D warnings
# What `make demo` builds.
# shellcheck disable=SC2086 # $features is none or two words
"$CARGO" clippy -p unruffled --no-default-features --locked $features -- -D warnings
# Features that programs take one by one.
for feature in captures report; do
    "$CARGO" clippy -p unruffled-lab --no-default-features --features $feature --locked -- -D warnings
done
"$CARGO" clippy --manifest-path $drill --target-dir "$target"/packetdrill/plugin \
    --all-targets --locked -- -D warnings
# The glue to JavaScript is compiled for the browser only.
if [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
    "$CARGO" clippy -p unruffled-web --target wasm32-unknown-unknown --locked -- -D warnings
else
    echo "missing: the Rust target wasm32-unknown-unknown: the page's glue is not checked"
fi
# The crates that need no standard library.
if [ -d "$(rustc --print sysroot)/lib/rustlib/thumbv7em-none-eabi" ]; then
    "$CARGO" clippy -p unruffled-detector --target thumbv7em-none-eabi --locked -- -D warnings
else
    echo "missing: the Rust target thumbv7em-none-eabi: the detector is not checked without the standard library"
fi
RUSTDOCFLAGS="-D warnings" "$CARGO" doc --workspace --no-deps --locked
