//! The packets of a race as pcapng: an interface for each heat, named after who ran in it.

use std::io::Write;
use std::sync::mpsc::Receiver;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use unruffled_net::Passed;

/// Writes what passes the left end, whole packets. Each heat's times begin at zero, so that heats
/// can be laid beside each other.
pub struct Recording<W: Write> {
    writer: PcapNgWriter<W>,
    interfaces: u32,
    /// The first thing that went wrong; nothing is written after it.
    failed: Option<PcapError>,
}

impl<W: Write> std::fmt::Debug for Recording<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

impl<W: Write> Recording<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// When `output` cannot be written.
    pub fn new(output: W) -> Result<Self, PcapError> {
        Ok(Self { writer: PcapNgWriter::new(output)?, interfaces: 0, failed: None })
    }

    /// Writes all packets of a heat, until the senders are gone.
    pub(crate) fn heat(&mut self, name: &str, packets: &Receiver<Passed>) {
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(name.into()),
                // Nanoseconds.
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        if self.failed.is_none() {
            self.failed = self.writer.write_pcapng_block(interface).err();
        }
        for Passed { at, packet, .. } in packets {
            let block = EnhancedPacketBlock {
                interface_id: self.interfaces,
                timestamp: std::time::Duration::from_nanos(at.as_nanos()),
                original_len: packet.len() as u32,
                data: packet.into_vec().into(),
                options: Vec::new(),
            };
            if self.failed.is_none() {
                self.failed = self.writer.write_pcapng_block(block).err();
            }
        }
        self.interfaces += 1;
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When anything could not be written.
    pub fn finish(self) -> Result<(), PcapError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.into_inner().flush().map_err(PcapError::IoError),
        }
    }
}
