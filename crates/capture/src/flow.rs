//! One direction of a TCP connection: its data, and the acknowledgements that come back for it.
//!
//! Data that passes the capture point is placed in the order of the stream. A packet below the highest
//! octet seen is either late, because others overtook it before the capture point, or a
//! retransmission. Timestamps and IP identifications show which; without them, the time decides.
//!
//! Acknowledgements show what happens beyond the capture point: SACK in which order segments arrive,
//! DSACK and echoed timestamps which copy arrives.

mod acknowledgements;
mod activity;
mod copies;
mod counts;
mod cross_traffic;
mod data;
mod dispersion;
mod loss_attribution;
mod outdated;
mod position;
mod ranges;
mod recovery;
mod retransmissions;
mod round_trips;
mod scoreboard;
mod send_order;
mod sizes;
mod summary;
mod window;

use unruffled_units::{Duration, Instant};

use acknowledgements::SackState;
use activity::SenderActivity;
use copies::CopyDetector;
use counts::Counts;
use cross_traffic::CrossTraffic;
use dispersion::TrainDispersion;
use loss_attribution::LossAttribution;
use outdated::RecentTimestamp;
use position::{StreamPosition, after_syn, first_position, position_of};
use ranges::RangeCounter;
use retransmissions::Retransmissions;
use round_trips::RoundTrips;
pub(crate) use scoreboard::Fingerprint;
use scoreboard::Scoreboard;
use send_order::OrderClues;
use sizes::SegmentSizes;
use window::ReceiverWindow;

use crate::drawing::DrawingBuilder;
use crate::histogram::DurationHistogram;
use crate::packet::{Packet, Segment};
use crate::reordering::Arrivals;
use crate::series::Series;

/// Shortest time for which acknowledged segments stay on the scoreboard, because a DSACK may follow.
const MIN_DSACK_WAIT: Duration = Duration::from_secs(2);

/// Shortest such time in round trips.
const DSACK_WAIT_RTTS: u64 = 4;

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowDirection {
    stream: StreamPosition,
    scoreboard: Scoreboard,
    sack: SackState,
    ranges: RangeCounter,
    recent_timestamp: RecentTimestamp,
    clues: OrderClues,
    copies: CopyDetector,
    window: ReceiverWindow,
    retransmissions: Retransmissions,
    loss_attribution: LossAttribution,
    counts: Counts,
    sizes: SegmentSizes,
    activity: SenderActivity,
    path: PathEstimates,
    /// The capture point.
    here: VantagePoint,
    /// The receiver, as its acknowledgements show it.
    at_receiver: VantagePoint,
    charts: Charts,
}

/// A point that segments pass: the capture point or the receiver.
#[derive(Clone, Debug, Default)]
struct VantagePoint {
    arrivals: Arrivals,
    /// Times between consecutive segments.
    spacing: DurationHistogram,
    /// Time of the last segment.
    last: Option<Instant>,
}

/// Estimates of the path.
#[derive(Clone, Debug, Default)]
struct PathEstimates {
    round_trips: RoundTrips,
    dispersion: TrainDispersion,
    cross_traffic: CrossTraffic,
}

/// Values over time.
#[derive(Clone, Debug, Default)]
struct Charts {
    /// Round trips, in milliseconds.
    rtt: Series,
    /// Acknowledged octets.
    acked: Series,
    /// Octets in flight.
    flight: Series,
    /// Sequence numbers, if they are to be drawn.
    drawing: Option<Box<DrawingBuilder>>,
}

impl FlowDirection {
    /// Creates a direction that keeps up to `dots` dots of each kind for a drawing, or no drawing
    /// if `dots` is 0.
    pub(crate) fn new(dots: usize) -> Self {
        let drawing = (dots > 0).then(|| Box::new(DrawingBuilder::new(dots)));
        Self { charts: Charts { drawing, ..Charts::default() }, ..Self::default() }
    }

    /// Removes the drawing.
    pub(crate) fn remove_drawing(&mut self) {
        self.charts.drawing = None;
    }

    /// Calls `draw` with the drawing, if there is one, and the octet of the stream at `position`.
    fn draw(&mut self, position: u64, draw: impl FnOnce(&mut DrawingBuilder, u64)) {
        if let (Some(drawing), Some(origin)) = (&mut self.charts.drawing, self.stream.origin) {
            draw(drawing, position.saturating_sub(origin));
        }
    }

    /// Sets the step of the capture's clock where that is coarse, else zero.
    pub(crate) fn set_clock_step(&mut self, step: Duration) {
        self.clues.clock_step = step;
    }

    /// Returns the number of segments in memory.
    pub(crate) fn segments_held(&self) -> usize {
        self.scoreboard.len()
    }

    /// Returns the copies of packets that the network or the capture made.
    pub(crate) fn copies(&self) -> u64 {
        self.counts.duplicates + self.counts.copied_acks
    }

    /// Returns the octets of the stream that passed or were acknowledged.
    pub(crate) fn stream_len(&self) -> u64 {
        self.stream.len()
    }

    /// Returns the octets in a full segment, as far as is known.
    fn full_segment(&self) -> u32 {
        self.sizes.full_segment(self.clues.timestamps.seen)
    }

