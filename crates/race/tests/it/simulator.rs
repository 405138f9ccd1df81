//! The emulated network carries packets as the simulated one does: the segments that connections send in a
//! simulation are offered to the emulated network at the same times, and leave it at the same times.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::run;
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_net::{Carried, Chain, Paths};
use unruffled_path::Direction;
use unruffled_race::paths;
use unruffled_resequence::{Flow, MEMORY_PER_OCTET, Packet as Facts, Protocol, Role};
use unruffled_tcp::Segment;
use unruffled_units::{Duration, Instant};

/// A segment at one end of a flow.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    at: Instant,
    flow: u32,
    segment: Segment,
}

/// The segments of a simulation, in the order of their times.
#[derive(Default)]
struct Trace {
    /// Segments that an end sent, with the direction in which they travel.
    sent: Vec<(Direction, Seen)>,
    /// Segments that arrived at the right end and at the left end.
    arrived: [Vec<Seen>; 2],
}

impl Monitor for Trace {
    fn segment(
        &mut self,
        flow: FlowId,
        end: End,
        passage: Passage,
        at: Instant,
        segment: &Segment,
    ) {
        let seen = Seen { at, flow: flow.0, segment: *segment };
        match (passage, end) {
            (Passage::Out, End::Sender) => self.sent.push((Direction::Forward, seen)),
            (Passage::Out, End::Receiver) => self.sent.push((Direction::Reverse, seen)),
            (Passage::In, End::Receiver) => self.arrived[0].push(seen),
            (Passage::In, End::Sender) => self.arrived[1].push(seen),
        }
    }
}

/// A segment on the emulated network.
#[derive(Clone, Debug)]
struct Sent {
    flow: u32,
    direction: Direction,
    segment: Segment,
    octets: u32,
}

