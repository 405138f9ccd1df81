//! A stack with peers that send anything and applications that call anything.
//!
//! Each octet that is read or sent has the value of its place in the stream, although the peers
//! falsify the octets that they send a second time or in an unacceptable segment. Those who wait
//! are woken. When all connections have ended, the stack holds no memory.

mod application;
mod peer;

use std::net::SocketAddr;
use std::task::Waker;

use unruffled_stack::codec::{Checksums, Packet, decode};
use unruffled_stack::{Departure, Limits, ListenerId, Stack, StackConfig};
use unruffled_tcp::{Connection, Segment, State, Variant};
use unruffled_units::{Duration, Instant};

use crate::connection::setup::row;
use crate::input::{Bits, Input};
use application::Held;
use peer::Peer;

/// Established connections that may wait to be accepted.
const BACKLOG: usize = 3;
const PORT: u16 = 80;
/// The end of the clock, which keeps sums of times far from saturating.
const END_OF_TIME: Instant = Instant::from_nanos(1 << 61);

struct World {
    stack: Stack,
    now: Instant,
    mtu: usize,
    peers: Vec<Peer>,
    listeners: [ListenerId; 2],
    /// The connections that applications hold.
    held: Vec<Held>,
    /// Packets that may leave before the next step.
    room: usize,
    /// Whether consecutive segments are joined.
    offload: bool,
    /// Octets of memory that the stack may take.
    budget: usize,
    /// Whether all packets have left.
    drained: bool,
    /// The states that held connections were in.
    seen: Vec<State>,
    /// Whether each step is printed to standard error.
    verbose: bool,
}

/// Plays `bytes`; returns the states that connections were in.
pub fn run(bytes: &[u8]) -> Vec<State> {
    let mut input = Input::new(bytes);
    let mut world = World::new(&mut input);
    while !input.is_empty() {
        world.step(&mut input);
    }
    world.end();
    world.seen
}

fn local(peer: &Peer) -> SocketAddr {
    let ip = if peer.at.is_ipv4() { "10.0.0.2" } else { "fd00::2" };
    SocketAddr::new(ip.parse().expect("an address"), PORT)
}

