//! A stack with some peers, who send what they like, and applications, who do what they like. Every
//! octet is what its place in the stream says, on the way in and on the way out, though the peers lie in
//! every octet that they send a second time or in a segment that is not acceptable; who waits is woken;
//! and when all have gone nothing is left.

mod application;
mod peer;

use std::net::SocketAddr;
use std::task::Waker;

use unruffled_tcp::{Connection, ROWS, Segment, State, Variant};
use unruffled_units::{Duration, Instant};
use unruffled_stack::codec::{Checksums, Packet, decode};
use unruffled_stack::{Departure, Limits, ListenerId, Stack, StackConfig};

use crate::input::{Bits, Input};
use application::Held;
use peer::Peer;

/// Connections that may be on their way in at once.
const BACKLOG: usize = 3;
const PORT: u16 = 80;
/// Steps of the clock end here: sums of times stay far from saturating.
const LATEST: Instant = Instant::from_nanos(1 << 61);

struct World {
    stack: Stack,
    now: Instant,
    mtu: usize,
    peers: Vec<Peer>,
    listeners: [ListenerId; 2],
    /// What applications hold.
    held: Vec<Held>,
    /// Packets that may leave before something else happens, and whether they leave joined.
    room: usize,
    offload: bool,
    /// Octets of memory that the stack may take.
    budget: usize,
    /// All that wanted to leave has left.
    drained: bool,
    /// The states that held connections were in.
    seen: Vec<State>,
    /// Tell on standard error what happens.
    verbose: bool,
}

/// Plays `bytes`; gives the states that connections were in.
pub fn run(bytes: &[u8]) -> Vec<State> {
    let mut input = Input::new(bytes);
    let mut world = World::new(&mut input);
    while !input.is_empty() {
        world.step(&mut input);
    }
    world.ends();
    world.seen
}

fn ours(peer: &Peer) -> SocketAddr {
    let ip = if peer.at.is_ipv4() { "10.0.0.2" } else { "fd00::2" };
    SocketAddr::new(ip.parse().expect("an address"), PORT)
}

impl World {
    fn new(input: &mut Input<'_>) -> Self {
        let addresses = ["fd00::2", "10.0.0.2"].map(|ip| ip.parse().expect("an address"));
        let variant = Variant::named(ROWS[usize::from(input.byte()) % ROWS.len()].name);
        let mut config =
            StackConfig::new(addresses.to_vec(), variant.expect("a row")).expect("randomness");
        // Initial sequence numbers that stay the same.
        config.key = [7; 16].into();
        config.mtu = input.choose(&[1500, 1280, 9000, 68, 65_535]);
        config.send_buffer = input.choose(&[1 << 16, 1000, 1 << 20]);
        let mut on = Bits::of(input.byte());
        let connection = &mut config.connection;
        connection.receive_buffer = input.choose(&[1 << 16, 1000, 1 << 20]);
        connection.timestamps.offer = !on.next();
        connection.nagle = !on.next();
        connection.delayed_ack = connection.delayed_ack.filter(|_| !on.next());
        let offload = on.next();
        if on.next() {
            // There is little of everything.
            config.limits = Limits {
                octets: 50_000,
                connections: 3,
                requests: 1,
                time_waits: 1,
                orphans: 1,
                ..config.limits
            };
        }
        let mtu = usize::from(config.mtu);
        let budget = config.limits.octets;
        let mut stack = Stack::new(config);
        let listeners = listen(&mut stack);
        let peers = ["[fd00::1]:1000", "[fd00::1]:1001", "10.0.0.1:1000", "10.0.0.1:1001"]
            .map(|at| Peer::new(at.parse().expect("an address")));
        Self {
            stack,
            now: Instant::from_millis(1_000_000),
            mtu,
            peers: peers.into(),
            listeners,
            held: Vec::new(),
            room: usize::MAX,
            offload,
            budget,
            drained: true,
            seen: Vec::new(),
            verbose: std::env::var_os("UNRUFFLED_TRACE").is_some(),
        }
    }

    fn tell(&self, what: &str, detail: impl std::fmt::Debug) {
        if self.verbose {
            eprintln!("{} ms: {what} {detail:?}", self.now.as_nanos() as f64 / 1e6);
        }
    }

    /// Something happens.
    fn step(&mut self, input: &mut Input<'_>) {
        let kind = input.byte();
        let n = usize::from(kind >> 4);
        let peer = n % self.peers.len();
        match kind & 15 {
            0..=4 => {
                let segment = self.peers[peer].segment(self.now, input);
                self.arrives(peer, &segment);
            }
            5 => {
                let syn = self.peers[peer].syn(n >> 2, self.now, input);
                self.arrives(peer, &syn);
            }
            6 => {
                if let Some(due) = self.stack.poll_timeout() {
                    self.now = self.now.max(due).min(LATEST);
                }
            }
            7 => self.pass(u64::from(input.byte()) << n),
            8 => self.accepts(),
            9 => self.reads(n, usize::from(input.byte()) << 5),
            10 => self.writes(n, usize::from(input.byte()) << 5),
            11 => self.connects(peer),
            12 => self.leaves(n, input.byte()),
            13 if n == 15 => self.listens_anew(),
            13 if n >= 12 => self.sets(n, input),
            13 if n >= 8 => self.flushes(n),
            13 => {
                let len = usize::from(input.byte());
                let packet = match n & 1 {
                    0 => input.take(len).to_vec(),
                    _ => self.peers[peer].too_big(input),
                };
                self.tell("gets octets", packet.len());
                let _ = self.stack.receive(&packet, Checksums::Trust, self.now);
            }
            _ => {
                // What happens next happens before all that wants to leave has left.
                self.room = n;
                return self.pump();
            }
        }
        self.settle();
    }

