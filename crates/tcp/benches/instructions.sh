#!/bin/sh
# Instructions per acknowledgement of each sender, by callgrind: a count that no other work on the
# machine changes. Prints a table in Markdown.
#
#   crates/tcp/benches/instructions.sh [WINDOW...]      default 100 100000
#
# $SENDERS names others than the usual seven.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../../.."
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing" >&2; exit 2; }
[ $# -gt 0 ] || set -- 100 100000
said=$(cargo bench --locked -p unruffled-tcp --bench senders --no-run 2>&1) || { echo "$said" >&2; exit 1; }
bench=$(echo "$said" | sed -n 's/.*(\(.*senders-.*\))/\1/p')
# Only what happens within the function `replay` is counted.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
        --toggle-collect='*replay*' "$bench" --one "$@" 2>&1 |
        awk '/Collected/ { n = $NF } /^[0-9]+$/ { acks = $1 } END { printf "%.0f", n / acks }'
}
row="| sender |" line="|---|"
for window; do
    row="$row $window, in order | $window, reordered |" line="$line---:|---:|"
done
printf '%s\n%s\n' "$row" "$line"
for sender in ${SENDERS:-sack rack rr-ta avg-dev tcp-pr-sack dcr-ack unruffled}; do
    printf '| `%s` |' "$sender"
    for window; do
        for order in in-order reordered; do
            printf ' %s |' "$(count "$sender" "$window" "$order")"
        done
    done
    echo
done
