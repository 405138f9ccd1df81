//! One direction of a TCP connection: its data, and the acknowledgements that come back for it.
//!
//! Data that passes is laid out in the order of the stream. What comes below the highest octet seen
//! is either a packet that was overtaken before it came here, or one that was sent again; marks
//! (timestamps, IP identifications) tell which, and where there are none, the time. What happens
//! beyond the place of the capture is read from the acknowledgements: SACK tells in which order
//! segments arrive, DSACK and echoed timestamps which copy did.

use unruffled_units::{Duration, Instant};

use crate::episode::Episodes;
use crate::lateness::Spans;
use crate::outstanding::{Delivered, Entry, Mark, Outstanding};
use crate::packet::{Packet, Segment};
use crate::reordering::Arrivals;
use crate::series::Series;

/// What is acknowledged is remembered for at least so long: a DSACK for it may come.
const KEEP: Duration = Duration::from_secs(2);

/// Without anything better, a hole that is filled within this time was not filled by a
/// retransmission (Wireshark's rule).
const NO_ROUND_TRIP: Duration = Duration::from_millis(3);

/// The least retransmission timeout in use (Linux's `TCP_RTO_MIN`, a tenth less for jitter).
const LEAST_TIMEOUT: Duration = Duration::from_millis(180);

/// Positions further apart than this have nothing to do with each other: no window is larger.
const FAR: u64 = 1 << 30;

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    pub(crate) payload: u64,
    /// Segments that passed for the first time.
    pub(crate) segments: u64,
    pub(crate) resent: u64,
    pub(crate) spurious: u64,
    pub(crate) by_dsack: u64,
    pub(crate) by_timestamps: u64,
    pub(crate) by_acknowledgement: u64,
    pub(crate) by_original: u64,
    pub(crate) by_time: u64,
    pub(crate) timeouts: u64,
    pub(crate) syn_resent: u64,
    pub(crate) dsacks: u64,
    pub(crate) dsacks_unexplained: u64,
    pub(crate) duplicates: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) keepalives: u64,
    /// Judged by time alone, retransmitted or late.
    pub(crate) guessed: u64,
    /// Segments acknowledged that never passed here.
    pub(crate) unseen: u64,
    /// Packets whose numbers fit nowhere.
    pub(crate) strange: u64,
    pub(crate) acks: u64,
    /// ACKs of one segment where nothing is missing, and of more.
    pub(crate) acks_of_one: u64,
    pub(crate) acks_of_more: u64,
    pub(crate) zero_windows: u64,
}

/// What a sender was doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    #[default]
    Idle,
    Recovering,
    WindowFull,
    Flowing,
}

/// How long it did each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) idle: Duration,
    pub(crate) recovering: Duration,
    pub(crate) window_full: Duration,
    pub(crate) flowing: Duration,
    /// Nothing but waiting for a timeout.
    pub(crate) stalled: Duration,
}

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// The first octet known of; positions have the sequence numbers' 32 bits and more above them.
    origin: Option<u64>,
    /// Beyond the last octet known to have been sent.
    next: u64,
    /// Acknowledged up to here.
    una: u64,
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
}

/// Whether IP identifications count up, so that they tell the order of sending.
#[derive(Clone, Copy, Debug, Default)]
struct Ids {
    last: Option<u16>,
    up: u32,
    other: u32,
}

impl Ids {
    /// A packet that nothing sent before it can follow.
    fn in_order(&mut self, id: Option<u16>, pieces: u64) {
        if let (Some(id), Some(last)) = (id, self.last) {
            match id.wrapping_sub(last) {
                1..=1000 => self.up += 1,
                _ => self.other += 1,
            }
        }
        // The pieces of a joined segment are numbered on.
        self.last = id.map(|id| id.wrapping_add(pieces.saturating_sub(1) as u16));
    }

    fn tell(&self) -> bool {
        self.up >= 8 && self.other <= self.up / 32
    }
}

/// When something was sent, relative to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Before,
    After,
}