    fn pass(&mut self, ms: u64) {
        self.now = (self.now + Duration::from_millis(ms)).min(LATEST);
    }

    fn arrives(&mut self, peer: usize, segment: &Segment) {
        self.tell("gets", (peer, segment));
        let packet = self.peers[peer].packet(segment, self.known(peer, segment));
        if self.stack.receive(&packet, Checksums::Trust, self.now).is_immediate() {
            self.pump();
        }
    }

    /// How many of the segment's first octets must not come through, because the stack has them
    /// already, or because the segment is not acceptable whatever its numbers: they are forged.
    fn known(&self, peer: usize, segment: &Segment) -> u32 {
        let flags = segment.flags;
        if !flags.ack || flags.rst || flags.syn {
            return segment.len;
        }
        let connection = self.held.iter().find_map(|held| {
            let ends = self.stack.ends(held.id).ok()?;
            let connection = self.stack.connection(held.id)?;
            // In TIME-WAIT a new connection may have taken its place.
            let lives = !matches!(connection.state(), State::Closed | State::TimeWait);
            (lives && self.peers[peer].speaks_to(ends)).then_some(connection)
        });
        let Some(connection) = connection else { return 0 };
        let Some(offset) = connection.receive_offset(segment.seq) else { return 0 };
        let known = connection.received().saturating_sub(offset);
        known.min(u64::from(segment.len)) as u32
    }

    /// What wants to leave leaves.
    fn pump(&mut self) {
        let mut out = Vec::new();
        self.drained = false;
        for count in 0..self.room {
            assert!(count < 100_000, "it never falls silent");
            out.clear();
            let Some(departure) = self.stack.poll_departure(self.offload, self.now, &mut out)
            else {
                self.drained = true;
                break;
            };
            self.departs(&departure, &out);
        }
        self.look();
    }

    fn departs(&mut self, departure: &Departure, packet: &[u8]) {
        assert_eq!(departure.len, packet.len());
        assert!(self.offload || departure.offload.is_none());
        let summed = match departure.offload {
            None => Checksums::Verify,
            Some(_) => Checksums::Trust,
        };
        let Ok(Packet::Tcp(segment)) = decode(packet, summed) else { panic!("unreadable") };
        self.tell("says", segment.segment);
        let each = departure.offload.and_then(|offload| offload.segment);
        let headers = packet.len() - segment.payload.len();
        let largest = headers + each.map_or(segment.payload.len(), usize::from);
        // No segment is made smaller than 48 octets, options and all.
        assert!(largest <= self.mtu.max(108), "a packet of {largest} octets");
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.at == segment.to) {
            peer.hears(&segment);
        }
        self.check_payload(&segment);
    }

    /// All that wants to leave leaves, and all that is due happens.
    fn settle(&mut self) {
        self.pump();
        if self.room < usize::MAX {
            self.room = usize::MAX;
            return;
        }
        let mut rounds = 0;
        while self.now < LATEST && self.stack.poll_timeout().is_some_and(|due| due <= self.now) {
            self.stack.handle_timeout(self.now);
            self.pump();
            rounds += 1;
            assert!(rounds < 10_000, "its timers are always due");
        }
    }

    /// How things stand.
    fn look(&mut self) {
        assert!(self.stack.usage().octets <= self.budget, "more memory than there is");
        let mut wakers = Vec::new();
        self.stack.take_wakers(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        for held in &self.held {
            if let Some(state) = self.stack.connection(held.id).map(Connection::state)
                && !self.seen.contains(&state)
            {
                self.seen.push(state);
            }
        }
    }

    fn close_listeners(&mut self) {
        for listener in self.listeners {
            self.stack.close_listener(listener);
        }
    }

    /// What is on its way in belongs to nobody from now on.
    fn listens_anew(&mut self) {
        self.tell("listens anew", ());
        self.close_listeners();
        self.listeners = listen(&mut self.stack);
    }

    /// When nobody holds anything any more and no peer says anything, all connections end.
    fn ends(&mut self) {
        self.settle();
        self.close_listeners();
        while let Some(held) = self.held.pop() {
            self.tell("releases", held.id);
            self.stack.release(held.id);
        }
        self.settle();
        for _ in 0..20_000 {
            let Some(due) = self.stack.poll_timeout() else { break };
            if self.now == LATEST {
                return;
            }
            self.now = self.now.max(due).min(LATEST);
            self.settle();
        }
        if self.now == LATEST {
            return;
        }
        assert_eq!(self.stack.poll_timeout(), None, "they do not end");
        assert_eq!(self.stack.usage().connections, 0, "some are left");
        assert_eq!(self.stack.usage().octets, 0, "some memory is not given back");
    }
}

/// For both versions of IP.
fn listen(stack: &mut Stack) -> [ListenerId; 2] {
    [([0_u16; 8], PORT).into(), ([0_u8; 4], PORT).into()]
        .map(|any: SocketAddr| stack.listen(any, BACKLOG).expect("a free port"))
}

/// The octet at `at`: a sequence number on the way in, an offset on the way out.
fn octet(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}
