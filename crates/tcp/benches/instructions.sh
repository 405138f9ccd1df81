#!/bin/sh
# Instructions per acknowledgement of each sender, by callgrind: a count that no other work on the
# machine changes. One replay's is the difference of two and one. Prints a table in Markdown.
#
#   crates/tcp/benches/instructions.sh [WINDOW...]      default 100 100000
set -eu
cd "$(dirname "$0")/../../.."
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing" >&2; exit 2; }
[ $# -gt 0 ] || set -- 100 100000
bench=$(cargo bench --locked -p unruffled-tcp --bench senders --no-run 2>&1 | sed -n 's/.*(\(.*senders-.*\))/\1/p')
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" --one "$@" 2>&1; }
number() { sed -n "s/.*$1//p" | tr -d ' ,'; }
row="| sender |" line="|---|"
for window; do
    row="$row $window, in order | $window, reordered |" line="$line---:|---:|"
done
printf '%s\n%s\n' "$row" "$line"
for sender in sack rack rr-ta avg-dev tcp-pr-sack dcr-ack unruffled; do
    printf '| `%s` |' "$sender"
    for window; do
        for order in in-order reordered; do
            one=$(count "$sender" "$window" "$order" 1)
            two=$(count "$sender" "$window" "$order" 2 | number "Collected : ")
            acks=$(echo "$one" | grep -x '[0-9]*')
            printf ' %d |' $(((two - $(echo "$one" | number "Collected : ")) / acks))
        done
    done
    echo
done
