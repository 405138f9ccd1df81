//! Tests that read like packet traces: a sender driven by hand, in segments and milliseconds.
//!
//! Segments have 1000 octets and are numbered from 1. Time 0 is when the handshake ends, which is
//! played inside and gives the first round-trip time. A trace says when something happens, what
//! happens, and what the sender does about it:
//!
//! ```ignore
//! let mut t = Trace::of("rack").window(10).rtt(100).start();
//! t.sends("1-10");
//! t.at(100).ack("C1").sends("11 12");     // cumulative acknowledgement of segment 1
//! t.at(102).ack("C1 S3").sends("13");     // segment 3 is SACKed
//! t.at(126).timer().sends("R2");          // the timer that is due; segment 2 goes out again
//! t.at(200).ack("C5 D2 S7-9").sends("");  // segment 2 is reported as a duplicate (DSACK)
//! ```
//!
//! `R` marks what loss detection or recovery resends, `T` what is resent after a timeout, `P` a tail
//! loss probe that resends, `F` the FIN. Nothing may be left out: a trace fails when time passes a
//! timer that it did not play, or goes on before it told of all that was sent.

pub(crate) mod late;
mod notation;
mod setup;

use unruffled_tcp::{
    Config, Connection, Event, Flags, SackBlocks, Segment, SeqNr, Timestamps, Variant,
};
use unruffled_units::{Duration, Instant};

use notation::{note, range, sent, spell_out};
pub(crate) use setup::Setup;

/// Octets of a segment.
const SEGMENT: u64 = 1000;
/// Time 0 of a trace.
const START: Instant = Instant::from_millis(100_000);
/// The peer's initial sequence number, and ours: the latter wraps within the first segments.
const PEER: SeqNr = SeqNr(77);
const ISN: u32 = u32::MAX - 2500;

/// A sender and the time.
pub(crate) struct Trace {
    connection: Connection,
    now: Instant,
    /// What was sent and is not told of yet.
    out: Vec<String>,
    /// What happened in this step.
    seen: Vec<String>,
    /// Timestamp that the peer echoes.
    echo: u32,
    window: u16,
}

impl Trace {
    pub(crate) fn of(variant: &str) -> Setup {
        Setup {
            variant: Variant::named(variant).expect("a variant of this name"),
            config: Config { mss: SEGMENT as u32, isn: ISN, ..Config::simulated() },
            rtt: Duration::from_millis(100),
            segments: 1 << 40,
            sack: true,
            peer_window: None,
        }
    }
}

