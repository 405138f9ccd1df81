//! One direction of a TCP connection: its data, and the acknowledgements that come back for it.
//!
//! Data that passes is laid out in the order of the stream. What comes below the highest octet seen
//! is either a packet that was overtaken before it came here, or one that was sent again; marks
//! (timestamps, IP identifications) tell which, and where there are none, the time. What happens
//! beyond the place of the capture is read from the acknowledgements: SACK tells in which order
//! segments arrive, DSACK and echoed timestamps which copy did.

mod acknowledgements;
mod activity;
mod counts;
mod order;
mod passing;
mod spurious;

use unruffled_units::{Duration, Instant};

use activity::{Doing, Times};
use counts::Counts;
use order::Ids;

use crate::drawing::Sketch;
use crate::episode::Episodes;
use crate::lateness::Spans;
use crate::outstanding::{Mark, Number, Outstanding};
use crate::packet::{Packet, Segment};
use crate::reordering::Arrivals;
use crate::series::Series;

/// What is acknowledged is remembered for at least so long: a DSACK for it may come.
const KEEP: Duration = Duration::from_secs(2);

/// Positions further apart than this have nothing to do with each other: no window is larger.
const FAR: u64 = 1 << 30;

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// The first octet known of; positions have the sequence numbers' 32 bits and more above them.
    origin: Option<u64>,
    /// Beyond the last octet known to have been sent.
    next: u64,
    /// Acknowledged up to here.
    una: u64,
    /// Segments sent so far, each counted once.
    number: u64,
    outstanding: Outstanding,
    /// SACK blocks that were taken in already.
    sacked: [(u64, u64); 4],
    ids: Ids,
    pub(crate) counts: Counts,
    /// Arrivals here.
    pub(crate) seen: Arrivals,
    /// Arrivals at the receiver, by its acknowledgements.
    pub(crate) received: Arrivals,
    pub(crate) episodes: Episodes,
    /// Octets in a full segment, from the peer's MSS.
    segment: Option<u32>,
    mss: Option<u32>,
    /// The first and the latest timestamp in order, and when they passed.
    clock: Option<(u32, Instant)>,
    clock_now: Option<(u32, Instant)>,
    pub(crate) largest: u32,
    pub(crate) stamped: bool,
    /// The least time from here to the receiver and back.
    pub(crate) beyond: Option<Duration>,
    /// The least time from here to the sender and back.
    pub(crate) behind: Option<Duration>,
    pub(crate) round_trips: Spans,
    /// Times between segments that follow each other, here and at the receiver.
    pub(crate) spacing_here: Spans,
    pub(crate) spacing_at_receiver: Spans,
    last_delivery: Option<Instant>,
    pub(crate) rtt: Series,
    pub(crate) acked: Series,
    pub(crate) flight: Series,
    /// What the receiver permits, and the most that it did.
    window: Option<u64>,
    pub(crate) largest_window: u64,
    pub(crate) largest_flight: u64,
    doing: Doing,
    event: Option<Instant>,
    /// Nothing outstanding, and nothing new either so far: it may be the end.
    resting: Duration,
    pub(crate) times: Times,
    pub(crate) first_data: Option<Instant>,
    pub(crate) last_data: Option<Instant>,
    last_sent: Option<Instant>,
    pub(crate) last_ack: Option<Instant>,
    pub(crate) sack_seen: bool,
    /// Only if it is to be drawn.
    pub(crate) sketch: Option<Box<Sketch>>,
}

impl Half {
    /// A direction that is to be drawn with `dots` of each kind, if any.
    pub(crate) fn drawn(dots: usize) -> Self {
        let sketch = (dots > 0).then(|| Box::new(Sketch::new(dots)));
        Self { sketch, ..Self::default() }
    }

    /// Has `draw` draw at the octet of the stream that `position` is.
    fn draw(&mut self, position: u64, draw: impl FnOnce(&mut Sketch, u64)) {
        if let (Some(sketch), Some(origin)) = (&mut self.sketch, self.origin) {
            draw(sketch, position.saturating_sub(origin));
        }
    }

