//! The attacks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::task::{Poll, Waker};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_tcp::{Flags, Segment, SeqNr};
use unruffled_wire::stack::{ConnectionId, ListenerId};

use crate::rig::{Attack, NoAttack, Rig, Server, Wire, clock};

/// The port of the listener for attackers that complete a handshake. SYN floods go to the good
/// client's port.
pub(crate) const PORT: u16 = 81;
const ACK: Flags = Flags { syn: false, ack: true, fin: false, rst: false, psh: false };
const ISN: u32 = 1000;

/// Returns the address of the `n`th attacker.
fn attacker(n: u32) -> SocketAddr {
    let [_, a, b, c] = (n / 50_000 + 1).to_be_bytes();
    ([172, 16 + a, b, c], (n % 50_000 + 1024) as u16).into()
}

fn syn() -> Segment {
    Segment {
        seq: SeqNr(ISN),
        flags: Flags { syn: true, ..Flags::default() },
        window: 65_535,
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Segment::default()
    }
}

/// Counts the packets that are due at a rate, by the thread's clock.
pub(crate) struct Pace {
    rate: u64,
    begin: Duration,
    pub(crate) done: u64,
}

impl Pace {
    pub(crate) fn new(rate: u64) -> Self {
        Self { rate, begin: clock(), done: 0 }
    }

    /// Returns the number of packets that are due, and counts them.
    fn due(&mut self) -> u64 {
        let due = ((clock() - self.begin).as_secs_f64() * self.rate as f64) as u64 - self.done;
        // Packets beyond this number are due later.
        let now = due.min(256);
        self.done += now;
        now
    }
}

/// SYNs from random addresses.
pub(crate) struct SynFlood {
    pub(crate) pace: Pace,
    random: Xoshiro256PlusPlus,
}

impl SynFlood {
    pub(crate) fn new(rate: u64) -> Self {
        Self { pace: Pace::new(rate), random: Xoshiro256PlusPlus::seed_from_u64(1) }
    }
}

impl Attack for SynFlood {
    fn strike(&mut self, server: &mut Server) {
        for _ in 0..self.pace.due() {
            let (address, port) = (self.random.random::<u32>(), self.random.random::<u16>());
            let from = ([172, 16, (address >> 8) as u8, address as u8], port.max(1)).into();
            let syn = Segment { seq: SeqNr(self.random.random()), ..syn() };
            server.receive(from, 80, &syn, &[]);
        }
    }
}

/// Attackers that have completed a handshake, with their addresses and the server's next numbers.
/// They accept no data: when data arrives, they answer with an acknowledgement.
#[derive(Default)]
pub(crate) struct Crowd {
    pub(crate) peers: Vec<(SocketAddr, SeqNr)>,
    by_address: HashMap<SocketAddr, SeqNr>,
    pub(crate) held: Vec<ConnectionId>,
    window: u16,
}

impl Crowd {
    /// Lets `count` attackers complete a handshake. The application holds their connections.
    pub(crate) fn gather(rig: &mut Rig, listener: ListenerId, count: u32, window: u16) -> Self {
        let mut crowd = Self { window, ..Self::default() };
        for n in 0..count {
            rig.server.receive(attacker(n), PORT, &syn(), &[]);
            rig.round(&mut crowd);
            while let Poll::Ready(Ok(id)) = rig.server.stack.poll_accept(listener, Waker::noop()) {
                crowd.held.push(id);
            }
        }
        crowd
    }

    /// Returns the nanoseconds that the server takes to read an acknowledgement and to handle it,
    /// for acknowledgements of the first `of` peers in turn.
    #[inline(never)]
    pub(crate) fn cost_per_packet(&self, rig: &mut Rig, of: usize) -> [u64; 2] {
        const PACKETS: usize = 100_000;
        /// Packets that a driver passes through the stack under one lock.
        const BATCH: usize = 32;
        // The stride is a prime far from all powers of two, so that consecutive peers are not
        // adjacent in memory. The list is made in advance, so that its cost is not measured.
        let peers: Vec<_> = (0..PACKETS).map(|n| self.peers[n * 7919 % of]).collect();
        let mut wire = Wire::new(BATCH).expect("two sockets");
        let mut spent = [Duration::ZERO; 2];
        for peers in peers.chunks(wire.capacity) {
            for &(at, next) in peers {
                wire.send(at, PORT, &self.acknowledgement(next));
            }
            let [read, handled] = rig.server.receive_all(&mut wire);
            let begin = clock();
            rig.round(&mut NoAttack);
            spent = [spent[0] + read, spent[1] + handled + (clock() - begin)];
        }
        spent.map(|span| span.as_nanos() as u64 / PACKETS as u64)
    }

