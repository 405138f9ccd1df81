//! Random packets: nothing is lost or doubled, nothing leaves late, and order is kept where the hold allows.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use unruffled_resequence::{Config, Flow, Packet, Protocol, Resequencer, Role};
use unruffled_units::{Duration, Instant};

use crate::trace::{ms, tcp};

/// Kinds of flows.
const PROTOCOLS: [Protocol; 4] =
    [Protocol::Tcp, Protocol::WireGuard, Protocol::Esp, Protocol::OpenVpn];

/// Returns flow `n`: of each protocol in turn, all from one network except each eighth.
fn flow(n: u8) -> Flow {
    let protocol = PROTOCOLS[usize::from(n % 4)];
    Flow { protocol, ..tcp(if n % 8 == 7 { 100 * u32::from(n) } else { u32::from(n) }) }
}

/// A resequencer that checks each call, and what it holds.
struct Checked {
    resequencer: Resequencer<u64>,
    config: Config,
    now: Instant,
    /// Whether timeouts are handled when they are due.
    is_punctual: bool,
    /// Arrival and octets of the packets that have not gone on, by token.
    inside: BTreeMap<u64, (Instant, u32)>,
    count: u64,
}

impl Checked {
    fn new(config: Config, is_punctual: bool) -> Self {
        let resequencer = Resequencer::new(config);
        let (now, inside) = (Instant::ZERO, BTreeMap::new());
        Self { resequencer, config, now, is_punctual, inside, count: 0 }
    }

    /// Takes what goes on now, and checks it and the load.
    fn drain(&mut self) -> Vec<u64> {
        let mut out = Vec::new();
        while let Some(token) = self.resequencer.poll_release() {
            let (arrived, _) =
                self.inside.remove(&token).expect("released once, after its arrival");
            let waited = self.now.since(arrived);
            assert!(!self.is_punctual || waited <= self.config.max_hold, "{token} waited {waited}");
            out.push(token);
        }
        let load = self.resequencer.load();
        let octets = self.inside.values().map(|&(_, octets)| u64::from(octets)).sum::<u64>();
        assert_eq!((load.packets, load.octets), (self.inside.len(), octets));
        assert!(load.flows <= self.config.max_flows.max(1));
        assert!(load.paths <= self.config.max_paths.max(1));
        assert!(load.packets > 0 || self.resequencer.poll_timeout().is_none());
        assert!(load.packets == 0 || self.resequencer.poll_timeout().is_some());
        out
    }

    /// Handles a timeout at `now`, after which the next one is later.
    fn timeout(&mut self, now: Instant) -> Vec<u64> {
        self.now = now;
        self.resequencer.handle_timeout(now);
        assert!(self.resequencer.poll_timeout().is_none_or(|due| due > now));
        self.drain()
    }

    /// Moves to `now`. Returns what went on meanwhile.
    fn until(&mut self, now: Instant) -> Vec<u64> {
        let mut out = Vec::new();
        while self.is_punctual
            && let Some(due) = self.resequencer.poll_timeout()
            && due <= now
        {
            assert!(due > self.now);
            out.extend(self.timeout(due));
        }
        self.now = now;
        out
    }

    /// Handles a packet at the current time. Returns its token, and what goes on now.
    fn handle(&mut self, flow: Flow, role: Role, octets: u32) -> (u64, Vec<u64>) {
        self.count += 1;
        let token = self.count;
        self.inside.insert(token, (self.now, octets));
        self.resequencer.handle(&Packet { flow, role, octets }, token, self.now);
        let out = self.drain();
        let load = self.resequencer.load();
        assert!(load.packets <= self.config.max_packets && load.octets <= self.config.budget);
        (token, out)
    }

    /// Ends all waits. Nothing remains.
    fn end(&mut self) -> Vec<u64> {
        self.resequencer.release_all(self.now);
        let out = self.drain();
        assert_eq!(self.inside.len(), 0);
        let load = self.resequencer.load();
        assert_eq!((load.packets, load.octets, self.resequencer.poll_timeout()), (0, 0, None));
        out
    }
}

/// A call at some time after the one before.
#[derive(Clone, Debug)]
enum Call {
    Packet { flow: u8, role: Role, octets: u32 },
    Timeout,
    ReleaseAll,
}

