#!/bin/sh
# python-pcapng 2.1.1 (Python package): if_tsoffset is parsed, and left out of every timestamp.
#
# Guess:     EnhancedPacket.timestamp is the time of the packet since 1970, offset included.
# Behaviour: if_tsoffset (pcapng draft, section 4.2: seconds to be added to the timestamp of each packet)
#            is not added. The option itself can be read from the interface block.
# Seen:      0.001     (the packet passed at 1000000000.001)
# Captures whose interfaces have different offsets are put in a wrong order; nothing is raised. tshark
# 4.0 and libpcap 1.10 both add it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check python-pcapng==2.1.1
cat > "$work/read.py" <<'PY'
import io
import struct

from pcapng import FileScanner
from pcapng.blocks import EnhancedPacket


def block(kind, body):
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
options = struct.pack("<HHB3x", 9, 1, 6) + struct.pack("<HHq", 14, 8, 10**9) + struct.pack("<HH", 0, 0)
interface = block(1, struct.pack("<HHI", 1, 0, 262144) + options)
packet = block(6, struct.pack("<5I", 0, 0, 1_000, 60, 60) + bytes(12) + b"\x08\x00" + bytes(46))
for read in FileScanner(io.BytesIO(section + interface + packet)):
    if isinstance(read, EnhancedPacket):
        print(read.timestamp)
PY
seen=$("$work/venv/bin/python" "$work/read.py")
echo "$seen"
[ "$seen" = "0.001" ]
