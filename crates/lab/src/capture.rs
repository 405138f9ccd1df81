//! Captures of simulated packets at an end of a flow, as pcapng.
//!
//! The files omit the payload, which is zeros, like captures with a short snap length. Lengths and
//! checksums are those of whole packets.

mod tap;

use std::io::Write;

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
pub(crate) use tap::{Sink, Tap};

/// A monitor that writes the packets at one end of the connections of one source: the first source,
/// or the one selected by [`of`](Self::of).
pub struct Capture<W: Write>(Tap<File<W>>);

/// A file of packets.
struct File<W: Write>(PcapNgWriter<W>);

impl<W: Write> Sink for File<W> {
    fn packet(&mut self, at: Instant, length: u32, data: &[u8]) -> Result<(), PcapError> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: length,
            data: std::borrow::Cow::Borrowed(data),
            options: Vec::new(),
        };
        self.0.write_pcapng_block(block)?;
        Ok(())
    }
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
        Ok(Self(Tap::new(end, File(writer))))
    }

    /// Selects the source of that number.
    #[must_use]
    pub fn of(self, source: u32) -> Self {
        Self(self.0.of(source))
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first error since the beginning.
    pub fn finish(self) -> Result<(), PcapError> {
        self.0.finish()?.0.into_inner().flush().map_err(PcapError::IoError)
    }
}

impl<W: Write> Monitor for Capture<W> {
    fn opened(&mut self, flow: FlowId, source: u32, now: Instant) {
        self.0.opened(flow, source, now);
    }

    fn closed(&mut self, flow: FlowId, now: Instant) {
        self.0.closed(flow, now);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.0.segment(flow, end, way, now, segment);
    }
}
