#!/bin/sh
# dcsctp 0.1.16 (crate; the data channels of WebRTC): a timeout in a fast recovery leaves one packet per round trip until
# the recovery ends.
#
# Guess:     a burst of losses at the end of slow start is repaired by the fast recovery and, for what it misses, by slow
#            start after one timeout: the window is one packet and then doubles in each round trip (RFC 9260, sections
#            7.2.1 and 7.2.3).
# Behaviour: the timer makes the window one packet and leaves fast_recovery_exit_tsn (tx/retransmission_queue.rs) as it
#            is, and in fast recovery the window does not grow. The sender waits for each packet until all that was
#            outstanding at the begin of the recovery has been acknowledged.
# Seen:      10 Mb/s, a round trip of 50 ms, a queue of 50 packets:
#            81 of 463 packets dropped in the first second; then [14, 15, 19] a second
# The path carries 1000 a second. Whoever overflows a queue at first waits four seconds.
# Needs cargo.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat > "$work/Cargo.toml" <<'TOML'
[package]
name = "stalls"
version = "0.0.0"
edition = "2024"

[dependencies]
dcsctp = "=0.1.16"
fastrand = "2"

[workspace]
TOML
cat > "$work/src/main.rs" <<'RS'
use dcsctp::api::{DcSctpSocket, Message, Options, PpId, SendOptions, SocketEvent, SocketTime, StreamId};
use std::collections::VecDeque;
use std::time::Duration;

/// 10 Mb/s, a round trip of 50 ms, and a queue of 50 packets at the client.
const NANOS_PER_OCTET: u64 = 800;
const ONE_WAY: Duration = Duration::from_millis(25);
const QUEUE: usize = 50;
const END: Duration = Duration::from_secs(4);

fn time(now: Duration) -> SocketTime {
    SocketTime::zero() + now
}

fn due(socket: &dyn DcSctpSocket) -> Duration {
    socket.poll_timeout() - SocketTime::zero()
}

fn main() {
    fastrand::seed(1);
    let options = Options::default();
    let mut client = dcsctp::new_socket("client", &options);
    let mut server = dcsctp::new_socket("server", &options);
    client.connect();
    // When packets leave the queue and arrive, and when acknowledgements arrive.
    let mut queue: VecDeque<Duration> = VecDeque::new();
    let mut forward: VecDeque<(Duration, Vec<u8>)> = VecDeque::new();
    let mut backward: VecDeque<(Duration, Vec<u8>)> = VecDeque::new();
    let (mut now, mut dropped) = (Duration::ZERO, 0);
    // Packets that leave in each second.
    let mut sent = [0; 4];
    while now < END {
        while client.buffered_amount(StreamId(1)) < 1 << 20 {
            let message = Message::new(StreamId(1), PpId(53), vec![0; 16 << 10]);
            client.send(message, &SendOptions::default()).unwrap();
        }
        while let Some(event) = client.poll_event() {
            let SocketEvent::SendPacket(packet) = event else { continue };
            sent[now.as_secs() as usize] += 1;
            while queue.front().is_some_and(|&leaves| leaves <= now) {
                queue.pop_front();
            }
            if queue.len() == QUEUE {
                dropped += 1;
                continue;
            }
            let begins = queue.back().map_or(now, |&leaves| leaves.max(now));
            let leaves = begins + Duration::from_nanos(NANOS_PER_OCTET * (packet.len() as u64 + 28));
            queue.push_back(leaves);
            forward.push_back((leaves + ONE_WAY, packet));
        }
        while let Some(event) = server.poll_event() {
            if let SocketEvent::SendPacket(packet) = event {
                backward.push_back((now + ONE_WAY, packet));
            }
        }
        while server.get_next_message().is_some() {}
        let arrivals = [&forward, &backward].map(|line| line.front().map_or(Duration::MAX, |(at, _)| *at));
        let timers = due(client.as_ref()).min(due(server.as_ref()));
        now = arrivals[0].min(arrivals[1]).min(timers);
        client.advance_time(time(now));
        server.advance_time(time(now));
        if arrivals[0] == now {
            server.handle_input(&forward.pop_front().unwrap().1);
        } else if arrivals[1] == now {
            client.handle_input(&backward.pop_front().unwrap().1);
        }
    }
    println!("{dropped} of {} packets dropped in the first second; then {:?} a second", sent[0], &sent[1..]);
}
RS
seen=$(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
[ "$seen" = "81 of 463 packets dropped in the first second; then [14, 15, 19] a second" ]
