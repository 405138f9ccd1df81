//! The packets of a race as pcapng, with an interface for each heat, named after its senders.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc::Receiver;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use unruffled_lab::capture::section;
use unruffled_net::{Passed, Place};
use unruffled_units::Duration;

/// Time within which packets are sorted by their time stamps.
const SORTING_WINDOW: Duration = Duration::from_secs(1);

/// Writes whole packets that pass the left end, and optionally other places. Each heat's times begin at
/// zero, so that heats can be compared.
pub struct Recording<W: Write> {
    writers: Vec<(Place, PcapNgWriter<W>)>,
    interfaces: u32,
    /// The first error. Nothing is written after it.
    failed: Option<PcapError>,
}

impl<W: Write> std::fmt::Debug for Recording<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("interfaces", &self.interfaces).finish_non_exhaustive()
    }
}

impl<W: Write> Recording<W> {
    /// Creates a recording of the left end.
    ///
    /// # Errors
    /// If `output` cannot be written.
    pub fn new(output: W) -> Result<Self, PcapError> {
        let empty = Self { writers: Vec::new(), interfaces: 0, failed: None };
        empty.and(Place::Left, output)
    }

    /// Adds a recording of the packets that pass `place`.
    ///
    /// # Errors
    /// If `output` cannot be written.
    pub fn and(mut self, place: Place, output: W) -> Result<Self, PcapError> {
        self.writers.push((place, PcapNgWriter::with_section_header(output, section())?));
        Ok(self)
    }

    /// Writes the packets of a heat, until all senders of the channel are dropped.
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
        for (_, writer) in &mut self.writers {
            if self.failed.is_none() {
                self.failed = writer.write_pcapng_block(interface.clone()).err();
            }
        }
        // Each direction has its own thread, so a reply may arrive here before the packet it answers.
        let mut waiting = BTreeMap::new();
        for (packet, serial) in packets.iter().zip(0_u64..) {
            let now = packet.at;
            waiting.insert((packet.at, serial), packet);
            while let Some(first) = waiting.first_entry()
                && now.since(first.key().0) > SORTING_WINDOW
            {
                self.write(first.remove());
            }
        }
        waiting.into_values().for_each(|packet| self.write(packet));
        self.interfaces += 1;
    }

    fn write(&mut self, Passed { at, place, packet, .. }: Passed) {
        let Some((_, writer)) = self.writers.iter_mut().find(|(of, _)| *of == place) else {
            return;
        };
        let block = EnhancedPacketBlock {
            interface_id: self.interfaces,
            timestamp: std::time::Duration::from_nanos(at.as_nanos()),
            original_len: packet.len() as u32,
            data: packet.into_vec().into(),
            options: Vec::new(),
        };
        if self.failed.is_none() {
            self.failed = writer.write_pcapng_block(block).err();
        }
    }

    /// Finishes the recording.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(self) -> Result<(), PcapError> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writers.into_iter().try_for_each(|(_, writer)| {
                writer.into_inner().flush().map_err(PcapError::IoError)
            }),
        }
    }
}
