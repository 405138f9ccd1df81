#!/bin/sh
# Linux 6.18 (NFQUEUE): a queue that is bound and has no copy mode yet drops what enters it, and counts nothing.
#
# Guess:     until a program has set the copy mode, packets pass where the rule has bypass, as without a program.
# Behaviour: the kernel drops them, with bypass and with the queue's own fail-open alike. Neither the queue's counts
#            in /proc/net/netfilter/nfnetlink_queue nor those of UDP show it. One message may bind the queue and set
#            its mode; libnetfilter_queue and the crate nfq send two.
# Seen:      sent 5 each time; no program 5, bound 0 (dropped by the queue 0), bound with a copy mode 5
# So a program that is restarted while its rules stand loses what arrives between the two messages, on a busy
# machine tens of packets. Needs root and iptables.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/bound.py" <<'PY'
import socket
import struct
import subprocess

QUEUE = 5
BIND = (1, struct.pack("!BBH", 1, 0, 2))
COPY = (2, struct.pack("!IB", 128, 2))


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def configure(netlink, *attributes):
    body = b"".join(attribute(*a) for a in attributes)
    head = struct.pack("=IHHII", 20 + len(body), 0x302, 5, 0, 0)
    netlink.send(head + struct.pack("!BBH", 0, 0, QUEUE) + body)
    netlink.recv(65536)


def delivered():
    for n in range(5):
        sender.sendto(b"%d" % n, ("127.0.0.1", 9))
    count = 0
    try:
        while True:
            receiver.recv(100)
            count += 1
    except TimeoutError:
        return count


subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
for tool in ("iptables-legacy", "iptables"):
    rule = ["-A", "INPUT", "-p", "udp", "--dport", "9", "-j", "NFQUEUE", "--queue-num", str(QUEUE), "--queue-bypass"]
    if subprocess.run([tool, *rule], stderr=subprocess.DEVNULL).returncode == 0:
        break
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 9))
receiver.settimeout(0.3)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
without = delivered()
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
netlink.bind((0, 0))
netlink.settimeout(1)
configure(netlink, BIND)
bound = delivered()
counts = open("/proc/self/net/netfilter/nfnetlink_queue").read().split()
dropped = int(counts[5]) + int(counts[6])
netlink.close()
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
netlink.bind((0, 0))
netlink.settimeout(1)
# With room for no packet and fail-open (1), what enters the queue passes.
configure(netlink, BIND, COPY, (3, struct.pack("!I", 0)), (4, struct.pack("!I", 1)), (5, struct.pack("!I", 1)))
mode = delivered()
print(f"no program {without}, bound {bound} (dropped by the queue {dropped}), bound with a copy mode {mode}")
PY
seen=$(unshare -n python3 "$work/bound.py")
echo "sent 5 each time; $seen"
[ "$seen" = "no program 5, bound 0 (dropped by the queue 0), bound with a copy mode 5" ]
