"""aioquic in a race (../PROTOCOL.md): two connections to which time is an argument.

The stack draws its keys and connection IDs from the system; here the latter come from the seed. The keys of TLS
still differ from run to run, of which no size and no time depends.
"""

import datetime
import importlib.metadata
import json
import math
import os
import random
import sys
from array import array
from collections import deque

from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.congestion import base, cubic, reno
from aioquic.quic.connection import QuicConnection
from aioquic.quic.logger import QuicLogger, QuicLoggerTrace
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "aioquic"
CONTROLS = {"reno": reno.RenoCongestionControl, "cubic": cubic.CubicCongestionControl}  # the default first
SETTINGS = {"max_datagram_size": "octets of a UDP payload, 1200 to the MTU less 28"}
KEPT = 65_536
IP_UDP = 28
HOST = "stack.test"
CLIENT, SERVER = ("10.0.0.1", 49152), ("10.0.0.2", 443)
WINDOW = 8 << 20  # octets: 100 Mb/s over 300 ms, twice
AHEAD = WINDOW  # octets that the application writes before they can be sent


class Refused(Exception):
    """What cannot be served, or went wrong, in one line."""


# --- The payload: the number of each word of eight octets ----------------------------------------


def words(offset, length):
    """Octets of the payload from `offset` on."""
    first = offset // 8
    last = (offset + length + 7) // 8
    numbers = array("Q", range(first, last))
    if sys.byteorder == "little":
        numbers.byteswap()
    start = offset - 8 * first
    return numbers.tobytes()[start : start + length]


# --- Both ends -----------------------------------------------------------------------------------


class Drops(QuicLogger, QuicLoggerTrace):
    """A log that counts packets dropped as duplicates and keeps nothing."""

    def __init__(self):
        self.duplicates = 0
        self._vantage_point = {}

    def start_trace(self, is_client, odcid):
        return self

    def end_trace(self, trace):
        pass

    def log_event(self, *, category, event, data):
        if event == "packet_dropped" and data.get("trigger") == "duplicate":
            self.duplicates += 1


