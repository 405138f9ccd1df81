//! Packet traces: a sender driven by hand, in segments and milliseconds.
//!
//! Segments have 1000 octets and are numbered from 1. Time 0 is the end of the handshake, which
//! `start` plays and which gives the first round-trip time. A trace states when something happens,
//! what happens, and how the sender responds:
//!
//! ```ignore
//! let mut t = Trace::of("rack").window(10).rtt(100).start();
//! t.sends("1-10");
//! t.at(100).ack("C1").sends("11 12");     // cumulative acknowledgement of segment 1
//! t.at(102).ack("C1 S3").sends("13");     // segment 3 is SACKed
//! t.at(126).timer().sends("R2");          // a timer expires; segment 2 is retransmitted
//! t.at(200).ack("C5 D2 S7-9").sends("");  // segment 2 is reported as a duplicate (DSACK)
//! ```
//!
//! `R` marks a retransmission by loss detection or recovery, `T` one after a timeout, `P` one by a
//! tail loss probe, `F` the FIN. A trace must be complete: it fails if time passes a timer that it
//! did not play, or if it continues before it has checked everything that was sent.

pub(crate) mod late;
mod notation;
mod setup;

use unruffled_tcp::{
    Config, Connection, Ecn, Event, Flags, SackBlocks, Segment, SeqNr, Timestamps, Variant,
};
use unruffled_units::{Duration, Instant};

use notation::{range, record, sent, spell_out};
pub(crate) use setup::Setup;

/// Octets of a segment.
const SEGMENT: u64 = 1000;
/// Time 0 of a trace.
const START: Instant = Instant::from_millis(100_000);
/// Initial sequence numbers of the peer and of the sender. The latter wraps within the first
/// segments.
const PEER: SeqNr = SeqNr(77);
const ISN: u32 = u32::MAX - 2500;

/// A sender and the present time.
pub(crate) struct Trace {
    connection: Connection,
    now: Instant,
    /// Segments sent and not checked yet.
    out: Vec<String>,
    /// Events of this step.
    reported: Vec<String>,
    /// Timestamp that the peer echoes.
    echo: u32,
    window: u16,
    /// Segments that carried CWR so far.
    cwr: Vec<u64>,
    /// Numbers of the packets with data so far, of a stack that numbers its packets.
    packets: Vec<u32>,
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

/// Events.
impl Trace {
    /// Moves to `ms` milliseconds after the start.
    #[track_caller]
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.go_to(START + Duration::from_millis(ms))
    }

    /// Moves to just after `ms` milliseconds after the start.
    #[track_caller]
    pub(crate) fn past(&mut self, ms: u64) -> &mut Self {
        self.go_to(START + Duration::from_millis(ms) + Duration::from_nanos(1))
    }

    #[track_caller]
    fn go_to(&mut self, now: Instant) -> &mut Self {
        assert!(now >= self.now, "the trace goes back in time, to {:?}", now.since(START));
        if now > self.now {
            self.assert_all_checked();
        }
        if let Some(due) = self.connection.poll_timeout() {
            assert!(due >= now, "a timer is due before, at {:?}", due.since(START));
        }
        self.now = now;
        self
    }

    /// Moves to `due`, and returns how long that took.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, due: Instant) -> Duration {
        let before = self.now;
        self.go_to(due);
        due.since(before)
    }

    /// Moves `ns` nanoseconds on.
    pub(crate) fn after_ns(&mut self, ns: u64) -> &mut Self {
        self.now += Duration::from_nanos(ns);
        self
    }

    /// Delivers an acknowledgement and polls the sender: `C` cumulative, `S` SACK block, `D` DSACK
    /// block (first of all blocks), `N` the packets with data from the first on, of a stack that numbers
    /// its packets, `rtx` the bit of the RTX variants, `ece` ECN-Echo.
    #[track_caller]
    pub(crate) fn ack(&mut self, ack: &str) -> &mut Self {
        self.receives(ack);
        self.pump();
        self
    }

    /// Delivers an acknowledgement like [`Trace::ack`], without polling the sender.
    #[track_caller]
    pub(crate) fn receives(&mut self, ack: &str) -> &mut Self {
        self.assert_all_checked();
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
                "N" => {
                    let (first, last) = range(numbers);
                    let number = |n: u64| SeqNr(self.packets[n as usize - 1]);
                    sack.push(number(first), number(last).add(1));
                }
                _ if word == "rtx" => segment.rtx = true,
                _ if word == "ece" => segment.ecn = Ecn::ECE,
                _ => panic!("{word}: neither C, S, D, N, rtx nor ece"),
            }
        }
        segment.sack = sack;
        let reported = &mut self.reported;
        self.connection.handle_segment(&segment, self.now, &mut |_, e: &Event| record(reported, e));
        self
    }

    /// Makes later acknowledgements echo the timestamp of `ms`.
    pub(crate) fn echoing(&mut self, ms: u64) -> &mut Self {
        self.echo = self.ticks(ms);
        self
    }

    /// Makes later acknowledgements advertise a different window.
    pub(crate) fn window_changes(&mut self) -> &mut Self {
        self.window -= 1;
        self
    }

    /// Expires the timer that is due exactly now.
    #[track_caller]
    pub(crate) fn timer(&mut self) -> &mut Self {
        self.assert_all_checked();
        let due = self.connection.poll_timeout().expect("a timer");
        assert_eq!(due.since(START), self.now.since(START), "the time of the next timer");
        let reported = &mut self.reported;
        self.connection.handle_timeout(self.now, &mut |_, e: &Event| record(reported, e));
        self.pump();
        self
    }

    /// Delivers an ICMP message that this segment is too big for a path of `mtu` octets.
    #[track_caller]
    pub(crate) fn too_big(&mut self, mtu: u32, segment: u64) -> &mut Self {
        self.assert_all_checked();
        let reported = &mut self.reported;
        let seq = SeqNr(ISN).add(1).at((segment - 1) * SEGMENT);
        let mut observer = |_: Instant, e: &Event| record(reported, e);
        self.connection.handle_packet_too_big(mtu, seq, self.now, &mut observer);
        self.pump();
        self
    }

    /// Polls the sender.
    pub(crate) fn polls(&mut self) -> &mut Self {
        self.pump();
        self
    }

    /// Writes this many more segments.
    #[track_caller]
    pub(crate) fn writes(&mut self, segments: u64) -> &mut Self {
        self.assert_all_checked();
        self.connection.write(segments * SEGMENT);
        self.pump();
        self
    }

    /// Finishes the stream.
    #[track_caller]
    pub(crate) fn finishes(&mut self) -> &mut Self {
        self.assert_all_checked();
        self.connection.finish();
        self.pump();
        self
    }

    #[track_caller]
    fn assert_all_checked(&mut self) {
        assert!(self.out.is_empty(), "sent, and not in the trace: {}", self.out.join(" "));
        self.reported.clear();
    }

    fn pump(&mut self) {
        let out = &mut self.out;
        let reported = &mut self.reported;
        let mut observer = |_: Instant, e: &Event| {
            record(reported, e);
            if let Event::Sent { offset, len, cause } = *e {
                out.push(sent(offset, len, cause));
            }
        };
        while let Some(segment) = self.connection.poll_transmit(self.now, &mut observer) {
            if !segment.packet.is_none() && segment.len > 0 {
                self.packets.push(segment.packet.number());
            }
            if segment.ecn.has_cwr() {
                let end = segment.seq.add(segment.len).distance(SeqNr(ISN).add(1));
                self.cwr.push((i64::from(end) as u64).div_ceil(SEGMENT));
            }
        }
    }

    fn ticks(&self, ms: u64) -> u32 {
        let tick = Duration::from_millis(1).as_nanos();
        (START.as_nanos() / tick + ms) as u32
    }
}

