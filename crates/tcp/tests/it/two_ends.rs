//! Both ends of a connection, with drivers and octets, over a network that loses, delays,
//! duplicates, reorders and splits packets and rejects those that are too big. Every octet written
//! arrives once and in order, and every transfer ends.

use std::collections::BTreeMap;

use proptest::prelude::*;
use unruffled_tcp::{
    Config, Connection, Error, Event, Flags, IpVersion, Segment, SeqNr, State, Variant, reset_for,
};
use unruffled_units::{Duration, Instant};

/// Time by which every transfer must end.
const DEADLINE: Instant = Instant::from_millis(10_000_000_000);

/// Upper bound on the packets of a transfer. More mean that it does not end.
const MAX_PACKETS: u64 = 1_000_000;

/// Returns the octet at `offset` of a stream. Each end writes a different stream.
fn octet(end: usize, offset: u64) -> u8 {
    (offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53) as u8 ^ end as u8
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Write(u64),
    Read(u64),
    Finish,
    Abort,
}

#[derive(Clone, Debug)]
struct Network {
    seed: u64,
    /// Probability per thousand.
    loss: u64,
    duplicates: u64,
    /// Probability per thousand that a middlebox splits a segment in two, which are acknowledged
    /// separately.
    cuts: u64,
    /// Delay in milliseconds.
    delay: u64,
    jitter: u64,
    /// Largest packet, from the tenth packet on.
    mtu: u32,
}

/// An end with its driver: the octets that arrived, and how far they were read and checked.
struct End {
    connection: Connection,
    stored: BTreeMap<u64, u8>,
    read: u64,
    written: u64,
    finished: bool,
    aborted: bool,
}

enum Delivery {
    Segment(Segment, Vec<u8>),
    TooBig(u32, SeqNr),
}

struct World {
    ends: [End; 2],
    network: Network,
    now: Instant,
    random: u64,
    sent: u64,
    wire: BTreeMap<(Instant, u64), (usize, Delivery)>,
}

impl World {
    fn dice(&mut self, sides: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442695041);
        (self.random >> 33) % sides.max(1)
    }

    fn deliver(&mut self, to: usize, what: Delivery) {
        self.sent += 1;
        let delay = self.network.delay + self.dice(self.network.jitter + 1);
        let at = self.now + Duration::from_millis(delay);
        self.wire.insert((at, self.sent), (to, what));
    }

    fn send(&mut self, from: usize, segment: Segment) {
        let size = segment.len + 40;
        if size > self.network.mtu && self.sent > 10 {
            self.deliver(from, Delivery::TooBig(self.network.mtu, segment.seq));
            return;
        }
        let copies = 1 + usize::from(self.dice(1000) < self.network.duplicates);
        for _ in 0..copies {
            if self.dice(1000) < self.network.loss {
                continue;
            }
            let Network { cuts, .. } = self.network;
            let cut = cuts > 0 && segment.len > 1 && self.dice(1000) < cuts;
            if cut {
                let len = 1 + self.dice(u64::from(segment.len) - 1) as u32;
                let flags = Flags { fin: false, psh: false, ..segment.flags };
                self.carry(from, Segment { len, flags, ..segment });
                let seq = segment.seq.add(len);
                self.carry(from, Segment { seq, len: segment.len - len, ..segment });
            } else {
                self.carry(from, segment);
            }
        }
    }

    fn carry(&mut self, from: usize, segment: Segment) {
        let offset = self.ends[from].connection.send_offset(segment.seq);
        let payload = (0..u64::from(segment.len)).map(|i| octet(from, offset + i)).collect();
        self.deliver(1 - from, Delivery::Segment(segment, payload));
    }

    fn pump(&mut self, end: usize) {
        while let Some(segment) = self.ends[end].connection.poll_transmit(self.now, &mut ()) {
            let buffered = self.ends[end].connection.unacknowledged_from();
            if segment.len > 0 {
                let offset = self.ends[end].connection.send_offset(segment.seq);
                assert!(
                    offset >= buffered && offset + u64::from(segment.len) <= self.ends[end].written
                );
            }
            self.send(end, segment);
        }
    }

    fn arrive(&mut self, end: usize, what: Delivery) {
        let (segment, payload) = match what {
            Delivery::TooBig(mtu, quoted) => {
                let connection = &mut self.ends[end].connection;
                connection.handle_packet_too_big(mtu, quoted, self.now, &mut ());
                return self.pump(end);
            }
            Delivery::Segment(segment, payload) => (segment, payload),
        };
        if self.ends[end].connection.state() == State::Closed {
            if let Some(reset) = reset_for(&segment) {
                self.send(end, reset);
            }
            return;
        }
        let at = self.ends[end].connection.receive_offset(segment.seq);
        let mut fresh = Vec::new();
        let mut observer = |_: Instant, event: &Event| {
            if let Event::Fresh { offset, len } = *event {
                fresh.push((offset, len));
            }
        };
        let End { connection, stored, read, .. } = &mut self.ends[end];
        connection.handle_segment(&segment, self.now, &mut observer);
        for (offset, len) in fresh {
            let skipped = offset - at.or(connection.receive_offset(segment.seq)).expect("accepted");
            assert!(offset >= *read, "{offset} was read already");
            for i in 0..u64::from(len) {
                let twice = stored.insert(offset + i, payload[(skipped + i) as usize]);
                assert_eq!(twice, None, "a second time at {}", offset + i);
            }
        }
        self.pump(end);
    }

    fn read(&mut self, end: usize, octets: u64) {
        let this = &mut self.ends[end];
        let octets = octets.min(this.connection.readable());
        for offset in this.read..this.read + octets {
            assert_eq!(this.stored.remove(&offset), Some(octet(1 - end, offset)), "at {offset}");
        }
        this.read += octets;
        this.connection.read(octets);
        self.pump(end);
    }

    fn act(&mut self, end: usize, act: Act) {
        let this = &mut self.ends[end];
        match act {
            Act::Write(octets) => {
                this.connection.write(octets);
                if !this.finished && this.connection.state() != State::Closed {
                    this.written += octets;
                }
            }
            Act::Read(octets) => return self.read(end, octets),
            Act::Finish => {
                this.finished = true;
                this.connection.finish();
            }
            Act::Abort => {
                this.aborted = true;
                this.connection.abort();
            }
        }
        self.pump(end);
    }

    /// Moves to the next event, if there is one before `until`.
    fn step(&mut self, until: Instant) -> bool {
        let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
        let timers = [0, 1].map(|end| self.ends[end].connection.poll_timeout());
        let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else {
            return false;
        };
        if next > until {
            return false;
        }
        self.now = self.now.max(next);
        if arrival == Some(next) {
            if let Some((_, (to, what))) = self.wire.pop_first() {
                self.arrive(to, what);
            }
        } else {
            let end = usize::from(timers[0] != Some(next));
            self.ends[end].connection.handle_timeout(self.now, &mut ());
            self.pump(end);
        }
        true
    }
}

