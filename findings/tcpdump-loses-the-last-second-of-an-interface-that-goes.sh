#!/bin/sh
# tcpdump 4.99.3 with libpcap 1.10.3 (Debian 12), Linux 6.18: when an interface is removed, a capture of it loses what
# came in the second before.
#
# Guess:     what the kernel has captured is written; "The interface disappeared" comes after it.
# Behaviour: the error is reported first and ends the capture. A block of the ring is handed over once it is full or a
#            second old, and what is in it is never read, though it is counted as received by the filter.
# Seen:      removed after 2 s: 500 of 500 packets; after 0.2 s: 0 of 500
# So a capture of a tunnel that fails (ppp, tun, WireGuard) lacks what it was made for. dumpcap 4.0.17, tried by hand in
# the same way, had 500 both times. Needs root.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libpcap.so.0.8' | head -n 1)")
export LD_LIBRARY_PATH
export PATH="$work/root/usr/bin:$PATH:/usr/sbin:/sbin"
# The number of packets in a capture whose interface is removed so many seconds after the last one.
cat > captured <<'SH'
sysctl -qw net.ipv6.conf.default.disable_ipv6=1
ip link add near type veth peer name far address 02:00:00:00:00:02
ip addr add 192.0.2.1/24 dev near
ip link set near up
ip link set far up
ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev near
tcpdump -Z root -i far -w capture.pcap udp 2> messages &
until grep -q listening messages; do sleep 0.05; done
python3 -c '
import socket

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(500):
    sender.sendto(bytes(100), ("192.0.2.2", 5000))
'
sleep "$1"
ip link del near
wait || true
grep -q "The interface disappeared" messages
grep -q "^500 packets received by filter" messages
tcpdump -nr capture.pcap 2> /dev/null | wc -l
SH
seen="removed after 2 s: $(unshare --net sh -eu captured 2) of 500 packets; after 0.2 s: $(unshare --net sh -eu captured 0.2) of 500"
echo "$seen"
[ "$seen" = "removed after 2 s: 500 of 500 packets; after 0.2 s: 0 of 500" ]