    fn acknowledgement(&self, ack: SeqNr) -> Segment {
        Segment { seq: SeqNr(ISN + 1), ack, flags: ACK, window: self.window, ..Segment::default() }
    }
}

impl Attack for Crowd {
    fn strike(&mut self, _: &mut Server) {}

    fn on_segment(&mut self, server: &mut Server, at: SocketAddr, segment: &Segment) {
        if segment.flags.syn {
            let next = segment.seq.add(1);
            self.peers.push((at, next));
            self.by_address.insert(at, next);
            let window = self.window;
            self.window = 65_535;
            server.receive(at, PORT, &self.acknowledgement(next), &[]);
            self.window = window;
        } else if segment.flags.fin {
            // Both ends close. The server was first, so it enters TIME-WAIT.
            let next = segment.seq.add(segment.len + 1);
            let fin = Flags { fin: true, ..ACK };
            server.receive(at, PORT, &Segment { flags: fin, ..self.acknowledgement(next) }, &[]);
        } else if segment.len > 0
            && let Some(&next) = self.by_address.get(&at)
        {
            server.receive(at, PORT, &self.acknowledgement(next), &[]);
        }
    }
}

/// Segments of one octet at every second place of the window, from its end to its start,
/// repeatedly.
pub(crate) struct SmallSegments {
    pub(crate) crowd: Crowd,
    pub(crate) pace: Pace,
    place: u32,
}

impl SmallSegments {
    pub(crate) fn new(crowd: Crowd, rate: u64) -> Self {
        Self { crowd, pace: Pace::new(rate), place: 0 }
    }
}

impl Attack for SmallSegments {
    fn strike(&mut self, server: &mut Server) {
        for _ in 0..self.pace.due() {
            let (at, next) = self.crowd.peers[0];
            // The first octet never arrives.
            self.place = if self.place <= 2 { 60_000 } else { self.place - 2 };
            let segment = self.crowd.acknowledgement(next);
            server.receive(
                at,
                PORT,
                &Segment { seq: segment.seq.add(self.place), ..segment },
                &[7],
            );
        }
    }
}

/// Acknowledges octet by octet, or more than has arrived.
pub(crate) struct Acknowledger {
    pub(crate) crowd: Crowd,
    pub(crate) pace: Pace,
    optimistic: bool,
    acknowledged: SeqNr,
    /// The number behind the last octet that was sent to it.
    sent: SeqNr,
    /// Octets that were sent to it.
    pub(crate) octets: u64,
}

impl Acknowledger {
    pub(crate) fn new(crowd: Crowd, rate: u64, optimistic: bool) -> Self {
        let next = crowd.peers[0].1;
        let pace = Pace::new(rate);
        Self { crowd, pace, optimistic, acknowledged: next, sent: next, octets: 0 }
    }
}

impl Attack for Acknowledger {
    fn strike(&mut self, server: &mut Server) {
        let id = self.crowd.held[0];
        // The application always has data to send.
        let _ = server.stack.poll_write(id, Waker::noop(), &[7; 16 << 10]);
        let (at, _) = self.crowd.peers[0];
        for _ in 0..self.pace.due() {
            let ahead = self.sent.distance(self.acknowledged);
            if self.optimistic {
                // Twenty segments more than have arrived.
                self.acknowledged = self.sent.add(20 * 1460);
            } else if ahead > 0 {
                self.acknowledged = self.acknowledged.add(1);
            }
            let ack = self.crowd.acknowledgement(self.acknowledged);
            server.receive(at, PORT, &ack, &[]);
        }
        if self.optimistic {
            // It also acknowledges what has arrived, so that the server keeps sending.
            let ack = self.crowd.acknowledgement(self.sent);
            server.receive(at, PORT, &ack, &[]);
        }
    }

    fn on_segment(&mut self, _: &mut Server, _: SocketAddr, segment: &Segment) {
        let end = segment.seq.add(segment.len);
        if segment.len > 0 && end.distance(self.sent) > 0 {
            self.octets += u64::from(segment.len);
            self.sent = end;
        }
    }
}
