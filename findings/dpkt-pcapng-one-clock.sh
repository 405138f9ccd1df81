#!/bin/sh
# dpkt 1.9.8 (Python package): pcapng timestamps of the second interface are read with the first one's resolution.
#
# Guess:     if_tsresol is applied per interface, as the pcapng draft (section 4.2) has it.
# Behaviour: dpkt.pcapng.Reader keeps the divisor of the first Interface Description Block for the whole
#            file. Of a capture on two interfaces, one counting microseconds and one nanoseconds, which
#            dumpcap and mergecap both write, packets of the second are a thousand times too late.
# Seen:      [1000000000.001, 1000000000002.0]     (the second packet passed at 1000000000.002)
# Reordering between the interfaces, and every delay, is wrong by that factor; nothing is raised.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check dpkt==1.9.8
cat > "$work/read.py" <<'PY'
import io
import struct

import dpkt


def block(kind, body):
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def interface(resolution):
    option = struct.pack("<HHB3x", 9, 1, resolution) + struct.pack("<HH", 0, 0)
    return block(1, struct.pack("<HHI", 1, 0, 262144) + option)


def packet(number, ticks):
    frame = bytes(12) + b"\x08\x00" + bytes(46)
    head = struct.pack("<5I", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame)


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
micro, nano = interface(6), interface(9)
first, second = packet(0, 10**15 + 1_000), packet(1, 10**18 + 2_000_000)
print([at for at, _ in dpkt.pcapng.Reader(io.BytesIO(section + micro + nano + first + second))])
PY
seen=$("$work/venv/bin/python" "$work/read.py")
echo "$seen"
[ "$seen" = "[1000000000.001, 1000000000002.0]" ]
