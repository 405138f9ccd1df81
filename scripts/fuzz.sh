#!/bin/sh
# Runs each fuzz target for FUZZ_SECONDS from the committed corpus. New inputs stay in the build folder.
# FUZZ_SEED is the same before every merge: only `make fuzz FUZZ_SEED=…` explores new inputs.
. "$(dirname "$0")/lib.sh"
: "${FUZZ_SECONDS:=15}" "${FUZZ_SEED:=1}"
fuzz=crates/wire/fuzz
out=$target/fuzz
targets="capture connection decode encapsulations formats resequence stack"

# libFuzzer is written in C++.
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "missing: a C++ compiler: nothing is fuzzed"
    exit 0
fi
set -e
"$CARGO" clippy --all-targets --locked --manifest-path $fuzz/Cargo.toml --target-dir "$out" -- -D warnings
"$CARGO" test --locked --manifest-path $fuzz/Cargo.toml --target-dir "$out"

# libFuzzer needs to know which edges a run takes, so the compiler counts them. The host is named with
# --target, which leaves the flags out of build scripts.
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions"
for llvm in -sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters \
    -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares; do
    flags="$flags -Cllvm-args=$llvm"
done
host=$(host_triple)
RUSTFLAGS=$flags "$CARGO" build --release --locked --target "$host" \
    --manifest-path $fuzz/Cargo.toml --target-dir "$out"
for name in $targets; do
    mkdir -p "$out"/corpus/$name
    "$out/$host/release/$name" -max_total_time="$FUZZ_SECONDS" -seed="$FUZZ_SEED" -max_len=1024 -timeout=10 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="$out/$name-" \
        "$out/corpus/$name" $fuzz/corpus/$name
done
