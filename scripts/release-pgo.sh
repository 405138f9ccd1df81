#!/bin/sh
# Builds target/pgo/unruffled with profile-guided optimisation. The first build records which branches
# are taken, with all senders on paths that reorder, which is more than `make bench` measures; the second
# build uses that. docs/measurements/2026-11-27-simulator-speed.md has the gain.
#
#   scripts/release-pgo.sh [build]   builds it
#   scripts/release-pgo.sh check     only says what is missing, and fails if anything is
#
#   LLVM_PROFDATA   the program that merges profiles, of rustc's own version of LLVM (that of rustup's
#                   component llvm-tools); a distribution's is older and does not read them
. "$(dirname "$0")/lib.sh"
set -e
pgo=$target/pgo
speed=crates/lab/speed

profdata=${LLVM_PROFDATA:-$(find "$(rustc --print sysroot)" -name llvm-profdata | head -n 1)}
if [ -z "$profdata" ]; then
    echo "missing: llvm-profdata: rustup component add llvm-tools"
    exit 1
fi
[ "${1-}" != check ] || exit 0
host=$(host_triple)
features=$(scripts/features.sh)

# build FLAG FOLDER: the flags are encoded, since paths may contain spaces.
build() {
    # shellcheck disable=SC2086 # $features is none or two words
    CARGO_ENCODED_RUSTFLAGS=$1 "$CARGO" build --release --locked --target "$host" \
        --target-dir "$pgo/$2" -p unruffled $features
}

rm -rf "$pgo"/raw
build "-Cprofile-generate=$pgo/raw" learn
learn=$pgo/learn/$host/release/unruffled
senders=$("$learn" variants | awk '/^[a-z]/ { printf "%s%s", n++ ? "," : "", $1 }')
for share in 0% 10% 30%; do
    "$learn" compare rr-3 --variants "$senders" --set delayed.fraction=$share \
        --seeds 1 --duration "20 s" --json >/dev/null
done
for scenario in wb-t3 wb-t5 ad-3; do
    "$learn" bench sim $speed/$scenario.toml --duration "60 s"
done
"$profdata" merge -o "$pgo"/merged.profdata "$pgo"/raw
build "-Cprofile-use=$pgo/merged.profdata" use
cp "$pgo/use/$host/release/unruffled" "$pgo"/unruffled
echo "The command: $pgo/unruffled"
