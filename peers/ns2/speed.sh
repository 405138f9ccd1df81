#!/bin/sh
# How many data packets per wall-clock second ns-2.35 simulates, and unruffled
# beside it: path `rr`, Sack1, nothing delayed and 10 % delayed; best of three.
#
#   peers/ns2/speed.sh [UNRUFFLED]      default target/release/unruffled
#
# Environment: RUNS (3), SECONDS_0 and SECONDS_10 (simulated seconds of ns-2),
# UNRUFFLED_FIELD (the JSON field that is data packets per wall-clock second).
#
# ns-2 runs twice: as it is by default (Calendar scheduler, all packet headers),
# and tuned, with the fastest scheduler for the case and only the headers that
# the script needs. Both send the very same packets. The ratio is to the tuned
# one. Start-up (OTcl, routes) is not counted: path.tcl times `$ns run` alone.
set -eu
unruffled=${1:-target/release/unruffled}
runs=${RUNS:-3}
seconds_0=${SECONDS_0:-16000}
seconds_10=${SECONDS_10:-120000}
field=${UNRUFFLED_FIELD:-packets_per_wall_second}

if ! command -v ns >/dev/null; then
    echo "speed.sh: ns is missing: install Debian's package ns2" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)

# The one place to change when the command line or the JSON of unruffled does:
# prints data packets per wall-clock second for a fraction such as 10%.
unruffled_once() {
    "$unruffled" bench sim --delayed "$1" --json |
        tr ',{}' '\n' | sed -n "s/^ *\"$field\" *: *\([0-9.eE+]*\).*/\1/p" | head -n 1
}

# sent / wall of one run of path.tcl.
ns_once() {
    ns "$here/path.tcl" "$@" | awk '
        { for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        END { if (v["wall"] <= 0) { print "speed.sh: path.tcl failed" > "/dev/stderr"; exit 1 }
              if (v["wall"] < 3) print "speed.sh: only " v["wall"] " s of wall clock; raise SECONDS_*" > "/dev/stderr"
              printf "%.0f\n", v["sent"] / v["wall"] }'
}

best() {
    i=0
    while [ "$i" -lt "$runs" ]; do "$@" || return 1; i=$((i + 1)); done | sort -g | tail -n 1
}

have=1
if ! command -v "$unruffled" >/dev/null; then
    echo "speed.sh: no $unruffled: measuring ns-2 alone" >&2
    have=0
fi

row() {
    percent=$1 fraction=$2 duration=$3 scheduler=$4
    plain=$(best ns_once delayed="$fraction" duration="$duration" scheduler=Calendar headers=all)
    tuned=$(best ns_once delayed="$fraction" duration="$duration" scheduler="$scheduler" headers=few)
    ours=- ratio=-
    if [ "$have" = 1 ]; then
        ours=$(best unruffled_once "$percent")
        if [ -z "$ours" ]; then
            echo "speed.sh: no field \"$field\" from: $unruffled bench sim --delayed $percent --json" >&2
            exit 1
        fi
        ratio=$(awk -v a="$ours" -v b="$tuned" 'BEGIN { printf "%.2f", a / b }')
        ours=$(awk -v a="$ours" 'BEGIN { printf "%.0f", a }')
    fi
    printf '%-8s %14s %14s %14s %9s\n' "$percent" "$plain" "$tuned" "$ours" "$ratio"
}

echo "data packets per wall-clock second, path rr, SACK, best of $runs"
printf '%-8s %14s %14s %14s %9s\n' delayed "ns-2 default" "ns-2 tuned" unruffled "to tuned"
row 0% 0 "$seconds_0" Splay
row 10% 0.1 "$seconds_10" List
