#!/bin/sh
# iperf 2.1.8 (Debian 12, UDP): a duplicate counts as a datagram out of order, and hides a loss.
#
# Guess:     "datagrams received out-of-order" are those that others, sent later, have overtaken (RFC 4737).
# Behaviour: each datagram that is not newer than all before it counts, and takes one off the losses: a duplicate that
#            follows its original at once, too.
# Seen:      60 late by 3: 0 lost, 60 out of order; 60 twice: 0 lost, 60 out of order; 60 lost, 60 twice: 0 lost, 60 out of order
# So iperf 2 does not tell a path that duplicates from one that reorders. A capture does.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq iperf=2.1.8+dfsg-1 2>/dev/null
dpkg -x iperf_*.deb root
cat > relay.py <<'PY'
import re
import select
import socket
import subprocess
import sys
import time

IPERF = sys.argv[1]
SERVER, RELAY = 6001, 6002


def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def late(n, datagram, held):
    """Of each ten datagrams, one comes after the three that follow it."""
    if n % 10 == 0:
        held.append(datagram)
        return []
    return [datagram, *([held.pop()] if n % 10 == 3 and held else [])]


def twice(n, datagram, _held):
    return [datagram] * (2 if n % 10 == 0 else 1)


def lost_and_twice(n, datagram, _held):
    return [datagram] * {0: 0, 5: 2}.get(n % 10, 1)


def report(change):
    """What the server reports of a transfer of which the datagrams 10 to 605 are changed."""
    quiet = {"stderr": subprocess.DEVNULL, "text": True}
    server = subprocess.Popen([IPERF, "-s", "-u", "-p", str(SERVER)], stdout=subprocess.PIPE, **quiet)
    time.sleep(0.5)
    front, back, held, n, client_at = udp(), udp(), [], 0, None
    front.bind(("127.0.0.1", RELAY))
    back.connect(("127.0.0.1", SERVER))
    arguments = [IPERF, "-c", "127.0.0.1", "-u", "-p", str(RELAY), "-b", "2M", "-t", "2", "-l", "500"]
    client = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, **quiet)
    while client.poll() is None:
        for ready in select.select([front, back], [], [], 0.1)[0]:
            if ready is back:
                front.sendto(back.recv(2000), client_at)
                continue
            datagram, client_at = front.recvfrom(2000)
            n += 1
            for out in change(n, datagram, held) if 10 <= n <= 605 else [datagram]:
                back.send(out)
    server.terminate()
    text = server.communicate()[0]
    lost = re.search(r"(\d+)/\d+ \(", text).group(1)
    late = re.search(r"(\d+) datagrams received out-of-order", text)
    return f"{lost} lost, {late.group(1) if late else 0} out of order"


seen = {"60 late by 3": late, "60 twice": twice, "60 lost, 60 twice": lost_and_twice}
print("; ".join(f"{name}: {report(change)}" for name, change in seen.items()))
PY
seen=$(python3 relay.py root/usr/bin/iperf)
echo "$seen"
[ "$seen" = "60 late by 3: 0 lost, 60 out of order; 60 twice: 0 lost, 60 out of order; 60 lost, 60 twice: 0 lost, 60 out of order" ]
