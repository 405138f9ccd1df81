//! Writes the packets that pass an end of a flow as pcapng, for Wireshark and its kin.
//!
//! Payload is left out of the file (it is zeros), as a capture with a short snap length would; the
//! original lengths and the checksums are those of whole packets.

use std::io::Write;

use etherparse::{PacketBuilder, TcpOptionElement};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

/// Addresses (for documentation, RFC 5737) and ports of the two ends; each connection but the first
/// has a port of its own above the sender's.
const SENDER: ([u8; 4], u16) = ([192, 0, 2, 1], 49_152);
const RECEIVER: ([u8; 4], u16) = ([198, 51, 100, 1], 5_001);

/// A monitor that writes what passes one end of the connections of one source, the first unless
/// [`of`](Self::of) says another.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    end: End,
    source: u32,
    /// Its connections that are there, and their ports.
    flows: Vec<(FlowId, u16)>,
    next_port: u16,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<PcapError>,
    packet: Vec<u8>,
    payload: Vec<u8>,
    /// Counts up at the sender. At the receiver it stays 0, as RFC 6864, section 4.1, lets it: a
    /// packet does not say there when it was sent, and must not seem to.
    identification: u16,
}

/// What the system said, where it is that: the disk is full, for example.
pub fn reason(error: PcapError) -> std::io::Error {
    match error {
        PcapError::IoError(reason) => reason,
        other => std::io::Error::other(other),
    }
}

impl<W: Write> Capture<W> {
    /// Begins a capture at the sender.
    ///
    /// # Errors
    /// When `output` cannot be written.
    pub fn new(output: W) -> Result<Self, PcapError> {
        Self::at(End::Sender, output)
    }

    /// Begins a capture at `end`.
    ///
    /// # Errors
    /// When `output` cannot be written.
    pub fn at(end: End, output: W) -> Result<Self, PcapError> {
        let mut writer = PcapNgWriter::new(output)?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::IPV4,
            snaplen: 0,
            // Nanoseconds.
            options: vec![InterfaceDescriptionOption::IfTsResol(9)],
        })?;
        Ok(Self {
            writer,
            end,
            source: 0,
            flows: Vec::new(),
            next_port: SENDER.1,
            failed: None,
            packet: Vec::new(),
            payload: Vec::new(),
            identification: 0,
        })
    }

    /// The same of the source of that number.
    #[must_use]
    pub fn of(self, source: u32) -> Self {
        Self { source, ..self }
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first thing that went wrong since its beginning.
    pub fn finish(mut self) -> Result<(), PcapError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.writer.into_inner().flush().map_err(PcapError::IoError),
        }
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
        let mut ip = etherparse::Ipv4Header::new(0, 64, etherparse::IpNumber::TCP, from.0, to.0)
            .map_err(|e| PcapError::IoError(std::io::Error::other(e)))?;
        ip.identification = self.identification;
        ip.dont_fragment = true;
        let headers = etherparse::IpHeaders::Ipv4(ip, Default::default());
        let mut builder =
            PacketBuilder::ip(headers).tcp(from.1, to.1, segment.seq.0, segment.window);
        let flags = segment.flags;
        if flags.ack {
            builder = builder.ack(segment.ack.0);
        }
        if flags.syn {
            builder = builder.syn();
        }
        if flags.fin {
            builder = builder.fin();
        }
        if flags.rst {
            builder = builder.rst();
        }
        if flags.psh {
            builder = builder.psh();
        }
        let options = options(segment);
        let builder = builder
            .options(&options)
            .map_err(|_| PcapError::InvalidField("TCP options longer than 40 octets"))?;
        let len = segment.len as usize;
        if self.payload.len() < len {
            self.payload.resize(len, 0);
        }
        self.packet.clear();
        builder
            .write(&mut self.packet, &self.payload[..len])
            .map_err(|e| PcapError::IoError(std::io::Error::other(e)))?;
        let original_len = self.packet.len() as u32;
        let captured = self.packet.len() - len;
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: std::time::Duration::from_nanos(now.as_nanos()),
            original_len,
            data: std::borrow::Cow::Borrowed(&self.packet[..captured]),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(block)?;
        Ok(())
    }
}

/// The segment's options, padded with no-operations as stacks do.
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

impl<W: Write> Monitor for Capture<W> {
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
