//! Summary of one direction as the values of an analysis.

use std::net::SocketAddr;

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use crate::analysis::{
    Charts, DataTotals, Direction, Limit, Losses, Place, Retransmissions, Rtt, SpuriousReasons,
    Traffic, Windows,
};
use crate::histogram::DurationHistogram;
use crate::reordering::{Arrivals, PathFacts};

/// Share of the round trip to one end below which the capture counts as made near that end.
const MAX_NEAR_SHARE: f64 = 0.1;

impl FlowDirection {
    /// Returns the summary of the data from `from` to `to`.
    ///
    /// `opposite` is the data in the other direction, `start` the time of the connection's first packet,
    /// and `clock_step` the step of the capture's clock where that is coarse.
    pub(crate) fn summary(
        &self,
        from: SocketAddr,
        to: SocketAddr,
        opposite: &Self,
        start: Instant,
        clock_step: Duration,
    ) -> Direction {
        let place = place(self);
        let spacing = spacing(self, place, clock_step);
        let charts = &self.charts;
        let windows = windows(self);
        let path = self.path.round_trips.min_rtt().map(|round_trip| {
            let loss_events = windows.recoveries - windows.spurious_recoveries;
            PathFacts { round_trip, loss_events }
        });
        let at_receiver = &self.at_receiver.arrivals;
        Direction {
            from,
            to,
            place,
            traffic: traffic(self, start),
            retransmissions: retransmissions(self),
            losses: losses(self),
            loss_evidence: self.loss_evidence(),
            reordering_here: self.here.arrivals.summary(path),
            reordering_at_receiver: self.sack.seen.then(|| at_receiver.summary(path)),
            rtt: rtt(self, opposite, place, start, clock_step),
            windows,
            limits: limits(self, place),
            crowded: spacing.and_then(|spacing| self.path.cross_traffic.share(spacing)),
            spacing_ms: spacing.map(Duration::as_millis_f64),
            charts: Charts {
                flight: charts.flight.bins(start),
                acked: charts.acked.bins(start),
                drawing: charts.drawing.as_ref().map(|drawing| drawing.build(start)),
            },
        }
    }

    /// Returns the octets of payload that passed.
    pub(crate) fn payload(&self) -> u64 {
        self.counts.payload
    }

    /// Adds the counts of this direction to `totals`, and its late times to `late_times`.
    pub(crate) fn add_to(&self, totals: &mut DataTotals, late_times: &mut DurationHistogram) {
        self.add_counts(totals);
        late_times.merge(self.whole_path().late_times());
    }

    /// Adds the counts of segments to those of the capture.
    pub(crate) fn add_counts(&self, totals: &mut DataTotals) {
        totals.segments += self.counts.segments;
        totals.retransmitted += self.counts.retransmitted.segments;
        totals.spurious += self.counts.spurious.total;
        totals.reordered += self.whole_path().reordered();
    }

    /// Returns the arrivals that show the reordering of the whole path.
    fn whole_path(&self) -> &Arrivals {
        let here = &self.here.arrivals;
        let at_receiver = &self.at_receiver.arrivals;
        let known = self.sack.seen && place(self) != Place::Receiver;
        if known && at_receiver.reordered() >= here.reordered() { at_receiver } else { here }
    }
}

/// Returns where the capture was made.
fn place(flow: &FlowDirection) -> Place {
    let trips = &flow.path.round_trips;
    let (Some(to_receiver), Some(to_sender)) = (trips.to_receiver.min, trips.to_sender.min) else {
        return Place::Unknown;
    };
    let min_rtt = to_receiver + to_sender;
    if flow.clues.is_below_clock_step(min_rtt) {
        return Place::Unknown;
    }
    let share = to_receiver.ratio(min_rtt);
    if share > 1.0 - MAX_NEAR_SHARE {
        Place::Sender
    } else if share < MAX_NEAR_SHARE {
        Place::Receiver
    } else {
        Place::Between
    }
}

/// Returns the time between two segments at the path's bottleneck rate.
fn spacing(flow: &FlowDirection, place: Place, clock_step: Duration) -> Option<Duration> {
    let spacing = match place {
        Place::Receiver => flow.here.spacing.mode(),
        // Disturbances on the way make gaps longer, so the shorter one is more accurate.
        _ => {
            let estimates = [flow.path.dispersion.spacing(), flow.at_receiver.spacing.mode()];
            estimates.into_iter().flatten().min()
        }
    };
    // The clock does not resolve less than its step.
    spacing.filter(|&spacing| spacing >= clock_step)
}

