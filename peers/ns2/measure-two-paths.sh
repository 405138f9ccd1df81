#!/bin/sh
# Measures the points of two-paths.csv with ns-2.35. Nothing is random: one run each.
#
#   peers/ns2/measure-two-paths.sh  rewrites two-paths.csv, prints every run
set -eu
export LC_ALL=C
command -v ns >/dev/null || { echo "measure-two-paths.sh: ns is missing: install Debian's package ns2" >&2; exit 2; }
cd "$(dirname "$0")"
new=$(mktemp)
trap 'rm -f "$new"' EXIT
echo "share,packets_per_second,retransmits,window_cuts,timeouts" > "$new"
for share in 0 10 20 30 40 50 60 70 80 90 100; do
    line=$(ns two-paths.tcl share=$share)
    echo "$line"
    echo "$line" | sed 's/[a-z_]*=//g; s/ /,/g' >> "$new"
done
cp "$new" two-paths.csv
