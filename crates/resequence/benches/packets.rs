//! Cost of the core per packet, in nanoseconds: `cargo bench -p unruffled-resequence --bench packets`.
//!
//! Each case is a list of packets by arrival, which a fresh resequencer handles as the worker does: a packet,
//! what goes on, and the timeouts that are due. Prints a table in Markdown. With `-- --one CASE` it replays one
//! case once and prints the number of packets; `instructions.sh` beside it counts the instructions.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant as Clock;

use unruffled_resequence::{Config, Flow, Packet, Protocol, Resequencer, Role};
use unruffled_units::{Duration, Instant};

/// A packet and its arrival.
type Arrival = (Instant, Packet);

/// Octets of data in a packet.
const MSS: u32 = 1448;

/// Time from packet to packet at 1 Gb/s, in nanoseconds.
const SPACING: u64 = 12_000;

/// Time at which data begin, after the handshakes.
const START: Instant = Instant::from_millis(1100);

/// Name of a case, and the function that makes about as many packets as it is given.
type Case = (&'static str, fn(usize) -> Vec<Arrival>);

const CASES: [Case; 12] = [
    ("in order, 1 flow", |count| in_order(count, 1)),
    ("in order, 1000 flows", |count| in_order(count, 1000)),
    ("every second packet 4 ms late, 1 flow", |count| late(count, 1, 2, 4)),
    ("5 % 40 ms late, 1000 flows", |count| late(count, 1000, 20, 40)),
    ("every second packet 200 ms late, 1 flow", |count| late(count, 1, 2, 200)),
    ("1 % lost, 1 flow", lost),
    ("hostile: a new flow each", |count| new_flows(count, false)),
    ("hostile: a SYN each", |count| new_flows(count, true)),
    ("hostile: random numbers and timestamps", random_numbers),
    ("hostile: retransmissions while 16 000 packets are held", resent),
    ("hostile: copies across 700 gaps", copies),
    ("hostile: each number twice, the later transmission first", found),
];

/// Returns flow `n`, whose source is in a network that it shares with 99 others.
fn flow(n: u32) -> Flow {
    let source = u128::from(n / 100) << 80 | u128::from(n);
    Flow {
        protocol: Protocol::Tcp,
        interface: 1,
        source: IpAddr::V6(Ipv6Addr::from(source)),
        destination: IpAddr::V6(Ipv6Addr::LOCALHOST),
        ports: (443, 50_000),
        context: 0,
    }
}

fn packet(n: u32, role: Role) -> Packet {
    Packet { flow: flow(n), role, octets: 3000 }
}

fn data(n: u32, number: u64, span: u32, sent: u32) -> Packet {
    packet(n, Role::Data { number: number & 0xffff_ffff, span, timestamp: Some(sent) })
}

/// Returns the handshakes of `flows`, of 100 ms each, which end before [`START`].
fn handshakes(flows: u32) -> Vec<Arrival> {
    let at = |n: u32, after: u64| Instant::from_millis(after) + Duration::from_micros(u64::from(n));
    let syns = (0..flows).map(|n| (at(n, 900), packet(n, Role::Open { next: 0 })));
    let ends = (0..flows).map(|n| (at(n, 1000), packet(n, Role::Acknowledgement)));
    syns.chain(ends).collect()
}

fn in_order(count: usize, flows: u32) -> Vec<Arrival> {
    late(count, flows, usize::MAX, 0)
}

/// Packets of `flows` in turn, of which every `every`-th is late by `ms`.
fn late(count: usize, flows: u32, every: usize, ms: u64) -> Vec<Arrival> {
    let mut arrivals = BTreeMap::new();
    for n in 0..count {
        let sent = START + Duration::from_nanos(SPACING * n as u64);
        let of = n as u32 % flows;
        let number = u64::from(MSS) * (n as u64 / u64::from(flows));
        // The late packets are those of all flows in turn.
        let is_late = (of as usize + n / flows as usize) % every == every - 1;
        let arrival = if is_late { sent + Duration::from_millis(ms) } else { sent };
        let stamp = (sent.as_nanos() / 1_000_000) as u32;
        arrivals.insert((arrival, n), data(of, number, MSS, stamp));
    }
    let mut all = handshakes(flows);
    all.extend(arrivals.into_iter().map(|((at, _), packet)| (at, packet)));
    all
}

/// Packets of which one in a hundred is lost and sent again 100 ms later.
fn lost(count: usize) -> Vec<Arrival> {
    let mut arrivals = BTreeMap::new();
    for n in 0..count {
        let mut sent = START + Duration::from_nanos(SPACING * n as u64);
        if n % 100 == 50 {
            sent += Duration::from_millis(100);
        }
        let stamp = (sent.as_nanos() / 1_000_000) as u32;
        arrivals.insert((sent, n), data(0, u64::from(MSS) * n as u64, MSS, stamp));
    }
    let mut all = handshakes(1);
    all.extend(arrivals.into_iter().map(|((at, _), packet)| (at, packet)));
    all
}

/// Returns the arrivals of packets of flow 0 and others, 1 µs apart, after its handshake. Another flow has shown
/// the path that packets are 150 ms late.
fn burst(packets: impl IntoIterator<Item = Packet>) -> Vec<Arrival> {
    let mut all = handshakes(2);
    let mut at = START;
    for (after, n) in [(0, 0), (1, 2000), (150, 1000)] {
        at += Duration::from_millis(after);
        all.push((at, data(1, n, 1000, n as u32)));
    }
    for packet in packets {
        at += Duration::from_micros(1);
        all.push((at, packet));
    }
    all
}

fn new_flows(count: usize, is_syn: bool) -> Vec<Arrival> {
    burst((0..count as u32).map(|n| match is_syn {
        true => packet(n, Role::Open { next: n }),
        false => data(n, u64::from(n), MSS, n),
    }))
}

/// A generator of random numbers (Knuth's MMIX).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn random_numbers(count: usize) -> Vec<Arrival> {
    let mut state = 1;
    burst((0..count).map(|_| {
        let number = random(&mut state) % (32 << 20);
        data(0, number, 1 + (random(&mut state) % 1448) as u32, random(&mut state) as u32)
    }))
}

