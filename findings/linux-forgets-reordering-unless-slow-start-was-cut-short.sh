#!/bin/sh
# Linux 6.18 (TCP): what a connection learns of reordering is not kept for the next one if it has lost nothing, or ends in
# congestion avoidance.
#
# Guess:     the cache of TCP metrics keeps the threshold of every connection that raised it, as it keeps the round trip.
# Behaviour: neither a connection that never lost a packet stores it, nor one that ends in congestion avoidance. One
#            that ends in slow start after a timeout does.
# Seen:      no loss: learned 30, next 3; congestion avoidance: learned 30, next 3; slow start again: learned 30, next 30
# So the connections of a path that reorders begin with the threshold of 3 each time. Needs root, iproute2 and python3.
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
ROUND_TRIP = 0.1


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def segment():
    return IP(os.read(tun, 2000))[TCP]


class Connection:
    """A sender in the kernel, and its receiver by hand. Segments have 1000 octets and are counted from 0."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex((PEER, 80))
        syn = segment()
        self.port, self.start = syn.sport, syn.seq + 1
        time.sleep(ROUND_TRIP)
        self.answer("SA", 0, ("MSS", 1000), ("SAckOK", b""), ("WScale", 10))
        segment()

    def place(self, n):
        return (self.start + 1000 * n) % 2**32

    def answer(self, flags, n, *options):
        tcp = TCP(sport=80, dport=self.port, flags=flags, seq=1000 + ("S" not in flags), ack=self.place(n))
        tcp.window, tcp.options = 60000, list(options)
        os.write(tun, bytes(IP(src=PEER, dst=OWN) / tcp))

    def sack(self, first, last):
        self.answer("A", 0, ("SAck", (self.place(first), self.place(last))))

    def send(self, number):
        """Sends a flight from its first segment on; later ones are counted from there."""
        self.socket.send(bytes(1000 * number))
        while segment().seq != self.place(number - 1):
            pass
        time.sleep(ROUND_TRIP)

    def arrive(self, number):
        self.answer("A", number)
        self.start = self.place(number)

    def reorder(self):
        """The last of 30 segments arrives before all others."""
        self.send(30)
        self.sack(29, 30)
        self.arrive(30)

    def repaired(self, trigger):
        """The first of 40 segments is lost, and sent again after the `trigger`."""
        self.send(40)
        trigger()
        while segment().seq != self.start:
            pass
        time.sleep(ROUND_TRIP)
        self.arrive(40)

    def threshold(self):
        state = run("ss", "-tinH", "state", "established", "dport", "80", "sport", str(self.port))
        # ss leaves out a threshold of 3.
        learned = re.search(r" reordering:(\d+)", state)
        return learned.group(1) if learned else "3"

    def close(self):
        self.socket.close()
        fin = segment()
        while "F" not in fin.flags:
            fin = segment()
        tcp = TCP(sport=80, dport=self.port, flags="FA", seq=1001, ack=(fin.seq + 1) % 2**32, window=60000)
        os.write(tun, bytes(IP(src=PEER, dst=OWN) / tcp))
        while segment().ack != 1002:
            pass


def learned(trigger):
    run("ip", "tcp_metrics", "flush")
    connection = Connection()
    if trigger:
        connection.repaired(lambda: trigger(connection))
    connection.reorder()
    reordering = connection.threshold()
    connection.close()
    following = Connection()
    begins = following.threshold()
    following.close()
    return f"learned {reordering}, next {begins}"


run("sysctl", "-w", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.tcp_congestion_control=reno")
# A timeout reduces the window, and little data and the end of a flight do not.
run("sysctl", "-w", "net.ipv4.tcp_frto=0", "net.ipv4.tcp_early_retrans=0")
run("sysctl", "-w", "net.ipv4.tcp_slow_start_after_idle=0")
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"probe", 0x1001))
run("ip", "addr", "add", OWN, "peer", PEER, "dev", "probe")
run("ip", "link", "set", "probe", "up")
run("ip", "route", "replace", PEER, "dev", "probe", "src", OWN, "initcwnd", "200")
cases = {
    "no loss": None,
    "congestion avoidance": lambda connection: connection.sack(1, 40),
    "slow start again": lambda connection: time.sleep(1),
}
print("; ".join(f"{name}: {learned(trigger)}" for name, trigger in cases.items()))
PY
seen=$(unshare -n "$work/venv/bin/python" "$work/probe.py")
echo "$seen"
[ "$seen" = "no loss: learned 30, next 3; congestion avoidance: learned 30, next 3; slow start again: learned 30, next 30" ]
