//! Traces of senders with the parts `eifel`, `f-rto` and `cubic`, and of `westwood` and
//! `wb-medium`, through the public interface. Segments have 1000 octets and are numbered from 0.
//! The handshake takes 100 ms, so data is first sent at 100 ms. The minimum RTO is 200 ms.

use unruffled_tcp::{
    Cause, Config, Connection, Event, Flags, SackBlocks, Segment, SeqNr, Timestamps, Variant,
};
use unruffled_units::{Duration, Instant};

const MSS: u32 = 1000;
const PEER: u32 = 50_000;

struct Trace {
    connection: Connection,
    now: Instant,
    events: Vec<Event>,
    sack: bool,
}

impl Trace {
    /// Returns a connection of `variant` with an initial window of ten to a peer with or without
    /// SACK.
    fn new(variant: &Variant, sack: bool, seed: u64) -> Self {
        let config = Config::simulated().with(|c| {
            c.mss = MSS;
            c.rto.min = Duration::from_millis(200);
            c.receive_buffer = 1 << 20;
            c.seed = seed;
        });
        let connection = Connection::connect(config, variant);
        let mut trace = Self { connection, now: Instant::ZERO, events: Vec::new(), sack };
        let syn = trace.poll().expect("a SYN");
        trace.now = Instant::from_millis(100);
        let answer = Segment {
            seq: SeqNr(PEER),
            ack: SeqNr(1),
            flags: Flags { syn: true, ack: true, ..Flags::default() },
            window: u16::MAX,
            mss: Some(MSS as u16),
            window_scale: Some(7),
            sack_permitted: sack,
            timestamps: syn.timestamps.map(|t| Timestamps { value: 1, echo: t.value }),
            ..Segment::default()
        };
        trace.gets(&answer);
        trace.connection.write(1 << 30);
        trace
    }

    fn of(name: &str) -> Self {
        let variant = Variant::parse(name).expect("a valid name");
        Self::new(&variant, variant.row().takes_sack(), 1)
    }

    fn gets(&mut self, segment: &Segment) {
        let events = &mut self.events;
        let mut observer = |_: Instant, event: &Event| events.push(*event);
        self.connection.handle_segment(segment, self.now, &mut observer);
    }

    fn poll(&mut self) -> Option<Segment> {
        let events = &mut self.events;
        let mut observer = |_: Instant, event: &Event| events.push(*event);
        self.connection.poll_transmit(self.now, &mut observer)
    }

    /// Polls the sender, and returns the numbers of the data segments that it sends.
    fn sends(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Some(segment) = self.poll() {
            if segment.len > 0 {
                numbers.push((segment.seq.0 - 1) / MSS);
            }
        }
        numbers
    }

    /// Delivers, at `ms`, an acknowledgement of everything before segment `next`, with blocks of
    /// segments (first and last), that echoes what was sent at `echo` ms. Returns what the sender
    /// sends in response.
    fn ack(&mut self, ms: u64, next: u32, blocks: &[(u32, u32)], echo: u32) -> Vec<u32> {
        self.now = Instant::from_millis(ms);
        let mut sack = SackBlocks::default();
        for &(first, last) in blocks.iter().filter(|_| self.sack) {
            sack.push(SeqNr(1 + first * MSS), SeqNr(1 + (last + 1) * MSS));
        }
        let segment = Segment {
            seq: SeqNr(PEER + 1),
            ack: SeqNr(1 + next * MSS),
            flags: Flags { ack: true, ..Flags::default() },
            window: u16::MAX,
            sack,
            timestamps: Some(Timestamps { value: 2, echo }),
            ..Segment::default()
        };
        self.gets(&segment);
        self.sends()
    }

    /// Expires the next timer. Returns when, in ms, and what is sent.
    fn timeout(&mut self) -> (u64, Vec<u32>) {
        self.now = self.connection.poll_timeout().expect("a timer");
        let events = &mut self.events;
        let mut observer = |_: Instant, event: &Event| events.push(*event);
        self.connection.handle_timeout(self.now, &mut observer);
        (self.now.as_nanos() / 1_000_000, self.sends())
    }

