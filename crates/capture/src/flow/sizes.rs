//! Segment sizes, and the number of segments in a packet that was joined or is yet to be split.

/// Payload of a full Ethernet frame without TCP options, in octets.
const ETHERNET_OCTETS: u32 = 1460;

/// Payload of a full Ethernet frame with timestamps, in octets.
const ETHERNET_TIMESTAMPS_OCTETS: u32 = 1448;

/// Largest payload of a jumbo frame, in octets.
const JUMBO_OCTETS: u32 = 9000;

/// Smallest credible segment size from an MSS option, in octets.
const MIN_MSS_OCTETS: u32 = 48;

/// Length of the timestamps option with padding, in octets.
const TIMESTAMPS_OCTETS: u32 = 12;

/// Sizes of the segments of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentSizes {
    /// Octets in a full segment, from the MSS options.
    full: Option<u32>,
    mss: Option<u32>,
    /// Largest segment so far.
    largest: u32,
    /// Largest segment so far that fits into an Ethernet frame.
    largest_ethernet: u32,
}

impl SegmentSizes {
    /// Records a segment of `len` octets.
    pub(super) fn record(&mut self, len: u32) {
        self.largest = self.largest.max(len);
        if len <= ETHERNET_OCTETS {
            self.largest_ethernet = self.largest_ethernet.max(len);
        }
        // Options reduce the payload of a full segment (RFC 6691), but not all senders comply.
        if let (Some(full), Some(mss)) = (self.full, self.mss)
            && (full..=mss).contains(&len)
        {
            self.full = Some(len);
        }
    }

    /// Records the smaller MSS of both ends, and whether both use timestamps.
    pub(super) fn record_mss(&mut self, mss: u16, timestamps: bool) {
        let options = if timestamps { TIMESTAMPS_OCTETS } else { 0 };
        self.mss = Some(u32::from(mss));
        self.full = Some(u32::from(mss).saturating_sub(options).max(1));
    }

    /// Returns the octets in a full segment, if the MSS options are known.
    fn known(&self) -> Option<u32> {
        self.full.filter(|&segment| segment >= MIN_MSS_OCTETS)
    }

    /// Returns the octets in a full segment, estimated from the segments seen if the MSS options are
    /// not known.
    pub(super) fn full_segment(&self, timestamps: bool) -> u32 {
        let usual = if timestamps { ETHERNET_TIMESTAMPS_OCTETS } else { ETHERNET_OCTETS };
        self.known().unwrap_or_else(|| {
            let joined_of = |size: u32| self.largest > size && self.largest.is_multiple_of(size);
            match self.largest {
                0 => usual,
                1..=ETHERNET_OCTETS => self.largest,
                _ if self.largest_ethernet >= usual / 2 && joined_of(self.largest_ethernet) => {
                    self.largest_ethernet
                }
                JUMBO_OCTETS.. => usual,
                _ if joined_of(usual) => usual,
                largest => largest,
            }
        })
    }

    /// Returns the number of segments that a retransmission or a copy counts for: the number from
    /// which the packet was joined, or 1 if the segment size is not known.
    pub(super) fn weight(&self, octets: u64) -> u16 {
        let segments = self.known().map_or(1, |full| octets.div_ceil(u64::from(full)));
        segments.clamp(1, u64::from(u16::MAX)) as u16
    }
}