impl Carried for Sent {
    /// Returns the facts that the simulator has about the segment. The port at the right end is the flow's
    /// number.
    fn facts(&self) -> Option<Facts> {
        let Self { flow: number, direction, segment, octets } = self;
        let host = |network| IpAddr::V4(Ipv4Addr::new(10, 0, network, 1));
        let port = *number as u16;
        let (source, destination, ports) = match direction {
            Direction::Forward => (host(1), host(2), (0, port)),
            Direction::Reverse => (host(2), host(1), (port, 0)),
        };
        let flow =
            Flow { protocol: Protocol::Tcp, interface: 0, source, destination, ports, context: 0 };
        let span = segment.sequence_len();
        let role = if segment.flags.rst {
            Role::Close
        } else if segment.flags.syn {
            Role::Open { next: segment.seq.add(span).0 }
        } else if span == 0 {
            Role::Acknowledgement
        } else {
            let timestamp = segment.timestamps.map(|timestamps| timestamps.value);
            Role::Data { number: u64::from(segment.seq.0), span, timestamp }
        };
        Some(Facts { flow, role, octets: octets * MEMORY_PER_OCTET })
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn is_ect(&self) -> bool {
        self.segment.ecn.is_ect()
    }

    fn mark(&mut self) {
        self.segment.ecn = self.segment.ecn.marked();
    }
}

/// Returns the first time at which a packet enters in one of these directions at the nanosecond of another
/// event on the network. The order of both is not defined: a connection of the simulator may answer in the
/// middle of an instant, and the emulated network handles its own events first.
fn first_tie(
    paths: &Paths,
    directions: &[Direction],
    sent: &[(Direction, Sent, Instant)],
) -> Option<Instant> {
    let mut chain: Chain<Sent> = Chain::over(paths, directions).expect("links are checked");
    let mut before = Instant::ZERO;
    for (direction, packet, at) in sent {
        if !directions.contains(direction) {
            continue;
        }
        if *at > before {
            while chain.depart(*at - Duration::from_nanos(1)).is_some() {}
            if chain.due() == Some(*at) {
                return Some(*at);
            }
            before = *at;
        }
        chain.offer_in(*direction, packet.clone(), packet.octets, *at);
    }
    None
}

/// Offers what was `sent` in these directions, and returns what leaves by `end` at the right end and at the
/// left end. The network is polled before every `poll`-th packet.
fn carried(
    paths: &Paths,
    directions: &[Direction],
    sent: &[(Direction, Sent, Instant)],
    poll: usize,
    end: Instant,
) -> [Vec<Seen>; 2] {
    let mut chain: Chain<Sent> = Chain::over(paths, directions).expect("links are checked");
    let mut arrived = [Vec::new(), Vec::new()];
    let mut take = |chain: &mut Chain<Sent>, by: Instant| {
        while let Some(left) = chain.depart(by) {
            let Sent { flow, direction, segment, .. } = left.packet;
            assert_eq!(left.direction, direction);
            let seen = Seen { at: left.at, flow, segment };
            arrived[usize::from(direction == Direction::Reverse)].push(seen);
        }
    };
    for (n, (direction, packet, at)) in sent.iter().enumerate() {
        if directions.contains(direction) {
            if n % poll == 0 {
                take(&mut chain, *at);
            }
            chain.offer_in(*direction, packet.clone(), packet.octets, *at);
        }
    }
    take(&mut chain, end);
    arrived
}

/// The order of packets that arrive at the same end at the same time.
#[derive(Clone, Copy, PartialEq)]
enum Ties {
    /// It must be the same.
    Compared,
    /// It may differ, and so may all that follows from a [tie](first_tie).
    Ignored,
}

/// A comparison of a simulation with the emulated network.
enum Compared {
    /// They are the same. This many packets arrive at the end where fewer do.
    Same(usize),
    /// They differ after a tie.
    Undefined,
}

/// Compares the simulation of a scenario with the emulated network. Returns the first difference as an error.
fn compared(text: &str, seed: u64, ties: Ties) -> Result<Compared, String> {
    let scenario =
        Scenario::parse("test", text, &[]).map_err(|error| format!("{error}\n{text}"))?;
    let variants = scenario.senders(&scenario.variants, "test").map_err(|e| e.to_string())?;
    let mut trace = Trace::default();
    run(&scenario, &variants[0], seed, Some(&mut trace), never()).map_err(|e| e.to_string())?;

    let sources = scenario.traffic.iter();
    let sources = sources.flat_map(|group| std::iter::repeat_n(group, group.count as usize));
    let paths = paths(&scenario, seed, sources.zip(0..));
    let sent = trace.sent.iter().map(|(direction, Seen { at, flow, segment })| {
        let blocks = segment.sack.as_slice().len() as u32;
        let octets = segment.len + scenario.header + scenario.sack_block * blocks;
        let sent = Sent { flow: *flow, direction: *direction, segment: *segment, octets };
        (*direction, sent, *at)
    });
    let sent: Vec<_> = sent.collect();
    let end = Instant::ZERO + scenario.duration;
    let forward = [Direction::Forward];
    let reverse = [Direction::Reverse];
    let both = [Direction::Forward, Direction::Reverse];
    for poll in [1, 7] {
        let [right, left] = match paths.share_links() {
            true => carried(&paths, &both, &sent, poll, end),
            false => {
                let [right, _] = carried(&paths, &forward, &sent, poll, end);
                let [_, left] = carried(&paths, &reverse, &sent, poll, end);
                [right, left]
            }
        };
        for (what, mut found, mut expected) in
            [("right", right, trace.arrived[0].clone()), ("left", left, trace.arrived[1].clone())]
        {
            if ties == Ties::Ignored {
                for seen in [&mut found, &mut expected] {
                    seen.sort_by_key(|s| (s.at, s.flow, s.segment.seq.0, s.segment.ack.0));
                }
            }
            let same = found.iter().zip(&expected).take_while(|(f, e)| f == e).count();
            let (found, expected) = (found.get(same), expected.get(same));
            let Some(at) = found.into_iter().chain(expected).map(|seen| seen.at).min() else {
                continue;
            };
            let directions: &[Direction] = match (paths.share_links(), what) {
                (true, _) => &both,
                (false, "right") => &forward,
                (false, _) => &reverse,
            };
            let tie = first_tie(&paths, directions, &sent);
            if ties == Ties::Ignored && tie.is_some_and(|tie| tie <= at) {
                return Ok(Compared::Undefined);
            }
            return Err(format!(
                "packet {same} at the {what} end: {found:?}, and in the simulation {expected:?}\n{text}"
            ));
        }
    }
    Ok(Compared::Same(trace.arrived.iter().map(Vec::len).min().unwrap_or(0)))
}

/// Checks that a scenario has no difference, and that packets arrive at both ends.
fn assert_carried(name: &str, text: &str, seed: u64) {
    match compared(text, seed, Ties::Compared) {
        Ok(Compared::Same(arrived)) => assert!(arrived > 0, "{name}: no packets at an end"),
        Ok(Compared::Undefined) => unreachable!("{name}: ties are compared"),
        Err(difference) => panic!("{name}: {difference}"),
    }
}

/// A random link between two nodes. It has a rate, so that packets rarely arrive at a node at the same
/// nanosecond as others: the simulator lets a connection answer in the middle of such an instant.
#[derive(Clone, Debug)]
struct Drawn {
    delay_ns: u64,
    rate_kbps: u32,
    queue: Option<u32>,
    /// Which impairments and other keys it has, by bits.
    keys: u64,
    /// Whether it is written from the right node to the left one.
    turned: bool,
}

impl Drawn {
    fn any() -> impl Strategy<Value = Self> {
        (
            prop_oneof![4 => 2_000_000_u64..30_000_000, 1 => Just(0)],
            prop_oneof![2 => 500_u32..20_000, 1 => 100_000_u32..1_000_000],
            prop::option::weighted(0.6, 2_u32..60),
            any::<u64>(),
            any::<bool>(),
        )
            .prop_map(|(delay_ns, rate_kbps, queue, keys, turned)| Self {
                delay_ns,
                rate_kbps,
                queue,
                keys,
                turned,
            })
    }

