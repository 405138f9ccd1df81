#!/bin/sh
# Prints the cargo arguments that build the kernel's congestion control, or nothing where it cannot
# be built.
#
#   scripts/features.sh [PACKAGE]      PACKAGE has the feature `bpf`; default unruffled
. "$(dirname "$0")/lib.sh"
if bpf_is_ready; then
    echo "--features ${1:-unruffled}/bpf"
fi