    /// How many segments are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.outstanding.len()
    }

    /// The number of a segment that is sent now for the first time.
    fn next_number(&self) -> Number {
        Number { new: self.number, any: self.number + self.counts.resent }
    }

    pub(crate) fn flight(&self) -> u64 {
        self.next.saturating_sub(self.una)
    }

    /// Octets of the stream that passed or were acknowledged.
    pub(crate) fn stream(&self) -> u64 {
        self.origin.map_or(0, |origin| self.next - origin)
    }

    /// Octets that the receiver has acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.origin.map_or(0, |origin| self.una.saturating_sub(origin))
    }

    /// The peer takes segments of up to `mss` octets.
    pub(crate) fn learn_segment(&mut self, mss: u16, timestamps: bool) {
        let options = if timestamps { 12 } else { 0 };
        self.mss = Some(u32::from(mss));
        self.segment = Some(u32::from(mss).saturating_sub(options).max(1));
    }

    /// Octets in a full segment, as far as is known.
    pub(crate) fn full_segment(&self) -> u32 {
        // Without a SYN: what Ethernet carries.
        let usual = if self.stamped { 1448 } else { 1460 };
        let known = self.segment.filter(|&segment| segment >= 48);
        known.unwrap_or(if self.largest > 9000 { usual } else { self.largest.max(1) })
    }

    /// A segment of this direction passes, `most` segments being remembered.
    pub(crate) fn data(&mut self, packet: &Packet, segment: &Segment, most: usize) {
        let now = packet.at;
        self.counts.packets += 1;
        self.stamped |= segment.timestamps.is_some();
        if segment.syn {
            self.open(segment);
            return;
        }
        let len = u64::from(segment.len) + u64::from(segment.fin);
        if len == 0 || segment.rst {
            return;
        }
        let origin = match self.origin {
            Some(origin) => origin,
            None => self.begin(1 << 32 | u64::from(segment.seq)),
        };
        let start = unwrap(self.next, segment.seq);
        let end = start + len;
        if start.abs_diff(self.next) > FAR || end <= origin {
            self.counts.strange += 1;
            return;
        }
        if segment.len <= 1 && !segment.fin && start + 1 == self.next && self.flight() == 0 {
            self.counts.keepalives += 1;
            return;
        }
        self.pass(now);
        let rested = std::mem::take(&mut self.resting);
        // What came before the first data is the handshake, or nobody's business.
        self.times.idle += if self.first_data.is_some() { rested } else { Duration::ZERO };
        self.first_data.get_or_insert(now);
        self.last_data = Some(now);
        self.counts.data_packets += 1;
        self.counts.payload += u64::from(segment.len);
        self.largest = self.largest.max(segment.len);
        // Options count within an MSS (RFC 6691), but not all senders heed that.
        if let (Some(full), Some(mss)) = (self.segment, self.mss)
            && (full..=mss).contains(&segment.len)
        {
            self.segment = Some(segment.len);
        }
        let stamp = segment.timestamps.map(|(value, _)| value);
        let mark = Mark { at: now, stamp, id: packet.id };
        if start > self.next {
            self.leave_out(start, mark);
        }
        if start < self.next {
            self.below(start.max(origin), end.min(self.next), mark);
        }
        if end > self.next {
            self.append(end, mark);
        }
        self.last_sent = Some(now);
        self.largest_flight = self.largest_flight.max(self.flight());
        self.flight.record(now, self.flight() as f64);
        let keep = self.round_trip().map_or(KEEP, |rtt| KEEP.max(rtt * 4));
        self.outstanding.trim(now, keep, most);
        self.settle();
    }

    /// The least round trip between the ends, where both parts of it are known.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        Some(self.beyond? + self.behind?)
    }

    fn begin(&mut self, origin: u64) -> u64 {
        self.origin = Some(origin);
        (self.next, self.una) = (origin, origin);
        origin
    }

    fn open(&mut self, segment: &Segment) {
        let first = (1 << 32 | u64::from(segment.seq)) + 1;
        match self.origin {
            None => {
                self.begin(first);
            }
            Some(origin) if origin == first => self.counts.syn_resent += 1,
            Some(_) => self.counts.strange += 1,
        }
    }

    /// A least round trip between here and the sender.
    pub(crate) fn learn_behind(&mut self, rtt: Duration) {
        self.behind = Some(self.behind.map_or(rtt, |least| least.min(rtt)));
    }

    /// A least round trip between here and the receiver.
    pub(crate) fn learn_beyond(&mut self, rtt: Duration) {
        self.beyond = Some(self.beyond.map_or(rtt, |least| least.min(rtt)));
    }
}

/// The position nearest to `near` whose low 32 bits are `seq`.
fn unwrap(near: u64, seq: u32) -> u64 {
    near.saturating_add_signed(i64::from(seq.wrapping_sub(near as u32) as i32))
}