/// What happens.
impl Trace {
    /// It is now `ms` milliseconds after the start.
    #[track_caller]
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.go_to(START + Duration::from_millis(ms))
    }

    /// It is now just past `ms` milliseconds after the start.
    #[track_caller]
    pub(crate) fn past(&mut self, ms: u64) -> &mut Self {
        self.go_to(START + Duration::from_millis(ms) + Duration::from_nanos(1))
    }

    #[track_caller]
    fn go_to(&mut self, now: Instant) -> &mut Self {
        assert!(now >= self.now, "the trace goes back in time, to {:?}", now.since(START));
        if now > self.now {
            self.settled();
        }
        if let Some(due) = self.connection.poll_timeout() {
            assert!(due >= now, "a timer is due before, at {:?}", due.since(START));
        }
        self.now = now;
        self
    }

    /// It is now `due`; gives how long that took.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, due: Instant) -> Duration {
        let before = self.now;
        self.go_to(due);
        due.since(before)
    }

    /// It is now `ns` nanoseconds later.
    pub(crate) fn after_ns(&mut self, ns: u64) -> &mut Self {
        self.now += Duration::from_nanos(ns);
        self
    }

    /// An acknowledgement arrives: `C` cumulative, `S` SACK block, `D` DSACK block (first of all
    /// blocks), `rtx` the bit of the RTX variants.
    #[track_caller]
    pub(crate) fn ack(&mut self, ack: &str) -> &mut Self {
        self.receives(ack);
        self.pump();
        self
    }

    /// As [`Trace::ack`], but the sender is not asked what it sends before the next one arrives.
    #[track_caller]
    pub(crate) fn receives(&mut self, ack: &str) -> &mut Self {
        self.settled();
        let mut segment = Segment {
            seq: PEER.add(1),
            flags: Flags { ack: true, ..Flags::default() },
            window: self.window,
            timestamps: Some(Timestamps { value: 1, echo: self.echo }),
            ..Segment::default()
        };
        let mut sack = SackBlocks::default();
        for word in ack.split_whitespace() {
            let (kind, numbers) = word.split_at(1);
            let position = |n: u64| SeqNr(ISN).add(1).at(n * SEGMENT);
            match kind {
                "C" => segment.ack = position(range(numbers).0),
                "S" | "D" => {
                    let (first, last) = range(numbers);
                    sack.push(position(first - 1), position(last));
                }
                _ if word == "rtx" => segment.rtx = true,
                _ => panic!("{word}: neither C, S, D nor rtx"),
            }
        }
        segment.sack = sack;
        let seen = &mut self.seen;
        self.connection.handle_segment(&segment, self.now, &mut |_, e: &Event| note(seen, e));
        self
    }

    /// From now on acknowledgements echo what was sent at `ms`.
    pub(crate) fn echoing(&mut self, ms: u64) -> &mut Self {
        self.echo = self.ticks(ms);
        self
    }

    /// From now on acknowledgements advertise another window.
    pub(crate) fn window_changes(&mut self) -> &mut Self {
        self.window -= 1;
        self
    }

    /// The timer goes off; fails unless one is due exactly now.
    #[track_caller]
    pub(crate) fn timer(&mut self) -> &mut Self {
        self.settled();
        let due = self.connection.poll_timeout().expect("a timer");
        assert_eq!(due.since(START), self.now.since(START), "the time of the next timer");
        let seen = &mut self.seen;
        self.connection.handle_timeout(self.now, &mut |_, e: &Event| note(seen, e));
        self.pump();
        self
    }

    /// An ICMP message says that this segment is too big for a path of `mtu` octets.
    #[track_caller]
    pub(crate) fn too_big(&mut self, mtu: u32, segment: u64) -> &mut Self {
        self.settled();
        let (seen, seq) = (&mut self.seen, SeqNr(ISN).add(1).at((segment - 1) * SEGMENT));
        let mut observer = |_: Instant, e: &Event| note(seen, e);
        self.connection.handle_packet_too_big(mtu, seq, self.now, &mut observer);
        self.pump();
        self
    }

    /// Acknowledgements have been heard: the sender is asked what it sends.
    pub(crate) fn polls(&mut self) -> &mut Self {
        self.pump();
        self
    }

    /// The application writes this many segments more.
    #[track_caller]
    pub(crate) fn writes(&mut self, segments: u64) -> &mut Self {
        self.settled();
        self.connection.write(segments * SEGMENT);
        self.pump();
        self
    }

    /// The application writes no more.
    #[track_caller]
    pub(crate) fn finishes(&mut self) -> &mut Self {
        self.settled();
        self.connection.finish();
        self.pump();
        self
    }

    #[track_caller]
    fn settled(&mut self) {
        assert!(self.out.is_empty(), "sent, and not told of: {}", self.out.join(" "));
        self.seen.clear();
    }

    fn pump(&mut self) {
        let (out, seen) = (&mut self.out, &mut self.seen);
        let mut observer = |_: Instant, e: &Event| {
            note(seen, e);
            if let Event::Sent { offset, len, cause } = *e {
                out.push(sent(offset, len, cause));
            }
        };
        while self.connection.poll_transmit(self.now, &mut observer).is_some() {}
    }

    fn ticks(&self, ms: u64) -> u32 {
        let tick = Duration::from_millis(1).as_nanos();
        (START.as_nanos() / tick + ms) as u32
    }
}

/// What the sender did, and how it stands.
impl Trace {
    /// Exactly these segments have been sent since the last event.
    #[track_caller]
    pub(crate) fn sends(&mut self, expected: &str) -> &mut Self {
        let expected: Vec<String> = expected.split_whitespace().flat_map(spell_out).collect();
        assert_eq!(self.out.join(" "), expected.join(" "), "what was sent");
        self.out.clear();
        self
    }

    /// Whatever was sent does not matter here.
    pub(crate) fn sends_any(&mut self) -> &mut Self {
        self.out.clear();
        self
    }

    /// Exactly this has happened in this step: `fast-retransmit`, `recovered`, `timeout`, `probe`,
    /// `reordered <length>`, `spurious <segment>`, `spurious-fast-retransmit`, `spurious-timeout`.
    #[track_caller]
    pub(crate) fn reports(&mut self, expected: &str) -> &mut Self {
        assert_eq!(self.seen.join(", "), expected, "what was seen");
        self
    }