    /// Returns cwnd and ssthresh.
    fn window(&self) -> (f64, f64) {
        let window = self.connection.window();
        (window.cwnd, window.ssthresh)
    }

    /// Returns the reductions found spurious so far.
    fn found(&self) -> Vec<Cause> {
        let cause = |e: &Event| match e {
            Event::SpuriousReduction { cause } => Some(*cause),
            _ => None,
        };
        self.events.iter().filter_map(cause).collect()
    }
}

/// Plays a seeming loss of segment 0. 0 to 9 are sent at 100 ms, and SACKs of 1, 2 and 3 arrive at
/// 200 ms. Limited transmit releases 10 and 11, then 0 is retransmitted with the timestamp 200.
fn three_duplicates(t: &mut Trace) {
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(t.ack(200, 0, &[(1, 1)], 100), [10]);
    assert_eq!(t.ack(200, 0, &[(1, 2)], 100), [11]);
    assert_eq!(t.ack(200, 0, &[(1, 3)], 100), [0]);
    // Half of the window of 10; limited transmit's two do not count.
    assert_eq!(t.window(), (5.0, 5.0));
}

#[test]
fn eifel_undoes_a_spurious_fast_retransmit_once() {
    let mut t = Trace::of("sack+eifel");
    three_duplicates(&mut t);
    // The original of 0 arrives and fills the hole. FlightSize 4…11 = 8 and four acknowledged would
    // make 12, two more than ever: 10. pipe_prev = max(10, ∞).
    assert_eq!(t.ack(205, 4, &[], 100), [12, 13]);
    assert_eq!(t.found(), [Cause::FastRetransmit]);
    assert_eq!(t.window(), (10.0, f64::INFINITY));
    assert!(!t.connection.recovering());
    // The DSACK for the retransmission adds nothing.
    t.ack(305, 5, &[(0, 0)], 200);
    assert!(t.events.contains(&Event::SpuriousRetransmission { offset: 0, len: MSS }));
    assert_eq!(t.found(), [Cause::FastRetransmit]);
}

#[test]
fn eifel_does_not_undo_a_genuine_fast_retransmit() {
    let mut t = Trace::of("sack+eifel");
    three_duplicates(&mut t);
    // Only the retransmission, sent at 200 ms, fills the hole.
    t.ack(300, 4, &[], 200);
    assert_eq!(t.found(), []);
    assert_eq!(t.window(), (5.0, 5.0));
}

#[test]
fn without_eifel_the_same_acknowledgement_changes_nothing() {
    let mut t = Trace::of("sack");
    three_duplicates(&mut t);
    t.ack(205, 4, &[], 100);
    assert_eq!((t.found(), t.window()), (vec![], (5.0, 5.0)));
}

/// Plays a timeout of 12 after a genuine loss, with cwnd and ssthresh 5, and 12 to 16 in flight, 12
/// since 200 ms. Returns when it expired, in ms.
fn timeout_in_congestion_avoidance(t: &mut Trace) -> u64 {
    three_duplicates(t);
    // Pipe: 12 outstanding, less those SACKed; below 5 from the eighth on.
    for last in 4..12 {
        let sent = t.ack(200, 0, &[(1, last)], 100);
        assert_eq!(sent, if last < 8 { vec![] } else { vec![last + 4] });
    }
    assert_eq!(t.ack(300, 12, &[], 200), [16]);
    assert_eq!(t.window(), (5.0, 5.0));
    let (expired, sent) = t.timeout();
    assert_eq!(sent, [12]);
    assert_eq!(t.window(), (1.0, 2.5), "half of FlightSize");
    expired
}

