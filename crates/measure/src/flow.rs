//! Counters of one source of traffic.

use unruffled_path::DropCause;
use unruffled_tcp::{Cause, Event, Segment};
use unruffled_units::{Duration, Instant};

use crate::deliveries::Deliveries;
use crate::time_mean::TimeMean;
use crate::{EcnCounts, End, ExitCounts, FlowRecord, SenderMeans};

/// Counters of one source, from the end of the warm-up on.
///
/// Useful for a single source without a simulation; a [`Meter`](crate::Meter) has one for each source
/// of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    from: Instant,
    counts: FlowRecord,
    /// Time at which the last octet was delivered.
    finished: Instant,
    /// Whether a transfer is complete.
    complete: bool,
    /// Highest offset that has arrived in the current connection.
    highest_arrived: Option<u64>,
    /// Highest offset that arrived in the connection before.
    highest_before: Option<u64>,
    cwnd: TimeMean,
    dupthresh: TimeMean,
    /// Sum of the values of SRTT in nanoseconds, and their number.
    srtt: (u64, u64),
    /// Sum of the times of completed transfers, in seconds.
    transfer_s: f64,
    deliveries: Option<Box<Deliveries>>,
}

impl FlowMeter {
    /// Creates a meter that counts from `from` on.
    pub fn new(from: Instant) -> Self {
        Self { from, ..Self::default() }
    }

    /// Measures delivery times as well.
    #[must_use]
    pub(crate) fn with_deliveries(self) -> Self {
        Self { deliveries: Some(Box::default()), ..self }
    }

    /// Counts marks and the reductions because of them, if `ecn`.
    #[must_use]
    pub fn with_ecn(mut self, ecn: bool) -> Self {
        let none = EcnCounts { marked_segments: 0, ecn_reductions: Some(0) };
        self.counts.ecn = ecn.then_some(none);
        self
    }

    /// Counts what far ends of links drop, if `exits`.
    #[must_use]
    pub fn with_exits(mut self, exits: bool) -> Self {
        self.counts.exits = exits.then(ExitCounts::default);
        self
    }