    /// Records a segment of this direction; the scoreboard holds at most `limit` segments.
    pub(crate) fn data(&mut self, packet: &Packet, segment: &Segment, limit: usize) {
        let now = packet.at;
        self.counts.packets += 1;
        self.clues.timestamps.seen |= segment.timestamps.is_some();
        let fingerprint = Fingerprint::new(packet, segment);
        if segment.rst {
            return;
        }
        let is_conflict = segment.syn && !self.open(fingerprint, segment);
        if is_conflict || segment.syn && segment.len == 0 {
            return;
        }
        let len = u64::from(segment.len) + u64::from(segment.fin);
        if len == 0 {
            self.record_empty(segment, fingerprint);
            return;
        }
        // The SYN takes the number before the data that it carries (RFC 7413).
        let seq = segment.seq.wrapping_add(u32::from(segment.syn));
        let origin = self.stream.begin(first_position(seq));
        let start = position_of(seq, self.stream.next);
        let end = start + len;
        if segment.len == 1 && end == origin && self.stream.len() == 0 {
            // The capture begins in a rest, which a keep-alive ends.
            self.record_probe_or_keep_alive(fingerprint);
            return;
        }
        if end <= origin || self.stream.is_implausible(start) {
            self.counts.implausible += 1;
            // Without a SYN, the capture may begin after the first transmission.
            let is_known = self.activity.events.syn.is_none() && self.stream.is_near(start);
            self.counts.old_packets += u64::from(end <= origin && is_known);
            return;
        }
        let is_last_octet = segment.len == 1 && !segment.fin && start + 1 == self.stream.next;
        if is_last_octet && self.stream.flight() == 0 && !self.is_copy_of_newest(fingerprint) {
            self.record_probe_or_keep_alive(fingerprint);
            return;
        }
        if self.is_beyond_window(start, segment) {
            self.record_probe_data(start, end, fingerprint);
            return;
        }
        self.reclassify_probe(start);
        self.advance_time(now);
        self.end_rest(now);
        self.activity.events.first_data.get_or_insert(now);
        self.activity.events.last_data = Some(now);
        self.counts.payload += u64::from(segment.len);
        self.sizes.record(segment.len);
        self.recent_timestamp.record(start, self.stream.una, fingerprint.timestamp);
        if start > self.stream.next {
            self.append_hole(start, fingerprint);
        }
        let is_old = start < self.stream.passed || end <= self.stream.una;
        self.counts.old_packets += u64::from(is_old);
        self.stream.passed = self.stream.passed.max(end);
        if start < self.stream.next {
            self.record_below(start.max(origin), end.min(self.stream.next), fingerprint);
        }
        if end > self.stream.next {
            self.append(end, fingerprint);
        }
        self.here.last = Some(now);
        let flight = self.stream.flight();
        self.stream.largest_flight = self.stream.largest_flight.max(flight);
        self.charts.flight.record(now, flight as f64);
        self.trim(now, limit);
        self.update_state();
    }

    /// Removes segments on which no further report is expected, and the oldest beyond `limit`.
    fn trim(&mut self, now: Instant, limit: usize) {
        let min_rtt = self.path.round_trips.min_rtt().unwrap_or_default();
        let keep = MIN_DSACK_WAIT.max(min_rtt * DSACK_WAIT_RTTS);
        let rtt = self.path.round_trips.min_rtt_or_part();
        let attribution = &mut self.loss_attribution;
        self.scoreboard.trim(now, keep, limit, |entry, following| {
            attribution.settle(entry, following.iter(), rtt);
        });
    }

    /// Records a SYN; returns whether its number is that of the connection.
    fn open(&mut self, packet: Fingerprint, segment: &Segment) -> bool {
        let begins_again = self.stream.len() == 0 && self.counts.acks.all == 0;
        if begins_again && self.stream.conflicts_with(segment) {
            // A server that loses its state answers the next SYN with another number.
            self.stream = StreamPosition::default();
            self.activity.events.syn = None;
        }
        self.stream.begin(after_syn(segment));
        if self.stream.conflicts_with(segment) {
            self.counts.implausible += 1;
            return false;
        }
        if let Some(before) = self.activity.events.syn {
            // Of a SYN with data, the data counts.
            let count = u64::from(segment.len == 0);
            if packet.is_copied_syn(before) {
                self.counts.syn_copies += count;
                return true;
            }
            self.counts.retransmitted.syns += count;
        }
        self.activity.events.syn = Some(packet);
        true
    }

    /// Returns whether a SYN begins at another sequence number than this stream.
    pub(crate) fn conflicts_with(&self, syn: &Segment) -> bool {
        self.stream.conflicts_with(syn)
    }

    /// Returns whether a SYN with this sequence number has passed.
    pub(crate) fn has_sent_syn(&self, syn: &Segment) -> bool {
        self.activity.events.syn.is_some() && !self.stream.conflicts_with(syn)
    }

    /// Records the smaller MSS of both ends, and whether both use timestamps.
    pub(crate) fn record_mss(&mut self, mss: u16, timestamps: bool) {
        self.sizes.record_mss(mss, timestamps);
    }

    /// Records a round trip between the capture point and the sender.
    pub(crate) fn record_rtt_to_sender(&mut self, rtt: Duration) {
        self.path.round_trips.to_sender.record(rtt);
    }

    /// Records a round trip between the capture point and the receiver.
    pub(crate) fn record_rtt_to_receiver(&mut self, rtt: Duration) {
        self.path.round_trips.to_receiver.record(rtt);
    }

    /// Exchanges minimum round trips with the opposite direction, whose sender is this one's receiver.
    pub(crate) fn share_round_trips(&mut self, opposite: &mut Self) {
        self.path.round_trips.share(&mut opposite.path.round_trips);
    }
}
