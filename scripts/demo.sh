#!/bin/sh
# Compares some senders over a path that reorders, and races them against this machine's kernel. The command
# of `make build` is used where it is newer than the sources. Otherwise only what runs here is built, in the
# cargo profile `demo`.
. "$(dirname "$0")/lib.sh"
set -e
report=unruffled-few-late.html
unruffled=$target/release/unruffled
whole=yes
if ! [ -x "$unruffled" ] || [ -n "$(find Cargo.toml Cargo.lock crates -type f -newer "$unruffled" | head -n 1)" ]; then
    # shellcheck disable=SC2046 # none or two words
    "$CARGO" build --profile demo --locked -p unruffled --no-default-features $(scripts/features.sh)
    unruffled=$target/demo/unruffled
    whole=no
fi

"$unruffled" compare --report $report
echo "The report: file://$PWD/$report"
scripts/demo-race.sh "$unruffled"
if [ $whole = no ]; then
    echo
    echo "This build has compare, race, emulate, scenarios, variants and bench. The whole command:"
    echo "    make build && sudo make install"
fi
