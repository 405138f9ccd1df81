#!/bin/sh
# dcsctp 0.1.16 (crate; the data channels of WebRTC): one late packet is sent again for every three acknowledgements that
# arrive meanwhile.
#
# Guess:     three reports of a missing chunk send it again, once: a chunk that was fast retransmitted is not eligible
#            for another fast retransmission (RFC 9260, section 7.2.4).
# Behaviour: a chunk that was sent again counts reports from zero (mark_as_retransmitted in tx/outstanding_data.rs), and
#            those of packets that left before it count as well. So it leaves again after every three.
# Seen:      one packet late by 0 ms: 1, by 2 ms: 1, by 20 ms: 7, by 80 ms: 22
# (transmissions of that packet; one packet leaves each millisecond, and a round trip takes 50 ms). Where packets are
# late, and where a queue overflows, most of what is sent has arrived before.
# Needs cargo.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat > "$work/Cargo.toml" <<'TOML'
[package]
name = "again"
version = "0.0.0"
edition = "2024"

[dependencies]
dcsctp = "=0.1.16"

[workspace]
TOML
cat > "$work/src/main.rs" <<'RS'
use dcsctp::api::{Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId};
use std::collections::BTreeMap;
use std::time::Duration;

/// A packet of data leaves each millisecond, and a round trip takes 50 ms.
const SPACING: Duration = Duration::from_millis(1);
const ONE_WAY: Duration = Duration::from_millis(25);
const PACKETS: usize = 100;

fn time(now: Duration) -> SocketTime {
    SocketTime::zero() + now
}

/// Sends 100 packets, of which one is late by `late`. Returns how often that one is sent.
fn sent(late: Duration) -> usize {
    // What is sent leaves at once, and waits in the queue of the path.
    let options = Options { cwnd_mtus_initial: 2 * PACKETS, max_burst: 1000, ..Options::default() };
    let mut sockets = ["client", "server"].map(|name| dcsctp::new_socket(name, &options));
    sockets[0].connect();
    // Packets on their way, by arrival and number: whom they are for, and what they hold.
    let mut flying: BTreeMap<(Duration, usize), (usize, Vec<u8>)> = BTreeMap::new();
    let (mut now, mut number, mut free) = (Duration::ZERO, 0, Duration::ZERO);
    // The number of the transmission chunk (TSN) of the late packet, and how often it was sent.
    let (mut data, mut tsn, mut times, mut received) = (0, [0; 4], 0, 0);
    while received < PACKETS {
        for from in 0..2 {
            while let Some(event) = sockets[from].poll_event() {
                match event {
                    SocketEvent::SendPacket(packet) => {
                        let mut arrives = now + ONE_WAY;
                        // A chunk of data (type 0) stands behind the 12 octets of the header, its TSN 4 further.
                        if from == 0 && packet.len() > 1000 && packet[12] == 0 {
                            free = free.max(now) + SPACING;
                            arrives = free + ONE_WAY;
                            data += 1;
                            if data == 10 {
                                tsn.copy_from_slice(&packet[16..20]);
                                arrives += late;
                            }
                            times += usize::from(packet[16..20] == tsn);
                        }
                        number += 1;
                        flying.insert((arrives, number), (1 - from, packet));
                    }
                    SocketEvent::OnConnected() if from == 0 => {
                        for _ in 0..PACKETS {
                            let message = Message::new(StreamId(1), PpId(53), vec![0; 1100]);
                            sockets[0].send(message, &SendOptions::default()).unwrap();
                        }
                    }
                    _ => {}
                }
            }
        }
        while sockets[1].get_next_message().is_some() {
            received += 1;
        }
        let timers = sockets.iter().map(|socket| socket.poll_timeout() - SocketTime::zero()).min().unwrap();
        let arrival = flying.first_entry().filter(|first| first.key().0 <= timers);
        now = arrival.as_ref().map_or(timers, |first| first.key().0);
        let arrival = arrival.map(|first| first.remove());
        sockets.iter_mut().for_each(|socket| socket.advance_time(time(now)));
        if let Some((to, packet)) = arrival {
            sockets[to].handle_input(&packet);
        }
    }
    times
}

fn main() {
    let times = [0, 2, 20, 80].map(|late| format!("by {late} ms: {}", sent(Duration::from_millis(late))));
    println!("one packet late {}", times.join(", "));
}
RS
seen=$(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "one packet late by 0 ms: 1, by 2 ms: 1, by 20 ms: 7, by 80 ms: 22" ]