    /// Records that a new connection of this source begins.
    pub fn opened(&mut self) {
        self.highest_before = self.highest_arrived.take();
        self.counts.connections += 1;
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.restart();
        }
    }

    /// Records that a transfer which began at `begun` is complete.
    pub fn transferred(&mut self, begun: Instant) {
        self.complete = true;
        if self.finished >= self.from {
            self.counts.transfers += 1;
            self.transfer_s += self.finished.since(begun).as_secs_f64();
        }
    }

    /// Records an event inside the connection at `end`.
    #[inline(always)]
    pub fn event(&mut self, end: End, now: Instant, event: &Event) {
        if now < self.from {
            return self.before_measuring(end, event);
        }
        let FlowRecord { sending, path, delivered_bytes, .. } = &mut self.counts;
        match (end, *event) {
            // A FIN without data does not count.
            (End::Sender, Event::Sent { len: 1.., cause, .. }) => {
                sending.sent_segments += 1;
                sending.retransmits += u64::from(cause.is_some());
            }
            (End::Sender, Event::Acknowledged { cwnd, dupthresh, srtt, .. }) => {
                self.cwnd.set(cwnd, now);
                if let Some(dupthresh) = dupthresh {
                    self.dupthresh.set(f64::from(dupthresh), now);
                }
                if let Some(srtt) = srtt {
                    self.srtt.0 = self.srtt.0.saturating_add(srtt.as_nanos());
                    self.srtt.1 += 1;
                }
            }
            (End::Sender, Event::Reordered { .. }) => sending.reordering_events += 1,
            (End::Sender, Event::SpuriousRetransmission { .. }) => sending.dsacks += 1,
            (End::Sender, Event::FastRetransmit) => sending.fast_retransmits += 1,
            (End::Sender, Event::Timeout { cwnd }) => {
                sending.timeouts += 1;
                self.cwnd.set(cwnd, now);
            }
            (End::Sender, Event::EcnReduction { cwnd }) => {
                self.cwnd.set(cwnd, now);
                if let Some(EcnCounts { ecn_reductions: Some(count), .. }) = &mut self.counts.ecn {
                    *count += 1;
                }
            }
            (End::Sender, Event::LossProbe) => sending.loss_probes += 1,
            (End::Sender, Event::SpuriousReduction { cause }) => match cause {
                Cause::Timeout => sending.false_timeouts += 1,
                _ => sending.false_fast_retransmits += 1,
            },
            (End::Receiver, Event::Delivered { len }) => {
                *delivered_bytes += len;
                self.finished = now;
            }
            (End::Receiver, Event::Arrived { offset, .. }) => {
                path.arrived_segments += 1;
                let behind = self.highest_arrived.is_some_and(|highest| offset < highest);
                path.out_of_order_segments += u64::from(behind);
                self.highest_arrived = self.highest_arrived.max(Some(offset));
            }
            _ => {}
        }
    }

    /// Records an event of the warm-up. Arrivals in it do not count, but later ones below them are out of
    /// order.
    #[inline(never)]
    fn before_measuring(&mut self, end: End, event: &Event) {
        if let (End::Receiver, Event::Arrived { offset, .. }) = (end, event) {
            self.highest_arrived = self.highest_arrived.max(Some(*offset));
        }
    }

    /// Records an event inside the connection before the current one.
    pub(crate) fn past_event(&mut self, end: End, now: Instant, event: &Event) {
        let current = std::mem::replace(&mut self.highest_arrived, self.highest_before);
        self.event(end, now, event);
        self.highest_before = std::mem::replace(&mut self.highest_arrived, current);
    }

    /// Updates the delivery times, if they are measured.
    pub(crate) fn time_deliveries(&mut self, end: End, now: Instant, event: &Event) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.event(end, now, event, now >= self.from);
        }
    }

    /// Records that the path dropped a segment.
    pub fn dropped(&mut self, now: Instant, cause: DropCause, segment: &Segment) {
        let counted = u64::from(segment.len > 0 && now >= self.from);
        self.counts.path.dropped_segments += counted;
        if let Some(exits) = &mut self.counts.exits {
            match cause {
                DropCause::Queue | DropCause::Loss => {}
                DropCause::Replay => exits.replay_drops += counted,
                DropCause::Ranges => exits.range_drops += counted,
                DropCause::Fragments => exits.fragment_drops += counted,
            }
        }
    }

    /// Records that the path marked a segment with CE.
    pub fn marked(&mut self, now: Instant, segment: &Segment) {
        if let Some(ecn) = &mut self.counts.ecn {
            ecn.marked_segments += u64::from(segment.len > 0 && now >= self.from);
        }
    }

    /// Records that a packet without TCP was sent.
    pub fn datagram_sent(&mut self, now: Instant) {
        self.counts.sending.sent_segments += u64::from(now >= self.from);
    }

    /// Records the arrival of a packet without TCP with `len` octets of payload.
    pub fn datagram_arrived(&mut self, now: Instant, len: u32) {
        if now >= self.from {
            self.counts.path.arrived_segments += 1;
            self.counts.delivered_bytes += u64::from(len);
            self.finished = now;
        }
    }

    /// Returns the time at which the last octet was delivered, once a transfer is complete.
    pub fn finished(&self) -> Option<Instant> {
        self.complete.then_some(self.finished)
    }

    /// Returns the delivery time of the last arrival, if delivery times are measured.
    pub(crate) fn last_delivery(&self) -> Option<Duration> {
        self.deliveries.as_ref().and_then(|deliveries| deliveries.last())
    }

    /// Returns the record of a source that started at `start`, up to `now`, in segments of `mss` octets.
    pub fn record(&mut self, now: Instant, start: Instant, mss: u32) -> FlowRecord {
        self.cwnd.advance(now);
        self.dupthresh.advance(now);
        let seconds = now.since(self.from.max(start)).as_secs_f64();
        let bits = self.counts.delivered_bytes as f64 * 8.0;
        let mean = |(sum, n): (f64, u64)| (n > 0).then(|| sum / n as f64);
        let deliveries = self.deliveries.as_ref();
        FlowRecord {
            start_s: start.as_secs_f64(),
            duration_s: seconds,
            goodput_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
            delivered_segments: self.counts.delivered_bytes.div_ceil(u64::from(mss)),
            means: SenderMeans {
                cwnd_mean: self.cwnd.mean(),
                dupthresh_mean: self.dupthresh.mean(),
                srtt_mean_s: mean((self.srtt.0 as f64 / 1e9, self.srtt.1)),
                ..self.counts.means
            },
            transfer_mean_s: mean((self.transfer_s, self.counts.transfers)),
            delivery_mean_s: deliveries.and_then(|deliveries| deliveries.mean_once()),
            resent_delivery_mean_s: deliveries.and_then(|deliveries| deliveries.mean_resent()),
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_below_one_of_the_warm_up_is_out_of_order() {
        let mut meter = FlowMeter::new(Instant::from_millis(100));
        let mut arrived = |ms, offset| {
            let event = Event::Arrived { offset, len: 1000, duplicate: false };
            meter.event(End::Receiver, Instant::from_millis(ms), &event);
        };
        arrived(99, 5000);
        arrived(100, 4000);
        arrived(101, 6000);
        let path = meter.record(Instant::from_millis(200), Instant::ZERO, 1000).path;
        assert_eq!((path.arrived_segments, path.out_of_order_segments), (2, 1));
    }
}
