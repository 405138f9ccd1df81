//! The path takes less than the segments hold: what is in flight and too big is split, to be sent
//! again (RFC 1191, section 6.4; RFC 8201, section 5.4).

use super::{Renumbered, Stream};

impl Stream {
    /// From now on segments have at most `mss` octets: says how many of the new fit into an old one.
    pub(crate) fn lower_mss(&mut self, mss: u32) -> f64 {
        f64::from(std::mem::replace(&mut self.mss, mss)) / f64::from(mss)
    }

    /// Splits what is too big, and gives it up for lost; none when there is no such segment.
    pub(crate) fn split(&mut self) -> Option<Renumbered> {
        let renumbered = self.board.split(self.mss)?;
        self.retransmissions.renumber(|number| renumbered.first(number));
        Some(renumbered)
    }

    /// RFC 2018, section 8: the receiver has thrown away what it had SACKed. Some of that may have
    /// become too big since.
    pub(crate) fn forget_sacks(&mut self) -> Option<Renumbered> {
        self.board.forget_sacks();
        self.split()
    }
}
