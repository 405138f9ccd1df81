//! Transmission time of a packet on the path, from packets that were sent faster than they arrived.
//!
//! Several packets in a row arrive evenly spaced, but were sent closer together, only if they were
//! in a queue (Dovrolis et al., "Packet-dispersion techniques and a capacity-estimation methodology",
//! 2004). Their spacing shows the rate of a path even if a transfer never fills it.

use unruffled_units::{Duration, Instant};

use crate::histogram::DurationHistogram;

/// Smallest ratio of the time between arrivals to the time between transmissions.
const MIN_DISPERSION_RATIO: u64 = 2;

/// Greatest relative difference between consecutive gaps.
const MAX_GAP_DIFFERENCE: f64 = 0.2;

/// Gaps below which no spacing is reported.
const MIN_GAPS: u64 = 3;

/// Spacing of packets that queued on the path.
#[derive(Clone, Debug, Default)]
pub(super) struct TrainDispersion {
    last: Option<DeliveredPacket>,
    /// The gap before the last arrival, if it was longer than the time between transmissions.
    gap: Option<Duration>,
    gaps: DurationHistogram,
}

/// A packet that arrived in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveredPacket {
    pub(super) sent: Instant,
    pub(super) acknowledged: Instant,
    /// Index in the order of sending, retransmissions included.
    pub(super) index: u64,
}

impl TrainDispersion {
    /// Records a packet that arrived in order.
    pub(super) fn record(&mut self, packet: DeliveredPacket) {
        let gap_before = self.gap.take();
        let Some(last) = self.last.replace(packet) else { return };
        let packets = packet.index.saturating_sub(last.index);
        let between_transmissions = packet.sent.since(last.sent);
        let between_arrivals = packet.acknowledged.since(last.acknowledged);
        if packets == 0
            || between_arrivals == Duration::ZERO
            || between_transmissions * MIN_DISPERSION_RATIO > between_arrivals
        {
            return;
        }
        let gap = between_arrivals / packets;
        if gap_before.is_some_and(|before| (gap.ratio(before) - 1.0).abs() < MAX_GAP_DIFFERENCE) {
            self.gaps.record(gap);
        }
        self.gap = Some(gap);
    }

    /// Returns the most frequent spacing.
    pub(super) fn spacing(&self) -> Option<Duration> {
        self.gaps.mode().filter(|_| self.gaps.count() >= MIN_GAPS)
    }
}