fn act() -> impl Strategy<Value = (u64, usize, Act)> {
    let act = prop_oneof![
        8 => (1..30_000_u64).prop_map(Act::Write),
        6 => (1..40_000_u64).prop_map(Act::Read),
        1 => Just(Act::Finish),
        1 => prop::bool::weighted(0.1).prop_map(|yes| if yes { Act::Abort } else { Act::Read(1) }),
    ];
    (0..1500_u64, 0..2_usize, act)
}

fn network() -> impl Strategy<Value = Network> {
    let mtu = prop_oneof![3 => Just(65_535), 1 => 600..1500_u32];
    let cuts = prop_oneof![Just(0), 0..500_u64];
    (any::<u64>(), 0..250_u64, 0..100_u64, cuts, 0..200_u64, 0..300_u64, mtu).prop_map(
        |(seed, loss, duplicates, cuts, delay, jitter, mtu)| Network {
            seed,
            loss,
            duplicates,
            cuts,
            delay,
            jitter,
            mtu,
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let isn = prop_oneof![any::<u32>(), (0..20_000_u32).prop_map(|n| u32::MAX - n)];
    // Small buffers are full, and their windows closed, most of the time.
    let receive_buffer = prop_oneof![1000..6000_u64, 1000..100_000_u64];
    (switches, isn, receive_buffer, 600..1461_u32).prop_map(
        |((timestamps, nagle, paws), isn, receive_buffer, mss)| {
            Config::wire(IpVersion::V4).with(|c| {
                c.mss = mss;
                c.isn = isn;
                c.receive_buffer = receive_buffer;
                c.initial_receive_buffer = nagle.then_some(receive_buffer / 4);
                c.timestamps.offer = timestamps;
                c.nagle = nagle;
                c.timestamps.paws = paws.then_some(Duration::ZERO);
                // Neither end gives up, however bad the path is.
                c.timeouts.syn_retries = None;
                c.timeouts.give_up = None;
            })
        },
    )
}

fn variants() -> impl Strategy<Value = &'static str> {
    // Packets with a number cannot be split or merged, nor are octets kept that were acknowledged.
    let rows = unruffled_tcp::ROWS.iter().filter(|row| !row.numbers_packets());
    prop::sample::select(rows.map(|row| row.name).collect::<Vec<_>>())
}

/// Lets both ends perform their acts and then finish, and reads until everything has ended.
fn live(
    network: Network,
    configs: [Config; 2],
    variant: &str,
    both_connect: bool,
    acts: &[(u64, usize, Act)],
) {
    let variant = Variant::named(variant).expect("a variant");
    let [first, second] = configs;
    let second = match both_connect {
        true => Connection::connect(second, &variant),
        false => Connection::listen(second, &variant),
    };
    let end = |connection| End {
        connection,
        stored: BTreeMap::new(),
        read: 0,
        written: 0,
        finished: false,
        aborted: false,
    };
    let random = network.seed;
    let mut world = World {
        ends: [end(Connection::connect(first, &variant)), end(second)],
        network,
        now: Instant::from_millis(1000),
        random,
        sent: 0,
        wire: BTreeMap::new(),
    };
    world.pump(0);
    world.pump(1);
    for &(wait, end, act) in acts {
        let until = world.now + Duration::from_millis(wait);
        while world.step(until) {}
        world.now = until;
        world.act(end, act);
    }
    for end in 0..2 {
        world.act(end, Act::Finish);
    }
    loop {
        for end in 0..2 {
            world.read(end, u64::MAX);
        }
        if !world.step(DEADLINE) {
            break;
        }
        assert!(world.sent < MAX_PACKETS, "does not end");
    }
    assert!(world.wire.is_empty(), "has not ended");
    if !world.ends.iter().any(|end| end.aborted) {
        for (end, other) in [(0, 1), (1, 0)] {
            let this = &world.ends[end];
            let other = &world.ends[other];
            // An end that receives no acknowledgement until the other's TIME-WAIT has ended is
            // reset, and has no confirmation that all its data arrived.
            let error = this.connection.error();
            let unconfirmed = error == Some(Error::Reset) && other.read == this.written;
            assert!(error.is_none() || unconfirmed, "neither end has aborted: {error:?}");
        }
    }
    let waits = |end: &End| matches!(end.connection.state(), State::Listen | State::FinWait2);
    for (end, other) in [(0, 1), (1, 0)] {
        let this = &world.ends[end];
        let other = &world.ends[other];
        if this.aborted {
            assert_eq!(this.connection.state(), State::Closed);
            continue;
        }
        if other.aborted {
            // The reset may be lost, and an end without data to send does not detect that without
            // keep-alives. A listener does not detect that no peer came either.
            assert!(waits(this) || this.connection.state() == State::Closed);
            assert!(matches!(this.connection.error(), None | Some(Error::Reset | Error::Refused)));
            continue;
        }
        assert_eq!(this.connection.state(), State::Closed);
        // The last acknowledgements may all be lost. Then TIME-WAIT ends, and a reset follows.
        assert_eq!(this.read, other.written, "what end {end} has read");
        assert!(this.stored.is_empty() && this.connection.peer_finished());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_octet_arrives_once_and_in_order_and_it_ends(
        network in network(),
        first in config(),
        second in config(),
        variant in variants(),
        both_connect in prop::bool::weighted(0.2),
        acts in prop::collection::vec(act(), 0..40),
    ) {
        live(network, [first, second], variant, both_connect, &acts);
    }
}

/// All acknowledgements of the last octets are lost until the other end's TIME-WAIT has ended.
#[test]
fn an_end_without_acknowledgements_is_reset_after_the_others_time_wait() {
    let ends = [(40_864, Some(10_216)), (1000, None)].map(|(buffer, initial)| {
        Config::wire(IpVersion::V4).with(|c| {
            c.mss = 1184;
            c.isn = 0;
            c.receive_buffer = buffer;
            c.initial_receive_buffer = initial;
            c.nagle = initial.is_some();
            c.timestamps.offer = false;
            c.timestamps.paws = None;
            c.timeouts.syn_retries = None;
            c.timeouts.give_up = None;
        })
    });
    let network = Network {
        seed: 5_059_601_218_375_645_732,
        loss: 171,
        duplicates: 16,
        cuts: 0,
        delay: 0,
        jitter: 14,
        mtu: 65_535,
    };
    live(network, ends, "wb-medium", false, &[(1024, 1, Act::Write(11_841))]);
}
