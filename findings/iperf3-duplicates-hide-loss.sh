#!/bin/sh
# iperf 3.12 (Debian 12, iperf3 3.12-1+deb12u2): a duplicated datagram cancels a lost one.
#
# Guess:     with -u, a path that loses 10 % and duplicates 10 % is reported with 10 % lost.
# Behaviour: the server counts every datagram that is not newer than the newest as out of order, also a
#            duplicate, and takes one off the losses for it. A path that loses one datagram of ten and
#            duplicates one of ten is reported with no loss at all.
# Seen:      drop 51 of 512 lost
#            both 0 of 512 lost
# A path that only loses is reported rightly, so the figure cannot be read without knowing that nothing
# is duplicated. The server's library is what counts: client and server here are the same version.
set -eu
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq iperf3=3.12-1+deb12u2 libiperf0=3.12-1+deb12u2 libsctp1=1.0.19+dfsg-2 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libiperf.so.0' | head -n 1)")
export LD_LIBRARY_PATH
iperf=$work/root/usr/bin/iperf3

# Forwards the control connection as it is, and datagrams but for the sixth of ten (and the ninth twice).
cat > path.py <<'PY'
import socket, struct, sys, threading

mode = sys.argv[1]
near = socket.create_server(("127.0.0.1", 0))
port = near.getsockname()[1]
left = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
left.bind(("127.0.0.1", port))
right = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server = ("127.0.0.1", int(sys.argv[2]))
right.connect(server)
client = None


def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def control():
    while True:
        a, _ = near.accept()
        b = socket.create_connection(server)
        threading.Thread(target=pump, args=(a, b), daemon=True).start()
        threading.Thread(target=pump, args=(b, a), daemon=True).start()


def back():
    while True:
        try:
            data = right.recv(65536)
        except OSError:
            continue
        if client:
            left.sendto(data, client)


threading.Thread(target=control, daemon=True).start()
threading.Thread(target=back, daemon=True).start()
print(port, flush=True)
while True:
    data, client = left.recvfrom(65536)
    number = struct.unpack(">I", data[8:12])[0] % 10 if len(data) == 1000 else 0
    try:
        if not (number == 5 and mode in ("drop", "both")):
            right.send(data)
        if number == 8 and mode == "both":
            right.send(data)
    except OSError:
        pass
PY

lost() { # $1: what the path does; prints "LOST of SENT lost"
    "$iperf" -s -1 -p "$2" -B 127.0.0.1 > server.log 2>&1 &
    sleep 1
    python3 path.py "$1" "$2" > port &
    path=$!
    sleep 1
    timeout 60 "$iperf" -u -c 127.0.0.1 -p "$(cat port)" -b 1M -l 1000 -n 500K -J > "$1.json"
    kill "$path"
    python3 -c 'import json, sys
sum = json.load(open(sys.argv[1]))["end"]["sum"]
print(sum["lost_packets"], "of", sum["packets"], "lost")' "$1.json"
}
drop=$(lost drop 5391)
both=$(lost both 5392)
echo "drop $drop"
echo "both $both"
[ "$drop" = "51 of 512 lost" ] && [ "$both" = "0 of 512 lost" ]