    /// Returns whether it has the key of that number, which one link in eight has, and half of those with a
    /// window begin their tunnel elsewhere.
    fn has(&self, key: usize) -> bool {
        let bits = if key == 17 { 1 } else { 7 };
        self.keys >> (2 + 3 * key) & bits == bits
    }

    /// Returns the keys of the table `[link.NAME]`.
    fn written(&self) -> String {
        let Self { delay_ns, rate_kbps, .. } = self;
        let mut text = format!("rate = '{rate_kbps} kbit/s'\n");
        let delay = format!("delay = '{delay_ns} ns'\n");
        let changing =
            "changes = { at = ['0 s', '310 ms', '730 ms'], delay = ['9 ms', '2 ms', '6 ms'] }\n";
        text += if self.has(9) { changing } else { &delay };
        if let Some(queue) = self.queue {
            writeln!(text, "queue = {queue}").expect("a string");
        }
        let packets = ["data", "acks", "both"][self.keys as usize % 3];
        for (bit, keys) in [
            "delayed = { fraction = '10 %', distribution = 'exponential', mean = '9 ms', packets = 'P' }",
            "redrawn = { every = '7 ms', distribution = 'uniform', low = '0 ms', high = '9 ms', packets = 'P' }",
            "alternate = { every = 3, extra = '11 ms', packets = 'P' }",
            "loss = { fraction = '1 %', packets = 'P' }",
            "duplicate = { fraction = '2 %', packets = 'P' }",
            "resend = { errors = '3 %', after = '5 ms', packets = 'P' }",
            "resequence = { max_hold = '80 ms' }",
            "blackout = { at = ['400 ms'], length = '90 ms', packets = 'P' }",
            "workers = { delays = ['0 ms', '3 ms'], batch = 4, packets = 'P' }",
        ]
        .into_iter()
        .enumerate()
        {
            if self.has(bit) {
                text += &keys.replace('P', packets);
                text += "\n";
            }
        }
        if self.has(10) {
            text += "mark_above = 5\n";
        }
        let has_fragments = self.has(13) && !self.has(5);
        let is_late_by_packets = self.has(16) && !self.has(0) && !has_fragments;
        for (is_there, keys) in [
            (self.has(11), "replay_window = 6"),
            (self.has(12), "ranges = 2"),
            (has_fragments, "fragments = { mtu = 700, max_distance = 5 }"),
            (
                self.has(14) && !self.has(8),
                "workers = { delays = ['0 ms', '4 ms'], coalesce = '2 ms', by = 'flow', gro = true }",
            ),
            (self.has(15), "netem = 'delay 4ms 2ms loss 1% reorder 20% 30%'"),
            (
                is_late_by_packets,
                "delayed = { fraction = '10 %', by = [1, 5], at_most = '40 ms', packets = 'P' }",
            ),
        ] {
            if is_there {
                text += &keys.replace('P', packets);
                text += "\n";
            }
        }
        text
    }

    /// Returns the end of the keys of a link between two nodes of the network: a tunnel that begins at
    /// node a.
    fn tunnel(&self) -> &'static str {
        if self.has(11) && self.has(17) { "replay_from = 'a'\n" } else { "" }
    }
}

