#!/bin/sh
# How many data packets per wall-clock second ns-2.35 and ns-3 simulate, and
# unruffled beside them, in turn; the best of three each. docs/measurements/2026-11-28-bench.md has what came of it.
#
#   peers/ns2/speed.sh [UNRUFFLED]      default target/release/unruffled
#
# Environment: RUNS (3), SHARE (1: of the simulated seconds, for a quick look),
# NS3 (the program that ../ns3/build builds; without, it is built in a new folder).
#
# ns-2 runs twice: as it is by default (Calendar scheduler, all packet headers),
# and tuned, with the fastest scheduler for the case and only the headers that
# the script needs. Both send the very same packets. The ratio is to the faster
# one, and is not told where the goodputs are more than 5 % apart. Start-up
# (OTcl, routes) is not counted: the scripts time `$ns run` alone. ns-3 runs on
# the path of rr-3 for less simulated time, since it is slower. Columns of
# what is not installed are empty, and a line says so.
set -eu
export LC_ALL=C
unruffled=${1:-target/release/unruffled}
runs=${RUNS:-3}
share=${SHARE:-1}
command -v "$unruffled" >/dev/null || { echo "speed.sh: $unruffled is missing: make build" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
ns3=${NS3:-}
if [ -z "$ns3" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    if "$here/../ns3/build" "$folder/path"; then ns3=$folder/path; fi
fi
case $unruffled in /*) ;; */*) unruffled=$PWD/$unruffled ;; esac
cd "$here/../../crates/lab/speed"

ns=1
command -v ns >/dev/null || { ns=0; echo "speed.sh: ns is missing (Debian's package ns2): unruffled alone" >&2; }

# Data packets per wall-clock second, and goodput in bit/s, of one run of ns-2.
ns_once() {
    script=$1; shift
    ns "$here/$script" "$@" | awk '
        { for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        END { if (v["wall"] <= 0) { print "speed.sh: ns-2 failed" > "/dev/stderr"; exit 1 }
              bps = v["goodput_KBps"] != "" ? v["goodput_KBps"] * 8000 : v["packets_per_second"] * 960 * 8
              printf "%.0f %.0f\n", v["sent"] / v["wall"], bps }'
}

# The same of ns-3.
ns3_once() {
    "$ns3" "$@" | awk '
        { for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        END { if (v["wall"] <= 0) { print "speed.sh: ns-3 failed" > "/dev/stderr"; exit 1 }
              printf "%.0f %.0f\n", v["sent"] / v["wall"], v["packets_per_second"] * 960 * 8 }'
}

# The same of unruffled: the one place to change when its command line or its JSON does.
unruffled_once() {
    "$unruffled" bench sim --json "$@" | tr ',{}' '\n\n\n' | awk -F': *' '
        { gsub(/[" ]/, ""); split($0, kv, ":"); v[kv[1]] = kv[2] }
        END { printf "%.0f %.0f\n", v["packets_per_wall_second"], v["goodput_bps"] }'
}

seconds() { awk -v s="$1" -v share="$share" 'BEGIN { printf "%.0f", s * share }'; }

# row NAME SECONDS_OF_NS SECONDS SCRIPT "OPTIONS OF NS" SCHEDULER "OPTIONS OF UNRUFFLED" [SECONDS_OF_NS3 "OPTIONS OF NS3"]
row() {
    name=$1 theirs=$(seconds "$2") ours=$(seconds "$3") script=$4 options=$5 scheduler=$6 args=$7
    third=$(seconds "${8:-0}") third_options=${9:-}
    i=0
    while [ "$i" -lt "$runs" ]; do
        if [ "$ns" = 1 ] && [ -n "$script" ]; then
            echo "plain $(ns_once "$script" $options duration="$theirs" scheduler=Calendar headers=all)"
            echo "tuned $(ns_once "$script" $options duration="$theirs" scheduler="$scheduler" headers=few)"
        fi
        if [ -n "$ns3" ] && [ "$third" != 0 ]; then
            echo "ns3 $(ns3_once --duration="$third" $third_options)"
        fi
        echo "ours $(unruffled_once $args --duration "$ours s")"
        i=$((i + 1))
    done | awk -v name="$name" '
        { if ($2 > best[$1]) best[$1] = $2; bps[$1] = $3 }
        END {
            if (!(best["ours"] > 0)) { print "speed.sh: " name ": no result" > "/dev/stderr"; exit 1 }
            theirs = best["tuned"] > best["plain"] ? best["tuned"] : best["plain"]
            printf "%-12s %12s %12s %12s %12s %9s %9s %14.0f\n", name, best["plain"] ? best["plain"] : "-", \
                best["tuned"] ? best["tuned"] : "-", best["ns3"] ? best["ns3"] : "-", best["ours"], \
                ratio(theirs, bps["tuned"]), ratio(best["ns3"], bps["ns3"]), bps["ours"]
        }
        # How many times as many packets as another one of that speed and that goodput.
        function ratio(speed, goodput,   off) {
            if (!(speed > 0)) return "-"
            off = bps["ours"] / goodput - 1
            return off * off > 0.05 ^ 2 ? sprintf("(%+.1f %%)", 100 * off) : sprintf("%.2f", best["ours"] / speed)
        }'
}

echo "data packets per wall-clock second, best of $runs; in parentheses, by how much our goodput differs"
printf '%-12s %12s %12s %12s %12s %9s %9s %14s\n' scenario "ns-2" "ns-2 tuned" "ns-3" unruffled "to ns-2" "to ns-3" "goodput, bit/s"
row "rr-3 0 %"  8000  10000 path.tcl "delayed=0" Splay "--delayed 0%" 1000 "--delayed=0"
row "rr-3 10 %" 60000 40000 path.tcl "delayed=0.1" List "--delayed 10%" 8000 "--delayed=0.1"
row wb-t3 1500 1500 flows.tcl "flows=150 sender=Reno rate=5e6 delay=0.350 accessdelay=0.010
    discipline=RED queue=200 thresh=20 maxthresh=60 window=20 warmup=0 spread=2" Heap "wb-t3.toml"
row wb-t5 1500 1500 flows.tcl "flows=150 sender=Reno rate=5e6 delay=0.030 accessrate=5e6
    accessdelay=0.010 queue=19 window=20 warmup=0 spread=2" Heap "wb-t5.toml"
row "ad-3 f=2" 0 10000 "" "" "" "ad-3.toml"
