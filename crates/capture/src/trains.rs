//! What the path takes for a packet, from packets that were sent faster than they arrived.
//!
//! Only a queue makes several packets in a row arrive evenly apart that were sent closer together
//! (Dovrolis et al., "Packet-dispersion techniques and a capacity-estimation methodology", 2004).
//! That tells the rate of a path that a transfer never fills.

use unruffled_units::{Duration, Instant};

use crate::lateness::Spans;

/// Packets arrive at least so many times as far apart as they were sent.
const STRETCHED: u64 = 2;

/// Gaps in a row differ by less than this share.
const ALIKE: f64 = 0.2;

/// Fewer gaps than this say nothing.
const ENOUGH: u64 = 3;

/// Times between packets of trains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trains {
    last: Option<Arrival>,
    /// The gap before the last arrival, if it was stretched.
    gap: Option<Duration>,
    spacing: Spans,
}

/// A packet that arrived in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) sent: Instant,
    pub(crate) at: Instant,
    /// Its number in the order of sending, retransmissions counted.
    pub(crate) number: u64,
}

impl Trains {
    /// A packet arrives in order.
    pub(crate) fn arrive(&mut self, arrival: Arrival) {
        let before = self.gap.take();
        let Some(last) = self.last.replace(arrival) else { return };
        let packets = arrival.number.saturating_sub(last.number);
        let (apart, took) = (arrival.sent.since(last.sent), arrival.at.since(last.at));
        if packets == 0 || took == Duration::ZERO || apart * STRETCHED > took {
            return;
        }
        let gap = took / packets;
        if before.is_some_and(|before| (gap.ratio(before) - 1.0).abs() < ALIKE) {
            self.spacing.record(gap);
        }
        self.gap = Some(gap);
    }

    /// The most frequent gap.
    pub(crate) fn spacing(&self) -> Option<Duration> {
        self.spacing.mode().filter(|_| self.spacing.count() >= ENOUGH)
    }
}
