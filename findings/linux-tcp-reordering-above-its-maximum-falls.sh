#!/bin/sh
# Linux 6.18 (TCP): tcp_reordering above tcp_max_reordering works until packets are reordered by more than it, and
# then falls to the maximum.
#
# Guess:     a reordering longer than the threshold raises it, or leaves it where it already exceeds the maximum.
# Behaviour: a connection starts with tcp_reordering as it is set. The first longer reordering sets the threshold to
#            the smaller of its length and tcp_max_reordering, which is then less than before.
# Seen:      tcp_reordering 50, tcp_max_reordering 20: starts with 50; after a packet that 59 others overtook, 20
# So who raises tcp_reordering above 300 has to raise tcp_max_reordering first. Needs root, iproute2 and python3.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check scapy==2.8.0
cat > "$work/probe.py" <<'PY'
import fcntl
import os
import re
import socket
import struct
import subprocess
import time

from scapy.all import IP, TCP

OWN, PEER = "10.9.0.1", "10.9.0.2"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def segment():
    """The next segment that the kernel sends."""
    return IP(os.read(tun, 2000))[TCP]


def acknowledgement(ack, *options, flags="A"):
    tcp = TCP(sport=80, dport=syn.sport, flags=flags, seq=1000, ack=ack, window=60000, options=list(options))
    if flags == "A":
        tcp.seq += 1
    return bytes(IP(src=PEER, dst=OWN) / tcp)


def threshold():
    return re.search(r" reordering:(\d+)", run("ss", "-tinH", "dst", PEER)).group(1)


run("sysctl", "-w", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.tcp_congestion_control=reno")
run("sysctl", "-w", "net.ipv4.tcp_reordering=50", "net.ipv4.tcp_max_reordering=20")
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"probe", 0x1001))
run("ip", "addr", "add", OWN, "peer", PEER, "dev", "probe")
run("ip", "link", "set", "probe", "up")
run("ip", "route", "replace", PEER, "dev", "probe", "src", OWN, "initcwnd", "100")
sender = socket.socket()
sender.setblocking(False)
sender.connect_ex((PEER, 80))
syn = segment()
# RACK takes nothing for lost within a quarter of the round trip.
time.sleep(0.5)
os.write(tun, acknowledgement(syn.seq + 1, ("MSS", 1000), ("SAckOK", b""), ("WScale", 10), flags="SA"))
segment()
first = threshold()
start = syn.seq + 1
place = lambda n: (start + 1000 * n) % 2**32
# Every second segment has arrived, up to the sixtieth, and then the first of all.
sacks = [acknowledgement(start, ("SAck", (place(n), place(n + 1)))) for n in range(1, 60, 2)]
late = acknowledgement(place(1), ("SAck", (place(59), place(60))))
sender.send(bytes(60_000))
sent = [segment().seq for _ in range(60)]
for packet in [*sacks, late]:
    os.write(tun, packet)
assert sorted(set(sent)) == sorted(sent)
print(f"starts with {first}; after a packet that 59 others overtook, {threshold()}")
PY
seen=$(unshare -n "$work/venv/bin/python" "$work/probe.py")
echo "tcp_reordering 50, tcp_max_reordering 20: $seen"
[ "$seen" = "starts with 50; after a packet that 59 others overtook, 20" ]
