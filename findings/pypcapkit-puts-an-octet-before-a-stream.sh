#!/bin/sh
# pypcapkit 1.4.1.post2 (Python package): a reassembled TCP stream has a zero octet before its data if its SYN was captured.
#
# Guess:     the stream is the data of the segments, in order, from the first octet on.
# Behaviour: the SYN counts as a fragment without data at its sequence number, and the first octet of data is one further
#            (RFC 9293, section 3.4: a SYN occupies one number). The gap of one is filled by a zero.
# Seen:      1200 octets: 1201 reassembled, the first 0; without the SYN 1200, as sent
# A digest of the stream, and every offset in it, is wrong; the stream is reported as complete.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pypcapkit==1.4.1.post2 scapy==2.8.0
cat > "$work/read.py" <<'PY'
import sys

import pcapkit
from scapy.all import IP, TCP, Ether, wrpcap

BODY = bytes(1 + i % 255 for i in range(1200))


def segment(seq, flags, data=b""):
    tcp = TCP(sport=5001, dport=4000, seq=seq, ack=1, flags=flags)
    return Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / tcp / data


def reassembled(syn):
    packets = [segment(999, "S")] if syn else []
    packets += [segment(1000 + at, "A", BODY[at : at + 300]) for at in range(0, 1200, 300)]
    wrpcap(sys.argv[1], [*packets, segment(2200, "FA")])
    found = pcapkit.extract(fin=sys.argv[1], nofile=True, store=True, reassembly=True, tcp=True).reassembly.tcp
    [stream] = [bytes(datagram.payload) for datagram in found]
    assert stream.endswith(BODY) and found[0].completed
    return stream


first, plain = reassembled(True), reassembled(False)
assert plain == BODY
print(f"{len(first)} reassembled, the first {first[0]}; without the SYN {len(plain)}, as sent")
PY
seen=$("$work/venv/bin/python" "$work/read.py" "$work/capture.pcap" 2> /dev/null | tail -n 1)
echo "1200 octets: $seen"
[ "$seen" = "1201 reassembled, the first 0; without the SYN 1200, as sent" ]
