#!/bin/sh
# Checks that the workspace compiles with the oldest Rust that Cargo.toml promises (`rust-version`).
. "$(dirname "$0")/lib.sh"
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v rustup >/dev/null; then
    echo "missing: rustup: not checked with Rust $oldest"
    exit 0
fi
if ! rustup run "$oldest" rustc --version >/dev/null 2>&1 &&
    ! rustup toolchain install "$oldest" --profile minimal --no-self-update; then
    echo "missing: Rust $oldest, which rustup cannot install: not checked"
    exit 0
fi
# shellcheck disable=SC2046 # none or two words
exec rustup run "$oldest" cargo check --workspace --all-targets --locked --target-dir "$target"/msrv \
    $(scripts/features.sh)
