//! Acknowledgements that come back: what they cover, in which order it came, and how long it took.

use unruffled_units::Instant;

use super::{FAR, Half, unwrap};
use crate::outstanding::{Delivered, Mark, Number};
use crate::packet::{Packet, Segment};
use crate::trains::Arrival;

impl Half {
    /// A segment of the other direction passes, and says what has come of this one, of which `most`
    /// segments are remembered.
    pub(crate) fn acknowledge(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        scale: Option<u8>,
        most: usize,
    ) {
        let (now, Some(ack)) = (packet.at, segment.ack) else { return };
        if segment.rst {
            return;
        }
        if self.numbers.origin.is_none() {
            self.begin(1 << 32 | u64::from(ack));
        }
        let ack = unwrap(self.numbers.next, ack);
        if ack.abs_diff(self.numbers.next) > FAR || self.is_stray(ack) {
            self.counts.strange += 1;
            return;
        }
        if self.is_copied(packet, segment) {
            return;
        }
        self.pass(now);
        self.counts.acks.all += 1;
        self.unanswered = false;
        self.counts.acks.cut += u64::from(segment.cut);
        self.moments.last_ack = Some(now);
        self.accept_probe(ack);
        if ack >= self.numbers.una {
            self.permit(ack, segment, scale);
        }
        let lacks_data = ack > self.numbers.next;
        if lacks_data {
            // The capture lacks what this acknowledges, or has it later.
            let mark = Mark { at: now, stamp: None, id: None, ttl: 0 };
            self.leave_out(ack, mark);
        }
        let before = self.numbers.una;
        let echo = segment.timestamps.map(|(_, echo)| echo).filter(|&echo| echo != 0);
        let mut newest = None;
        let mut delivered: u64 = 0;
        if ack > before {
            self.numbers.una = ack;
            self.moments.advanced = Some(now);
            self.shown.acked.record(now, (ack - before) as f64);
            self.draw(ack, |sketch, at| sketch.acknowledged(now, at));
            for at in self.outstanding.acknowledge(ack) {
                if self.deliver(at, now, echo, before) {
                    newest = Some(at);
                    delivered += 1;
                }
            }
            if segment.sack_count == 0 && self.at_receiver.arrivals.whole() {
                self.counts.acks.of_one += u64::from(delivered == 1);
                self.counts.acks.of_more += u64::from(delivered > 1);
            }
            let last = self.at_receiver.last.replace(now);
            if let (Some(last), 1..) = (last, delivered) {
                self.at_receiver.spacing.record(now.since(last) / delivered);
            }
        } else if segment.len == 0 && !segment.syn && !segment.fin && self.flight() > 0 {
            self.counts.acks.duplicate += 1;
        }
        if ack > before && newest.is_none() {
            self.measure_part(ack, now);
        }
        newest = self.take_blocks(segment, ack, now).max(newest);
        self.blame.acknowledged(segment, ack > before);
        if let Some(at) = newest {
            // A receiver that delays its acknowledgement waits for a second segment, if in order.
            let ones = self.counts.acks.of_one > self.counts.acks.of_more;
            self.measure(at, now, ones || delivered != 1 || segment.sack_count > 0);
        }
        self.episodes.acknowledged(now, self.numbers.una, self.numbers.next - self.numbers.una);
        if lacks_data {
            // Where data takes another way, none comes by to make room for what is remembered.
            self.trim(now, most);
        }
        self.settle();
    }

    fn permit(&mut self, ack: u64, segment: &Segment, scale: Option<u8>) {
        // The window of a SYN is never scaled (RFC 7323, section 2.2), and one of 0 is 0 at any scale.
        let scale = if segment.syn || segment.window == 0 { Some(0) } else { scale };
        self.offer(ack, scale.map(|scale| u64::from(segment.window) << scale));
        if segment.window == 0 && !segment.syn {
            self.counts.acks.zero_windows += 1;
        }
    }

