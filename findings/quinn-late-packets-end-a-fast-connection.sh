#!/bin/sh
# quinn-proto 0.11.19 (crate): a receiver ends an honest connection when packets overtake each other on a fast path.
#
# Guess:     data behind a gap is held up to the windows of flow control; what is contiguous becomes one piece, so
#            that only as many pieces are held as there are gaps.
# Behaviour: Assembler::defragment leaves a piece as it is that it has copied before and that is longer than
#            1/1024 of what is held. The packets that later fill the gaps between such pieces stay pieces as well.
#            If more than 1024 are left, the connection is closed: "too many gaps in stream buffer".
# Seen:      1 Gb/s, a round trip of 20 ms, every fourth packet late by 0 to 1.5 ms, stream_receive_window of 8 MB:
#            after 258 ms and 7491002 octets: ... too many gaps in stream buffer
# The sender's thresholds (packet_threshold 500) let it keep its window. With the default of 3 it halves the window at
# each late packet, and never has as much in flight.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat > "$work/Cargo.toml" <<'TOML'
[package]
name = "late"
version = "0.0.0"
edition = "2024"

[dependencies]
bytes = "1"
quinn-proto = { version = "=0.11.19", default-features = false, features = ["rustls-ring"] }
rcgen = { version = "0.14", default-features = false, features = ["ring"] }
rustls = { version = "0.23", default-features = false, features = ["ring", "std"] }

[profile.dev]
opt-level = 2

[workspace]
TOML
cat > "$work/src/main.rs" <<'RS'
use bytes::BytesMut;
use quinn_proto::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = key.cert.der().clone();
    let mut transport = TransportConfig::default();
    // Windows for 1 Gb/s, and a sender that lets 500 packets overtake one.
    transport.stream_receive_window((8u32 << 20).into()).send_window(8 << 20);
    transport.packet_threshold(500).time_threshold(1.25);
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_single_cert(
        vec![certificate.clone()],
        rustls::pki_types::PrivateKeyDer::Pkcs8(key.signing_key.serialize_der().into()),
    )
    .unwrap();
    server.transport_config(transport.clone());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client.transport_config(transport);

    let origin = Instant::now();
    let config = Arc::new(EndpointConfig::default());
    let addresses = ["10.0.0.2:1".parse().unwrap(), "10.0.0.1:1".parse().unwrap()];
    let mut endpoints = [
        Endpoint::new(config.clone(), None, true, Some([1; 32])),
        Endpoint::new(config, Some(Arc::new(server)), true, Some([2; 32])),
    ];
    let mut connections =
        [Some(endpoints[0].connect(origin, client, addresses[1], "localhost").unwrap()), None];
    // The path: 1 Gb/s, 10 ms each way, every fourth packet of the client later by 0 to 1.5 ms.
    let mut arrivals: BinaryHeap<Reverse<(Instant, usize, usize)>> = BinaryHeap::new();
    let mut packets: Vec<Vec<u8>> = Vec::new();
    let (mut free, mut count, mut received, mut now, mut stream) =
        (origin, 0u64, 0u64, origin, None);
    while now < origin + Duration::from_secs(10) {
        for side in 0..2 {
            let Some((handle, connection)) = &mut connections[side] else { continue };
            if connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = endpoints[side].handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            while let Some(event) = connection.poll() {
                if let Event::ConnectionLost { reason } = event {
                    println!("after {:?} and {received} octets: {reason}", now - origin);
                    return;
                }
            }
            if side == 0 {
                stream = stream.or_else(|| connection.streams().open(Dir::Uni));
                if let Some(stream) = stream {
                    while connection.send_stream(stream).write(&[7; 65536]).is_ok_and(|n| n > 0) {}
                }
            } else {
                while connection.streams().accept(Dir::Uni).is_some() {}
                let mut stream = connection.recv_stream(StreamId::new(Side::Client, Dir::Uni, 0));
                if let Ok(mut chunks) = stream.read(true) {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        received += chunk.bytes.len() as u64;
                    }
                    let _ = chunks.finalize();
                }
            }
            loop {
                let mut data = Vec::new();
                let Some(transmit) = connection.poll_transmit(now, 1, &mut data) else { break };
                data.truncate(transmit.size);
                if side == 0 {
                    while connection
                        .send_stream(stream.unwrap_or(StreamId::new(Side::Client, Dir::Uni, 0)))
                        .write(&[7; 65536])
                        .is_ok_and(|n| n > 0)
                    {}
                    if free > now + Duration::from_millis(10) {
                        continue; // The queue is full.
                    }
                    free = free.max(now) + Duration::from_nanos(8 * data.len() as u64);
                    count += 1;
                    // A linear congruential generator.
                    let late = if count % 4 == 0 {
                        (count.wrapping_mul(6364136223846793005) >> 33) % 1500
                    } else {
                        0
                    };
                    arrivals.push(Reverse((
                        free + Duration::from_micros(10_000 + late),
                        1,
                        packets.len(),
                    )));
                } else {
                    arrivals.push(Reverse((now + Duration::from_millis(10), 0, packets.len())));
                }
                packets.push(data);
            }
        }
        let due = connections.iter_mut().flatten().filter_map(|(_, c)| c.poll_timeout()).min();
        let arrival = arrivals.peek().map(|Reverse((at, ..))| *at);
        let Some(next) = [due, arrival].into_iter().flatten().min() else { break };
        now = next.max(now);
        while arrivals.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Reverse((_, to, id)) = arrivals.pop().unwrap();
            let data = BytesMut::from(&std::mem::take(&mut packets[id])[..]);
            let mut answer = Vec::new();
            match endpoints[to].handle(now, addresses[1 - to], None, None, data, &mut answer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    connections[to] = endpoints[to].accept(incoming, now, &mut answer, None).ok()
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    connections[to].as_mut().unwrap().1.handle_event(event)
                }
                _ => {}
            }
        }
    }
    println!("after {:?}: {received} octets, no error", now - origin);
}
RS
seen=$(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo run -q)
echo "$seen"
case $seen in *"too many gaps in stream buffer"*) ;; *) exit 1 ;; esac
