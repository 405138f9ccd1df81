//! One direction of a TCP connection: its data, and the acknowledgements that come back for it.
//!
//! Data that passes is laid out in the order of the stream. What comes below the highest octet seen
//! is either a packet that was overtaken before it came here, or one that was sent again; marks
//! (timestamps, IP identifications) tell which, and where there are none, the time. What happens
//! beyond the place of the capture is read from the acknowledgements: SACK tells in which order
//! segments arrive, DSACK and echoed timestamps which copy did.

mod acknowledgements;
mod activity;
mod copies;
mod counts;
mod order;
mod passing;
mod probes;
mod resent;
mod sizes;
mod spurious;
mod stray;

use unruffled_units::{Duration, Instant};

use activity::Activity;
pub(crate) use copies::COPIED;
use copies::Heard;
use counts::Counts;
use order::Ids;
use probes::Probing;
use resent::Again;
pub(crate) use sizes::Sizes;

use crate::blame::Blame;
use crate::crowding::Crowding;
use crate::drawing::Sketch;
use crate::episode::Episodes;
use crate::lateness::Spans;
use crate::outstanding::{Mark, Number, Outstanding};
use crate::packet::{Packet, Segment};
use crate::reordering::Arrivals;
use crate::series::Series;
use crate::trains::Trains;

/// What is acknowledged is remembered for at least so long: a DSACK for it may come.
const KEEP: Duration = Duration::from_secs(2);

/// Positions further apart than this have nothing to do with each other: no window is larger.
const FAR: u64 = 1 << 30;

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    numbers: Numbers,
    outstanding: Outstanding,
    pub(crate) sacks: Sacks,
    ids: Ids,
    heard: Heard,
    /// A position that was refused.
    stray: Option<u64>,
    probing: Probing,
    /// Whether no acknowledgement has passed since the newest data did.
    unanswered: bool,
    again: Again,
    /// The step of the capture's clock, where it is so coarse that it matters.
    pub(crate) tick: Duration,
    pub(crate) counts: Counts,
    pub(crate) here: Spot,
    /// By its acknowledgements.
    pub(crate) at_receiver: Spot,
    pub(crate) trains: Trains,
    pub(crate) crowding: Crowding,
    pub(crate) blame: Blame,
    pub(crate) episodes: Episodes,
    pub(crate) sizes: Sizes,
    pub(crate) stamps: Stamps,
    pub(crate) trips: Trips,
    pub(crate) offer: Offer,
    pub(crate) activity: Activity,
    pub(crate) moments: Moments,
    pub(crate) shown: Shown,
}

/// How far the stream has come.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    /// The first octet known of; positions have the sequence numbers' 32 bits and more above them.
    origin: Option<u64>,
    /// Beyond the last octet known to have been sent.
    next: u64,
    /// Acknowledged up to here.
    una: u64,
    /// Segments sent so far, each counted once.
    segments: u64,
}

/// What SACK told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sacks {
    /// Whether it told anything.
    pub(crate) seen: bool,
    /// Blocks that were taken in already.
    taken: [(u64, u64); 4],
}

/// A place that segments come by: this one, or the receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot {
    pub(crate) arrivals: Arrivals,
    /// Times between segments that follow each other.
    pub(crate) spacing: Spans,
    /// When the last one came.
    last: Option<Instant>,
}

/// The timestamps of this direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    pub(crate) seen: bool,
    /// The first and the latest one in order, and when they passed.
    first: Option<(u32, Instant)>,
    now: Option<(u32, Instant)>,
}

/// Round trips.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trips {
    /// From here to the receiver and back.
    pub(crate) beyond: Trip,
    /// From here to the sender and back.
    pub(crate) behind: Trip,
    pub(crate) samples: Spans,
}

/// A part of the round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trip {
    /// The minimum.
    pub(crate) least: Option<Duration>,
    /// How many times it was measured.
    pub(crate) samples: u64,
}

impl Trip {
    fn learn(&mut self, rtt: Duration) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }
}

/// What the receiver permits, and what is made of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    now: Option<u64>,
    /// Up to where it has permitted data; none where that cannot be read.
    edge: Option<u64>,
    pub(crate) largest: u64,
    pub(crate) largest_flight: u64,
}

/// Instants of this direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    /// When a SYN last passed.
    opened: Option<Instant>,
    pub(crate) first_data: Option<Instant>,
    pub(crate) last_data: Option<Instant>,
    pub(crate) last_ack: Option<Instant>,
    /// When an acknowledgement last covered something new.
    pub(crate) advanced: Option<Instant>,
}

/// What is shown over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) rtt: Series,
    pub(crate) acked: Series,
    pub(crate) flight: Series,
    /// Only if it is to be drawn.
    pub(crate) sketch: Option<Box<Sketch>>,
}

impl Half {
    /// A direction that is to be drawn with `dots` of each kind, if any.
    pub(crate) fn drawn(dots: usize) -> Self {
        let sketch = (dots > 0).then(|| Box::new(Sketch::new(dots)));
        Self { shown: Shown { sketch, ..Shown::default() }, ..Self::default() }
    }

    /// Has `draw` draw at the octet of the stream that `position` is.
    fn draw(&mut self, position: u64, draw: impl FnOnce(&mut Sketch, u64)) {
        if let (Some(sketch), Some(origin)) = (&mut self.shown.sketch, self.numbers.origin) {
            draw(sketch, position.saturating_sub(origin));
        }
    }

