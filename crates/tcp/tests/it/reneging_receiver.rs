//! A reneging receiver, against every sender: it drops data out of order that it has reported by
//! SACK, as RFC 2018, section 8, permits and Linux does when short of memory. All data arrives
//! nevertheless.

use std::collections::{BTreeMap, BTreeSet};

use crate::dice::Dice;
use proptest::prelude::*;
use unruffled_tcp::{
    Config, Connection, Event, Flags, Observer, ROWS, Row, SackBlocks, Segment, SeqNr, Variant,
};
use unruffled_units::{Duration, Instant};

const MSS: u32 = 1000;
const SEGMENTS: u64 = 300;
const ISN: u32 = 4_294_900_000;
const PEER: SeqNr = SeqNr(7);

/// Probabilities in 256ths that a packet is lost or late, and that a segment makes the receiver
/// renege.
#[derive(Clone, Copy, Debug)]
struct Path {
    lost: u8,
    late: u8,
    reneges: u8,
    /// Whether all data out of order is dropped, and not only the upper part.
    all: bool,
    seed: u64,
}

/// Segments that have arrived, by number.
#[derive(Default)]
struct Receiver {
    next: u64,
    held: BTreeSet<u64>,
}

impl Receiver {
    /// Receives segment `number`, and returns the acknowledgement.
    fn take(&mut self, number: u64, path: &Path, dice: &mut Dice) -> Segment {
        let at = |number: u64| SeqNr(ISN).add(1).at(number * u64::from(MSS));
        let mut sack = SackBlocks::default();
        if number < self.next || !self.held.insert(number) {
            sack.push(at(number), at(number + 1));
        }
        while self.held.remove(&self.next) {
            self.next += 1;
        }
        if dice.one_in_256(path.reneges) {
            let highest = self.held.last().map_or(self.next, |last| last + 1);
            let from =
                if path.all { 0 } else { self.next + dice.roll() % (highest - self.next + 1) };
            self.held.split_off(&from);
        }
        for (left, right) in self.ranges(number) {
            sack.push(at(left), at(right));
        }
        let flags = Flags { ack: true, ..Flags::default() };
        let ack = at(self.next);
        Segment { seq: PEER.add(1), ack, flags, window: u16::MAX, sack, ..Segment::default() }
    }

    /// Returns the ranges held, the one with `latest` first.
    fn ranges(&self, latest: u64) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &number in &self.held {
            match ranges.last_mut() {
                Some((_, right)) if *right == number => *right += 1,
                _ => ranges.push((number, number + 1)),
            }
        }
        ranges.sort_by_key(|&(left, right)| !(left..right).contains(&latest));
        ranges
    }
}

/// Checks that the windows stay within bounds.
struct Bounds;

impl Observer for Bounds {
    fn on_event(&mut self, _now: Instant, event: &Event) {
        if let Event::Acknowledged { cwnd, ssthresh, .. } = *event {
            assert!(cwnd.is_finite() && cwnd >= 0.5 && ssthresh >= 0.5, "{cwnd}, {ssthresh}");
            assert!(cwnd <= SEGMENTS as f64 + 20.0, "cwnd {cwnd}");
        }
    }
}

/// Sends all data, or panics after more steps than any sender takes.
fn run(name: &str, path: &Path) {
    let variant = Variant::parse(name).expect("a sender");
    let config = Config::simulated().with(|c| {
        c.mss = MSS;
        c.isn = ISN;
        c.timeouts.give_up = None;
    });
    let mut sender = Connection::connect(config, &variant);
    sender.write(SEGMENTS * u64::from(MSS));
    let mut now = Instant::ZERO;
    assert!(sender.poll_transmit(now, &mut ()).is_some_and(|syn| syn.flags.syn));
    let syn_ack = Segment {
        seq: PEER,
        ack: SeqNr(ISN).add(1),
        flags: Flags { syn: true, ack: true, ..Flags::default() },
        window: u16::MAX,
        mss: Some(MSS as u16),
        sack_permitted: true,
        ..Segment::default()
    };
    sender.handle_segment(&syn_ack, now, &mut Bounds);

    let mut receiver = Receiver::default();
    let mut dice = Dice(path.seed);
    // Data is a segment number; in the other direction there are acknowledgements.
    let mut wire: BTreeMap<(Instant, u64), Result<u64, Segment>> = BTreeMap::new();
    let mut order = 0;
    let mut put = |wire: &mut BTreeMap<_, _>, what, now: Instant, dice: &mut Dice| {
        order += 1;
        if !dice.one_in_256(path.lost) {
            let late = if dice.one_in_256(path.late) { dice.roll() % 200 } else { 0 };
            wire.insert((now + Duration::from_millis(50 + late), order), what);
        }
    };
    for _ in 0..200_000 {
        while let Some(segment) = sender.poll_transmit(now, &mut Bounds) {
            if segment.len > 0 {
                let offset = sender.send_offset(segment.seq);
                assert_eq!((segment.len, offset % u64::from(MSS)), (MSS, 0), "whole segments");
                put(&mut wire, Ok(offset / u64::from(MSS)), now, &mut dice);
            }
        }
        if sender.acknowledged() == SEGMENTS * u64::from(MSS) {
            assert_eq!(receiver.next, SEGMENTS);
            return;
        }
        let arrival = wire.first_key_value().map(|(&(at, _), _)| at);
        let next = sender.poll_timeout().into_iter().chain(arrival).min().expect("a timer runs");
        now = now.max(next);
        if arrival.is_some_and(|at| at <= now) {
            match wire.pop_first().expect("there is one").1 {
                Ok(number) => {
                    let ack = receiver.take(number, path, &mut dice);
                    put(&mut wire, Err(ack), now, &mut dice);
                }
                Err(ack) => sender.handle_segment(&ack, now, &mut Bounds),
            }
        }
        if sender.poll_timeout().is_some_and(|at| at <= now) {
            sender.handle_timeout(now, &mut Bounds);
        }
    }
    panic!("{name} does not end: {} of {SEGMENTS} segments acknowledged", receiver.next);
}

fn path() -> impl Strategy<Value = Path> {
    (0..=60_u8, 0..=120_u8, 1..=60_u8, any::<bool>(), any::<u64>())
        .prop_map(|(lost, late, reneges, all, seed)| Path { lost, late, reneges, all, seed })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_data_arrives_although_the_receiver_reneges(path in path()) {
        // The peer has no packet numbers, and smoltcp's window has no bound.
        let bounded = |row: &Row| !row.numbers_packets() && row.name != "smoltcp";
        for row in ROWS.iter().filter(|row| bounded(row)) {
            run(row.name, &path);
        }
        for name in ["rr-ta+cubic", "sack+eifel", "sack+f-rto", "rack+cubic+eifel+f-rto"] {
            run(name, &path);
        }
    }
}