/// In turns, 16 000 packets that are held, and as many that fill a part of the gap before them, but were sent
/// after them.
fn resent(count: usize) -> Vec<Arrival> {
    burst((0..count).map(|n| {
        let (turn, n) = ((n / 32_000) as u64, (n % 32_000) as u64);
        let base = turn * 10_000_000;
        match n {
            0..16_000 => data(0, base + 5_000_000 + 100 * n, 100, turn as u32 * 10),
            _ => data(0, base + 200 * (n - 15_999), 100, turn as u32 * 10 + 5),
        }
    }))
}

/// Every second of 1400 octets of a gap is sent again; then a packet that covers all of them, over and over.
fn copies(count: usize) -> Vec<Arrival> {
    burst((0..count).map(|n| match n {
        0 => data(0, 0, 1000, 1),
        1 => data(0, 100_000, 1000, 10),
        2..702 => data(0, 2000 + 2 * n as u64, 1, 20),
        _ => data(0, 2000, MSS, 20),
    }))
}

/// A gap whose packets arrive as retransmissions first, and then as first transmissions.
fn found(count: usize) -> Vec<Arrival> {
    burst((0..count).map(|n| {
        let number = 1000 + 20 * (n / 2) as u64;
        match n {
            0 => data(0, 50_000_000, 1000, 10),
            _ if n % 2 == 1 => data(0, number, 10, 20),
            _ => data(0, number - 20, 10, 5),
        }
    }))
}

/// Handles the packets. Returns nanoseconds per packet.
#[inline(never)]
fn replay(arrivals: &[Arrival]) -> f64 {
    let mut resequencer = Resequencer::new(Config { always_hold: true, ..Config::default() });
    let mut released = 0;
    let clock = Clock::now();
    for (n, (now, packet)) in arrivals.iter().enumerate() {
        while resequencer.poll_timeout().is_some_and(|due| due <= *now) {
            resequencer.handle_timeout(*now);
        }
        resequencer.handle(packet, n as u32, *now);
        while resequencer.poll_release().is_some() {
            released += 1;
        }
    }
    let nanos = clock.elapsed().as_secs_f64() * 1e9;
    assert_eq!(released + resequencer.load().packets, arrivals.len());
    nanos / arrivals.len() as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Cargo's test run starts benches too, with --test: one short round shows that they work.
    let (count, rounds) = if words.contains(&"--test") { (2000, 1) } else { (500_000, 3) };
    if let ["--one", case] = words[..] {
        let (_, make) = CASES.iter().find(|(name, _)| *name == case).expect("the name of a case");
        let arrivals = make(count);
        replay(&arrivals);
        println!("{}", arrivals.len());
        return;
    }
    println!("| packets | ns per packet |\n|---|---:|");
    for (name, make) in CASES {
        let arrivals = make(count);
        // The best of three: other load on the machine only adds time.
        let best = (0..rounds).map(|_| replay(&arrivals)).fold(f64::INFINITY, f64::min);
        println!("| {name} | {best:.0} |");
    }
}
