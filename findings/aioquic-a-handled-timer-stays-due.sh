#!/bin/sh
# aioquic 1.7.2 (PyPI): a loss timer that is handled at its own time may stay due for ever.
#
# Guess:     after `handle_timer(get_timer())` the timer is later, or gone: `get_timer` gives the time from which
#            on the timer has expired.
# Behaviour: the timer is set to `time_sent + delay`; when it is handled, a packet is lost if
#            `time_sent <= now - delay`. With numbers of floating point the first may hold and the second not, so
#            that nothing is lost and the same timer is set again. The clock has to move for it to go.
# Seen:      3 of 2817 timers are due at the same time after they were handled at it
# A program whose clock moves only when there is nothing to do (a simulator, a test) does not end. asyncio passes
# `max(timer, now)` and gets away with it by the next turn of its loop. One microsecond more is enough.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check aioquic==1.7.2
cat > timer.py <<'PY'
import datetime
import heapq

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import HandshakeCompleted
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519

key = ed25519.Ed25519PrivateKey.generate()
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
day = datetime.datetime(2020, 1, 1)
certificate = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    .not_valid_before(day).not_valid_after(day.replace(year=2120)).sign(key, None)
)
address = [("10.0.0.1", 1), ("10.0.0.2", 2)]
client = QuicConnection(configuration=QuicConfiguration(verify_mode=0))
server = QuicConnection(
    configuration=QuicConfiguration(is_client=False, certificate=certificate, private_key=key),
    original_destination_connection_id=client.original_destination_connection_id,
)
ends = [client, server]
path, now, count, handled, still = [], 0.0, 0, 0, 0
client.connect(address[1], now=now)
while now < 60:
    while path and path[0][0] <= now:
        _, _, to, data = heapq.heappop(path)
        ends[to].receive_datagram(data, address[1 - to], now)
    for side, end in enumerate(ends):
        due = end.get_timer()
        if due is None:
            continue
        if due <= now:
            end.handle_timer(now)
        while (event := end.next_event()) is not None:
            if end is client and isinstance(event, HandshakeCompleted):
                client.send_stream_data(2, bytes(3_000_000))
        for data, _ in end.datagrams_to_send(now):
            count += 1
            # Every second packet of the client is 40 ms late.
            late = 0.04 if side == 0 and count % 2 else 0
            heapq.heappush(path, (now + 0.025 + late, count, 1 - side, data))
        if due <= now:
            handled += 1
            still += end.get_timer() == due
    timers = [end.get_timer() for end in ends]
    later = min([t for t in timers if t is not None] + [at for at, *_ in path[:1]])
    now = later if later > now else now + 1e-6
print(f"{still} of {handled} timers are due at the same time after they were handled at it")
PY
seen=$(venv/bin/python timer.py)
echo "$seen"
[ "$seen" = "3 of 2817 timers are due at the same time after they were handled at it" ]
