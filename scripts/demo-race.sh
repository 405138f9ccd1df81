#!/bin/sh
# Races some senders with real packets against this machine's kernel. Where that is not possible, prints
# what it needs.
#
#   scripts/demo-race.sh [UNRUFFLED]      the command that races; default target/release/unruffled, or the demo's
. "$(dirname "$0")/lib.sh"
unruffled=${1:-$target/release/unruffled}
[ -x "$unruffled" ] || unruffled=$target/demo/unruffled
race="race half-late --variants unruffled,rack,tcp-pr-sack --duration 15s"
report=unruffled-race-half-late.html
# With BPF, the last row is the kernel's own TCP with the congestion control of `unruffled attach`.
kernels=cubic
if [ -n "$(scripts/features.sh)" ]; then
    kernels=cubic,unruffled
fi

if [ "$(uname)" != Linux ]; then
    echo
    echo "A race of real packets against the kernel's TCP needs Linux."
elif ! command -v ip >/dev/null || ! has_real_packets; then
    echo
    echo "For a race of real packets against this kernel's TCP, as root and with iproute2:"
    echo "    sudo ${unruffled#"$PWD"/} $race --kernel $kernels"
else
    echo
    echo "And with real packets, against this machine's kernel (a minute):"
    # A kernel that cannot load the congestion control refuses the race with status 2.
    for senders in $kernels cubic; do
        # shellcheck disable=SC2086 # $race is several words
        "$unruffled" $race --kernel "$senders" --report $report
        status=$?
        [ $status = 2 ] || break
    done
    [ $status = 0 ] || exit $status
    echo "The report: file://$PWD/$report"
fi
