//! The window that a receiver advertises: what is free of its buffer, told in whole units of the
//! scale, by an edge that does not move back (RFC 9293, section 3.8.6; RFC 7323, section 2).

use crate::Config;

/// The receive window. Positions are stream offsets.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    /// The most that the window may be.
    buffer: u64,
    /// What it is, which only grows.
    size: u64,
    /// What the driver has memory for, where that is less.
    bound: u64,
    /// Everything below has been taken by the application.
    taken: u64,
    /// The first octet that was never promised room; what lies below is accepted.
    edge: u64,
    /// The shift of the window field.
    scale: u8,
    mss: u32,
}

/// The smallest shift with which a 16-bit field can tell of `buffer` octets (RFC 7323, section 2.3).
pub(crate) fn scale_for(buffer: u64) -> u8 {
    (0..14).find(|&scale| buffer.div_ceil(1 << scale) <= u64::from(u16::MAX)).unwrap_or(14)
}

impl ReceiveWindow {
    pub(crate) fn new(buffer: u64, mss: u32) -> Self {
        let scale = scale_for(buffer);
        // What the window field can say: whole units of the scale, none lost.
        let buffer = (buffer.div_ceil(1 << scale)).min(u64::from(u16::MAX)) << scale;
        let edge = buffer.min(u64::from(u16::MAX));
        Self { buffer, size: buffer, bound: u64::MAX, taken: 0, edge, scale, mss }
    }

    /// The window of a connection with these settings.
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

    /// What it is without what has not been read, and without a bound.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The window may be `octets` from now on, if that is more than before.
    pub(crate) fn grow(&mut self, octets: u64) {
        self.size = self.size.max(self.whole_units(octets));
    }

    /// The window is `octets` from now on, as near as the scale can tell. There stays room for what
    /// was promised when it was larger.
    pub(crate) fn fix(&mut self, octets: u64) {
        let units = octets.max(1).div_ceil(1 << self.scale).min(u64::from(u16::MAX));
        self.size = units << self.scale;
        self.buffer = self.buffer.max(self.size);
    }

    /// The window field of a SYN, which is never scaled.
    pub(crate) fn syn_field(&self) -> u16 {
        self.size.min(u64::from(u16::MAX)) as u16
    }

    /// A SYN will tell of the window as it is now.
    pub(crate) fn promise_in_syn(&mut self) {
        self.edge = self.edge.max(u64::from(self.syn_field()));
    }

    /// The shift to offer, or that was agreed on.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// The peer does not scale windows.
    pub(crate) fn without_scale(&mut self) {
        self.scale = 0;
    }

    /// The next peer may scale them.
    pub(crate) fn offer_scale(&mut self) {
        self.scale = scale_for(self.buffer);
    }

    /// Everything below this has been taken by the application.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// The first octet that is not accepted.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// The application took `octets`.
    pub(crate) fn take(&mut self, octets: u64) {
        self.taken += octets;
    }

    /// Octets that may come to lie unread at the most: the edge is never further from what has been
    /// taken.
    pub(crate) fn room(&self) -> u64 {
        self.buffer + self.slack(self.buffer)
    }

    /// How far rounding may push the edge beyond the end of a window of `size`.
    fn slack(&self, size: u64) -> u64 {
        (1 << self.scale).max(size / 8)
    }

    /// What is promised at the most beyond what has been taken.
    pub(crate) fn bound(&self) -> u64 {
        self.bound
    }

    /// From now on no more than `octets` are promised beyond what has been taken; what has been
    /// promised stays.
    pub(crate) fn set_bound(&mut self, octets: u64) {
        self.bound = octets;
    }

    /// The first octet that the buffer has no room for.
    fn limit(&self) -> u64 {
        self.taken + self.size.min(self.bound)
    }

    /// The edge moves by at least this much (RFC 9293, section 3.8.6.2.2: the lesser of half the
    /// buffer and a segment).
    fn step(&self) -> u64 {
        (self.size.min(self.bound) / 2).min(u64::from(self.mss)).max(1)
    }

    /// Whether the window, as the peer knows it, would open by so much that it should be told: at
    /// least a step, and at least to the double.
    pub(crate) fn should_update(&self, next: u64) -> bool {
        // No more can be told than the field holds: a peer that does not scale knows of all there is
        // to know while the buffer has more.
        let most = u64::from(u16::MAX) << self.scale;
        if self.limit() <= self.edge {
            return false;
        }
        let (known, free) =
            (self.edge.saturating_sub(next), self.limit().saturating_sub(next).min(most));
        free >= 2 * known && next + free >= self.edge + self.step()
    }

    /// The window field of an acknowledgement of everything below `next`.
    #[inline(always)]
    pub(crate) fn advertise(&mut self, next: u64) -> u16 {
        let unit = 1_u64 << self.scale;
        let most = u64::from(u16::MAX);
        if self.limit() >= self.edge + self.step() {
            let field = (self.limit().saturating_sub(next) >> self.scale).min(most);
            let edge = next + (field << self.scale);
            if edge >= self.edge {
                self.edge = edge;
                return field as u16;
            }
        }
        let known = self.edge.saturating_sub(next);
        let whole = (known >> self.scale).min(most);
        if next + (whole << self.scale) == self.edge {
            return whole as u16;
        }
        // Rounded up, lest the edge move back. A peer that sends crumbs could push it on and on that
        // way: an eighth of the window beyond its end the field is rounded down, and what was
        // promised is accepted all the same.
        let field = known.div_ceil(unit).min(most);
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
    fn the_window_is_what_is_free() {
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
        assert_eq!(w.advertise(5000), 5000, "less than a segment is free: nothing is told");
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
    fn without_a_scale_no_more_is_told_than_the_field_holds() {
        let mut w = ReceiveWindow::new(1 << 20, 1000);
        w.without_scale();
        assert_eq!(w.advertise(30_000), 65_535);
        w.take(30_000);
        assert!(!w.should_update(30_000), "the peer knows of all that can be told");
        assert_eq!(w.advertise(65_535), 65_535);
        assert!(w.should_update(100_000), "half of that is used up");
    }

    #[test]
    fn rounding_never_moves_the_edge_back() {
        for size in [1448, 1000, 536] {
            let mut w = ReceiveWindow::new(4 << 20, 1460);
            assert!(w.scale() > 0);
            let (mut next, mut edge) = (0, 0);
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
    fn a_bound_shrinks_what_is_told_and_takes_nothing_back() {
        let mut w = ReceiveWindow::new(10_000, 1000);
        w.set_bound(2000);
        assert_eq!(w.advertise(0), 10_000, "promised before");
        w.take(4000);
        assert_eq!(w.advertise(4000), 6000, "the edge stays where it was");
        w.take(6000);
        assert!(w.should_update(10_000));
        assert_eq!(w.advertise(10_000), 2000);
        w.set_bound(u64::MAX);
        assert_eq!(w.advertise(10_000), 10_000);
    }

    #[test]
    fn whoever_sends_crumbs_finds_the_window_closed_in_the_end() {
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
