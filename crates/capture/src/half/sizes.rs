//! How large segments are, and of how many a packet consists that was joined or is yet to be cut.

use super::Half;

/// What Ethernet carries without options, and with timestamps.
const ETHERNET: u32 = 1460;
const WITH_TIMESTAMPS: u32 = 1448;

/// No network in use carries larger ones, jumbo frames included.
const LARGEST: u32 = 9000;

/// What is less is told by no MSS in earnest.
const SMALLEST: u32 = 48;

/// Sizes of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// Octets in a full segment, from the peer's MSS.
    full: Option<u32>,
    mss: Option<u32>,
    largest: u32,
    /// The largest of those that Ethernet carries.
    plain: u32,
}

impl Sizes {
    /// A segment of so many octets passes.
    pub(super) fn learn(&mut self, len: u32) {
        self.largest = self.largest.max(len);
        if len <= ETHERNET {
            self.plain = self.plain.max(len);
        }
        // Options count within an MSS (RFC 6691), but not all senders heed that.
        if let (Some(full), Some(mss)) = (self.full, self.mss)
            && (full..=mss).contains(&len)
        {
            self.full = Some(len);
        }
    }

    /// Octets in a full segment, if both ends have said it.
    fn known(&self) -> Option<u32> {
        self.full.filter(|&segment| segment >= SMALLEST)
    }

    /// Octets in a full segment, as far as is known.
    pub(super) fn full_segment(&self, timestamps: bool) -> u32 {
        let usual = if timestamps { WITH_TIMESTAMPS } else { ETHERNET };
        self.known().unwrap_or_else(|| {
            let joined_of = |size: u32| self.largest > size && self.largest.is_multiple_of(size);
            match self.largest {
                0 => usual,
                1..=ETHERNET => self.largest,
                _ if self.plain >= usual / 2 && joined_of(self.plain) => self.plain,
                LARGEST.. => usual,
                _ if joined_of(usual) => usual,
                largest => largest,
            }
        })
    }
}

impl Half {
    /// The peer takes segments of up to `mss` octets.
    pub(crate) fn learn_segment(&mut self, mss: u16, timestamps: bool) {
        let options = if timestamps { 12 } else { 0 };
        self.sizes.mss = Some(u32::from(mss));
        self.sizes.full = Some(u32::from(mss).saturating_sub(options).max(1));
    }

    /// How many segments a packet counts for that is sent again, or seen again: those that it was
    /// joined of, and one where nothing says how large they are.
    pub(super) fn weight(&self, octets: u64) -> u16 {
        let segments = self.sizes.known().map_or(1, |full| octets.div_ceil(u64::from(full)));
        segments.clamp(1, u64::from(u16::MAX)) as u16
    }
}
