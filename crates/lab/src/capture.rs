//! Captures of simulated packets at an end of a flow, as pcapng.
//!
//! The files omit the payload, which is zeros, like captures with a short snap length. Lengths and
//! checksums are those of whole packets.

use std::io::Write;

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::Segment;
use unruffled_units::Instant;

use crate::files::APPLICATION;

/// The addresses (for documentation, RFC 5737) and ports of the two ends. Each connection but the
/// first has its own port above the sender's.
const SENDER: ([u8; 4], u16) = ([192, 0, 2, 1], 49_152);
const RECEIVER: ([u8; 4], u16) = ([198, 51, 100, 1], 5_001);

/// A monitor that writes the packets at one end of the connections of one source: the first source,
/// or the one selected by [`of`](Self::of).
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    end: End,
    source: u32,
    /// The open connections and their ports.
    flows: Vec<(FlowId, u16)>,
    next_port: u16,
    /// The first error; nothing is written after it.
    failed: Option<PcapError>,
    packet: Vec<u8>,
    payload: Vec<u8>,
    /// The IP identification. It counts up at the sender and stays 0 at the receiver, as RFC 6864,
    /// section 4.1, permits: a packet does not show there when it was sent.
    identification: u16,
}

/// Returns the section header of a capture, which names this program.
pub fn section() -> SectionHeaderBlock<'static> {
    let options = vec![SectionHeaderOption::UserApplication(APPLICATION.into())];
    let endianness = Endianness::native();
    SectionHeaderBlock { endianness, options, ..SectionHeaderBlock::default() }
}

/// Returns the system's error, if the error has one, such as a full disk.
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
    /// `output` cannot be written.
    pub fn new(output: W) -> Result<Self, PcapError> {
        Self::at(End::Sender, output)
    }

    /// Begins a capture at `end`.
    ///
    /// # Errors
    /// `output` cannot be written.
    pub fn at(end: End, output: W) -> Result<Self, PcapError> {
        let mut writer = PcapNgWriter::with_section_header(output, section())?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::IPV4,
            snaplen: 0,
            // Timestamps in nanoseconds.
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

    /// Selects the source of that number.
    #[must_use]
    pub fn of(self, source: u32) -> Self {
        Self { source, ..self }
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first error since the beginning.
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
        let original_len = (self.packet.len() + len) as u32;
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: std::time::Duration::from_nanos(now.as_nanos()),
            original_len,
            data: std::borrow::Cow::Borrowed(&self.packet),
            options: Vec::new(),
        };
        self.writer.write_pcapng_block(block)?;
        Ok(())
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