/// Generates numbers near each other, near the wraps, and anywhere.
fn numbers() -> impl Strategy<Value = u64> {
    let extremes =
        [0, 1, u64::MAX, u64::MAX - 1, 1 << 31, 1 << 32, (1 << 32) - 1, 1 << 63, 1 << 40];
    prop_oneof![
        12 => (0..40_u64).prop_map(|n| 500 * n),
        3 => 0..60_u64,
        2 => (0..20_u64).prop_map(|n| (500 * n).wrapping_sub(5000)),
        2 => (0..20_u64).prop_map(|n| (500 * n).wrapping_sub(5000) & 0xffff_ffff),
        1 => (0..200_u64).prop_map(|n| n << 20),
        1 => prop::sample::select(extremes.to_vec()),
        1 => any::<u64>(),
    ]
}

fn roles() -> impl Strategy<Value = Role> {
    let spans = prop_oneof![
        4 => Just(500), 2 => Just(1), 1 => 0..5000_u32, 1 => Just(65_535), 1 => Just(u32::MAX),
    ];
    let stamps = prop_oneof![4 => 0..50_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    let data = (numbers(), spans, option::of(stamps))
        .prop_map(|(number, span, timestamp)| Role::Data { number, span, timestamp });
    prop_oneof![
        20 => data,
        2 => numbers().prop_map(|next| Role::Open { next: next as u32 }),
        2 => Just(Role::Acknowledgement),
        1 => Just(Role::Close),
    ]
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    let octets = prop_oneof![8 => Just(3000), 1 => Just(131_070), 1 => any::<u32>()];
    let call = prop_oneof![
        20 => (0..10_u8, roles(), octets)
            .prop_map(|(flow, role, octets)| Call::Packet { flow, role, octets }),
        1 => Just(Call::Timeout),
        1 => (0..20_u8).prop_map(|n| if n == 0 { Call::ReleaseAll } else { Call::Timeout }),
    ];
    // Times between calls, in nanoseconds. The clock stands still at its end.
    let ms = |range: std::ops::Range<u64>| range.prop_map(|ms| 1_000_000 * ms);
    let time = prop_oneof![
        4 => Just(0), 4 => 0..1_000_000_u64, 8 => ms(0..20), 3 => ms(20..400), 1 => ms(400..6000),
    ];
    vec((time, call), 0..400)
}

fn configs() -> impl Strategy<Value = Config> {
    let holds = [0, 30, 1000, 60_000].map(Duration::from_millis);
    let large = 128 << 20;
    (
        prop::sample::select(holds.to_vec()),
        prop::sample::select(vec![0, 7000, 30_000, large, large, u64::MAX]),
        prop::sample::select(&[0, 1, 5, 32_768, 32_768]),
        prop::sample::select(&[0, 1, 3, 65_536]),
        prop::sample::select(&[0, 1, 4096]),
        prop::sample::select(&[true, true, true, false]),
    )
        .prop_map(|(max_hold, budget, max_packets, max_flows, max_paths, always_hold)| {
            Config {
                max_hold,
                budget,
                max_packets,
                max_flows,
                max_paths,
                always_hold,
                ..Config::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_packets_leave_once_and_within_the_bounds(
        config in configs(), is_punctual: bool, start in prop::sample::select(&[0, 10, 3_600_000]), calls in calls(),
    ) {
        let mut checked = Checked::new(config, is_punctual);
        checked.until(Instant::from_millis(start));
        for (time, call) in calls {
            checked.until(checked.now + Duration::from_nanos(time));
            match call {
                Call::Packet { flow: n, role, octets } => {
                    let (token, out) = checked.handle(flow(n), role, octets);
                    let is_data = matches!(role, Role::Data { span: 1.., .. });
                    assert!(is_data || out.contains(&token), "{role:?} waits");
                }
                Call::Timeout => {
                    checked.timeout(checked.now);
                }
                Call::ReleaseAll => {
                    checked.end();
                }
            }
        }
        checked.end();
    }

    #[test]
    fn the_end_of_the_clock_is_no_harm(calls in calls()) {
        let mut checked = Checked::new(Config::default(), false);
        checked.until(Instant::from_nanos(u64::MAX - 2_000_000_000));
        for (time, call) in calls {
            checked.until(checked.now + Duration::from_nanos(time));
            if let Call::Packet { flow: n, role, octets } = call {
                checked.handle(flow(n), role, octets);
            }
        }
        checked.end();
    }
}

/// A flow of packets as its sender numbers them.
#[derive(Clone, Debug)]
struct Numbers {
    flow: Flow,
    first: u64,
    stamped: bool,
}

impl Numbers {
    /// Returns the number of a packet that begins `offset` after the first one.
    fn role(&self, offset: u64, span: u32, sent: Instant) -> Role {
        let is_tcp = self.flow.protocol == Protocol::Tcp;
        let mask = if self.flow.protocol == Protocol::WireGuard { u64::MAX } else { 0xffff_ffff };
        let number = self.first.wrapping_add(offset) & mask;
        let timestamp = (is_tcp && self.stamped).then_some((sent.as_nanos() / 1_000_000) as u32);
        Role::Data { number, span: if is_tcp { span } else { 1 }, timestamp }
    }

    fn step(&self, span: u32) -> u64 {
        if self.flow.protocol == Protocol::Tcp { u64::from(span) } else { 1 }
    }
}

/// Generates some flows of different protocols, whose numbers may wrap.
fn flows(max: usize) -> impl Strategy<Value = Vec<Numbers>> {
    let first = prop_oneof![
        any::<u64>(),
        (0..50_000_u64).prop_map(|n| 0xffff_ffff - n),
        (0..50_u64).prop_map(|n| u64::MAX - n),
    ];
    vec((first, any::<bool>()), 1..=max).prop_map(|flows| {
        let of = |(n, (first, stamped))| Numbers { flow: flow(n as u8), first, stamped };
        flows.into_iter().enumerate().map(of).collect()
    })
}

/// A packet of a transfer.
#[derive(Clone, Debug)]
struct Sent {
    /// Place of the flow in the list; taken modulo its length.
    flow: usize,
    /// Time since the packet before, in microseconds.
    after_us: u64,
    span: u32,
    /// Share of the longest lateness by which it is late.
    late: f64,
    is_lost: bool,
    is_doubled: bool,
}

fn sent() -> impl Strategy<Value = Sent> {
    let after_us = prop_oneof![4 => Just(0), 4 => 0..2000_u64, 1 => 0..50_000_u64];
    let span = prop_oneof![Just(1448), Just(65_160), 1..3000_u32];
    let late = prop_oneof![2 => Just(0.0), 1 => 0.0..1.0];
    let chances = (0..40_u8, 0..20_u8).prop_map(|(lost, doubled)| (lost == 0, doubled == 0));
    (0..6_usize, after_us, span, late, chances).prop_map(
        |(flow, after_us, span, late, (is_lost, is_doubled))| Sent {
            flow,
            after_us,
            span,
            late,
            is_lost,
            is_doubled,
        },
    )
}

/// Opens a connection with a handshake of 100 ms, or a tunnel with its first packet. Returns the offset of the
/// next number.
fn open(checked: &mut Checked, numbers: &Numbers) -> u64 {
    if numbers.flow.protocol != Protocol::Tcp {
        checked.handle(numbers.flow, numbers.role(0, 1, checked.now), 200);
        return 1;
    }
    let next = numbers.first as u32;
    checked.handle(numbers.flow, Role::Open { next }, 200);
    checked.until(checked.now + ms(100));
    checked.handle(numbers.flow, Role::Acknowledgement, 200);
    0
}

/// Shows the path that every fifth packet of a connection is late by `late`.
fn show(checked: &mut Checked, late: Duration) {
    let numbers = Numbers { flow: tcp(99), first: 0, stamped: false };
    open(checked, &numbers);
    let mut arrivals = BTreeSet::new();
    for n in 0..500_u64 {
        let sent = checked.now + ms(5 * n + 1);
        let extra = if n % 5 == 3 { late } else { Duration::ZERO };
        arrivals.insert((sent + extra, n));
    }
    for (at, n) in arrivals {
        checked.until(at);
        checked.handle(numbers.flow, numbers.role(1000 * n, 1000, at), 3000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn packets_in_order_pass_at_once(flows in flows(6), sent in vec(sent(), 1..300)) {
        let mut checked = Checked::new(Config::default(), true);
        let mut next: Vec<u64> = flows.iter().map(|numbers| open(&mut checked, numbers)).collect();
        for packet in sent {
            let at = packet.flow % flows.len();
            let now = checked.now + Duration::from_micros(packet.after_us);
            assert_eq!(checked.until(now), []);
            let role = flows[at].role(next[at], packet.span, now);
            next[at] += flows[at].step(packet.span);
            let (token, out) = checked.handle(flows[at].flow, role, 3000);
            assert_eq!(out, [token]);
        }
        assert_eq!(checked.resequencer.counters().held, 0);
    }

    /// The path shows a lateness of `longest`, and later packets are less late than nine tenths of that.
    /// Numbers then go on in order. Without losses the hold covers the lateness in any case; with losses it may
    /// be shorter, where to wait for them costs more.
    #[test]
    fn what_is_less_late_than_the_path_has_shown_leaves_in_order(
        longest_ms in 5..250_u64, flows in flows(4), sent in vec(sent(), 1..400), loses: bool,
    ) {
        let longest = ms(longest_ms);
        let mut checked = Checked::new(Config { always_hold: true, ..Config::default() }, true);
        show(&mut checked, longest);
        let mut next: Vec<u64> = flows.iter().map(|numbers| open(&mut checked, numbers)).collect();
        // Flow, first number and role of each packet, by its arrival.
        let mut arrivals = BTreeMap::new();
        let mut time = checked.now;
        for (n, packet) in sent.iter().enumerate() {
            let at = packet.flow % flows.len();
            time += Duration::from_micros(packet.after_us);
            let (first, role) = (next[at], flows[at].role(next[at], packet.span, time));
            next[at] += flows[at].step(packet.span);
            if loses && packet.is_lost {
                continue;
            }
            let arrival = time + longest.mul_f64(0.9 * packet.late);
            arrivals.insert((arrival, n, false), (at, first, role));
            if packet.is_doubled {
                arrivals.insert((arrival + longest.mul_f64(0.05), n, true), (at, first, role));
            }
        }
        let mut packets = BTreeMap::new();
        let mut order = Vec::new();
        let mut covers = true;
        for (&(arrival, n, is_copy), &(at, first, role)) in &arrivals {
            order.extend(checked.until(arrival));
            let path = flows[at].flow.path();
            let state = checked.resequencer.paths().into_iter().find(|state| state.path == path);
            covers &= state.is_some_and(|state| state.hold >= longest.mul_f64(0.9));
            assert!(loses || covers, "the hold does not cover what the path showed");
            let (token, out) = checked.handle(flows[at].flow, role, 3000);
            order.extend(out);
            packets.insert(token, (at, n, first, is_copy));
        }
        order.extend(checked.until(checked.now + Duration::from_secs(3)));
        if !covers {
            return Ok(());
        }
        // Of two copies, the one that arrives later may leave at any time.
        let mut seen = BTreeSet::new();
        let mut last = vec![None; flows.len()];
        for token in order {
            let Some(&(at, n, first, _)) = packets.get(&token) else { continue };
            if seen.insert(n) {
                assert!(last[at].is_none_or(|last| last < first), "flow {at}: {first} is behind");
                last[at] = Some(first);
            }
        }
        assert_eq!(seen.len(), packets.values().filter(|packet| !packet.3).count());
    }
}

#[test]
fn a_million_hostile_flows_stay_within_the_limits() {
    let config = Config {
        max_flows: 1000,
        max_paths: 50,
        max_packets: 2000,
        budget: 3_000_000,
        always_hold: true,
        ..Config::default()
    };
    let mut checked = Checked::new(config, true);
    for n in 0..1_000_000_u64 {
        checked.until(checked.now + Duration::from_micros(1));
        // A flow in a network of its own, or one of the last ten thousand again.
        let host = if n % 3 == 0 { n } else { n.saturating_sub(n * 7919 % 10_000) };
        let source = IpAddr::V6(Ipv6Addr::from(u128::from(host) << 70));
        let flow = Flow { source, ..flow((host % 7) as u8) };
        let number = 3000 * (n * 31 % 17);
        let role = match n % 5 {
            0 => Role::Open { next: number as u32 },
            _ => Role::Data { number, span: 1000, timestamp: Some(n as u32) },
        };
        checked.handle(flow, role, 3000);
    }
    assert!(checked.resequencer.counters().flows_evicted > 300_000);
    assert!(checked.resequencer.counters().held > 1000);
    checked.end();
}