#[test]
fn eifel_undoes_a_spurious_timeout_and_adapts_the_timer() {
    let mut t = Trace::of("sack+eifel");
    let expired = timeout_in_congestion_avoidance(&mut t);
    // The original of 12 is acknowledged late. FlightSize 4 + min(1, IW) = 5; pipe_prev = max(5,
    // 5). One new segment may be sent, and nothing old.
    assert_eq!(t.ack(expired + 50, 13, &[], 200), [17]);
    assert_eq!(t.found(), [Cause::Timeout]);
    assert_eq!(t.window(), (5.0, 5.0));
    // The others of the flight follow; they were sent before the timeout.
    for next in 14..=17 {
        t.ack(expired + 60, next, &[], 200);
    }
    assert!(t.connection.srtt().is_some_and(|srtt| srtt < Duration::from_millis(500)));
    // The first new one takes 600 ms: SRTT = max(SRTT_prev, 600), RTTVAR = max(RTTVAR_prev, 300):
    // RTO = 600 + 4·300.
    t.ack(expired + 650, 18, &[], expired as u32 + 50);
    assert_eq!(t.connection.srtt(), Some(Duration::from_millis(600)));
    assert_eq!(t.connection.rto(), Duration::from_millis(1800));
}

#[test]
fn eifel_does_not_undo_a_genuine_timeout() {
    let mut t = Trace::of("sack+eifel");
    let expired = timeout_in_congestion_avoidance(&mut t);
    // Slow start: the next two lost segments are retransmitted.
    assert_eq!(t.ack(expired + 100, 13, &[], expired as u32), [13, 14]);
    assert_eq!(t.found(), []);
    assert_eq!(t.window(), (2.0, 2.5));
}

#[test]
fn eifel_works_without_sack() {
    let mut t = Trace::of("newreno+eifel");
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // 0 is acknowledged, which makes the window 11; then 1 seems lost.
    assert_eq!(t.ack(200, 1, &[], 100), [10, 11]);
    assert_eq!(t.ack(200, 1, &[], 100), [12]);
    assert_eq!(t.ack(200, 1, &[], 100), [13]);
    assert_eq!(t.ack(200, 1, &[], 100), [1]);
    assert_eq!(t.window(), (5.5, 5.5));
    // FlightSize 5…13 = 9, and four acknowledged: at most 11, as before.
    t.ack(205, 5, &[], 100);
    assert_eq!(t.found(), [Cause::FastRetransmit]);
    assert_eq!(t.window(), (11.0, f64::INFINITY));
}

/// Plays a timeout: 0 to 9 are sent at 100 ms; SRTT is 100, RTTVAR 50: at 400 ms the timer expires
/// and 0 is retransmitted.
fn timeout_of_ten(name: &str) -> Trace {
    let mut t = Trace::of(name);
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(t.timeout(), (400, vec![0]));
    assert_eq!(t.window(), (1.0, 5.0));
    t
}

#[test]
fn f_rto_finds_a_spurious_timeout_and_retransmits_nothing_more() {
    for name in ["sack+f-rto", "newreno+f-rto"] {
        let mut t = timeout_of_ten(name);
        assert_eq!(t.ack(500, 1, &[], 0), [10, 11], "{name}: two new segments, branch (2b)");
        // FlightSize 2…11 = 10, and one acknowledged: at most 10, as before.
        t.ack(501, 2, &[], 0);
        assert_eq!(t.found(), [Cause::Timeout], "{name}");
        assert_eq!(t.window(), (10.0, f64::INFINITY), "{name}");
        assert_eq!(t.ack(502, 3, &[], 0), [12, 13], "{name}: slow start");
    }
}

#[test]
fn f_rto_with_sack_accepts_an_original_out_of_order_as_proof() {
    let mut t = timeout_of_ten("sack+f-rto");
    assert_eq!(t.ack(500, 1, &[], 0), [10, 11]);
    // Segment 2 arrives before 1: a duplicate, but of an original.
    t.ack(501, 1, &[(2, 2)], 0);
    assert_eq!(t.found(), [Cause::Timeout]);
    // Without SACK a duplicate means loss.
    let mut t = timeout_of_ten("newreno+f-rto");
    assert_eq!(t.ack(500, 1, &[], 0), [10, 11]);
    t.ack(501, 1, &[], 0);
    assert_eq!(t.found(), []);
}

