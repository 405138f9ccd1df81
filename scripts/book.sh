#!/bin/sh
# Writes the generated pages of the documentation: reference/ and papers/.
#
#   scripts/book.sh UNRUFFLED FOLDER [OPTION…]      options of `unruffled book`: --only reference, --store FILE
set -eu
unruffled=$1
folder=$2
shift 2
"$unruffled" book "$folder" "$@"
mkdir -p "$folder/reference"
xtask() {
    "${CARGO:-cargo}" run -q --locked -p xtask -- "$@"
}
xtask fields >"$folder/reference/json.md"

# What is printed is what is described.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
several="--set link.bottleneck.replay_window=64 --set tcp.ecn=true"
# shellcheck disable=SC2086
"$unruffled" compare few-late $several --variants sack --seeds 2 --duration "2 s" --no-report --json \
    --pcap "$work/few-late.pcapng" 2>"$work/notes" | xtask fields compare
"$unruffled" analyze "$work/few-late.pcapng" --json | xtask fields analyze
