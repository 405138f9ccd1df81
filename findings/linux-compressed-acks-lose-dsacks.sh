#!/bin/sh
# Linux 6.18 (TCP receiver): duplicates behind a hole that come within a millisecond are reported by one DSACK, though
# each of them is counted as reported.
#
# Guess:     each duplicate is reported (RFC 2883, section 4: the first block of the acknowledgement that it causes).
# Behaviour: after three acknowledgements behind a hole the receiver sends one for all segments of the next
#            millisecond (tcp_comp_sack_delay_ns). It has room for one DSACK, and the last duplicate replaces the
#            others. TCPDSACKOfoSent counts all of them. With tcp_comp_sack_nr=0 each has its acknowledgement.
# Seen:      three duplicates at once: DSACK of 9; counted 3; with tcp_comp_sack_nr=0: DSACK of 4, 7, 9; counted 3
# So a sender that undoes a reduction when all its retransmissions were duplicates may wait for reports that never
# come. Needs root, iproute2 and python3.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check scapy==2.8.0
cat > "$work/probe.py" <<'PY'
import fcntl
import os
import select
import socket
import struct
import subprocess
import time

from scapy.all import IP, TCP

OWN, PEER = "10.9.0.1", "10.9.0.2"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def packet(seq, flags="A", data=b"", **fields):
    tcp = TCP(sport=port, dport=80, flags=flags, seq=seq, ack=peer, window=60000, **fields)
    return bytes(IP(src=PEER, dst=OWN) / tcp / data)


def segment(n):
    """The segment of number n, of 1000 octets."""
    return packet(1001 + 1000 * n, data=bytes(1000))


def answers(wait):
    """The acknowledgements within this time."""
    found = []
    while select.select([tun], [], [], wait)[0]:
        found.append(IP(os.read(tun, 2000))[TCP])
    return found


def dsack(answer):
    """The number of the segment that the answer's first block reports as a duplicate, if it does."""
    blocks = dict(answer.options).get("SAck", ())
    inside = len(blocks) > 2 and blocks[2] <= blocks[0] and blocks[1] <= blocks[3]
    return [str((blocks[0] - 1001) // 1000)] if inside else []


def counted():
    names, values = (line.split() for line in open("/proc/self/net/netstat") if line.startswith("TcpExt"))
    return int(values[names.index("TCPDSACKOfoSent")])


def duplicates():
    """Connects, sends segments 1 to 10 without segment 0, and then 4, 7 and 9 again."""
    global port, peer
    port, peer = port + 1, 0
    options = [("MSS", 1000), ("SAckOK", b""), ("WScale", 10)]
    os.write(tun, packet(1000, "S", options=options))
    time.sleep(0.05)
    peer = (answers(0.01)[0].seq + 1) % 2**32
    os.write(tun, packet(1001))
    accepted.append(listener.accept())
    for n in range(1, 11):
        os.write(tun, segment(n))
        time.sleep(0.01)
    answers(0.01)
    before = counted()
    again = [segment(n) for n in (4, 7, 9)]
    for duplicate in again:
        os.write(tun, duplicate)
    reported = [n for answer in answers(0.1) for n in dsack(answer)]
    return f"DSACK of {', '.join(reported)}; counted {counted() - before}"


run("sysctl", "-w", "net.ipv6.conf.all.disable_ipv6=1")
tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH", b"probe", 0x1001))
run("ip", "addr", "add", OWN, "peer", PEER, "dev", "probe")
run("ip", "link", "set", "probe", "up")
listener = socket.create_server((OWN, 80))
port, accepted = 4000, []
together = duplicates()
run("sysctl", "-w", "net.ipv4.tcp_comp_sack_nr=0")
print(f"{together}; with tcp_comp_sack_nr=0: {duplicates()}")
PY
seen=$(unshare -n "$work/venv/bin/python" "$work/probe.py")
echo "three duplicates at once: $seen"
[ "$seen" = "DSACK of 9; counted 3; with tcp_comp_sack_nr=0: DSACK of 4, 7, 9; counted 3" ]