#[test]
fn f_rto_retransmits_the_rest_if_the_new_segments_cause_only_duplicates() {
    let mut t = timeout_of_ten("sack+f-rto");
    assert_eq!(t.ack(500, 1, &[], 0), [10, 11]);
    // 10 arrives: 1 to 9 are indeed lost. cwnd is 2, and 11 is in flight: one may be sent.
    assert_eq!(t.ack(600, 1, &[(10, 10)], 0), [1]);
    assert_eq!(t.ack(600, 1, &[(10, 11)], 0), [2]);
    assert_eq!(t.found(), []);
}

/// RFC 5682, section 2.1, step 3a: without SACK the two new segments stay in the pipe, and cwnd is
/// set to 3.
#[test]
fn f_rto_without_sack_retransmits_the_rest_one_for_each_acknowledgement() {
    for name in ["newreno+f-rto", "reno+f-rto"] {
        let mut t = timeout_of_ten(name);
        assert_eq!(t.ack(500, 1, &[], 0), [10, 11], "{name}");
        assert_eq!(t.ack(600, 1, &[], 0), [1], "{name}");
        assert_eq!(t.ack(600, 1, &[], 0), [], "{name}");
        assert_eq!(t.ack(700, 2, &[], 0), [2, 3], "{name}");
        assert_eq!(t.found(), []);
    }
}

#[test]
fn f_rto_with_sack_ignores_duplicates_before_the_retransmission_is_acknowledged() {
    let mut t = timeout_of_ten("sack+f-rto");
    assert_eq!(t.ack(450, 0, &[(3, 3)], 0), [], "step 2 sends nothing");
    assert_eq!(t.ack(500, 1, &[(3, 3)], 0), [10, 11]);
}

#[test]
fn f_rto_and_eifel_together_find_a_spurious_timeout_once() {
    let mut t = timeout_of_ten("sack+f-rto+eifel");
    // Eifel decides at the first acknowledgement: FlightSize 9 + 1.
    assert_eq!(t.ack(500, 1, &[], 100), [10]);
    t.ack(501, 2, &[], 100);
    assert_eq!(t.found(), [Cause::Timeout]);
}

#[test]
fn cubic_keeps_seven_tenths_and_is_restored_in_full() {
    let mut t = Trace::of("sack+cubic+eifel");
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for last in 1..=3 {
        t.ack(200, 0, &[(1, last)], 100);
    }
    assert_eq!(t.window(), (7.0, 7.0));
    t.ack(205, 4, &[], 100);
    assert_eq!(t.window(), (10.0, f64::INFINITY));
}

#[test]
fn westwood_counts_duplicates_as_deliveries_and_keeps_what_the_path_holds() {
    let mut variant = Variant::parse("westwood").expect("a row");
    variant.set("tau", "20 ms").expect("a time");
    let mut t = Trace::new(&variant, false, 1);
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    t.ack(200, 1, &[], 0);
    for ms in [210, 220, 230] {
        t.ack(ms, 1, &[], 0);
    }
    // One each 10 ms: 100/s; 2τ/Δ = 4: 100/5 = 20, (3·20 + 200)/5 = 52, (3·52 + 200)/5 = 71.2 a
    // second; times RTTmin, 100 ms.
    let (cwnd, ssthresh) = t.window();
    assert!((cwnd - 7.12).abs() < 1e-9 && (ssthresh - 7.12).abs() < 1e-9, "{cwnd} {ssthresh}");
}

