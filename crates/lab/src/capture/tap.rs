//! The packets at one end of simulated connections, with their headers.

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use pcap_file::PcapError;
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

/// The addresses (for documentation, RFC 5737) and ports of the two ends. Each connection but the
/// first has its own port above the sender's.
const SENDER: ([u8; 4], u16) = ([192, 0, 2, 1], 49_152);
const RECEIVER: ([u8; 4], u16) = ([198, 51, 100, 1], 5_001);

/// Receiver of packets.
pub(crate) trait Sink {
    /// Receives a packet that passed at `at`, as an IPv4 packet of `length` octets without its payload.
    fn packet(&mut self, at: Instant, length: u32, data: &[u8]) -> Result<(), PcapError>;
}

/// A monitor that passes the packets at one end of the connections of one source to a [`Sink`].
pub(crate) struct Tap<S> {
    sink: S,
    end: End,
    source: u32,
    /// The open connections and their ports.
    flows: Vec<(FlowId, u16)>,
    next_port: u16,
    /// The first error; nothing is passed on after it.
    failed: Option<PcapError>,
    packet: Vec<u8>,
    payload: Vec<u8>,
    /// The IP identification. It counts up at the sender and stays 0 at the receiver, as RFC 6864,
    /// section 4.1, permits: a packet does not show there when it was sent.
    identification: u16,
}

impl<S: Sink> Tap<S> {
    /// Creates a tap at `end` of the first source.
    pub(crate) fn new(end: End, sink: S) -> Self {
        Self {
            sink,
            end,
            source: 0,
            flows: Vec::new(),
            next_port: SENDER.1,
            failed: None,
            packet: Vec::new(),
            payload: Vec::new(),
            identification: 0,
        }
    }

    /// Selects the source of that number.
    pub(crate) fn of(self, source: u32) -> Self {
        Self { source, ..self }
    }

    /// Returns the receiver of the packets.
    ///
    /// # Errors
    /// The first error since the beginning.
    pub(crate) fn finish(self) -> Result<S, PcapError> {
        self.failed.map_or(Ok(self.sink), Err)
    }

    fn write(
        &mut self,
        now: Instant,
        passage: Passage,
        port: u16,
        segment: &Segment,
    ) -> Result<(), PcapError> {
        let sender = (SENDER.0, port);
        let (from, to) = match (self.end, passage) {
            (End::Sender, Passage::Out) | (End::Receiver, Passage::In) => (sender, RECEIVER),
            (End::Sender, Passage::In) | (End::Receiver, Passage::Out) => (RECEIVER, sender),
        };
        if self.end == End::Sender {
            self.identification = self.identification.wrapping_add(1);
        }
        // Headers are built separately: `PacketBuilder` moves room for all IPv6 extensions a dozen
        // times per packet.
        let mut tcp = TcpHeader::new(from.1, to.1, segment.seq.0, segment.window);
        let flags = segment.flags;
        (tcp.syn, tcp.fin, tcp.rst, tcp.psh) = (flags.syn, flags.fin, flags.rst, flags.psh);
        if flags.ack {
            tcp.ack = true;
            tcp.acknowledgment_number = segment.ack.0;
        }
        tcp.set_options(&options(segment))
            .map_err(|_| PcapError::InvalidField("TCP options longer than 40 octets"))?;
        let len = segment.len as usize;
        if self.payload.len() < len {
            self.payload.resize(len, 0);
        }
        let octets = u16::try_from(tcp.header_len() + len)
            .map_err(|_| PcapError::InvalidField("a segment longer than 65535 octets"))?;
        let mut ip = Ipv4Header::new(octets, 64, IpNumber::TCP, from.0, to.0).map_err(invalid)?;
        ip.identification = self.identification;
        ip.dont_fragment = true;
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.payload[..len]).map_err(invalid)?;
        self.packet.clear();
        ip.write(&mut self.packet).map_err(PcapError::IoError)?;
        tcp.write(&mut self.packet).map_err(PcapError::IoError)?;
        let length = (self.packet.len() + len) as u32;
        self.sink.packet(now, length, &self.packet)
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> PcapError {
    PcapError::IoError(std::io::Error::other(error))
}

/// Returns the segment's options, padded with no-operations as stacks do.
fn options(segment: &Segment) -> Vec<TcpOptionElement> {
    let mut options = Vec::new();
    if let Some(mss) = segment.mss {
        options.push(TcpOptionElement::MaximumSegmentSize(mss));
    }
    if let Some(scale) = segment.window_scale {
        options.extend([TcpOptionElement::Noop, TcpOptionElement::WindowScale(scale)]);
    }
    if segment.sack_permitted {
        options.extend([
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::SelectiveAcknowledgementPermitted,
        ]);
    }
    if let Some(t) = segment.timestamps {
        options.extend([
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::Timestamp(t.value, t.echo),
        ]);
    }
    if let Some((first, rest)) = segment.sack.as_slice().split_first() {
        let mut more = [None; 3];
        for (slot, block) in more.iter_mut().zip(rest) {
            *slot = Some((block.left.0, block.right.0));
        }
        options.extend([
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::SelectiveAcknowledgement((first.left.0, first.right.0), more),
        ]);
    }
    options
}

impl<S: Sink> Monitor for Tap<S> {
    fn opened(&mut self, flow: FlowId, source: u32, _now: Instant) {
        if source == self.source {
            self.flows.push((flow, self.next_port));
            self.next_port = self.next_port.checked_add(1).unwrap_or(SENDER.1);
        }
    }

    fn closed(&mut self, flow: FlowId, _now: Instant) {
        self.flows.retain(|(other, _)| *other != flow);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if end != self.end || self.failed.is_some() {
            return;
        }
        if let Some(&(_, port)) = self.flows.iter().find(|(other, _)| *other == flow) {
            self.failed = self.write(now, way, port, segment).err();
        }
    }
}
