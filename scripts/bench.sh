#!/bin/sh
# What `make bench` prints: how fast this machine simulates, beside ns-2 and ns-3 where they are installed,
# then sweeps, reproductions, many flows and memory, each beside crates/lab/speed/baselines.csv.
#
#   scripts/bench.sh UNRUFFLED [FILE]     writes the measured values to FILE, in the form of the baselines
#
#   RUNS, SHARE   as in peers/ns2/speed.sh
#   MILLION=0     without the run of a million flows, which needs 8 GiB and some minutes
#   FULL=1        the papers' experiments in full, not the quick ones
#
# Ratios to the baselines mean something on the machine that their first line names.
. "$(dirname "$0")/lib.sh"
set -eu
export LC_ALL=C
unruffled=${1:?usage: bench.sh UNRUFFLED [FILE]}
out=${2:-}
speed=crates/lab/speed
baselines=$speed/baselines.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record NAME VALUE UNIT
record() {
    echo "$1,$2,$3" >>"$work/values.csv"
}

# Processor time in seconds, of all threads, and wall time, of a command: "CPU WALL".
timed() {
    { TIMEFORMAT='%U %S %R' bash -c 'time "$@" >/dev/null 2>&1' bash "$@"; } 2>&1 |
        awk 'END { print $1 + $2, $3 }'
}

field() {
    tr ',{}' '\n\n\n' | awk -F: -v key="\"$1\"" '$1 == key { print $2 }'
}

peers/ns2/speed.sh "$unruffled" | tee "$work/speed"
awk 'NR > 2 { at = 2; if ($1 ~ /^(rr-3|ad-3)/) at = 3
              name = $1 (at == 3 ? " " $2 : "") ($3 == "%" ? " %" : ""); if ($3 == "%") at++
              print name "," $(at + 3) ",packets/s" }' "$work/speed" >>"$work/values.csv"

# many FLOWS RATE QUEUE: that many flows with the same share of the bottleneck each.
many() {
    found=$("$unruffled" bench sim $speed/many.toml --json --set traffic.tcp.count="$1" \
        --set link.bottleneck.rate="$2" --set link.bottleneck.queue="$3")
    rate=$(echo "$found" | field packets_per_wall_second)
    memory=$(echo "$found" | field peak_memory_kib)
    record "$1 flows" "$(awk -v r="$rate" 'BEGIN { printf "%.0f", 1e9 / r }')" "ns/packet"
    record "$1 flows: memory" "$(awk -v k="$memory" 'BEGIN { printf "%.2f", k / 1048576 }')" GiB
}

many 100000 "10000 Mbit/s" 100000
[ "${MILLION:-1}" = 0 ] || many 1000000 "100000 Mbit/s" 1000000

set -- $(timed "$unruffled" sweep $speed/sweep.toml --no-store)
record "10000 runs of 10 s" "$1" "s of CPU"
record "10000 runs of 10 s: wall" "$2" s
quick=--quick
[ "${FULL:-0}" = 0 ] || quick=
set -- $(timed "$unruffled" reproduce $quick --store "$work/runs.sqlite" --no-report)
record "reproduce $quick" "$1" "s of CPU"
record "reproduce $quick: wall" "$2" s

# The share of the store in a sweep, in instructions, since it is smaller than any noise.
if command -v valgrind >/dev/null; then
    valgrind -q --tool=callgrind --callgrind-out-file="$work/calls" "$unruffled" sweep $speed/sweep.toml \
        --seeds 1 --set duration="10 s" --jobs 1 --store "$work/few.sqlite" >/dev/null 2>&1
    share=$(callgrind_annotate --inclusive=yes --threshold=100 "$work/calls" | awk '
        { gsub(/,/, "", $1) }
        / PROGRAM TOTALS/ { all = $1 }
        /store::Store::(put_all|get|has|open|get_flows) / { store += $1 }
        END { printf "%.2f", 100 * store / all }')
    record "the store in a sweep" "$share" "%"
else
    echo "bench.sh: valgrind is missing: without the share of the store" >&2
fi

echo
echo "beside $(sed -n '1s/^# *//p' $baselines)"
printf '%-28s %14s %14s %8s\n' "" now baseline ratio
awk -F, '
    FNR == NR { if ($0 !~ /^#/) baseline[$1] = $2; next }
    { known = ($1 in baseline) && baseline[$1] > 0
      printf "%-28s %14s %14s %8s  %s\n", $1, $2, known ? baseline[$1] : "-", \
          known ? sprintf("%.2f", $2 / baseline[$1]) : "-", $3 }' $baselines "$work/values.csv"
[ -z "$out" ] || cp "$work/values.csv" "$out"