impl Half {
    /// How many segments are remembered.
    pub(crate) fn remembered(&self) -> usize {
        self.outstanding.len()
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

    /// A stretch up to `start` is overtaken by `by` before it came here.
    fn leave_out(&mut self, start: u64, by: Mark) {
        let pieces = (start - self.next).div_ceil(u64::from(self.full_segment()));
        self.outstanding.push(Entry {
            start: self.next,
            end: start,
            number: self.number,
            first: by,
            last: by,
            transmissions: 0,
            dsacked: 0,
            proved: 0,
            original: false,
            delivered: Delivered::Not,
            episode: 0,
        });
        self.number += pieces;
        self.next = start;
    }

    /// New data up to `end`, in segments as the network carries them.
    fn append(&mut self, end: u64, mark: Mark) {
        let full = u64::from(self.full_segment()).max(1);
        let pieces = (end - self.next).div_ceil(full);
        // A joined segment is at most as long as an IP packet; nothing longer is cut up.
        let size = if pieces > 1400 { end - self.next } else { full };
        self.ids.in_order(mark.id, pieces);
        self.clock_now = mark.stamp.map(|stamp| (stamp, mark.at));
        self.clock = self.clock.or(self.clock_now);
        if let Some(last) = self.last_sent {
            self.spacing_here.record(mark.at.since(last) / pieces.max(1));
        }
        while self.next < end {
            let piece = size.min(end - self.next);
            self.outstanding.push(Entry {
                start: self.next,
                end: self.next + piece,
                number: self.number,
                first: mark,
                last: mark,
                transmissions: 1,
                dsacked: 0,
                proved: 0,
                original: true,
                delivered: Delivered::Not,
                episode: 0,
            });
            self.seen.arrive(self.number, mark.at);
            self.counts.segments += 1;
            self.number += 1;
            self.next += piece;
        }
    }

    /// A segment passes from `start` to `end`, all below what has passed or was left out.
    fn below(&mut self, start: u64, end: u64, mark: Mark) {
        let mut at = self.outstanding.find(start);
        let mut position = start;
        if self.outstanding.get(at).is_none_or(|entry| entry.start > position) {
            // It was acknowledged so long ago that nothing is known of it.
            self.counts.resent += 1;
            self.counts.spurious += 1;
            self.counts.by_acknowledgement += 1;
            self.episodes.resent(mark.at, self.next, self.flight());
        }
        while let Some(entry) = self.outstanding.get(at) {
            if entry.start >= end {
                return;
            }
            position = position.max(entry.start);
            let until = end.min(entry.end);
            if entry.transmissions == 0 {
                let size = u64::from(self.full_segment());
                at = self.outstanding.cut(at, position, until, size);
                self.fill(at, mark);
            } else {
                self.repeat(at, mark);
            }
            position = until;
            at += 1;
        }
    }

    /// Something comes to where nothing has passed yet.
    fn fill(&mut self, at: usize, mark: Mark) {
        let Some(entry) = self.outstanding.get(at) else { return };
        let (overtaken_by, acknowledged) = (entry.first, at < self.outstanding.head());
        let number = entry.number;
        // The capture has it late: its acknowledgement stands before it.
        let order = if acknowledged { Order::Before } else { self.order(mark, overtaken_by) };
        let original = order == Order::Before;
        if original {
            self.counts.segments += 1;
            self.counts.unseen -= self.counts.unseen.min(u64::from(acknowledged));
            self.seen.arrive(number, mark.at);
        }
        let episode = if original { 0 } else { self.again(at, mark) };
        let Some(entry) = self.outstanding.get_mut(at) else { return };
        (entry.first, entry.last) = (mark, mark);
        entry.original = original;
        entry.transmissions = if original { 1 } else { 2 };
        entry.episode = episode;
    }

    /// Something passes that has passed before.
    fn repeat(&mut self, at: usize, mark: Mark) {
        let Some(entry) = self.outstanding.get(at) else { return };
        let (last, first, original) = (entry.last, entry.first, entry.original);
        let (delivered, number) = (entry.delivered, entry.number);
        if self.is_copy(mark, first) || self.is_copy(mark, last) {
            self.counts.duplicates += 1;
            return;
        }
        if !original && self.order(mark, last) == Order::Before {
            // The original after all: what was taken for its repair was not needed.
            self.counts.segments += 1;
            self.seen.arrive(number, mark.at);
            if let Some(entry) = self.outstanding.get_mut(at) {
                entry.original = true;
            }
            self.prove_spurious(at, |counts| &mut counts.by_original);
            return;
        }
        let episode = self.again(at, mark);
        if let Some(entry) = self.outstanding.get_mut(at) {
            entry.last = mark;
            entry.transmissions = entry.transmissions.saturating_add(1);
            entry.episode = episode;
        }
        if delivered != Delivered::Not {
            self.prove_spurious(at, |counts| &mut counts.by_acknowledgement);
        }
    }

    /// A retransmission of entry `at` passes; gives the number of the recovery.
    fn again(&mut self, at: usize, mark: Mark) -> u64 {
        self.counts.resent += 1;
        let quiet = self.last_sent.map_or(Duration::ZERO, |last| mark.at.since(last));
        let patient = self.round_trip().map_or(LEAST_TIMEOUT, |rtt| LEAST_TIMEOUT.max(rtt));
        if at == self.outstanding.head() && quiet >= patient {
            self.counts.timeouts += 1;
            // What was taken for flow or recovery was waiting.
            let moved = match self.doing {
                Doing::Recovering => &mut self.times.recovering,
                Doing::WindowFull => &mut self.times.window_full,
                Doing::Flowing | Doing::Idle => &mut self.times.flowing,
            };
            let waited = quiet.saturating_sub(quiet.saturating_sub(*moved));
            *moved = moved.saturating_sub(waited);
            self.times.stalled += waited;
        }
        self.episodes.resent(mark.at, self.next, self.flight())
    }

    /// Whether both are one packet, which the network or the capture has doubled.
    fn is_copy(&self, mark: Mark, other: Mark) -> bool {
        match (mark.id, other.id) {
            (Some(id), Some(same)) if self.ids.tell() => id == same && mark.stamp == other.stamp,
            _ => {
                let soon = Duration::from_millis(1).as_nanos();
                let soon = self.behind.map_or(soon, |rtt| soon.min(rtt.as_nanos() / 2));
                let alike = mark.stamp == other.stamp && mark.id == other.id;
                alike && mark.at.since(other.at).as_nanos() < soon
            }
        }
    }

    /// Whether `mark` was sent before or after `other`, which passed here earlier.
    fn order(&mut self, mark: Mark, other: Mark) -> Order {
        // A clock that has ticked in between decides (RFC 7323, section 4.1).
        let ticks = match (mark.stamp, other.stamp) {
            (Some(stamp), Some(theirs)) => Some(stamp.wrapping_sub(theirs) as i32),
            _ => None,
        };
        match ticks {
            Some(ticks) if ticks < 0 => return Order::Before,
            Some(ticks) if ticks > 0 => return Order::After,
            // Nothing is sent again for what it overtook within less than a round trip.
            Some(_) if self.clock_is_fine() => return Order::Before,
            _ => {}
        }
        if let (Some(id), Some(theirs)) = (mark.id, other.id)
            && self.ids.tell()
        {
            let before = (id.wrapping_sub(theirs) as i16) < 0;
            return if before { Order::Before } else { Order::After };
        }
        self.counts.guessed += 1;
        let since = mark.at.since(other.at);
        let soon = self.behind.map_or(NO_ROUND_TRIP, |rtt| rtt.mul_f64(0.9));
        if since < soon { Order::Before } else { Order::After }
    }

    /// Whether the sender's clock ticks at least twice within a round trip to it.
    fn clock_is_fine(&self) -> bool {
        let (Some((stamp, at)), Some((latest, now)), Some(rtt)) =
            (self.clock, self.clock_now, self.behind)
        else {
            return false;
        };
        let ticks = u64::from(latest.wrapping_sub(stamp));
        ticks > 0 && (now.since(at) / ticks) * 2 < rtt
    }

    /// One retransmission of entry `at` was not needed.
    fn prove_spurious(&mut self, at: usize, reason: impl Fn(&mut Counts) -> &mut u64) {
        let Some(entry) = self.outstanding.get_mut(at) else { return };
        let before = entry.spurious();
        entry.proved = entry.proved.saturating_add(1);
        self.note_spurious(at, before, reason);
    }

    /// Counts a retransmission of entry `at` if more are spurious than `before`.
    fn note_spurious(&mut self, at: usize, before: u16, reason: impl Fn(&mut Counts) -> &mut u64) {
        let Some(entry) = self.outstanding.get(at) else { return };
        if entry.spurious() > before {
            self.counts.spurious += 1;
            *reason(&mut self.counts) += 1;
            self.episodes.spurious(entry.episode);
        }
    }

    /// A segment of the other direction passes, and says what has come of this one.
    pub(crate) fn acknowledge(&mut self, packet: &Packet, segment: &Segment, scale: Option<u8>) {
        let (now, Some(ack)) = (packet.at, segment.ack) else { return };
        if segment.rst {
            return;
        }
        if self.origin.is_none() {
            self.begin(1 << 32 | u64::from(ack));
        }
        let ack = unwrap(self.next, ack);
        if ack.abs_diff(self.next) > FAR {
            self.counts.strange += 1;
            return;
        }
        self.pass(now);
        self.counts.acks += 1;
        self.last_ack = Some(now);
        self.permit(segment, scale);
        if ack > self.next {
            // The capture lacks what this acknowledges, or has it later.
            let mark = Mark { at: now, stamp: None, id: None };
            self.leave_out(ack, mark);
        }
        let before = self.una;
        let echo = segment.timestamps.map(|(_, echo)| echo).filter(|&echo| echo != 0);
        let mut newest = None;
        if ack > before {
            self.una = ack;
            self.acked.record(now, (ack - before) as f64);
            let mut delivered: u64 = 0;
            for at in self.outstanding.acknowledge(ack) {
                if self.deliver(at, now, echo, before) {
                    newest = Some(at);
                    delivered += 1;
                }
            }
            if segment.sack_count == 0 && self.received.whole() {
                self.counts.acks_of_one += u64::from(delivered == 1);
                self.counts.acks_of_more += u64::from(delivered > 1);
            }
            let last = self.last_delivery.replace(now);
            if let (Some(last), 1..) = (last, delivered) {
                self.spacing_at_receiver.record(now.since(last) / delivered);
            }
        } else if segment.len == 0 && !segment.syn && !segment.fin && self.flight() > 0 {
            self.counts.duplicate_acks += 1;
        }
        newest = self.take_blocks(segment, ack, now).max(newest);
        if let Some(at) = newest {
            self.measure(at, now);
        }
        self.episodes.acknowledged(now, self.una, self.next - self.una);
        self.settle();
    }

    fn permit(&mut self, segment: &Segment, scale: Option<u8>) {
        // The window of a SYN is never scaled (RFC 7323, section 2.2).
        let scale = if segment.syn { Some(0) } else { scale };
        self.window = scale.map(|scale| u64::from(segment.window) << scale);
        self.largest_window = self.largest_window.max(self.window.unwrap_or(0));
        if segment.window == 0 && !segment.syn {
            self.counts.zero_windows += 1;
        }
    }

    /// The blocks of a selective acknowledgement; gives the last entry that they cover newly.
    fn take_blocks(&mut self, segment: &Segment, ack: u64, now: Instant) -> Option<usize> {
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        if count == 0 {
            return None;
        }
        self.sack_seen = true;
        let mut blocks = [(0, 0); 4];
        for (block, &(left, right)) in blocks.iter_mut().zip(&segment.sack[..count]) {
            *block = (unwrap(ack, left), unwrap(ack, right));
        }
        let mut rest = &mut blocks[..count];
        // RFC 2883, section 4: a first block below the ACK, or within the second block.
        let (left, right) = rest[0];
        let within = rest.get(1).is_some_and(|&(from, to)| from <= left && right <= to);
        if left < right && (right <= ack || within) {
            self.take_dsack(left, right, now);
            rest = &mut rest[1..];
        }
        rest.sort_unstable();
        let known = std::mem::take(&mut self.sacked);
        let mut newest = None;
        for (i, &mut (left, right)) in rest.iter_mut().enumerate() {
            if left >= right || left < ack || right > self.next {
                continue;
            }
            self.sacked[i] = (left, right);
            // Blocks are told again and again; only what is new is looked at.
            let (mut from, mut to) = (left, right);
            for &(earlier, until) in &known {
                if earlier <= from && from < until {
                    from = until;
                }
                if earlier < to && to <= until {
                    to = earlier;
                }
            }
            if from >= to {
                continue;
            }
            let mut at = self.outstanding.find(from);
            while self.outstanding.get(at).is_some_and(|entry| entry.end <= to) {
                if self.deliver(at, now, None, ack) {
                    newest = newest.max(Some(at));
                }
                at += 1;
            }
        }
        newest
    }

    /// What lies from `left` to `right` has come twice (RFC 2883).
    fn take_dsack(&mut self, left: u64, right: u64, now: Instant) {
        self.counts.dsacks += 1;
        let mut at = self.outstanding.find(left);
        let mut explained = false;
        while let Some(entry) = self.outstanding.get_mut(at) {
            if entry.start >= right {
                break;
            }
            explained |= entry.transmissions > 1;
            if entry.transmissions > 1 && entry.delivered == Delivered::Again {
                // Its original is the second to come.
                entry.delivered = Delivered::Original;
                let number = entry.number;
                self.received.arrive(number, now);
            }
            if let Some(entry) = self.outstanding.get_mut(at) {
                let before = entry.spurious();
                entry.dsacked = entry.dsacked.saturating_add(1);
                self.note_spurious(at, before, |counts| &mut counts.by_dsack);
            }
            at += 1;
        }
        if !explained {
            self.counts.dsacks_unexplained += 1;
        }
    }

    /// The receiver tells that it has entry `at`; says whether that is new and in order.
    fn deliver(&mut self, at: usize, now: Instant, echo: Option<u32>, una: u64) -> bool {
        let beyond = self.beyond;
        let Some(entry) = self.outstanding.get_mut(at) else { return false };
        if entry.delivered != Delivered::Not {
            return false;
        }
        let number = entry.number;
        match entry.transmissions {
            0 => {
                entry.delivered = Delivered::Original;
                let size = u64::from(self.full_segment());
                let Some(entry) = self.outstanding.get(at) else { return false };
                self.counts.unseen += (entry.end - entry.start).div_ceil(size);
                return false;
            }
            1 => {
                entry.delivered = Delivered::Original;
                let late = self.received.counts().1;
                self.received.arrive(number, now);
                return self.received.counts().1 == late;
            }
            _ if !entry.original => {
                entry.delivered = Delivered::Again;
                return false;
            }
            _ => {}
        }
        // What fills the lowest hole is echoed (RFC 7323, section 4.3): Eifel (RFC 3522).
        let told = match (echo, entry.last.stamp, entry.first.stamp) {
            (Some(echo), Some(last), Some(first)) if entry.start <= una && first != last => {
                Some((echo.wrapping_sub(last) as i32) < 0)
            }
            _ => None,
        };
        let sooner = beyond.is_some_and(|rtt| now.since(entry.last.at) < rtt.mul_f64(0.9));
        let original = told.unwrap_or(sooner);
        if original {
            entry.delivered = Delivered::Original;
            self.received.arrive(number, now);
            if told.is_some() {
                self.prove_spurious(at, |counts| &mut counts.by_timestamps);
            } else {
                self.prove_spurious(at, |counts| &mut counts.by_time);
            }
        } else {
            entry.delivered = Delivered::Again;
        }
        false
    }

    /// A round trip from here, if entry `at` was sent but once (Karn).
    fn measure(&mut self, at: usize, now: Instant) {
        let Some(entry) = self.outstanding.get(at) else { return };
        if entry.transmissions == 1 && entry.original {
            let rtt = now.since(entry.first.at);
            self.beyond = Some(self.beyond.map_or(rtt, |least| least.min(rtt)));
            self.round_trips.record(rtt);
            self.rtt.record(now, rtt.as_millis_f64());
        }
    }

    /// Time passes in what the sender was doing.
    fn pass(&mut self, now: Instant) {
        let Some(before) = self.event.replace(now) else { return };
        let passed = now.since(before);
        let bucket = match self.doing {
            Doing::Idle => &mut self.resting,
            Doing::Recovering => &mut self.times.recovering,
            Doing::WindowFull => &mut self.times.window_full,
            Doing::Flowing => &mut self.times.flowing,
        };
        *bucket += passed;
    }

    /// What the sender does from here on.
    fn settle(&mut self) {
        let flight = self.flight();
        let full = u64::from(self.full_segment());
        self.doing = if flight == 0 {
            Doing::Idle
        } else if self.episodes.going_on() {
            Doing::Recovering
        } else if self.window.is_some_and(|window| flight + full > window) {
            Doing::WindowFull
        } else {
            Doing::Flowing
        };
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