/// A random network: ways through nodes in the middle, and how packets are spread over them.
#[derive(Clone, Debug)]
struct Case {
    /// The nodes of each way between its ends.
    ways: Vec<Vec<&'static str>>,
    weights: Vec<u32>,
    spread: &'static str,
    spread_acks: bool,
    links: Vec<Drawn>,
    access: Drawn,
    /// Whether hosts have access links.
    hosts: bool,
    /// Whether acknowledgements cross a link of the data in the same direction.
    shared: bool,
    count: u8,
    ecn: bool,
    seed: u64,
}

/// The nodes that a way may visit between its ends, even twice.
const NODES: [&str; 4] = ["n0", "n1", "n2", "n3"];

/// The maximum number of links of a way.
const MAX_LINKS: usize = 4;

/// The maximum number of ways.
const MAX_WAYS: usize = 4;

impl Case {
    fn any() -> impl Strategy<Value = Self> {
        let way = prop::collection::vec(prop::sample::select(&NODES[..]), 0..MAX_LINKS);
        let ways = prop::collection::vec((way, 0_u32..5), 1..=MAX_WAYS);
        let links = prop::collection::vec(Drawn::any(), MAX_WAYS * MAX_LINKS);
        let spread = prop::sample::select(vec!["round-robin", "runs", "random"]);
        let flags = any::<[bool; 4]>();
        let flags = (flags, prop::bool::weighted(0.3));
        (ways, spread, links, Drawn::any(), flags, 1_u8..4, 1_u64..1000).prop_map(
            |(ways, spread, links, access, flags, count, seed)| {
                let ([spread_acks, hosts, ecn, one_flow], shared) = flags;
                let (ways, mut weights): (Vec<_>, Vec<_>) = ways.into_iter().unzip();
                if weights.iter().all(|weight| *weight == 0) {
                    weights[0] = 1;
                }
                let count = if one_flow { 1 } else { count };
                Self {
                    ways,
                    weights,
                    spread,
                    spread_acks,
                    links,
                    access,
                    hosts,
                    shared,
                    count,
                    ecn,
                    seed,
                }
            },
        )
    }

