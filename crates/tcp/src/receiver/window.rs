//! The advertised receive window: the free part of the buffer, in whole units of the scale, with an
//! edge that never moves back (RFC 9293, section 3.8.6; RFC 7323, section 2).

use crate::Config;

/// The receive window. Positions are stream offsets.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// Largest size of the window.
    buffer: u64,
    /// Present size, which only grows.
    size: u64,
    /// Octets that the driver has memory for, if less than `size`.
    bound: u64,
    /// Offset up to which the application has read.
    taken: u64,
    /// First octet beyond all windows advertised so far. Octets below it are accepted.
    edge: u64,
    /// Shift of the window field.
    scale: u8,
    mss: u32,
}

/// Returns the smallest shift with which a 16-bit field can express `buffer` octets (RFC 7323,
/// section 2.3).
pub(crate) fn scale_for(buffer: u64) -> u8 {
    (0..14).find(|&scale| buffer.div_ceil(1 << scale) <= u64::from(u16::MAX)).unwrap_or(14)
}

impl ReceiveWindow {
    pub(crate) fn new(buffer: u64, mss: u32) -> Self {
        let scale = scale_for(buffer);
        // The window field expresses whole units of the scale; the buffer is rounded up to them.
        let buffer = (buffer.div_ceil(1 << scale)).min(u64::from(u16::MAX)) << scale;
        let edge = buffer.min(u64::from(u16::MAX));
        Self { buffer, size: buffer, bound: u64::MAX, taken: 0, edge, scale, mss }
    }

