#!/bin/sh
# scapy 2.8.0 (TCPSession): a message whose last segment overtakes another one is delivered with zeros in its place.
#
# Guess:     the session waits until all octets of the message are there, in whatever order they come.
# Behaviour: it counts a message as whole when the highest octet that arrived completes it. Octets that are missing are
#            zeros, and the late segment then counts as a message of its own. Nothing reports it.
# Seen:      in order: the body; the second segment late by one: the body; by two: 300 octets of 1000 are zeros
# So what TCPSession reads from a capture of a path that reorders needs a check, such as that of a length and a
# digest, or tshark with tcp.reassemble_out_of_order.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check scapy==2.8.0
cat > "$work/read.py" <<'PY'
import sys

from scapy.all import IP, TCP, Ether, TCPSession, sniff, wrpcap
from scapy.layers.http import HTTPResponse

BODY = bytes(1 + i % 255 for i in range(1000))
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + BODY


def body(order):
    """The body of the response whose segments of 300 octets are captured in this order."""
    packets = []
    for n in order:
        tcp = TCP(sport=80, dport=4000, seq=1000 + 300 * n, ack=1, flags="A")
        packets.append(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / tcp / RESPONSE[300 * n :][:300])
    wrpcap(sys.argv[1], packets)
    packets = sniff(offline=sys.argv[1], session=TCPSession, quiet=True)
    [found] = [bytes(packet[HTTPResponse].payload) for packet in packets if HTTPResponse in packet]
    zeros = found.count(0)
    assert found == BODY or zeros
    return f"{zeros} octets of {len(found)} are zeros" if zeros else "the body"


seen = [f"in order: {body([0, 1, 2, 3])}", f"the second segment late by one: {body([0, 2, 1, 3])}"]
print("; ".join(seen + [f"by two: {body([0, 2, 3, 1])}"]))
PY
seen=$("$work/venv/bin/python" "$work/read.py" "$work/capture.pcap")
echo "$seen"
[ "$seen" = "in order: the body; the second segment late by one: the body; by two: 300 octets of 1000 are zeros" ]