/// Returns the round trips, as far as the capture's clock shows them.
fn rtt(
    flow: &FlowDirection,
    opposite: &FlowDirection,
    place: Place,
    start: Instant,
    clock_step: Duration,
) -> Rtt {
    let trips = &flow.path.round_trips;
    // Data of the opposite direction measures the same parts.
    let opposite = &opposite.path.round_trips;
    let receiver_samples = trips.to_receiver.samples + opposite.to_sender.samples;
    let sender_samples = trips.to_sender.samples + opposite.to_receiver.samples;
    let measurable = clock_step.max(Duration::from_nanos(1));
    let ms =
        |rtt: Option<Duration>| rtt.filter(|&rtt| rtt >= measurable).map(Duration::as_millis_f64);
    let min_median_ms = clock_step.as_millis_f64().max(0.001);
    let samples = trips.samples.summary().filter(|samples| samples.median_ms >= min_median_ms);
    Rtt {
        min_ms: ms(trips.min_rtt()),
        beyond_ms: ms(trips.to_receiver.min),
        behind_ms: ms(trips.to_sender.min),
        times: match place {
            Place::Sender => receiver_samples,
            Place::Receiver => sender_samples,
            Place::Between => receiver_samples.min(sender_samples),
            Place::Unknown => 0,
        },
        clock_step_ms: (clock_step > Duration::ZERO).then(|| clock_step.as_millis_f64()),
        over_time: samples.as_ref().map_or_else(Vec::new, |_| flow.charts.rtt.bins(start)),
        samples,
    }
}

/// Returns the amount of data and the goodput.
fn traffic(flow: &FlowDirection, start: Instant) -> Traffic {
    let counts = &flow.counts;
    let events = &flow.activity.events;
    let began = events.first_data.unwrap_or(start);
    let ended = events.last_ack.or(events.last_data).unwrap_or(began).max(began);
    let transfer = ended.since(began);
    let acks_seen = counts.acks.all > 0;
    let octets = if acks_seen { flow.stream.acknowledged() } else { flow.stream.len() };
    let goodput_bps = if transfer > Duration::ZERO && events.first_data.is_some() {
        octets as f64 * 8.0 / transfer.as_secs_f64()
    } else {
        0.0
    };
    Traffic {
        packets: counts.packets,
        segments: counts.segments,
        payload_bytes: counts.payload,
        acks: counts.acks.all,
        cut_acks: counts.acks.cut,
        delayed_acks: counts.acks.of_more > counts.acks.of_one,
        timestamps: flow.clues.timestamps.seen,
        stream_bytes: octets,
        segment_bytes: flow.full_segment(),
        transfer_s: transfer.as_secs_f64(),
        goodput_bps,
    }
}

fn retransmissions(flow: &FlowDirection) -> Retransmissions {
    let counts = &flow.counts;
    Retransmissions {
        total: counts.retransmitted.segments,
        needed: counts.needed(),
        spurious: counts.spurious.total,
        reasons: SpuriousReasons {
            dsack: counts.spurious.by_dsack,
            timestamps: counts.spurious.by_timestamps,
            acknowledgement: counts.spurious.by_acknowledgement,
            original: counts.spurious.by_original,
            time: counts.spurious.by_time,
        },
        timeouts: counts.retransmitted.timeouts,
        syns: counts.retransmitted.syns,
        old_packets: counts.old_packets,
        dsacks: counts.acks.dsacks,
        dsacks_unexplained: counts.acks.dsacks_unexplained,
        duplicates: counts.duplicates,
        syn_duplicates: counts.syn_copies,
        duplicate_acks: counts.acks.duplicate,
        keepalives: counts.keepalives,
        judged_by_time: counts.judged_by_time,
    }
}

fn losses(flow: &FlowDirection) -> Losses {
    let counts = &flow.counts;
    let lost_bytes = counts.retransmitted.octets - counts.spurious.octets;
    // Data that did not pass the capture point was sent as well.
    let sent = flow.stream.len() + counts.retransmitted.octets;
    Losses {
        lost: counts.needed(),
        lost_bytes,
        ratio: if sent == 0 { 0.0 } else { lost_bytes as f64 / sent as f64 },
        not_captured: counts.not_captured,
        strange: counts.implausible,
    }
}

fn windows(flow: &FlowDirection) -> Windows {
    Windows {
        largest_flight: flow.stream.largest_flight,
        largest_window: (flow.window.largest > 0).then_some(flow.window.largest),
        zero_windows: flow.counts.acks.zero_windows,
        closed_s: flow.activity.times.zero_window.as_secs_f64(),
        probes: flow.counts.probes,
        ..flow.retransmissions.recoveries.windows()
    }
}

/// Returns what limited the sender. Near the receiver, only a zero window can be seen.
fn limits(flow: &FlowDirection, place: Place) -> Option<Limit> {
    let times = flow.activity.times;
    let parts = [times.idle, times.window_full, times.recovery, times.timeout, times.flowing];
    let all: f64 = parts.iter().map(|part| part.as_secs_f64()).sum();
    let zero_window = times.zero_window.as_secs_f64() / all;
    let sender_seen = matches!(place, Place::Sender | Place::Between) && flow.counts.acks.all > 0;
    if !sender_seen && zero_window > 0.5 {
        let sender_or_path = 1.0 - zero_window;
        return Some(Limit { receiver: zero_window, sender_or_path, ..Limit::default() });
    }
    (sender_seen && all > 0.0 && flow.counts.segments > 1).then(|| {
        let [application, receiver, recovery, timeout, sender_or_path] =
            parts.map(|part| part.as_secs_f64() / all);
        Limit { application, receiver, recovery, timeout, sender_or_path }
    })
}