impl World {
    fn new(input: &mut Input<'_>) -> Self {
        let addresses = ["fd00::2", "10.0.0.2"].map(|ip| ip.parse().expect("an address"));
        let variant = Variant::named(row(input));
        let mut config =
            StackConfig::new(addresses.to_vec(), variant.expect("a row")).expect("randomness");
        // A fixed key gives the same initial sequence numbers in each run.
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
            // All limits are low.
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

    fn trace(&self, what: &str, detail: impl std::fmt::Debug) {
        if self.verbose {
            eprintln!("{} ms: {what} {detail:?}", self.now.as_nanos() as f64 / 1e6);
        }
    }

    /// Plays one step.
    fn step(&mut self, input: &mut Input<'_>) {
        let kind = input.byte();
        let n = usize::from(kind >> 4);
        let peer = n % self.peers.len();
        match kind & 15 {
            0..=4 => {
                let segment = self.peers[peer].segment(self.now, input);
                self.receive(peer, &segment);
            }
            5 => {
                let syn = self.peers[peer].syn(n >> 2, self.now, input);
                self.receive(peer, &syn);
            }
            6 => {
                if let Some(due) = self.stack.poll_timeout() {
                    self.now = self.now.max(due).min(END_OF_TIME);
                }
            }
            7 => self.pass(u64::from(input.byte()) << n),
            8 => self.accept(),
            9 => self.read(n, usize::from(input.byte()) << 5),
            10 => self.write(n, usize::from(input.byte()) << 5),
            11 => self.connect(peer),
            12 => self.leave(n, input.byte()),
            13 if n == 15 => self.listen_again(),
            13 if n >= 12 => self.set_options(n, input),
            13 if n >= 8 => self.flush(n),
            13 => {
                let len = usize::from(input.byte());
                let packet = match n & 1 {
                    0 => input.take(len).to_vec(),
                    _ => self.peers[peer].too_big(input),
                };
                self.trace("receives octets", packet.len());
                let _ = self.stack.receive(&packet, Checksums::Trust, self.now);
            }
            _ => {
                // The next step happens before all packets have left.
                self.room = n;
                return self.pump();
            }
        }
        self.settle();
    }

    fn pass(&mut self, ms: u64) {
        self.now = (self.now + Duration::from_millis(ms)).min(END_OF_TIME);
    }

    fn receive(&mut self, peer: usize, segment: &Segment) {
        self.trace("receives", (peer, segment));
        let packet = self.peers[peer].packet(segment, self.known(peer, segment));
        if self.stack.receive(&packet, Checksums::Trust, self.now).is_immediate() {
            self.pump();
        }
    }

    /// Returns how many of the segment's first octets are falsified, since they must not be read:
    /// the stack has them already, or the segment is unacceptable whatever its numbers are.
    fn known(&self, peer: usize, segment: &Segment) -> u32 {
        let flags = segment.flags;
        if !flags.ack || flags.rst || flags.syn {
            return segment.len;
        }
        let connection = self.held.iter().find_map(|held| {
            let ends = self.stack.ends(held.id).ok()?;
            let connection = self.stack.connection(held.id)?;
            // A new connection may have replaced one in TIME-WAIT.
            let lives = !matches!(connection.state(), State::Closed | State::TimeWait);
            (lives && self.peers[peer].is_peer_of(ends)).then_some(connection)
        });
        let Some(connection) = connection else { return 0 };
        let Some(offset) = connection.receive_offset(segment.seq) else { return 0 };
        let known = connection.received().saturating_sub(offset);
        known.min(u64::from(segment.len)) as u32
    }

    /// Sends packets, as many as there is room for.
    fn pump(&mut self) {
        let mut out = Vec::new();
        self.drained = false;
        for count in 0..self.room {
            assert!(count < 100_000, "it never stops sending");
            out.clear();
            let Some(departure) = self.stack.poll_departure(self.offload, self.now, &mut out)
            else {
                self.drained = true;
                break;
            };
            self.check_departure(&departure, &out);
        }
        self.inspect();
    }

    fn check_departure(&mut self, departure: &Departure, packet: &[u8]) {
        assert_eq!(departure.len, packet.len());
        assert!(self.offload || departure.offload.is_none());
        let summed = match departure.offload {
            None => Checksums::Verify,
            Some(_) => Checksums::Trust,
        };
        let Ok(Packet::Tcp(segment)) = decode(packet, summed) else { panic!("unreadable") };
        self.trace("sends", segment.segment);
        let each = departure.offload.and_then(|offload| offload.segment);
        let headers = packet.len() - segment.payload.len();
        let largest = headers + each.map_or(segment.payload.len(), usize::from);
        // No segment is made smaller than 48 octets with its options.
        assert!(largest <= self.mtu.max(108), "a packet of {largest} octets");
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.at == segment.to) {
            peer.receive(&segment);
        }
        self.check_payload(&segment);
    }

    /// Sends all packets, and runs all timers that are due.
    fn settle(&mut self) {
        self.pump();
        if self.room < usize::MAX {
            self.room = usize::MAX;
            return;
        }
        let mut rounds = 0;
        while self.now < END_OF_TIME && self.stack.poll_timeout().is_some_and(|due| due <= self.now)
        {
            self.stack.handle_timeout(self.now);
            self.pump();
            rounds += 1;
            assert!(rounds < 10_000, "its timers are always due");
        }
    }

    /// Checks the memory, wakes those who wait, and notes the states of connections.
    fn inspect(&mut self) {
        assert!(self.stack.usage().octets <= self.budget, "more memory than the budget");
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

    /// Closes the listeners with the connections that wait there, and listens again.
    fn listen_again(&mut self) {
        self.trace("listens again", ());
        self.close_listeners();
        self.listeners = listen(&mut self.stack);
    }

    /// Releases everything. Without further segments, all connections must end.
    fn end(&mut self) {
        self.settle();
        self.close_listeners();
        while let Some(held) = self.held.pop() {
            self.trace("releases", held.id);
            self.stack.release(held.id);
        }
        self.settle();
        for _ in 0..20_000 {
            let Some(due) = self.stack.poll_timeout() else { break };
            if self.now == END_OF_TIME {
                return;
            }
            self.now = self.now.max(due).min(END_OF_TIME);
            self.settle();
        }
        if self.now == END_OF_TIME {
            return;
        }
        assert_eq!(self.stack.poll_timeout(), None, "a timer remains");
        assert_eq!(self.stack.usage().connections, 0, "a connection remains");
        assert_eq!(self.stack.usage().octets, 0, "memory is not freed");
    }
}

/// Listens over both versions of IP.
fn listen(stack: &mut Stack) -> [ListenerId; 2] {
    [([0_u16; 8], PORT).into(), ([0_u8; 4], PORT).into()]
        .map(|any: SocketAddr| stack.listen(any, BACKLOG).expect("a free port"))
}

/// Returns the octet at `at`, a sequence number of the peer or an offset of the application.
fn octet(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}