    /// How many segments are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.outstanding.len()
    }

    /// What is remembered, the oldest first.
    pub(crate) fn entries(&self) -> &std::collections::VecDeque<crate::outstanding::Entry> {
        self.outstanding.entries()
    }

    /// The number of a segment that is sent now for the first time.
    fn next_number(&self) -> Number {
        Number { new: self.numbers.segments, any: self.numbers.segments + self.counts.resent }
    }

    pub(crate) fn flight(&self) -> u64 {
        self.numbers.next.saturating_sub(self.numbers.una)
    }

    /// Octets of the stream that passed or were acknowledged.
    pub(crate) fn stream(&self) -> u64 {
        self.numbers.origin.map_or(0, |origin| self.numbers.next - origin)
    }

    /// Octets that the receiver has acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.numbers.origin.map_or(0, |origin| self.numbers.una.saturating_sub(origin))
    }

    /// Octets in a full segment, as far as is known.
    pub(crate) fn full_segment(&self) -> u32 {
        self.sizes.full_segment(self.stamps.seen)
    }

    /// A segment of this direction passes, `most` segments being remembered.
    pub(crate) fn data(&mut self, packet: &Packet, segment: &Segment, most: usize) {
        let now = packet.at;
        self.counts.packets += 1;
        self.stamps.seen |= segment.timestamps.is_some();
        if segment.syn {
            self.open(now, segment);
            return;
        }
        let len = u64::from(segment.len) + u64::from(segment.fin);
        if segment.rst {
            return;
        }
        let stamp = segment.timestamps.map(|(value, _)| value);
        let mark = Mark { at: now, stamp, id: packet.id, ttl: packet.ttl };
        if len == 0 {
            self.pass_empty(segment, mark);
            return;
        }
        let origin = match self.numbers.origin {
            Some(origin) => origin,
            None => self.begin(1 << 32 | u64::from(segment.seq)),
        };
        let start = unwrap(self.numbers.next, segment.seq);
        let end = start + len;
        let far = start.abs_diff(self.numbers.next) > FAR;
        if far || end <= origin || self.is_stray(start) {
            self.counts.strange += 1;
            return;
        }
        let lone = segment.len == 1 && !segment.fin;
        if lone && start + 1 == self.numbers.next && self.flight() == 0 && !self.is_last(mark) {
            self.probe_or_keep_alive(mark);
            return;
        }
        if self.is_beyond_window(start, segment) {
            self.probe_with_data(start, end, mark);
            return;
        }
        self.settle_probes(start);
        self.pass(now);
        self.begin_to_send(now);
        self.moments.first_data.get_or_insert(now);
        self.moments.last_data = Some(now);
        self.counts.data_packets += 1;
        self.counts.payload += u64::from(segment.len);
        self.sizes.learn(segment.len);
        if start > self.numbers.next {
            self.leave_out(start, mark);
        }
        if start < self.numbers.next {
            self.below(start.max(origin), end.min(self.numbers.next), mark);
        }
        if end > self.numbers.next {
            self.append(end, mark);
        }
        self.here.last = Some(now);
        self.offer.largest_flight = self.offer.largest_flight.max(self.flight());
        self.shown.flight.record(now, self.flight() as f64);
        self.trim(now, most);
        self.settle();
    }

    /// Forgets what nothing more is told of, and the oldest beyond `most` segments.
    fn trim(&mut self, now: Instant, most: usize) {
        let keep = self.round_trip().map_or(KEEP, |rtt| KEEP.max(rtt * 4));
        let rtt = self.round_trip().or(self.trips.beyond.least).unwrap_or_default();
        let blame = &mut self.blame;
        self.outstanding.trim(now, keep, most, |entry, rest| blame.settle(entry, rest.iter(), rtt));
    }

    /// The minimum round trip between the ends, where both parts of it are known.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        Some(self.trips.beyond.least? + self.trips.behind.least?)
    }

    fn begin(&mut self, origin: u64) -> u64 {
        self.numbers.origin = Some(origin);
        (self.numbers.next, self.numbers.una) = (origin, origin);
        origin
    }

    fn open(&mut self, now: Instant, segment: &Segment) {
        match self.numbers.origin {
            None => {
                self.begin(first_of(segment));
            }
            Some(_) if self.opens_otherwise(segment) => self.counts.strange += 1,
            Some(_) => {
                let copied = self.moments.opened.is_some_and(|at| now.since(at) < COPIED);
                self.counts.syn_resent += u64::from(!copied);
            }
        }
        self.moments.opened = Some(now);
    }

    /// Whether this SYN begins at another number than is known of.
    pub(crate) fn opens_otherwise(&self, segment: &Segment) -> bool {
        self.numbers.origin.is_some_and(|origin| origin != first_of(segment))
    }

    /// A round trip between here and the sender.
    pub(crate) fn learn_behind(&mut self, rtt: Duration) {
        self.trips.behind.learn(rtt);
    }

    /// A round trip between here and the receiver.
    pub(crate) fn learn_beyond(&mut self, rtt: Duration) {
        self.trips.beyond.learn(rtt);
    }

    /// The way from here to this one's receiver and back is that to the other's sender.
    pub(crate) fn share_round_trips(&mut self, other: &mut Self) {
        let share = |one: &mut Trip, two: &mut Trip| {
            if one.least != two.least {
                let least = one.least.into_iter().chain(two.least).min();
                (one.least, two.least) = (least, least);
            }
        };
        share(&mut self.trips.beyond, &mut other.trips.behind);
        share(&mut self.trips.behind, &mut other.trips.beyond);
    }
}

/// The first position of a stream that this SYN opens.
fn first_of(segment: &Segment) -> u64 {
    (1 << 32 | u64::from(segment.seq)) + 1
}

/// The position nearest to `near` whose low 32 bits are `seq`.
fn unwrap(near: u64, seq: u32) -> u64 {
    near.saturating_add_signed(i64::from(seq.wrapping_sub(near as u32) as i32))
}
