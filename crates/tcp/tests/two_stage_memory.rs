//! What `unruffled` holds beyond what `rack` holds, apart from what stands for one segment each: at most
//! a kibibyte. One test: what others allocate at the same time would be counted.

mod memory;

use memory::{MSS, allocated, established};
use unruffled_tcp::{Connection, Flags, Segment, SeqNr, Variant};
use unruffled_units::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

/// A sender, and a receiver of its segments that is played by hand.
struct Sender {
    connection: Connection,
    /// Octets allocated before it.
    before: usize,
    /// The sequence number of the first octet.
    first: SeqNr,
    acked: u64,
    now: Instant,
}

impl Sender {
    fn of(variant: &Variant) -> Self {
        let (before, now) = (allocated(), Instant::ZERO + RTT);
        let (connection, first, _) = established(variant, 10, now);
        Self { connection, before, first, acked: 0, now }
    }

    /// Octets held.
    fn held(&self) -> usize {
        allocated() - self.before + size_of::<Connection>()
    }

    /// Writes `segments` more, which leave at once.
    fn sends(&mut self, segments: u64) {
        self.connection.write(segments * u64::from(MSS));
        assert_eq!(self.leaves(), segments);
    }

    fn leaves(&mut self) -> u64 {
        std::iter::from_fn(|| self.connection.poll_transmit(self.now, &mut ())).count() as u64
    }

    /// The first `acked` segments have arrived, and those numbered `sacked`.
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

    /// One segment comes 5 ms after the next, too soon to be resent.
    fn is_reordered(&mut self) {
        self.sends(1);
        self.now += Duration::from_millis(1);
        self.sends(1);
        self.receives(RTT, self.acked, &[(self.acked + 1, self.acked + 2)]);
        self.receives(Duration::from_millis(5), self.acked + 2, &[]);
        assert_eq!(self.leaves(), 0);
    }

    /// So many segments in order that the lateness is forgotten: two generations of 1000.
    fn is_in_order(&mut self) {
        for _ in 0..250 {
            self.sends(10);
            self.receives(RTT, self.acked + 10, &[]);
        }
    }

    /// A segment is lost, and so is its probe: a timeout. Nothing can be known of it any more when the
    /// next one is.
    fn times_out(&mut self) {
        self.sends(1);
        for timer in ["probe", "retransmission"] {
            self.now = self.connection.poll_timeout().expect(timer);
            self.connection.handle_timeout(self.now, &mut ());
            assert_eq!(self.leaves(), 1, "{timer}");
        }
        self.receives(RTT, self.acked + 1, &[]);
        self.now += Duration::from_secs(100);
        self.sends(1);
        self.receives(RTT, self.acked + 1, &[]);
    }
}

/// Octets that a sender holds when idle, after a late segment, and after twelve timeouts, which fill the
/// ledger of reductions.
fn held_by(name: &str) -> [usize; 3] {
    // Allocated before, and so kept until the end.
    let variant = Variant::named(name).expect("a row");
    let mut sender = Sender::of(&variant);
    let idle = sender.held();
    sender.is_reordered();
    sender.is_in_order();
    let late = sender.held();
    (0..12).for_each(|_| sender.times_out());
    [idle, late, sender.held()]
}

#[test]
fn what_unruffled_knows_besides_rack_takes_at_most_a_kibibyte() {
    let (ours, rack) = (held_by("unruffled"), held_by("rack"));
    let besides = [0, 1, 2].map(|stage| ours[stage] - rack[stage]);
    println!("besides rack's: {besides:?}");
    assert!(besides[0] < besides[1], "the distribution is made when it is needed: {besides:?}");
    assert_eq!(besides[1], besides[2], "both senders keep the same ledger of reductions");
    assert!(besides[2] <= 1024, "{besides:?}");
}