    /// Returns the scenario file.
    fn written(&self) -> String {
        let mut text = format!(
            "duration = '1500 ms'\nvariants = ['rack']\n[tcp]\nsack_block = 8\necn = {}\n\
             min_rto = '200 ms'\nwindow = 60\n[topology]\nkind = 'explicit'\n",
            self.ecn
        );
        let mut ways: Vec<Vec<&str>> = Vec::new();
        for way in &self.ways {
            let mut nodes = [&["a"], way.as_slice(), &["b"]].concat();
            nodes.dedup();
            ways.push(nodes);
        }
        // The shared link leads from n0 to n1. Other links lead there from b, and from there to a.
        if self.shared {
            ways[0] = vec!["a", "n0", "n1", "b"];
        }
        let mut joined: Vec<[&str; 2]> = Vec::new();
        let mut drawn = self.links.iter();
        for pair in ways.iter().flat_map(|way| way.windows(2)) {
            let ends = [pair[0], pair[1]];
            let back = [ends[1], ends[0]];
            if joined.contains(&ends) || !self.shared && joined.contains(&back) {
                continue;
            }
            let link = drawn.next().expect("one for each link of each way");
            let turned = link.turned && !self.shared;
            let [from, to] = if turned { back } else { ends };
            write!(
                text,
                "[link.l{}]\nfrom = '{from}'\nto = '{to}'\none_way = {}\n{}{}",
                joined.len(),
                self.shared,
                link.written(),
                link.tunnel()
            )
            .expect("a string");
            joined.push(ends);
        }
        if self.shared {
            for (name, [from, to]) in [("r0", ["b", "n0"]), ("r1", ["n1", "a"])] {
                if !joined.contains(&[from, to]) {
                    let link = self.access.written();
                    write!(
                        text,
                        "[link.{name}]\nfrom = '{from}'\nto = '{to}'\none_way = true\n{link}"
                    )
                    .expect("a string");
                }
            }
        }
        let ways: Vec<String> = ways.iter().map(|way| way.join(" ")).collect();
        // Access lines differ by a nanosecond, or flows that begin together reach the first link together.
        let groups = if self.hosts { self.count } else { 1 };
        for group in 0..groups {
            let mut access = String::new();
            if self.hosts {
                let line =
                    Drawn { delay_ns: self.access.delay_ns + u64::from(group), ..self.access };
                write!(text, "[link.host{group}]\n{}", line.written()).expect("a string");
                access = format!("access = 'host{group}'\n");
            }
            write!(
                text,
                "[[traffic]]\nname = 'flow{group}'\nfrom = 'a'\nto = 'b'\ncount = {}\nways = {ways:?}\n\
                 weights = {:?}\nspread = '{}'\nspread_acks = {}\n{access}",
                self.count / groups,
                self.weights,
                self.spread,
                self.spread_acks,
            )
            .expect("a string");
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 20, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn the_emulated_network_delivers_the_same_packets_at_the_same_times(case in Case::any()) {
        let text = case.written();
        let compared = compared(&text, case.seed, Ties::Ignored).map_err(TestCaseError::fail)?;
        // One network in 3000 carries nothing in its 1.5 s, and one in 50 000 differs after a tie. Too many of
        // them fail the test.
        prop_assume!(matches!(compared, Compared::Same(1..)));
    }
}

/// Ties between equal lines are broken as in the simulator, so that packets enter a common link in the same
/// order.
#[test]
fn equal_lines_that_meet_deliver_packets_in_the_order_of_the_simulator() {
    let line = "rate = '8 Mbit/s'\ndelay = '5 ms'\nqueue = 20\n";
    let end = "delay = '0 ms'\n";
    let text = format!(
        "duration = '3 s'\nvariants = ['sack']\n[topology]\nkind = 'explicit'\n\
         [link.l0]\nfrom = 'a'\nto = 'm0'\n{line}[link.l1]\nfrom = 'a'\nto = 'm1'\n{line}\
         [link.e0]\nfrom = 'm0'\nto = 'g'\n{end}[link.e1]\nfrom = 'm1'\nto = 'g'\n{end}\
         [link.last]\nfrom = 'g'\nto = 'b'\nrate = '9 Mbit/s'\ndelay = '1 ms'\nqueue = 10\n\
         [[traffic]]\nname = 'flow'\nfrom = 'a'\nto = 'b'\ncount = 2\n\
         ways = ['a m0 g b', 'a m1 g b']\nspread_acks = true\n"
    );
    assert_carried("equal lines", &text, 1);
}

/// A delayed acknowledgement lets two segments arrive together at the instant at which a late one has waited for
/// 40 ms.
#[test]
fn the_wait_of_a_late_packet_ends_in_the_order_of_the_simulator() {
    let text = "duration = '1500 ms'\nvariants = ['rack']\n[tcp]\nmin_rto = '200 ms'\nwindow = 60\n\
         [topology]\nkind = 'explicit'\n[link.host]\nrate = '221995 kbit/s'\ndelay = '18721888 ns'\n\
         [link.l0]\nfrom = 'a'\nto = 'm'\nrate = '221999 kbit/s'\ndelay = '2 ms'\n\
         workers = { delays = ['0 ms', '4 ms'], coalesce = '2 ms', by = 'flow', gro = true }\n\
         delayed = { fraction = '10 %', by = [1, 5], at_most = '40 ms', packets = 'both' }\n\
         [link.l1]\nfrom = 'm'\nto = 'b'\nrate = '133200 kbit/s'\ndelay = '17242357 ns'\nqueue = 22\n\
         [[traffic]]\nname = 'flow'\nfrom = 'a'\nto = 'b'\nways = ['a m b']\naccess = 'host'\n";
    for seed in 1..20 {
        assert_carried("a late packet", text, seed);
    }
}

/// Every built-in network that real packets can cross, chains included.
#[test]
fn built_in_scenarios_are_carried_as_in_the_simulator() {
    for (name, text) in unruffled_scenario::BUILTIN {
        let set = ["duration=600 ms", "warmup=0 s", "seeds=1"].map(str::to_owned);
        let scenario = Scenario::parse_for_real_packets(name, text, &set);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let bulk = scenario.traffic.iter().all(|group| {
            matches!(group.app, unruffled_scenario::App::Bulk { .. })
                && group.arrivals == unruffled_scenario::Arrivals::At(Instant::ZERO)
        });
        if bulk {
            let text = scenario.to_toml(&["rack"]);
            assert_carried(name, &text, 3);
        }
    }
}