    /// The blocks of a selective acknowledgement; gives the last entry that they cover newly.
    fn take_blocks(&mut self, segment: &Segment, ack: u64, now: Instant) -> Option<usize> {
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        if count == 0 {
            return None;
        }
        self.sacks.seen = true;
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
        let known = std::mem::take(&mut self.sacks.taken);
        let mut newest = None;
        for (i, &mut (left, right)) in rest.iter_mut().enumerate() {
            if left >= right || left < ack || right > self.numbers.next {
                continue;
            }
            self.sacks.taken[i] = (left, right);
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
        self.counts.acks.dsacks += 1;
        let mut at = self.outstanding.find(left);
        let mut explained = false;
        while let Some(entry) = self.outstanding.get_mut(at) {
            if entry.start >= right {
                break;
            }
            // What is told in part may have been needed for the rest of it.
            if (entry.end.min(right) - entry.start.max(left)) * 2 < entry.end - entry.start {
                at += 1;
                continue;
            }
            explained |= entry.transmissions > 1;
            if entry.transmissions > 1 && entry.delivered == Delivered::Again {
                // Its original is the second to come.
                entry.delivered = Delivered::Original;
                let (number, sent, start) = (entry.number, entry.first.at, entry.start);
                if !entry.rest {
                    self.arrive(number, now, sent, start);
                }
            }
            if let Some(entry) = self.outstanding.get_mut(at) {
                let before = entry.spurious();
                entry.dsacked = entry.dsacked.saturating_add(1);
                self.note_spurious(at, before, |counts| &mut counts.spurious.by_dsack);
            }
            at += 1;
        }
        if !explained {
            self.counts.acks.dsacks_unexplained += 1;
        }
    }

    /// The receiver tells that it has entry `at`; says whether that is new and in order.
    fn deliver(&mut self, at: usize, now: Instant, echo: Option<u32>, una: u64) -> bool {
        let (beyond, tick) = (self.trips.beyond.least, self.tick);
        let Some(entry) = self.outstanding.get_mut(at) else { return false };
        if entry.delivered != Delivered::Not {
            return false;
        }
        let (number, sent, start) = (entry.number, entry.first.at, entry.start);
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
                return !entry.rest && self.arrive(number, now, sent, start);
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
        let took = now.since(entry.last.at) + tick;
        let sooner = beyond.is_some_and(|rtt| took < rtt.mul_f64(0.9));
        let original = told.unwrap_or(sooner);
        if original {
            entry.delivered = Delivered::Original;
            if !entry.rest {
                self.arrive(number, now, sent, start);
            }
            if told.is_some() {
                self.prove_spurious(at, |counts| &mut counts.spurious.by_timestamps);
            } else {
                self.prove_spurious(at, |counts| &mut counts.spurious.by_time);
            }
        } else {
            entry.delivered = Delivered::Again;
        }
        false
    }

    /// The receiver has the original of a segment that was sent at `sent`; says whether it is in order.
    fn arrive(&mut self, number: Number, now: Instant, sent: Instant, start: u64) -> bool {
        let late = self.at_receiver.arrivals.counts().1;
        self.at_receiver.arrivals.arrive(number, now, self.tick);
        let in_order = self.at_receiver.arrivals.counts().1 == late;
        if !in_order {
            self.blame.late(sent);
            self.draw(start, |sketch, at| sketch.late(sent, at));
        }
        in_order
    }

    /// A round trip from here, if `ack` lies within an entry that was sent but once: segments are smaller
    /// than was thought.
    fn measure_part(&mut self, ack: u64, now: Instant) {
        let entry = self.outstanding.get(self.outstanding.head()).filter(|entry| entry.start < ack);
        let once = entry.filter(|entry| entry.transmissions == 1 && entry.original);
        if let Some(sent) = once.map(|entry| entry.first.at) {
            self.learn_beyond(now.since(sent));
        }
    }

    /// A round trip from here, if entry `at` was sent but once (Karn); the receiver may have told of
    /// it `at_once`.
    fn measure(&mut self, at: usize, now: Instant, at_once: bool) {
        let Some(entry) = self.outstanding.get(at) else { return };
        if entry.transmissions == 1 && entry.original {
            let (sent, number, flight) = (entry.first.at, entry.number.any, entry.flight);
            self.trains.arrive(Arrival { sent, at: now, number });
            let rtt = now.since(sent);
            if let Some(entry) = self.outstanding.get_mut(at) {
                entry.trip = Some(rtt);
            }
            self.learn_beyond(rtt);
            if let (true, Some(least)) = (at_once, self.trips.beyond.least) {
                let segments = flight.div_ceil(u64::from(self.full_segment()));
                self.crowding.arrive(rtt, least, segments);
            }
            self.trips.samples.record(rtt);
            self.shown.rtt.record(now, rtt.as_millis_f64());
        }
    }
}
