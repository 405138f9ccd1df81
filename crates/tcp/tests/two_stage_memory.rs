//! Memory of `unruffled` beyond that of `rack`, without what grows with the number of segments: at
//! most a kibibyte. This binary has one test only, because allocations of others at the same time
//! would be counted.

mod memory;

use memory::{MSS, allocated, established};
use unruffled_tcp::{Connection, Flags, Segment, SeqNr, Variant};
use unruffled_units::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

/// A sender whose peer is played by hand.
struct Sender {
    connection: Connection,
    /// Octets allocated before the connection was made.
    before: usize,
    /// Sequence number of the first octet.
    first: SeqNr,
    acked: u64,
    now: Instant,
}

impl Sender {
    fn new(variant: &Variant) -> Self {
        let before = allocated();
        let now = Instant::ZERO + RTT;
        let (connection, first, _) = established(variant, 10, now);
        Self { connection, before, first, acked: 0, now }
    }

    /// Returns the octets held.
    fn held(&self) -> usize {
        allocated() - self.before + size_of::<Connection>()
    }

    /// Writes `segments` more, which are sent at once.
    fn sends(&mut self, segments: u64) {
        self.connection.write(segments * u64::from(MSS));
        assert_eq!(self.poll(), segments);
    }

    fn poll(&mut self) -> u64 {
        std::iter::from_fn(|| self.connection.poll_transmit(self.now, &mut ())).count() as u64
    }

    /// Acknowledges the first `acked` segments, and SACKs those in the ranges `sacked`.
    fn receives(&mut self, after: Duration, acked: u64, sacked: &[(u64, u64)]) {
        self.now += after;
        self.acked = acked;
        let at = |segment: u64| self.first.add(segment as u32 * MSS);
        let mut segment = Segment {
            seq: SeqNr(8),
            ack: at(acked),
            flags: Flags { ack: true, ..Flags::default() },
            window: u16::MAX,
            ..Segment::default()
        };
        for &(from, to) in sacked {
            segment.sack.push(at(from), at(to));
        }
        self.connection.handle_segment(&segment, self.now, &mut ());
    }

    /// Delivers one segment 5 ms after the next one, too early for a retransmission.
    fn reorder(&mut self) {
        self.sends(1);
        self.now += Duration::from_millis(1);
        self.sends(1);
        self.receives(RTT, self.acked, &[(self.acked + 1, self.acked + 2)]);
        self.receives(Duration::from_millis(5), self.acked + 2, &[]);
        assert_eq!(self.poll(), 0);
    }

    /// Sends enough segments in order that the latenesses expire: two generations of 1000.
    fn send_in_order(&mut self) {
        for _ in 0..250 {
            self.sends(10);
            self.receives(RTT, self.acked + 10, &[]);
        }
    }

    /// Loses a segment and its probe, so that a timeout follows. When the next segment is sent,
    /// nothing more can arrive for the first.
    fn time_out(&mut self) {
        self.sends(1);
        for timer in ["probe", "retransmission"] {
            self.now = self.connection.poll_timeout().expect(timer);
            self.connection.handle_timeout(self.now, &mut ());
            assert_eq!(self.poll(), 1, "{timer}");
        }
        self.receives(RTT, self.acked + 1, &[]);
        self.now += Duration::from_secs(100);
        self.sends(1);
        self.receives(RTT, self.acked + 1, &[]);
    }
}

/// Returns the octets that a sender holds when idle, after a late segment, and after twelve
/// timeouts, which fill the ledger of reductions.
fn held_by(name: &str) -> [usize; 3] {
    // Allocated first, so that it is not counted.
    let variant = Variant::named(name).expect("a row");
    let mut sender = Sender::new(&variant);
    let idle = sender.held();
    sender.reorder();
    sender.send_in_order();
    let late = sender.held();
    (0..12).for_each(|_| sender.time_out());
    [idle, late, sender.held()]
}

#[test]
fn unruffled_takes_at_most_a_kibibyte_more_than_rack() {
    let ours = held_by("unruffled");
    let rack = held_by("rack");
    let besides = [0, 1, 2].map(|stage| ours[stage] - rack[stage]);
    println!("besides rack's: {besides:?}");
    assert!(
        besides[0] < besides[1],
        "the distribution is allocated when it is needed: {besides:?}"
    );
    assert_eq!(besides[1], besides[2], "both senders keep the same ledger of reductions");
    assert!(besides[2] <= 1024, "{besides:?}");
}
