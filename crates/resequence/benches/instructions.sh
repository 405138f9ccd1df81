#!/bin/sh
# Instructions per packet of the core that restores order, by callgrind: a count that no other work on the
# machine changes. Prints a table in Markdown.
#
#   crates/resequence/benches/instructions.sh [CASE...]      default: the cases without hostile packets
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../../.."
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing" >&2; exit 2; }
[ $# -gt 0 ] || set -- "in order, 1 flow" "in order, 1000 flows" "every second packet 4 ms late, 1 flow" \
    "5 % 40 ms late, 1000 flows"
said=$(cargo bench --locked -p unruffled-resequence --bench packets --no-run 2>&1) ||
    { echo "$said" >&2; exit 1; }
bench=$(echo "$said" | sed -n 's/.*(\(.*packets-.*\))/\1/p')
printf '| packets | instructions |\n|---|---:|\n'
for case; do
    # Only what happens within the function `replay` is counted.
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
        --toggle-collect='*replay*' "$bench" --one "$case" 2>&1 |
        awk -v case="$case" '/Collected/ { n = $NF } /^[0-9]+$/ { packets = $1 }
            END { printf "| %s | %.0f |\n", case, n / packets }'
done
