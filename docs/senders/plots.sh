#!/bin/sh
# Draws how each family's thresholds react to a burst of reordering and then to real loss: the
# pictures of docs/senders, from the built-in scenario burst. Usage: docs/senders/plots.sh [UNRUFFLED]
set -eu
unruffled=${1:-target/release/unruffled}
here=$(cd "$(dirname "$0")" && pwd)

draw() {
    "$unruffled" compare burst --no-report --variants "$2" --thresholds "$here/$1.svg" >/dev/null
}

draw baselines sack,dsack-r,reno,newreno
draw rr-tcp rr-fa,rr-ta,rr-fa-rtx,rr-ta-rtx
draw blanton-allman ba-inc,ba-inc-n,ba-avg,ba-ewma,ba-del,td-fr
draw avg-dev avg-dev,rr-fa
draw tcp-pr tcp-pr,tcp-pr-extreme,tcp-pr-sack
draw dcr dcr-ack,dcr-timer
draw ncr ncr-careful,ncr-aggressive
draw peers rack,linux-reordering,quic
draw unruffled unruffled,rack
