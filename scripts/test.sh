#!/bin/sh
# Runs all tests, Rust's and Python's. The tests mostly wait, so other work runs beside them: what
# Python's tests need is fetched while Rust's are built, and the wheel is built at low priority while
# Rust's tests run.
. "$(dirname "$0")/lib.sh"
features=$(scripts/features.sh)

scripts/python.sh tools &
tools=$!
# shellcheck disable=SC2086 # $features is none or two words
"$CARGO" test --workspace --locked --no-run $features || exit 1
wait $tools

nice -n 19 scripts/python.sh wheel &
wheel=$!
status=0
# shellcheck disable=SC2086
"$CARGO" test --workspace --locked --no-fail-fast $features || status=1
# What the drivers of foreign stacks in Rust share; the drivers themselves are built on request.
"$CARGO" test --manifest-path peers/stacks/driver-rs/Cargo.toml --target-dir "$target"/stacks/build --locked ||
    status=1
wait $wheel || status=1
scripts/python.sh test || status=1
exit $status
