#!/bin/sh
# Linux 6.18 (NFQUEUE): the removal of any netfilter hook drops every packet that waits in any queue of the network
# namespace.
#
# Guess:     packets that wait at the hook which goes are dropped; those of other hooks, tables and queues stay.
# Behaviour: when an nftables base chain goes, or the last rule of a table of iptables-nft, the kernel flushes all
#            queues of the namespace. A verdict for such a packet is answered with ENOENT. Deleting a rule alone
#            drops nothing.
# Seen:      held 5, delivered after the removal of an unrelated chain 0; without it 5
# So a program that holds packets loses them when another one (a firewall manager, a container engine) removes a
# table. It must release what it holds before it removes a chain of its own. Needs root, iptables and nftables.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/held.py" <<'PY'
import socket
import struct
import subprocess
import sys

QUEUE = 5


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(kind, body, flags):
    head = struct.pack("=IHHII", 20 + len(body), 0x300 | kind, flags, 0, 0)
    return head + struct.pack("!BBH", 0, 0, QUEUE) + body


def run(*command):
    subprocess.run(command, check=True)


run("ip", "link", "set", "lo", "up")
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
netlink.bind((0, 0))
netlink.settimeout(1)
for body in (attribute(1, struct.pack("!BBH", 1, 0, 2)), attribute(2, struct.pack("!IB", 128, 2))):
    netlink.send(message(2, body, 5))
    netlink.recv(65536)
for tool in ("iptables-legacy", "iptables"):
    rule = ["-A", "INPUT", "-p", "udp", "--dport", "9", "-j", "NFQUEUE", "--queue-num", str(QUEUE)]
    if subprocess.run([tool, *rule], stderr=subprocess.DEVNULL).returncode == 0:
        break
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 9))
receiver.settimeout(0.3)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(5):
    sender.sendto(b"%d" % n, ("127.0.0.1", 9))
held = []
while len(held) < 5:
    packet = netlink.recv(65536)
    held.append(struct.unpack("!I", packet[24:28])[0])
if sys.argv[1] == "remove":
    run("nft", "add table ip unrelated; add chain ip unrelated out { type filter hook output priority 0; }")
    run("nft", "delete table ip unrelated")
for number in held:
    netlink.send(message(1, attribute(2, struct.pack("!II", 1, number)), 1))
delivered = 0
try:
    while True:
        receiver.recv(100)
        delivered += 1
except TimeoutError:
    print(delivered)
PY
with=$(unshare -n python3 "$work/held.py" remove)
without=$(unshare -n python3 "$work/held.py" keep)
echo "held 5, delivered after the removal of an unrelated chain $with; without it $without"
[ "$with $without" = "0 5" ]