    /// Returns the window of a connection with this configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let mut window = Self::new(config.receive_buffer, config.mss);
        if let Some(octets) = config.initial_receive_buffer {
            window.size = window.whole_units(octets);
            window.edge = window.size.min(u64::from(u16::MAX));
        }
        window
    }

    fn whole_units(&self, octets: u64) -> u64 {
        let unit = 1 << self.scale;
        octets.max(1).checked_next_multiple_of(unit).map_or(self.buffer, |o| o.min(self.buffer))
    }

    /// Returns the size of the window plus the unread octets, without the bound.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Enlarges the window to `octets`, if that is more than its size.
    pub(crate) fn grow(&mut self, octets: u64) {
        self.size = self.size.max(self.whole_units(octets));
    }

    /// Sets the window to `octets`, as far as the scale can express it. There remains room for what
    /// was advertised when it was larger.
    pub(crate) fn fix(&mut self, octets: u64) {
        let units = octets.max(1).div_ceil(1 << self.scale).min(u64::from(u16::MAX));
        self.size = units << self.scale;
        self.buffer = self.buffer.max(self.size);
    }

    /// Returns the window field of a SYN, which is never scaled.
    pub(crate) fn syn_field(&self) -> u16 {
        self.size.min(u64::from(u16::MAX)) as u16
    }

    /// Records that a SYN advertises the present window.
    pub(crate) fn advertise_in_syn(&mut self) {
        self.edge = self.edge.max(u64::from(self.syn_field()));
    }

    /// Returns the shift to offer, or the negotiated one.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// Disables scaling, which the peer does not offer.
    pub(crate) fn without_scale(&mut self) {
        self.scale = 0;
    }

    /// Offers scaling to the next peer.
    pub(crate) fn offer_scale(&mut self) {
        self.scale = scale_for(self.buffer);
    }

    /// Returns the offset up to which the application has read.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the first octet that is not accepted.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Records that the application read `octets`.
    pub(crate) fn take(&mut self, octets: u64) {
        self.taken += octets;
    }

    /// Returns the maximum number of unread octets: the distance of the edge from what was read
    /// never exceeds it.
    pub(crate) fn room(&self) -> u64 {
        self.buffer + self.slack(self.buffer)
    }

    /// Returns how far rounding may move the edge beyond the end of a window of `size`.
    fn slack(&self, size: u64) -> u64 {
        (1 << self.scale).max(size / 8)
    }

    /// Returns the bound on future advertisements, counted from what was read.
    pub(crate) fn bound(&self) -> u64 {
        self.bound
    }

    /// Limits future advertisements to `octets` beyond what was read. Windows already advertised
    /// stay valid.
    pub(crate) fn set_bound(&mut self, octets: u64) {
        self.bound = octets;
    }

    /// Returns the first octet that the buffer has no room for.
    fn limit(&self) -> u64 {
        self.taken + self.size.min(self.bound)
    }

    /// Returns the smallest step by which the edge moves (RFC 9293, section 3.8.6.2.2: the lesser
    /// of half the buffer and a segment).
    fn step(&self) -> u64 {
        (self.size.min(self.bound) / 2).min(u64::from(self.mss)).max(1)
    }

    /// Returns whether a window update is due: the window would open by at least a step, and to at
    /// least twice its size at the peer.
    pub(crate) fn should_update(&self, next: u64) -> bool {
        // The field limits what can be advertised: without scaling, the peer already has all of it
        // while the buffer has more.
        let max_window = u64::from(u16::MAX) << self.scale;
        if self.limit() <= self.edge {
            return false;
        }
        let (known, free) =
            (self.edge.saturating_sub(next), self.limit().saturating_sub(next).min(max_window));
        free >= 2 * known && next + free >= self.edge + self.step()
    }

    /// Returns the window field of an acknowledgement of everything below `next`, and records the
    /// edge.
    #[inline(always)]
    pub(crate) fn advertise(&mut self, next: u64) -> u16 {
        let unit = 1_u64 << self.scale;
        let max_field = u64::from(u16::MAX);
        if self.limit() >= self.edge + self.step() {
            let field = (self.limit().saturating_sub(next) >> self.scale).min(max_field);
            let edge = next + (field << self.scale);
            if edge >= self.edge {
                self.edge = edge;
                return field as u16;
            }
        }
        let known = self.edge.saturating_sub(next);
        let whole = (known >> self.scale).min(max_field);
        if next + (whole << self.scale) == self.edge {
            return whole as u16;
        }
        // The field is rounded up so that the edge does not move back. A peer that sends single octets
        // could move the edge without limit that way. Beyond an eighth of the window the field is
        // therefore rounded down, and windows already advertised remain valid.
        let field = known.div_ceil(unit).min(max_field);
        let edge = next + (field << self.scale);
        if edge <= self.edge.max(self.limit() + self.slack(self.size)) {
            self.edge = self.edge.max(edge);
            field as u16
        } else {
            whole as u16
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_free_part_of_the_buffer() {
        let mut w = ReceiveWindow::new(10_000, 1000);
        assert_eq!((w.scale(), w.advertise(0)), (0, 10_000));
        assert_eq!(w.advertise(4000), 6000, "nothing taken");
        w.take(4000);
        assert_eq!(w.advertise(4000), 10_000);
    }

    #[test]
    fn the_edge_moves_by_a_segment_or_half_the_buffer() {
        let mut w = ReceiveWindow::new(10_000, 1000);
        w.take(999);
        assert_eq!(
            w.advertise(5000),
            5000,
            "less than a segment is free: nothing more is advertised"
        );
        w.take(1);
        assert_eq!(w.advertise(5000), 6000);
        let mut w = ReceiveWindow::new(1000, 1460);
        w.take(500);
        assert_eq!(w.advertise(1000), 500, "half of a buffer smaller than a segment");
    }

    #[test]
    fn a_closed_window_is_reopened_when_it_opens_enough() {
        let mut w = ReceiveWindow::new(4000, 1000);
        assert_eq!(w.advertise(4000), 0);
        w.take(999);
        assert!(!w.should_update(4000));
        w.take(1);
        assert!(w.should_update(4000));
        assert_eq!(w.advertise(4000), 1000);
        assert!(!w.should_update(4000));
    }

    #[test]
    fn without_scaling_the_field_limits_the_window() {
        let mut w = ReceiveWindow::new(1 << 20, 1000);
        w.without_scale();
        assert_eq!(w.advertise(30_000), 65_535);
        w.take(30_000);
        assert!(!w.should_update(30_000), "everything possible is advertised");
        assert_eq!(w.advertise(65_535), 65_535);
        assert!(w.should_update(100_000), "half of that is used up");
    }

    #[test]
    fn rounding_never_moves_the_edge_back() {
        for size in [1448, 1000, 536] {
            let mut w = ReceiveWindow::new(4 << 20, 1460);
            assert!(w.scale() > 0);
            let mut next = 0;
            let mut edge = 0;
            while next + size <= w.edge() {
                next += size;
                let now = next + (u64::from(w.advertise(next)) << w.scale());
                assert!(now >= edge, "{size} octets at a time, at {next}");
                assert!(now <= w.room(), "{size} octets at a time, at {next}");
                edge = now;
            }
            assert!(next >= 4 << 20);
        }
    }

    #[test]
    fn a_bound_limits_new_advertisements_and_revokes_none() {
        let mut w = ReceiveWindow::new(10_000, 1000);
        w.set_bound(2000);
        assert_eq!(w.advertise(0), 10_000, "advertised before");
        w.take(4000);
        assert_eq!(w.advertise(4000), 6000, "the edge stays where it was");
        w.take(6000);
        assert!(w.should_update(10_000));
        assert_eq!(w.advertise(10_000), 2000);
        w.set_bound(u64::MAX);
        assert_eq!(w.advertise(10_000), 10_000);
    }

    #[test]
    fn a_peer_that_sends_single_octets_finds_the_window_closed_in_the_end() {
        let mut w = ReceiveWindow::new(1 << 20, 1000);
        let mut next = 0;
        while next < w.edge() && w.advertise(next) > 0 {
            next += 1;
        }
        assert_eq!(w.advertise(next), 0);
        assert_eq!(w.room(), (1 << 20) / 8 * 9);
        assert!(w.edge() <= w.room(), "{}", w.edge());
    }
}
