//! The pace of a run of packets that goes on after a gap, and whether a flow is a bulk transfer.
//!
//! A run that goes on at once causes as many acknowledgements at once, and these a burst of the sender, which
//! overflows the queue of the path. So packets keep the spacing with which they arrived, compressed.

use unruffled_units::{Duration, Instant};

/// Rate at which a run of packets catches up, as a multiple of the rate at which they arrived.
const CATCH_UP: f64 = 1.25;

/// Time by which packets may go on early, so that a fast run takes no timer for each.
pub(crate) const QUANTUM: Duration = Duration::from_millis(1);

/// Number of packets in a round trip that make a bulk transfer: an initial window (RFC 6928).
const BULK_PACKETS: u32 = 10;

/// What the path imposes on its flows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Time for which a gap is waited for.
    pub(crate) hold: Duration,
    /// Round-trip time.
    pub(crate) round_trip: Duration,
    /// Time by which all packets of a bulk transfer go on later than they should have arrived.
    pub(crate) lag: Duration,
}

impl Terms {
    /// Nothing waits.
    pub(crate) const NONE: Self =
        Self { hold: Duration::ZERO, round_trip: Duration::ZERO, lag: Duration::ZERO };
}

/// The last packet that went on.
#[derive(Clone, Copy, Debug)]
struct Last {
    released: Instant,
    /// When it should have arrived.
    nominal: Instant,
}

/// Pace of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    last: Option<Last>,
    /// Begin of the current round trip, and the packets in it and in the one before.
    since: Instant,
    packets: u32,
    packets_before: u32,
}

impl Pace {
    /// Begins a connection, which may become a bulk transfer.
    pub(crate) fn begin(&mut self, now: Instant) {
        *self = Self { since: now, packets_before: BULK_PACKETS, ..Self::default() };
    }

    /// Counts a packet that arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, terms: &Terms, now: Instant) {
        let round_trips = now.since(self.since);
        let round_trip = terms.round_trip + terms.lag;
        if round_trips >= round_trip {
            // None before, if a whole round trip passed without packets.
            self.packets_before = if round_trips < round_trip * 2 { self.packets } else { 0 };
            self.packets = 0;
            self.since = now;
        }
        self.packets = self.packets.saturating_add(1);
    }

    /// Returns the time by which packets go on later than they should have arrived: none unless the flow is a
    /// bulk transfer.
    #[inline]
    pub(crate) fn lag(&self, terms: &Terms) -> Duration {
        let is_bulk = self.packets.max(self.packets_before) >= BULK_PACKETS;
        if is_bulk { terms.lag } else { Duration::ZERO }
    }

    /// Returns when a packet goes on that should have arrived at `nominal`.
    fn due(&self, nominal: Instant, terms: &Terms) -> Instant {
        let Some(last) = self.last else { return nominal };
        let spacing = nominal.since(last.nominal);
        let lag = last.released.since(last.nominal);
        if spacing > (terms.round_trip + lag) * 2 {
            // The flow paused.
            return nominal;
        }
        nominal.max(last.released + spacing.mul_f64(1.0 / CATCH_UP))
    }

    /// Returns when a packet must wait until, if it must wait at all.
    #[inline]
    pub(crate) fn wait(&self, nominal: Instant, terms: &Terms, now: Instant) -> Option<Instant> {
        self.last?;
        Some(self.due(nominal, terms)).filter(|&due| due > now + QUANTUM)
    }

    /// Records that a packet goes on in its turn.
    pub(crate) fn release(&mut self, nominal: Instant, terms: &Terms, now: Instant) {
        let released = self.due(nominal, terms).clamp(now - QUANTUM, now + QUANTUM);
        // The lag does not grow, even where packets go on that should have arrived before others.
        let nominal = self.last.map_or(nominal, |last| last.nominal.max(nominal));
        self.last = Some(Last { released, nominal });
    }

    /// Records that the wait for a gap ended, or that a late packet arrived for which all others waited.
    pub(crate) fn restart(&mut self, nominal: Instant, now: Instant) {
        self.last = Some(Last { released: now, nominal });
    }

    /// Records that the flow has caught up.
    #[inline]
    pub(crate) fn catch_up(&mut self) {
        self.last = None;
    }
}