    /// The congestion window, in segments.
    #[track_caller]
    pub(crate) fn cwnd(&mut self, expected: f64) -> &mut Self {
        close("cwnd", self.connection.window().cwnd, expected);
        self
    }

    /// cwnd as it stands, for tests that compute with it.
    pub(crate) fn window(&self) -> f64 {
        self.connection.window().cwnd
    }

    /// The slow-start threshold, in segments.
    #[track_caller]
    pub(crate) fn ssthresh(&mut self, expected: f64) -> &mut Self {
        close("ssthresh", self.connection.window().ssthresh, expected);
        self
    }

    /// Segments believed to be in the network.
    #[track_caller]
    pub(crate) fn pipe(&mut self, expected: u32) -> &mut Self {
        assert_eq!(self.connection.pipe(), expected, "pipe");
        self
    }

    #[track_caller]
    pub(crate) fn dupthresh(&mut self, expected: u32) -> &mut Self {
        assert_eq!(self.connection.dupthresh(), Some(expected), "dupthresh");
        self
    }

    #[track_caller]
    pub(crate) fn fa_ratio(&mut self, expected: f64) -> &mut Self {
        close("FA ratio", self.variable("fa_ratio"), expected);
        self
    }

    /// The next timer goes off at `ms`.
    #[track_caller]
    pub(crate) fn timer_at(&mut self, ms: u64) -> &mut Self {
        let due = self.connection.poll_timeout().map(|due| due.since(START));
        assert_eq!(due, Some(Duration::from_millis(ms)), "the next timer");
        self
    }

    /// The next timer goes off just past `ms`.
    #[track_caller]
    pub(crate) fn timer_past(&mut self, ms: u64) -> &mut Self {
        let due = self.connection.poll_timeout().map(|due| due.since(START));
        let past = Duration::from_millis(ms) + Duration::from_nanos(1);
        assert_eq!(due, Some(past), "the next timer");
        self
    }

    /// No timer runs.
    #[track_caller]
    pub(crate) fn no_timer(&mut self) -> &mut Self {
        assert_eq!(self.connection.poll_timeout().map(|due| due.since(START)), None);
        self
    }

    #[track_caller]
    pub(crate) fn srtt(&mut self, ms: f64) -> &mut Self {
        let srtt = self.connection.srtt().expect("an SRTT");
        assert!((srtt.as_millis_f64() - ms).abs() < 1e-5, "SRTT is {srtt}, not {ms} ms");
        self
    }

    #[track_caller]
    pub(crate) fn rto(&mut self, ms: f64) -> &mut Self {
        let rto = self.connection.rto();
        assert!((rto.as_millis_f64() - ms).abs() < 1e-5, "RTO is {rto}, not {ms} ms");
        self
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// A variable of the sender's algorithm.
    #[track_caller]
    pub(crate) fn variable(&self, name: &str) -> f64 {
        self.connection.variable(name, self.now).expect(name)
    }

    /// RACK's variables: whether reordering was seen, the multiplier, and its recoveries left.
    #[track_caller]
    pub(crate) fn reo_wnd(&mut self, seen: bool, mult: u32, persist: u32) -> &mut Self {
        let state = ["reordering_seen", "reo_wnd_mult", "reo_wnd_persist"];
        let state = state.map(|name| self.variable(name) as u32);
        assert_eq!(state, [u32::from(seen), mult, persist], "seen, mult, persist");
        self
    }

    /// RACK.rtt, and when RACK.segment was sent, both in milliseconds.
    #[track_caller]
    pub(crate) fn rack_segment(&mut self, rtt: u64, sent: u64) -> &mut Self {
        let time = |name| Duration::from_secs_f64(self.variable(name));
        let sent = Duration::from_millis(sent) + START.since(Instant::ZERO);
        assert_eq!(time("rack_rtt"), Duration::from_millis(rtt), "RACK.rtt");
        assert_eq!(time("rack_xmit_ts"), sent, "RACK.xmit_ts");
        self
    }
}

#[track_caller]
fn close(what: &str, is: f64, expected: f64) {
    let same = is == expected || (is - expected).abs() < 1e-9;
    assert!(same, "{what} is {is}, not {expected}");
}
