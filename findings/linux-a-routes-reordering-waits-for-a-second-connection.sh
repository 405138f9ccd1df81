#!/bin/sh
# Linux 6.18 (TCP, ip route): the attribute `reordering` of a route has no effect on the first connection to a host,
# and its changes have none on later ones.
#
# Guess:     like initcwnd, it holds for every connection that starts over the route from then on (ip-route(8): without
#            it, Linux uses tcp_reordering).
# Behaviour: connections read it from the cache of TCP metrics alone. The end of a connection to a host makes the entry,
#            which copies the attribute. The copy then holds, also against a larger tcp_reordering, until it is an
#            hour old or `ip tcp_metrics flush`.
# Seen:      route 40: 3, then 40; route changed to 80: 40; tcp_reordering 100: 40; flushed: 100, then 80
# So a new value needs `ip tcp_metrics flush` and one connection to each host. Needs root, iproute2 and python3.
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

from scapy.all import IP, TCP

OWN, PEER = "10.9.0.1", "10.9.0.2"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exchange(request, flags, seq):
    """Answers the kernel's segment with one that acknowledges it."""
    end = request.seq + len(request.payload) + ("S" in request.flags) + ("F" in request.flags)
    tcp = TCP(sport=80, dport=request.sport, flags=flags, seq=seq, ack=end % 2**32, window=60000)
    os.write(tun, bytes(IP(src=PEER, dst=OWN) / tcp))


def segment():
    return IP(os.read(tun, 2000))[TCP]


def threshold():
    """Connects, returns the threshold of the connection, sends one segment and closes."""
    sender = socket.socket()
    sender.setblocking(False)
    sender.connect_ex((PEER, 80))
    exchange(segment(), "SA", 1000)
    segment()
    state = re.search(r" reordering:(\d+)", run("ss", "-tinH", "state", "established", "dst", PEER))
    sender.send(b"data")
    exchange(segment(), "A", 1001)
    sender.close()
    exchange(segment(), "FA", 1001)
    segment()
    # ss leaves out a threshold of 3.
    return state.group(1) if state else "3"


def route(reordering):
    run("ip", "route", "replace", PEER, "dev", "probe", "src", OWN, "reordering", reordering)


run("sysctl", "-w", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.tcp_reordering=3")
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"probe", 0x1001))
run("ip", "addr", "add", OWN, "peer", PEER, "dev", "probe")
run("ip", "link", "set", "probe", "up")
route("40")
seen = f"route 40: {threshold()}, then {threshold()}"
route("80")
seen += f"; route changed to 80: {threshold()}"
run("sysctl", "-w", "net.ipv4.tcp_reordering=100")
seen += f"; tcp_reordering 100: {threshold()}"
run("ip", "tcp_metrics", "flush")
print(f"{seen}; flushed: {threshold()}, then {threshold()}")
PY
seen=$(unshare -n "$work/venv/bin/python" "$work/probe.py")
echo "$seen"
[ "$seen" = "route 40: 3, then 40; route changed to 80: 40; tcp_reordering 100: 40; flushed: 100, then 80" ]
