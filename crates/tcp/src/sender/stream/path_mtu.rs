//! Smaller segments for a path whose MTU has shrunk: segments in flight that are too big are split
//! and sent again (RFC 1191, section 6.4; RFC 8201, section 5.4).

use super::{Renumbered, Stream};

impl Stream {
    /// Limits segments to `mss` octets from now on. Returns the ratio of the old limit to the new
    /// one.
    pub(crate) fn lower_mss(&mut self, mss: u32) -> f64 {
        f64::from(std::mem::replace(&mut self.mss, mss)) / f64::from(mss)
    }

    /// Splits segments that are too big and deems their pieces lost. Returns none if there is no
    /// such segment.
    pub(crate) fn split(&mut self) -> Option<Renumbered> {
        let renumbered = self.board.split(self.mss)?;
        self.retransmissions.renumber(|number| renumbered.first(number));
        Some(renumbered)
    }

    /// Discards all SACKs, because the receiver has discarded the segments that it had SACKed (RFC
    /// 2018, section 8). Splits those that have become too big since.
    pub(crate) fn discard_sacks(&mut self) -> Option<Renumbered> {
        self.board.discard_sacks();
        self.split()
    }
}
