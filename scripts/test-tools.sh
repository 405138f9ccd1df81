#!/bin/sh
# Installs the programs that tests use: tshark reads the captures that they write, ip (iproute2) sets up the
# namespaces of tests with real packets, and iptables queues packets for the resequencer. Tests without their
# program, or without root, skip themselves; cargo does not show their messages, so this script prints what
# is missing.
. "$(dirname "$0")/lib.sh"
if ! has_real_packets; then
    echo "missing: root on Linux, with /dev/net/tun: tests with real packets will be skipped"
fi
command -v qemu-system-x86_64 >/dev/null || echo "missing: QEMU: other kernels will not be tried"

missing=""
command -v tshark >/dev/null || missing="$missing tshark"
command -v ip >/dev/null || missing="$missing iproute2"
PATH=$PATH:/usr/sbin:/sbin command -v iptables >/dev/null || missing="$missing iptables"
if [ -z "$missing" ]; then
    exit 0
fi
if has_apt; then
    echo "missing:$missing: installing"
    # shellcheck disable=SC2086 # $missing is several words
    apt_install $missing && exit 0
fi
echo "missing:$missing: tests that need them will be skipped"
