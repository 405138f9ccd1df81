//! A receiver that lies, against every sender: DSACKs of segments that arrived once or never, SACKs
//! of segments that never arrived or were never sent, acknowledgements of data that has not
//! arrived. The sender need not be right about what arrived, but it must end, with windows and
//! thresholds within bounds.

use std::collections::BTreeMap;

use crate::dice::Dice;
use proptest::prelude::*;
use unruffled_tcp::{
    Config, Connection, Event, Observer, ROWS, Row, SackBlocks, Segment, SeqNr, Variant,
};
use unruffled_units::{Duration, Instant};

const MSS: u32 = 1000;
const SEGMENTS: u64 = 400;

/// Probabilities in 256ths that an acknowledgement is falsified in each way, and that a segment is
/// lost or late.
#[derive(Clone, Copy, Debug)]
struct Lies {
    dsack: u8,
    sack: u8,
    beyond: u8,
    optimistic: u8,
    lost: u8,
    late: u8,
    seed: u64,
}

struct Checker {
    /// Bound of the congestion window, in segments, and the largest one.
    max_cwnd: f64,
    largest: f64,
    /// Spurious retransmissions reported, and retransmissions made.
    spurious: u64,
    resent: u64,
}

impl Observer for Checker {
    fn on_event(&mut self, _now: Instant, event: &Event) {
        match *event {
            Event::SpuriousRetransmission { .. } => self.spurious += 1,
            Event::Sent { cause: Some(_), .. } => self.resent += 1,
            Event::Acknowledged { cwnd, ssthresh, dupthresh, .. } => {
                assert!(cwnd.is_finite() && cwnd >= 0.5, "cwnd {cwnd}");
                assert!(ssthresh >= 0.5, "ssthresh {ssthresh}");
                assert!(cwnd <= self.max_cwnd, "cwnd {cwnd}");
                self.largest = self.largest.max(cwnd);
                assert!(dupthresh.is_none_or(|d| (1..=5_000).contains(&d)), "{dupthresh:?}");
            }
            _ => {}
        }
    }
}

/// Returns the bound of the window of this sender: what was sent and the initial window.
///
/// `linux` counts a segment again that is selectively acknowledged again after the receiver reneged, as Linux
/// does (`tcp_timeout_mark_lost`, `tcp_sacktag_one`). Its window grows while more than half of it is in flight,
/// so it is bounded by twice what is in flight and one acknowledgement of all of that.
fn max_cwnd(name: &str) -> f64 {
    let times = if name == "linux" { 3 } else { 1 };
    (times * SEGMENTS) as f64 + 20.0
}

/// Falsifies an acknowledgement of a sender that has sent up to `sent`.
fn tamper(segment: &mut Segment, origin: SeqNr, sent: u64, lies: &Lies, dice: &mut Dice) {
    let at = |offset: u64| origin.add(1).at(offset);
    let some_segment = |dice: &mut Dice, up_to: u64| dice.roll() % up_to.max(1) / 1000 * 1000;
    let mut blocks = SackBlocks::default();
    if dice.one_in_256(lies.dsack) {
        // Below the cumulative acknowledgement, as a DSACK is.
        let acked = segment.ack.distance(origin.add(1)).max(0) as u64;
        if acked >= 1000 {
            let left = some_segment(dice, acked);
            blocks.push(at(left), at(left + 1000));
        }
    }
    if dice.one_in_256(lies.sack) {
        let left = some_segment(dice, sent);
        blocks.push(at(left), at(left + 1000 * (1 + dice.roll() % 5)));
    }
    if dice.one_in_256(lies.beyond) {
        let left = sent + 1000 * (dice.roll() % 50);
        blocks.push(at(left), at(left + 1000));
    }
    for block in segment.sack.as_slice() {
        blocks.push(block.left, block.right);
    }
    segment.sack = blocks;
    if dice.one_in_256(lies.optimistic) {
        segment.ack = segment.ack.add(1000 * (dice.roll() % 30) as u32);
    }
}

