#!/bin/sh
# pypcapkit 1.4.1.post2 (Python package): strict reassembly loses most of a stream whose first captured segment was late.
#
# Guess:     a capture that begins within a connection, with a segment that another one overtook, gives the same stream as
#            one in order: all octets are there.
# Behaviour: holes are kept by sequence numbers, and what lies between them is cut from the buffer at these numbers, as if
#            they were offsets in it. One segment of four comes out, and the stream counts as incomplete. With
#            reasm_strict=False, which fills real gaps with zeros, it is whole.
# Seen:      in order: 1200 of 1200; the first two swapped: 300 of 1200; the same, not strict: 1200 of 1200
# Streams of a path that reorders come out whole only if their first segment was captured first.
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


def octets(order, strict):
    """How many octets come out of segments of 300 that are captured in this order."""
    packets = []
    for n in order:
        tcp = TCP(sport=5001, dport=4000, seq=1_000_000 + 300 * n, ack=1, flags="A")
        packets.append(Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / tcp / BODY[300 * n :][:300])
    wrpcap(sys.argv[1], packets)
    options = {"nofile": True, "store": True, "reassembly": True, "tcp": True, "reasm_strict": strict}
    [found] = pcapkit.extract(fin=sys.argv[1], **options).reassembly.tcp
    pieces = [found.payload] if isinstance(found.payload, (bytes, bytearray)) else found.payload
    assert found.completed == (strict is False or order[0] == 0)
    return f"{sum(map(len, pieces))} of {len(BODY)}"


swapped = [1, 0, 2, 3]
print(
    f"in order: {octets(range(4), True)}; the first two swapped: {octets(swapped, True)};"
    f" the same, not strict: {octets(swapped, False)}"
)
PY
seen=$("$work/venv/bin/python" "$work/read.py" "$work/capture.pcap" 2> /dev/null | tail -n 1)
echo "$seen"
[ "$seen" = "in order: 1200 of 1200; the first two swapped: 300 of 1200; the same, not strict: 1200 of 1200" ]
