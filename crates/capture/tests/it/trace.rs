//! Packet traces of one connection, built packet by packet.

use std::net::SocketAddr;

use unruffled_capture::{Analysis, Analyzer, Direction, Limits, Packet, Segment, Transport};
use unruffled_units::Instant;

/// Octets in a segment.
pub(crate) const MSS: u32 = 1000;

/// A trace that passes a capture point, and its analysis.
pub(crate) struct Trace {
    analyzer: Analyzer,
    timestamps: bool,
    /// Whether packets have identifications that count up.
    ids: bool,
    id: [u16; 2],
    /// Whether the capture cuts off the options of acknowledgements.
    cut: bool,
    /// Delay after which each packet passes a second interface.
    second_interface_us: Option<u64>,
    /// Routers between the two interfaces.
    hops: u8,
}

impl Trace {
    /// Begins a connection that is captured at the client; the round trip is 50 ms.
    pub(crate) fn at_sender(timestamps: bool) -> Self {
        Self::opened(timestamps, [0, 50_000, 50_000], None)
    }

    /// Begins the same connection; each packet passes a second interface 20 us later.
    pub(crate) fn at_two_interfaces(timestamps: bool) -> Self {
        Self::opened(timestamps, [0, 50_000, 50_030], Some(20))
    }

    /// Begins the same connection; each packet passes a second interface 5 ms later, after a queue.
    pub(crate) fn at_a_router() -> Self {
        let mut trace = Self::opened(true, [0, 50_000, 55_010], Some(5000));
        trace.hops = 1;
        trace
    }

    /// Begins the same connection; the analysis keeps at most that many segments.
    pub(crate) fn with_segment_limit(segments: usize) -> Self {
        let mut trace = Self::at_sender(false);
        trace.analyzer = Analyzer::new(Limits { segments, ..Limits::default() });
        trace
    }

    /// Begins the same connection, captured at the server, which receives the client's data.
    pub(crate) fn at_receiver(timestamps: bool) -> Self {
        Self::opened(timestamps, [0, 0, 50_000], None)
    }

    /// Begins the same connection, captured half way between both ends.
    pub(crate) fn between() -> Self {
        Self::opened(false, [0, 25_000, 50_000], None)
    }

    /// Begins a trace without packets.
    pub(crate) fn empty() -> Self {
        Self {
            analyzer: Analyzer::new(Limits::default()),
            timestamps: false,
            ids: false,
            id: [0; 2],
            cut: false,
            second_interface_us: None,
            hops: 0,
        }
    }

    /// Begins a connection; the SYN, the SYN-ACK and the ACK pass at these times.
    fn opened(timestamps: bool, at_us: [u64; 3], second_interface_us: Option<u64>) -> Self {
        let mut trace = Self { timestamps, second_interface_us, ..Self::empty() };
        let stamps = timestamps.then_some((1, 0));
        let syn = Segment {
            seq: u32::MAX,
            syn: true,
            mss: Some(MSS as u16 + if timestamps { 12 } else { 0 }),
            window_scale: Some(7),
            sack_permitted: true,
            window: 65_535,
            timestamps: stamps,
            ..Segment::default()
        };
        trace.pass(0, at_us[0], syn);
        trace.pass(1, at_us[1], Segment { seq: 999, ack: Some(0), ..syn });
        let plain =
            Segment { syn: false, mss: None, window_scale: None, sack_permitted: false, ..syn };
        trace.pass(0, at_us[2], Segment { seq: 0, ack: Some(1000), ..plain });
        trace
    }

    /// From now on, packets have IP identifications that count up.
    pub(crate) fn with_ids(mut self) -> Self {
        self.ids = true;
        self
    }