fn run(name: &str, lies: &Lies) -> Checker {
    let variant = Variant::parse(name).expect("a sender");
    // A receiver cannot get data any more that it acknowledged before it arrived, so the sender
    // gives up in the end.
    let give_up = Some(Duration::from_secs(100));
    let config = Config::simulated().with(|c| {
        c.mss = MSS;
        c.isn = 4_294_000_000;
        c.timeouts.give_up = give_up;
    });
    let origin = SeqNr(config.isn);
    let mut sender = Connection::connect(config.clone(), &variant);
    let mut receiver = Connection::listen(Config { isn: 7, ..config }, &variant);
    sender.write(SEGMENTS * u64::from(MSS));
    let mut dice = Dice(lies.seed);
    let mut checker = Checker { max_cwnd: max_cwnd(name), largest: 0.0, spurious: 0, resent: 0 };
    let mut wire: BTreeMap<(Instant, u64), (bool, Segment)> = BTreeMap::new();
    let mut now = Instant::ZERO;
    let mut sent = 0;
    let mut order = 0;
    for _ in 0..200_000 {
        let mut out: Vec<(bool, Segment)> = Vec::new();
        while let Some(segment) = sender.poll_transmit(now, &mut checker) {
            sent = sent.max(sender.acknowledged() + sender.in_flight());
            out.push((true, segment));
        }
        while let Some(mut segment) = receiver.poll_transmit(now, &mut ()) {
            receiver.read(receiver.readable());
            if !segment.flags.syn {
                tamper(&mut segment, origin, sent, lies, &mut dice);
            }
            out.push((false, segment));
        }
        for (data, segment) in out {
            order += 1;
            if !segment.flags.syn && dice.one_in_256(lies.lost) {
                continue;
            }
            let late = if dice.one_in_256(lies.late) { dice.roll() % 200 } else { 0 };
            wire.insert((now + Duration::from_millis(50 + late), order), (data, segment));
        }
        if sender.acknowledged() >= SEGMENTS * u64::from(MSS) || sender.error().is_some() {
            assert!(checker.spurious <= checker.resent, "more reported than retransmitted");
            return checker;
        }
        let arrival = wire.first_key_value().map(|(&(at, _), _)| at);
        let timers = [sender.poll_timeout(), receiver.poll_timeout()];
        let next = timers.into_iter().flatten().chain(arrival).min().expect("a packet or a timer");
        now = now.max(next);
        if arrival.is_some_and(|at| at <= now) {
            let (_, (data, segment)) = wire.pop_first().expect("there is one");
            if data {
                receiver.handle_segment(&segment, now, &mut ());
            } else {
                sender.handle_segment(&segment, now, &mut checker);
            }
        }
        if sender.poll_timeout().is_some_and(|at| at <= now) {
            sender.handle_timeout(now, &mut checker);
        }
        if receiver.poll_timeout().is_some_and(|at| at <= now) {
            receiver.handle_timeout(now, &mut ());
        }
    }
    panic!(
        "{name} does not end: {} of {SEGMENTS} segments acknowledged",
        sender.acknowledged() / 1000
    );
}

fn lies() -> impl Strategy<Value = Lies> {
    let often = || 0..=200_u8;
    (often(), 0..=60_u8, often(), 0..=60_u8, 0..=40_u8, 0..=120_u8, any::<u64>()).prop_map(
        |(dsack, sack, beyond, optimistic, lost, late, seed)| Lies {
            dsack,
            sack,
            beyond,
            optimistic,
            lost,
            late,
            seed,
        },
    )
}

/// Returns the senders whose window has a bound with a peer that has no packet numbers: not smoltcp, which
/// has no congestion control.
fn bounded() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| !row.numbers_packets() && row.name != "smoltcp")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_sender_ends_within_its_bounds(lies in lies()) {
        for row in bounded() {
            run(row.name, &lies);
        }
        for name in ["rr-ta+cubic", "sack+eifel", "sack+f-rto", "rack+cubic+eifel+f-rto"] {
            run(name, &lies);
        }
    }
}

#[test]
fn linux_counts_again_what_is_acknowledged_again() {
    let seed = 13_198_497_045_452_327_810;
    let lies = Lies { dsack: 14, sack: 23, beyond: 64, optimistic: 52, lost: 7, late: 44, seed };
    // A window of 346 segments, 308 of them in flight, when all of these are acknowledged.
    assert_eq!(run("linux", &lies).largest, 346.0 + 308.0);
}

#[test]
fn a_dsack_of_a_segment_never_retransmitted_restores_nothing() {
    // RFC 3708, section 3, A.4: every acknowledgement reports a duplicate, and nothing is ever
    // lost.
    let lies = Lies { dsack: 255, sack: 0, beyond: 0, optimistic: 0, lost: 0, late: 0, seed: 1 };
    for row in bounded() {
        let checker = run(row.name, &lies);
        assert_eq!((checker.resent, checker.spurious), (0, 0), "{}", row.name);
    }
}
