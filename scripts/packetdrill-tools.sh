#!/bin/sh
# Installs bison and flex, which make packetdrill's parser, and a C compiler. Without them
# peers/packetdrill/run prints that it is skipped.
. "$(dirname "$0")/lib.sh"
missing=""
for tool in bison flex; do
    command -v $tool >/dev/null || missing="$missing $tool"
done
command -v cc >/dev/null || missing="$missing gcc libc6-dev"
if [ -n "$missing" ] && has_apt; then
    echo "missing:$missing: installing"
    # shellcheck disable=SC2086 # $missing is several words
    apt_install $missing || true
fi
