#!/bin/sh
# tcpdump 4.99.3 with libpcap 1.10.3 (Debian 12), Linux 6.18: in immediate mode, which is the default where packets are
# printed to a terminal, a burst of more than some 33 packets loses the rest.
#
# Guess:     a buffer of 2 MiB (-B) keeps some thousand packets of 142 octets in any mode.
# Behaviour: immediate mode keeps each packet in a slot of the snapshot length, cut to 64 KiB, so 2 MiB are 32 slots
#            for packets of any size. `-s 1600` or `-B 65536` keeps all.
# Seen:      buffered 500 of 500 packets; immediate fewer than 100; immediate with -s 1600: 500
# A packet that the capture lacks looks like a loss or like reordering to what reads it: heed the count of packets
# dropped by the kernel. Needs root.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libpcap.so.0.8' | head -n 1)")
export LD_LIBRARY_PATH
export PATH="$work/root/usr/bin:$PATH:/usr/sbin:/sbin"
# The number of packets of a burst of 500 in a capture with some options. tcpdump is stopped while the burst comes, so
# that the buffer alone decides.
cat > captured <<'SH'
ip link set lo up
tcpdump -Z root -Q in -i lo "$@" -w capture.pcap udp 2> messages &
until grep -q listening messages; do sleep 0.05; done
kill -STOP $!
python3 -c '
import socket

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 5000))
for _ in range(500):
    sender.sendto(bytes(100), ("127.0.0.1", 5000))
    receiver.recv(200)
'
kill -CONT $!
sleep 2
kill $!
wait || true
tcpdump -nr capture.pcap 2> /dev/null | wc -l
SH
captured() { unshare --net sh -eu captured "$@"; }
immediate=$(captured --immediate-mode)
[ "$immediate" -lt 100 ] && immediate="fewer than 100"
seen="buffered $(captured) of 500 packets; immediate $immediate; immediate with -s 1600: $(captured --immediate-mode -s 1600)"
echo "$seen"
[ "$seen" = "buffered 500 of 500 packets; immediate fewer than 100; immediate with -s 1600: 500" ]