/// Checks.
impl Trace {
    /// Checks the segments sent since the last event.
    #[track_caller]
    pub(crate) fn sends(&mut self, expected: &str) -> &mut Self {
        let expected: Vec<String> = expected.split_whitespace().flat_map(spell_out).collect();
        assert_eq!(self.out.join(" "), expected.join(" "), "what was sent");
        self.out.clear();
        self
    }

    /// Checks which segments have carried CWR so far.
    #[track_caller]
    pub(crate) fn cwr(&mut self, expected: &[u64]) -> &mut Self {
        assert_eq!(self.cwr, expected, "segments with CWR");
        self
    }

    /// Ignores the segments sent since the last event.
    pub(crate) fn sends_any(&mut self) -> &mut Self {
        self.out.clear();
        self
    }

    /// Checks the events of this step: `fast-retransmit`, `recovered`, `timeout`, `probe`,
    /// `reordered <length>`, `spurious <segment>`, `spurious-fast-retransmit`, `spurious-timeout`,
    /// `ecn-reduction`.
    #[track_caller]
    pub(crate) fn reports(&mut self, expected: &str) -> &mut Self {
        assert_eq!(self.reported.join(", "), expected, "what was reported");
        self
    }

    /// Checks the congestion window, in segments.
    #[track_caller]
    pub(crate) fn cwnd(&mut self, expected: f64) -> &mut Self {
        close("cwnd", self.connection.window().cwnd, expected);
        self
    }

    /// Returns cwnd, for tests that compute with it.
    pub(crate) fn window(&self) -> f64 {
        self.connection.window().cwnd
    }

    /// Checks the slow-start threshold, in segments.
    #[track_caller]
    pub(crate) fn ssthresh(&mut self, expected: f64) -> &mut Self {
        close("ssthresh", self.connection.window().ssthresh, expected);
        self
    }

    /// Checks the estimated number of segments in the network.
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

    /// Checks that the next timer is due at `ms`.
    #[track_caller]
    pub(crate) fn timer_at(&mut self, ms: u64) -> &mut Self {
        let due = self.connection.poll_timeout().map(|due| due.since(START));
        assert_eq!(due, Some(Duration::from_millis(ms)), "the next timer");
        self
    }

    /// Checks that the next timer is due just after `ms`.
    #[track_caller]
    pub(crate) fn timer_past(&mut self, ms: u64) -> &mut Self {
        let due = self.connection.poll_timeout().map(|due| due.since(START));
        let past = Duration::from_millis(ms) + Duration::from_nanos(1);
        assert_eq!(due, Some(past), "the next timer");
        self
    }

    /// Checks that no timer runs.
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

    /// Returns a variable of the sender's algorithm.
    #[track_caller]
    pub(crate) fn variable(&self, name: &str) -> f64 {
        self.connection.variable(name, self.now).expect(name)
    }

    /// Checks RACK's variables: whether reordering was seen, the multiplier, and its remaining
    /// recoveries.
    #[track_caller]
    pub(crate) fn reo_wnd(&mut self, seen: bool, mult: u32, persist: u32) -> &mut Self {
        let state = ["reordering_seen", "reo_wnd_mult", "reo_wnd_persist"];
        let state = state.map(|name| self.variable(name) as u32);
        assert_eq!(state, [u32::from(seen), mult, persist], "seen, mult, persist");
        self
    }

    /// Checks RACK.rtt, and when RACK.segment was sent, both in milliseconds.
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