    /// From now on, the capture cuts off the options of acknowledgements.
    pub(crate) fn cutting_off_options(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Passes a segment of the client, if `from` is 0, or of the server, if it is 1.
    pub(crate) fn pass(&mut self, from: usize, at_us: u64, segment: Segment) {
        self.id[from] = self.id[from].wrapping_add(1);
        let id = self.ids.then_some(self.id[from]);
        self.pass_with(from, at_us, segment, id, 64);
        if let Some(later) = self.second_interface_us {
            self.pass_with(from, at_us + later, segment, id, 64 - self.hops);
        }
    }

    /// Passes a segment of the client or the server with that identification.
    pub(crate) fn pass_with_id(&mut self, from: usize, at_us: u64, segment: Segment, id: u16) {
        self.pass_with(from, at_us, segment, Some(id), 64);
    }

    fn pass_with(&mut self, from: usize, at_us: u64, segment: Segment, id: Option<u16>, ttl: u8) {
        let ends = ["192.0.2.1:40000", "198.51.100.1:80"];
        let ends = ends.map(|end| end.parse::<SocketAddr>().expect("an address"));
        self.analyzer.packet(&Packet {
            at: Instant::from_nanos(1_000_000_000 + at_us * 1000),
            from: ends[from],
            to: ends[1 - from],
            id,
            ttl,
            interface: 0,
            length: 40 + segment.len,
            transport: Transport::Tcp(segment),
        });
    }

    /// Passes segment `number` of the client, with timestamp `stamp`.
    pub(crate) fn data(&mut self, at_ms: f64, number: u32, stamp: u32) -> &mut Self {
        let segment = self.segment(number, stamp);
        self.pass(0, (at_ms * 1000.0) as u64, segment);
        self
    }

    /// Passes `count` segments from segment `number` on, joined into one packet.
    pub(crate) fn joined(&mut self, at_ms: f64, number: u32, count: u32) -> &mut Self {
        let segment = Segment { len: count * MSS, ..self.segment(number, 0) };
        self.pass(0, (at_ms * 1000.0) as u64, segment);
        self
    }

    /// Passes segment `number` with that identification.
    pub(crate) fn data_with_id(&mut self, at_ms: f64, number: u32, id: u16) -> &mut Self {
        let segment = self.segment(number, 0);
        self.pass_with(0, (at_ms * 1000.0) as u64, segment, Some(id), 64);
        self
    }

    fn segment(&self, number: u32, stamp: u32) -> Segment {
        Segment {
            seq: number.wrapping_mul(MSS),
            ack: Some(1000),
            len: MSS,
            window: 500,
            timestamps: self.timestamps.then_some((stamp, 1)),
            ..Segment::default()
        }
    }

    /// Passes an acknowledgement of everything before segment `number` that echoes `echo`. Each block
    /// holds the segments from its first number up to its second, exclusive.
    pub(crate) fn ack(
        &mut self,
        at_ms: f64,
        number: u32,
        echo: u32,
        blocks: &[(u32, u32)],
    ) -> &mut Self {
        let mut segment = Segment {
            seq: 1000,
            ack: Some(number.wrapping_mul(MSS)),
            window: 500,
            timestamps: self.timestamps.then_some((1, echo)),
            ..Segment::default()
        };
        for (slot, &(from, to)) in segment.sack.iter_mut().zip(blocks) {
            *slot = (from * MSS, to * MSS);
            segment.sack_count += 1;
        }
        if self.cut {
            segment = Segment { sack_count: 0, timestamps: None, cut: true, ..segment };
        }
        self.pass(1, (at_ms * 1000.0) as u64, segment);
        self
    }

    /// Passes `len` octets of the client, from octet `from` on.
    pub(crate) fn octets(&mut self, at_ms: f64, from: u32, len: u32) -> &mut Self {
        let segment = Segment { seq: from, len, ..self.segment(0, 0) };
        self.pass(0, (at_ms * 1000.0) as u64, segment);
        self
    }

    /// Passes segment `number` with that identification and time to live.
    pub(crate) fn data_at_hop(&mut self, at_ms: f64, number: u32, id: u16, ttl: u8) -> &mut Self {
        let segment = self.segment(number, 0);
        self.pass_with(0, (at_ms * 1000.0) as u64, segment, Some(id), ttl);
        self
    }

    /// Passes an acknowledgement of everything before octet `octet` with an unscaled window.
    pub(crate) fn offer(&mut self, at_ms: f64, octet: u32, window: u16) -> &mut Self {
        let segment = Segment { seq: 1000, ack: Some(octet), window, ..Segment::default() };
        self.pass(1, (at_ms * 1000.0) as u64, segment);
        self
    }

    /// Begins a connection, captured at the client, whose SYN is answered after that many milliseconds.
    pub(crate) fn answered_after(ms: u64) -> Self {
        Self::opened(false, [0, ms * 1000, ms * 1000 + 100], None)
    }

    /// Returns the analysis.
    pub(crate) fn analysis(self) -> Analysis {
        self.analyzer.finish()
    }

    /// Returns the analysis of the data of both ends of the only connection.
    pub(crate) fn directions(self) -> [Direction; 2] {
        let [connection] = <[_; 1]>::try_from(self.analysis().connections).expect("one connection");
        connection.directions
    }

    /// Returns the analysis of the client's data.
    pub(crate) fn found(self) -> Direction {
        self.analysis().connections.remove(0).directions[0].clone()
    }
}
