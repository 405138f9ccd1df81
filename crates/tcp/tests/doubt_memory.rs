//! What `unruffled` holds beyond what `rack` holds, apart from what stands for one segment each: at most
//! a kibibyte. One test: what others allocate at the same time would be counted.

use peak_alloc::PeakAlloc;
use unruffled_tcp::{Config, Connection, Flags, Segment, SeqNr, Variant};
use unruffled_units::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const RTT: Duration = Duration::from_millis(100);
const MSS: u64 = 1000;

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
        let config = Config::default().with(|c| {
            c.mss = MSS as u32;
            c.window.initial = 10;
        });
        let before = ALLOCATOR.current_usage();
        let mut connection = Connection::connect(config, variant);
        let syn = connection.poll_transmit(Instant::ZERO, &mut ()).expect("a SYN");
        let answer = Segment {
            seq: SeqNr(7),
            ack: syn.seq.add(1),
            flags: Flags { syn: true, ack: true, ..Flags::default() },
            window: u16::MAX,
            sack_permitted: true,
            mss: Some(MSS as u16),
            ..Segment::default()
        };
        let now = Instant::ZERO + RTT;
        connection.handle_segment(&answer, now, &mut ());
        while connection.poll_transmit(now, &mut ()).is_some() {}
        Self { connection, before, first: syn.seq.add(1), acked: 0, now }
    }

    /// Octets held.
    fn held(&self) -> usize {
        ALLOCATOR.current_usage() - self.before + size_of::<Connection>()
    }

    /// Writes `segments` more, which leave at once.
    fn sends(&mut self, segments: u64) {
        self.connection.write(segments * MSS);
        assert_eq!(self.leaves(), segments);
    }

    fn leaves(&mut self) -> u64 {
        std::iter::from_fn(|| self.connection.poll_transmit(self.now, &mut ())).count() as u64
    }

    /// The first `acked` segments have arrived, and those numbered `sacked`.
    fn hears(&mut self, after: Duration, acked: u64, sacked: &[(u64, u64)]) {
        self.now += after;
        self.acked = acked;
        let at = |segment: u64| self.first.add((segment * MSS) as u32);
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
        self.hears(RTT, self.acked, &[(self.acked + 1, self.acked + 2)]);
        self.hears(Duration::from_millis(5), self.acked + 2, &[]);
        assert_eq!(self.leaves(), 0);
    }

    /// So many segments in order that the lateness is forgotten: two generations of 1000.
    fn is_in_order(&mut self) {
        for _ in 0..250 {
            self.sends(10);
            self.hears(RTT, self.acked + 10, &[]);
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
        self.hears(RTT, self.acked + 1, &[]);
        self.now += Duration::from_secs(100);
        self.sends(1);
        self.hears(RTT, self.acked + 1, &[]);
    }
}

#[test]
fn what_unruffled_knows_besides_rack_takes_at_most_a_kibibyte() {
    let [ours, rack] = ["unruffled", "rack"].map(|name| Variant::named(name).expect("a row"));
    let mut ours = Sender::of(&ours);
    let ours_idle = ours.held();
    ours.is_reordered();
    ours.is_in_order();
    let ours_late = ours.held();
    // The reductions that are remembered, eight and more.
    (0..12).for_each(|_| ours.times_out());
    let ours_cut = ours.held();
    drop(ours);

    let mut rack = Sender::of(&rack);
    let rack_idle = rack.held();
    rack.is_reordered();
    rack.is_in_order();
    let rack_late = rack.held();
    (0..12).for_each(|_| rack.times_out());
    let rack_cut = rack.held();

    let besides = [ours_idle - rack_idle, ours_late - rack_late, ours_cut - rack_cut];
    println!("besides rack's: {besides:?}");
    assert!(besides[0] < besides[1], "the distribution is made when it is needed: {besides:?}");
    assert!(besides[1] < besides[2], "reductions are remembered: {besides:?}");
    assert!(besides[2] <= 1024, "{besides:?}");
}
