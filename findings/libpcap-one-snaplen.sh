#!/bin/sh
# libpcap 1.10.3 with tcpdump 4.99.3 (Debian 12): a pcapng file whose interfaces have different snapshot
# lengths is refused in the middle.
#
# Guess:     the snapshot length is a property of each interface (pcapng draft, section 4.2) and limits
#            nothing when a file is read; link types that differ are known to be refused.
# Behaviour: reading stops at the second Interface Description Block, after the packets before it, and
#            tcpdump exits with 1. `dumpcap -i a -s 128 -i b -s 0` and mergecap write such files; tshark
#            reads them.
# Seen:      tcpdump: pcap_loop: an interface has a snapshot length 128 different from the snapshot length of the first interface
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq tcpdump=4.99.3-1 libpcap0.8=1.10.3-1 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libpcap.so.0.8' | head -n 1)")
export LD_LIBRARY_PATH
python3 - <<'PY'
import struct


def block(kind, body):
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def packet(number, ticks):
    frame = bytes(12) + b"\x08\x00" + bytes(46)
    return block(6, struct.pack("<5I", number, ticks >> 32, ticks & 0xFFFFFFFF, 60, 60) + frame)


def interface(snap):
    return block(1, struct.pack("<HHI", 1, 0, snap))


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
for name, snap in ("same", 262144), ("different", 128):
    with open(name + ".pcapng", "wb") as file:
        first = interface(262144) + packet(0, 10**15)
        file.write(section + first + interface(snap) + packet(1, 10**15 + 1_000))
PY
read_file() { "$work/root/usr/bin/tcpdump" -Z "$(id -un)" -tt -nr "$1.pcapng" 2>&1; }
[ "$(read_file same | grep -c '^1000000000')" = 2 ]
if seen=$(read_file different); then
    echo "it is read now"
    exit 1
fi
echo "$seen" | grep 'an interface has a snapshot length 128 different from'
