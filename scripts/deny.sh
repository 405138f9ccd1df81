#!/bin/sh
# Checks the dependencies against deny.toml: advisories, bans, licences and sources. Advisories are
# fetched from GitHub; without a connection the other three are checked.
. "$(dirname "$0")/lib.sh"
if ! "$CARGO" deny --version >/dev/null 2>&1; then
    echo "missing: cargo-deny (cargo install cargo-deny --locked): dependencies are not checked"
    exit 0
fi
checks="bans licenses sources"
if "$CARGO" deny --locked fetch >/dev/null 2>&1; then
    checks="advisories $checks"
else
    echo "missing: the database of advisories (github.com/rustsec/advisory-db): not checked"
fi
# shellcheck disable=SC2086 # $checks is several words
exec "$CARGO" deny --locked check $checks
