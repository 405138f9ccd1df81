#!/bin/sh
# quiche 0.30.0 (crate): a bulk transfer leaves in packets of a third of the size that they may have.
#
# Guess:     a client that always has data to send fills its packets, but for the last one of a window now and
#            then. The default limit is 1200 octets.
# Behaviour: send() cuts each packet to what is free of the congestion window, and an ACK rarely frees a multiple
#            of 1200 octets, since CUBIC adds parts of a packet. The rest leaves as a packet of its own; its ACK
#            frees as little, and small packets beget small ones: the silly window of TCP (RFC 9293,
#            section 3.8.6.2.1). After half a second most packets are small, and they stay so.
#            A larger send_capacity_factor does not change it.
# Seen:      cubic: below 600 octets per packet: true
# A path of 10 Mb/s carries 7.7 Mb/s of data; full packets would carry 9.4. Where every 20th packet is 20 ms late,
# 20 s take 84,000 packets for 16 MB, of which the queue drops half.
# Needs cmake, a C++ compiler, and some minutes to compile BoringSSL.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cd "$work"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x -keyout key.pem -out cert.pem \
    2> /dev/null
cat > Cargo.toml <<'TOML'
[package]
name = "transfer"
version = "0.0.0"
edition = "2021"

[dependencies]
quiche = "=0.30.0"
TOML
cat > src/main.rs <<'RS'
//! A client that sends without end and a server over 10 Mb/s, 25 ms each way and a queue of 50 packets.
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use quiche::{Config, Connection, ConnectionId, RecvInfo};

static NOW: AtomicU64 = AtomicU64::new(1_000_000_000_000_000_000);

/// quiche asks the system for the time: the program answers, with the time of its path.
#[no_mangle]
extern "C" fn clock_gettime(_: i32, time: *mut [i64; 2]) -> i32 {
    let now = NOW.load(Relaxed);
    unsafe { *time = [(now / 1_000_000_000) as i64, (now % 1_000_000_000) as i64] };
    0
}

fn config(control: &str) -> Config {
    let mut config = Config::new(quiche::PROTOCOL_VERSION).unwrap();
    config.load_cert_chain_from_pem_file("cert.pem").unwrap();
    config.load_priv_key_from_pem_file("key.pem").unwrap();
    config.set_application_protos(&[b"x"]).unwrap();
    config.set_initial_max_data(8 << 20);
    config.set_initial_max_stream_data_uni(8 << 20);
    config.set_initial_max_streams_uni(1);
    config.set_cc_algorithm_name(control).unwrap();
    config.verify_peer(false);
    config
}

/// A connection, and its packets that wait for `SendInfo::at`.
struct End {
    connection: Connection,
    waiting: VecDeque<(Instant, Vec<u8>)>,
}

/// Mb/s that arrive in 20 s, and octets of the client's average packet.
fn transfer(control: &str, ahead: Option<Duration>) -> (f64, usize) {
    let address: [SocketAddr; 2] = ["10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap()];
    let [a, b] = [1, 2].map(|n| ConnectionId::from_vec(vec![n; 16]));
    let client = quiche::connect(None, &a, address[0], address[1], &mut config(control)).unwrap();
    let server = quiche::accept(&b, None, address[1], address[0], &mut config(control)).unwrap();
    let mut end = [client, server].map(|connection| End { connection, waiting: VecDeque::new() });
    let start = Instant::now();
    let last = start + Duration::from_secs(20);
    // Arrival, number, at which end, data.
    let mut path: BinaryHeap<Reverse<(Instant, u64, usize, Vec<u8>)>> = BinaryHeap::new();
    let (mut queue, mut number, mut packets, mut octets, mut read) = (VecDeque::new(), 0, 0, 0, 0);
    let mut room = vec![0; 65536];
    loop {
        let now = Instant::now();
        while path.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((_, _, to, mut data))) = path.pop() else { break };
            let (from, to_address): (SocketAddr, SocketAddr) = (address[1 - to], address[to]);
            let _ = end[to].connection.recv(&mut data, RecvInfo { from, to: to_address });
        }
        let mut next = last;
        for side in [1, 0] {
            let End { connection, waiting } = &mut end[side];
            if connection.timeout_instant().is_some_and(|at| at <= now) {
                connection.on_timeout();
            }
            while let Ok((length, _)) = connection.stream_recv(2, &mut room) {
                read += length;
            }
            loop {
                if side == 0 && connection.is_established() {
                    let _ = connection.stream_send(2, &room, false);
                }
                let ahead = ahead.unwrap_or(connection.max_release_into_future());
                let release = connection.get_next_release_time().and_then(|at| at.time(now));
                if let Some(at) = release.map(|at| at - ahead).filter(|at| *at > now) {
                    next = next.min(at);
                    break;
                }
                let Ok((length, info)) = connection.send(&mut room) else { break };
                waiting.push_back((info.at, room[..length].to_vec()));
            }
            while waiting.front().is_some_and(|(at, _)| *at <= now) {
                let Some((_, data)) = waiting.pop_front() else { break };
                let mut at = now;
                if side == 0 {
                    packets += 1;
                    octets += data.len();
                    while queue.front().is_some_and(|at| *at <= now) {
                        queue.pop_front();
                    }
                    if queue.len() == 50 {
                        continue;
                    }
                    let free = queue.back().copied().unwrap_or(now);
                    at = free + Duration::from_nanos((data.len() as u64 + 28) * 800);
                    queue.push_back(at);
                }
                number += 1;
                path.push(Reverse((at + Duration::from_millis(25), number, 1 - side, data)));
            }
            next = next.min(waiting.front().map_or(last, |(at, _)| *at));
            next = next.min(connection.timeout_instant().unwrap_or(last));
        }
        next = next.min(path.peek().map_or(last, |Reverse((at, ..))| *at));
        if next >= last {
            return (read as f64 * 8.0 / 20e6, octets / packets);
        }
        NOW.fetch_add((next - now).as_nanos() as u64, Relaxed);
    }
}

fn main() {
    let (_, average) = transfer("cubic", None);
    eprintln!("{average} octets per packet");
    println!("cubic: below 600 octets per packet: {}", average < 600);
}
RS
seen=$(CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$work/target}" cargo run -q --release)
echo "$seen"
[ "$seen" = "cubic: below 600 octets per packet: true" ]