#[test]
fn westwood_counts_segments_reported_by_duplicates_only_once() {
    let mut variant = Variant::parse("westwood").expect("a row");
    variant.set("tau", "20 ms").expect("a time");
    let mut t = Trace::new(&variant, false, 1);
    assert_eq!(t.sends(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    t.ack(200, 1, &[], 0);
    t.ack(210, 1, &[], 0);
    t.ack(220, 1, &[], 0);
    // Five segments more, two of which were counted as duplicates: 300/s. 20 and 52 as before, then
    // (3·52 + 300 + 100)/5 = 111.2 a second; times RTTmin, 100 ms.
    t.ack(230, 6, &[], 0);
    t.timeout();
    let (cwnd, ssthresh) = t.window();
    assert!(cwnd == 1.0 && (ssthresh - 11.12).abs() < 1e-9, "{cwnd} {ssthresh}");
}

#[test]
fn a_late_original_does_not_move_the_echo_back() {
    let variant = Variant::parse("sack+eifel").expect("a valid name");
    let mut receiver = Connection::listen(Config::simulated(), &variant);
    let now = Instant::from_millis(500);
    let mut gets = |seq: u32, len: u32, flags: Flags, value: u32| {
        let timestamps = Some(Timestamps { value, echo: 0 });
        let seq = SeqNr(seq);
        let ack = SeqNr(1);
        let segment = Segment { seq, ack, len, flags, timestamps, ..Segment::default() };
        receiver.handle_segment(&segment, now, &mut ());
        receiver.poll_transmit(now, &mut ()).and_then(|s| s.timestamps).map(|t| t.echo)
    };
    assert_eq!(gets(0, 0, Flags { syn: true, ..Flags::default() }, 5), Some(5));
    let ack = Flags { ack: true, ..Flags::default() };
    assert_eq!(gets(1, 1000, ack, 90), Some(90), "the retransmission");
    assert_eq!(gets(1, 1000, ack, 10), Some(90), "the original, late");
    assert_eq!(gets(1001, 1000, ack, 95), Some(95));
}

/// Returns how long each of the timeouts of `wb-medium` takes, in ms, when the peer is silent.
fn unanswered_timeouts(backoff: &str, seed: u64, timeouts: usize) -> Vec<u64> {
    let mut variant = Variant::parse("wb-medium").expect("a row");
    variant.set("backoff", backoff).expect("a parameter");
    let mut t = Trace::new(&variant, false, seed);
    t.sends();
    let mut last = 100;
    let mut times = Vec::new();
    for _ in 0..timeouts {
        let (now, sent) = t.timeout();
        assert_eq!(sent, [0]);
        times.push(now - last);
        let due = t.connection.poll_timeout().map(|due| due.since(t.now));
        assert_eq!(due, Some(t.connection.rto()));
        last = now;
    }
    times
}

#[test]
fn wb_rto_draws_a_new_timeout_for_every_timer() {
    let drawn = unanswered_timeouts("none", 1, 200);
    // awnd is 5 (half the initial window): c·a_2 = 2·5 s at most, the RTT at least.
    assert!(drawn.iter().all(|ms| (100..=10_000).contains(ms)), "{drawn:?}");
    assert!(drawn.iter().any(|&ms| ms > 8000) && drawn.iter().any(|&ms| ms < 2000));
    assert_eq!(drawn, unanswered_timeouts("none", 1, 200));
    assert_ne!(drawn, unanswered_timeouts("none", 2, 200));
}

/// Each timeout doubles the drawn timeouts, to at most 64 times and at most 60 s (RFC 6298, 2.5).
#[test]
fn wb_rtos_timeouts_double_up_to_the_maximum() {
    let drawn = unanswered_timeouts("none", 1, 200);
    let doubled = unanswered_timeouts("doubled", 1, 200);
    for (n, (drawn, doubled)) in drawn.iter().zip(&doubled).enumerate() {
        let expected = (drawn << n.min(6)).min(60_000);
        // The clock of the trace has whole milliseconds.
        assert!(expected.abs_diff(*doubled) <= 64, "{n}: {drawn} to {doubled}");
    }
    assert!(doubled.contains(&60_000));
}
