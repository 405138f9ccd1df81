//! Two stacks and the link between them, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{IpAddr, SocketAddr};
use std::task::{Poll, Waker};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_stack::codec::Checksums;
use unruffled_stack::{ConnectionId, Departure, Duration, Instant, Stack, StackConfig, Variant};

/// Returns octets of the stream that all tests send, from an offset on.
pub(crate) fn octets(from: u64, len: usize) -> Vec<u8> {
    (from..from + len as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

/// The impairments of the link.
#[derive(Clone, Copy, Default)]
pub(crate) struct Impairments {
    /// Share of the packets that is lost.
    pub(crate) loss: f64,
    /// Share of the packets that is 5 ms late, behind others.
    pub(crate) late: f64,
}

/// The one-way delay.
const DELAY: Duration = Duration::from_millis(5);
/// The link rate, 100 Mbit/s; its queue is unbounded.
const NANOS_PER_OCTET: u64 = 80;

/// A packet in flight: its time of arrival, its place in the order of departure, and its
/// destination.
type Flying = (Instant, u64, usize, Vec<u8>);

pub(crate) struct Net {
    pub(crate) stacks: [Stack; 2],
    pub(crate) now: Instant,
    /// Whether the link is cut.
    pub(crate) cut: bool,
    /// Whether segments travel joined and without checksums.
    pub(crate) offload: bool,
    addresses: [IpAddr; 2],
    impairments: Impairments,
    random: Xoshiro256PlusPlus,
    flying: BinaryHeap<Reverse<Flying>>,
    free_at: [Instant; 2],
    left: u64,
    /// Number of packets of several segments that have left.
    pub(crate) joined: u64,
}

impl Net {
    pub(crate) fn new(v6: bool, impairments: Impairments, seed: u64) -> Self {
        let addresses = if v6 { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] };
        let addresses = addresses.map(|a| a.parse().unwrap());
        let stack = |own: IpAddr| {
            let variant = Variant::parse("sack").unwrap();
            let mut config = StackConfig::new(vec![own], variant).unwrap();
            config.key = [7; 16].into();
            config.connection.msl = Duration::from_secs(30);
            Stack::new(config)
        };
        Self {
            stacks: addresses.map(stack),
            now: Instant::from_millis(1000),
            cut: false,
            offload: false,
            addresses,
            impairments,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            flying: BinaryHeap::new(),
            free_at: [Instant::ZERO; 2],
            left: 0,
            joined: 0,
        }
    }

    pub(crate) fn address(&self, stack: usize) -> IpAddr {
        self.addresses[stack]
    }

    pub(crate) fn connect(&mut self, stack: usize, to: SocketAddr) -> ConnectionId {
        self.stacks[stack].connect(to, None, self.now).unwrap()
    }

    pub(crate) fn release(&mut self, stack: usize, id: ConnectionId) {
        self.stacks[stack].release(id);
    }

    /// Connects the first stack to the second; returns the two ends of the connection.
    pub(crate) fn pair(&mut self) -> [ConnectionId; 2] {
        let to = SocketAddr::new(self.addresses[1], 80);
        let listener = self.stacks[1].listen(to, 8).unwrap();
        let client = self.connect(0, to);
        let mut accepted = None;
        self.run_until(Duration::from_secs(30), |net| {
            if let Poll::Ready(id) = net.stacks[1].poll_accept(listener, Waker::noop()) {
                accepted = Some(id.unwrap());
            }
            accepted.is_some()
        });
        [client, accepted.unwrap()]
    }

    fn send_all(&mut self) {
        for from in 0..2 {
            let mut packet = Vec::new();
            while let Some(Departure { len, offload }) =
                self.stacks[from].poll_departure(self.offload, self.now, &mut packet)
            {
                assert_eq!(len, packet.len());
                let each = offload.and_then(|offload| {
                    offload.segment.map(|each| usize::from(offload.headers + each))
                });
                assert!(each.unwrap_or(len) <= 1500, "larger than the MTU: {each:?} {len}");
                self.joined += u64::from(each.is_some());
                self.free_at[from] = self.free_at[from].max(self.now)
                    + Duration::from_nanos(len as u64 * NANOS_PER_OCTET);
                let mut at = self.free_at[from] + DELAY;
                let (lost, late) = (self.random.random::<f64>(), self.random.random::<f64>());
                if late < self.impairments.late {
                    at += DELAY;
                }
                if lost >= self.impairments.loss && !self.cut {
                    self.left += 1;
                    let packet = std::mem::take(&mut packet);
                    self.flying.push(Reverse((at, self.left, 1 - from, packet)));
                }
                packet.clear();
            }
        }
    }

    /// Runs to the next arrival or timer, if it is due by `until`; returns whether it was.
    fn advance(&mut self, until: Instant) -> bool {
        self.send_all();
        let arrival = self.flying.peek().map(|next| next.0.0);
        let timers = self.stacks.each_mut().map(Stack::poll_timeout);
        let next = [arrival, timers[0], timers[1]].into_iter().flatten().min();
        let Some(next) = next.filter(|&next| next <= until) else {
            self.now = until;
            return false;
        };
        self.now = self.now.max(next);
        for stack in &mut self.stacks {
            stack.handle_timeout(self.now);
        }
        if arrival == Some(next)
            && let Some(Reverse((_, _, to, packet))) = self.flying.pop()
            && !self.cut
        {
            let checksums = if self.offload { Checksums::Trust } else { Checksums::Verify };
            // Everything leaves after each packet.
            let _ = self.stacks[to].receive(&packet, checksums, self.now);
        }
        self.send_all();
        true
    }

    /// Runs for `span`, or until `done` returns true after an event.
    pub(crate) fn run_until(&mut self, span: Duration, mut done: impl FnMut(&mut Self) -> bool) {
        let until = self.now + span;
        while !done(self) && self.advance(until) {}
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    pub(crate) fn run_for_each(&mut self, span: Duration, mut each: impl FnMut(&mut Self)) {
        self.run_until(span, |net| {
            each(net);
            false
        });
    }
}