def certificate():
    """A key and a certificate for it, the same ones in every run."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    day = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(day)
        .not_valid_after(day.replace(year=2120))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, None)
    )
    return key, made


class Ends:
    """A client that sends and a server that receives. Times are whole nanoseconds."""

    def __init__(self, request):
        mtu = request["mtu"]
        size = setting(request, "max_datagram_size", 1200)
        if not 1200 <= size <= mtu - IP_UDP:
            raise Refused(f"max_datagram_size {size}: expected 1200 to {mtu - IP_UDP}")
        key, own = certificate()
        self.lost = 0
        ends = self
        control = request["control"] or next(iter(CONTROLS))

        class Counted(CONTROLS[control]):
            """The control, with a count of the losses."""

            def on_packets_lost(self, *, now, packets):
                packets = list(packets)
                ends.lost += len(packets)
                super().on_packets_lost(now=now, packets=packets)

        base.register_congestion_control("counted", Counted)
        common = {
            "alpn_protocols": ["stack"],
            "max_data": WINDOW,
            "max_stream_data": WINDOW,
            "max_datagram_size": size,
            "idle_timeout": 3600.0,
        }
        authority = own.public_bytes(serialization.Encoding.PEM)
        self.client = QuicConnection(
            configuration=QuicConfiguration(
                is_client=True,
                server_name=HOST,
                cadata=authority,
                congestion_control_algorithm="counted",
                **common,
            )
        )
        self.common, self.key, self.own = common, key, own
        self.server = None
        self.drops = Drops()
        self.octets = request.get("octets")
        self.stream = None
        self.written = 0
        self.received = 0
        self.discarded = 0
        self.sent = 0
        self.packets = deque()  # [from, data, has arrived]
        self.first = 0
        self.active = {"c"}  # ends to which something happened
        self.client.connect(SERVER, now=0.0)

    def deliver(self, at, number):
        index = number - self.first
        if not 0 <= index < len(self.packets):
            raise Refused(f"packet {number} is not one of the {KEPT} newest")
        packet = self.packets[index]
        side, data, again = packet
        packet[2] = True
        self.active.add("s" if side == "c" else "c")
        if side == "s":
            self.client.receive_datagram(data, SERVER, at)
            return
        if self.server is None:
            # The first packet of a client names the connection.
            self.server = QuicConnection(
                configuration=QuicConfiguration(
                    is_client=False,
                    certificate=self.own,
                    private_key=self.key,
                    quic_logger=self.drops,
                    **self.common,
                ),
                original_destination_connection_id=self.client.original_destination_connection_id,
            )
        before = self.drops.duplicates
        self.server.receive_datagram(data, CLIENT, at)
        if not again and self.drops.duplicates > before:
            self.discarded += 1

    def turn(self, at):
        """What is due at this time; gives what is sent, as (side, data).

        An end to which nothing happened is left alone: the pacer counts from when it is asked.
        """
        sent = []
        for side, end in (("s", self.server), ("c", self.client)):
            if end is None:
                continue
            due = end.get_timer()
            if due is not None and due <= at:
                end.handle_timer(at)
            elif side not in self.active:
                continue
            self.events(side, end)
            if side == "c":
                self.write()
            for data, _ in end.datagrams_to_send(at):
                sent.append((side, data))
        self.active.clear()
        return sent

    def events(self, side, end):
        while (event := end.next_event()) is not None:
            if isinstance(event, events.HandshakeCompleted) and side == "c":
                self.stream = end.get_next_available_stream_id(is_unidirectional=True)
            elif isinstance(event, events.StreamDataReceived):
                if event.data != words(self.received, len(event.data)):
                    raise Refused(f"the payload differs from what was sent, from octet {self.received} on")
                self.received += len(event.data)
            elif isinstance(event, events.ConnectionTerminated):
                raise Refused(f"the connection ends: {event.error_code} {event.reason_phrase}")

    def write(self):
        """Keeps `AHEAD` octets ready. A stream takes any number, so its state says how many are sent."""
        if self.stream is None:
            return
        stream = self.client._streams.get(self.stream)
        ready = self.written - (stream.sender.highest_offset if stream else 0)
        if ready > AHEAD // 2:
            return
        room = AHEAD - ready
        if self.octets is not None:
            room = min(room, self.octets - self.written)
        if room > 0:
            self.client.send_stream_data(self.stream, words(self.written, room))
            self.written += room

    def due(self):
        """When a timer is due."""
        timers = [end.get_timer() for end in (self.client, self.server) if end is not None]
        return min((timer for timer in timers if timer is not None), default=None)

    def keep(self, side, data):
        self.sent += side == "c"
        self.packets.append([side, data, False])
        if len(self.packets) > KEPT:
            self.packets.popleft()
            self.first += 1


# --- The lines -----------------------------------------------------------------------------------


def setting(request, name, default):
    text = request["settings"].get(name)
    if text is None:
        return default
    if not text.isdecimal():
        raise Refused(f"setting {name!r}: {text!r}: expected {SETTINGS[name]}")
    return int(text)


def version():
    return f"aioquic {importlib.metadata.version('aioquic')}"


def read_request(line):
    try:
        request = json.loads(line)
    except ValueError as error:
        raise Refused(f"the first line is not JSON: {error}") from None
    if not isinstance(request, dict) or request.get("protocol") != 1:
        raise Refused("protocol: expected 1")
    known = ("protocol", "control", "seed", "octets", "mtu", "settings")
    for key in request:
        if key not in known:
            raise Refused(f"{key!r}: expected one of {', '.join(known)}")
    request = {"control": None, "seed": 0, "octets": None, "settings": {}} | request
    if not isinstance(request.get("mtu"), int) or not 1280 <= request["mtu"] <= 65_535:
        raise Refused(f"mtu {request.get('mtu')!r}: expected 1280 to 65535")
    for name in ("seed", "octets"):
        if not isinstance(request[name], int) and (name, request[name]) != ("octets", None):
            raise Refused(f"{name} {request[name]!r}: expected a number")
    if request["control"] is not None and request["control"] not in CONTROLS:
        raise Refused(f"control {request['control']!r}: expected {', '.join(CONTROLS)}")
    settings = request["settings"]
    if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
        raise Refused(f"settings {settings!r}: expected names with texts")
    for name in settings:
        if name not in SETTINGS:
            raise Refused(f"setting {name!r}: expected {', '.join(SETTINGS)}")
    return request


def nanoseconds(time):
    """The first whole nanosecond at which `time`, in seconds, has come."""
    now = math.ceil(time * 1e9)
    return now if now * 1e-9 >= time else now + 1


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def serve(ends):
    now = 0
    for line in sys.stdin:
        words = line.split()
        if words == ["end"]:
            say(
                json.dumps(
                    {
                        "received": ends.received,
                        "sent": ends.sent,
                        "lost": ends.lost,
                        "spurious": None,
                        "discarded": ends.discarded,
                    }
                )
            )
            return
        if len(words) < 2 or words[0] != "run" or not all(word.isdecimal() for word in words[1:]):
            raise Refused(f"{line.strip()!r}: expected run UNTIL [ID…] or end")
        until = int(words[1])
        if until < now:
            raise Refused(f"run {until}: the clock is at {now}")
        for word in words[2:]:
            ends.deliver(now * 1e-9, int(word))
        now, sent = run(ends, now, until)
        for side, data in sent:
            ends.keep(side, data)
        say(" ".join([f"at {now} {ends.received}", *(f"{side}{len(data) + IP_UDP}" for side, data in sent)]))
    raise Refused("the bench closed its line")


def run(ends, now, until):
    """Lets time pass until something is sent; gives the time, and what is sent."""
    while True:
        sent = ends.turn(now * 1e-9)
        if sent:
            return now, sent
        due = ends.due()
        # A timer that is still due stands in the stack's rounding: it looks for packets sent before
        # `now - delay`, and sets the timer to `sent + delay`. A microsecond later both agree.
        due = None if due is None else max(now + 1000, nanoseconds(due))
        if due is not None and due <= until:
            now = due
        elif now < until:
            now = until
        else:
            return now, []


def manifest():
    print(f'name = "{NAME}"')
    print(f'version = "{version()}"')
    print('about = "QUIC in Python, without I/O"')
    print('time = "virtual"')
    print(f"controls = {json.dumps(list(CONTROLS))}")
    print(f"settings = {json.dumps(list(SETTINGS))}")
    print(f'command = ["./{NAME}"]')


def main():
    if sys.argv[1:] == ["manifest"]:
        manifest()
        return 0
    try:
        request = read_request(sys.stdin.readline())
        os.urandom = random.Random(request["seed"]).randbytes
        ends = Ends(request)
        control = request["control"] or next(iter(CONTROLS))
        say(json.dumps({"protocol": 1, "stack": NAME, "version": version(), "control": control}))
        serve(ends)
    except Refused as error:
        say(json.dumps({"error": str(error)}))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
