//! Acknowledgements: which data arrived, in which order, and how long that took.

use std::ops::Range;

use unruffled_units::Instant;

use super::FlowDirection;
use super::counts::SpuriousReason;
use super::dispersion::DeliveredPacket;
use super::position::{first_position, position_of};
use super::round_trips::RTT_MARGIN;
use super::scoreboard::{Delivered, Fingerprint};
use crate::packet::{Packet, Segment};
use crate::reordering::{Arrival, SendIndex};

/// State of selective acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SackState {
    /// Whether any SACK block was seen.
    pub(super) seen: bool,
    /// Blocks of the last acknowledgement that carried any.
    known: [(u64, u64); 4],
}

impl FlowDirection {
    /// Records a segment of the opposite direction, which acknowledges data of this one.
    ///
    /// `scale` is the window scale, if it is known. The scoreboard holds at most `limit` segments.
    pub(crate) fn acknowledge(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        scale: Option<u8>,
        limit: usize,
    ) {
        let now = packet.at;
        let Some(ack) = segment.ack else { return };
        if segment.rst {
            return;
        }
        self.stream.begin(first_position(ack));
        let ack = position_of(ack, self.stream.next);
        if self.stream.is_implausible(ack) {
            self.counts.implausible += 1;
            return;
        }
        if self.is_copied_ack(packet, segment) {
            return;
        }
        self.advance_time(now);
        self.counts.acks.all += 1;
        self.counts.acks.cut += u64::from(segment.cut);
        self.copies.newest_data_is_unanswered = false;
        self.activity.events.last_ack = Some(now);
        self.acknowledge_probe(ack);
        if ack >= self.stream.una {
            self.record_window(ack, segment, scale);
        }
        let lacks_data = ack > self.stream.next;
        if lacks_data {
            // The acknowledged data is missing from the capture, or follows later in it.
            self.append_hole(ack, Fingerprint::unknown(now));
        }
        let before = self.stream.una;
        let advances = ack > before;
        let echo = segment.timestamps.map(|(_, echo)| echo).filter(|&echo| echo != 0);
        let mut newest = None;
        let mut delivered: u64 = 0;
        if advances {
            self.stream.una = ack;
            self.activity.events.last_advance = Some(now);
            self.charts.acked.record(now, (ack - before) as f64);
            self.draw(ack, |drawing, at| drawing.acknowledged(now, at));
            let acknowledged = self.scoreboard.acknowledge(ack);
            self.join_ranges(acknowledged.clone());
            for at in acknowledged {
                if self.deliver(at, now, echo, before) {
                    newest = Some(at);
                    delivered += 1;
                }
            }
            self.record_advance(segment, now, delivered);
        } else if segment.len == 0 && !segment.syn && !segment.fin && self.stream.flight() > 0 {
            self.counts.acks.duplicate += 1;
        }
        if advances && newest.is_none() {
            self.measure_partial(ack, now);
        }
        newest = self.record_sack(segment, ack, now).max(newest);
        self.loss_attribution.record_ack(segment, advances);
        if let Some(at) = newest {
            // A receiver that delays acknowledgements of in-order data waits for a second segment.
            let at_once =
                self.counts.acks_are_immediate() || delivered != 1 || segment.sack_count > 0;
            self.measure(at, now, at_once);
        }
        let outstanding = self.stream.next - self.stream.una;
        self.retransmissions.recoveries.acknowledge(now, self.stream.una, outstanding);
        if lacks_data {
            // If the capture holds the acknowledgements but not the data, nothing else trims the
            // scoreboard.
            self.trim(now, limit);
        }
        self.update_state();
    }

    /// Records how many segments an acknowledgement covers, `delivered`, and how far apart they
    /// arrived.
    fn record_advance(&mut self, segment: &Segment, now: Instant, delivered: u64) {
        if segment.sack_count == 0 && self.at_receiver.arrivals.is_in_order() {
            self.counts.acks.of_one += u64::from(delivered == 1);
            self.counts.acks.of_more += u64::from(delivered > 1);
        }
        let last = self.at_receiver.last.replace(now);
        if let (Some(last), 1..) = (last, delivered) {
            self.at_receiver.spacing.record(now.since(last) / delivered);
        }
    }

    /// Records the blocks of a selective acknowledgement; returns the last entry that they are the
    /// first to cover.
    fn record_sack(&mut self, segment: &Segment, ack: u64, now: Instant) -> Option<usize> {
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        if count == 0 {
            return None;
        }
        self.sack.seen = true;
        let mut blocks = [(0, 0); 4];
        for (block, &(left, right)) in blocks.iter_mut().zip(&segment.sack[..count]) {
            *block = (position_of(left, ack), position_of(right, ack));
        }
        let mut rest = &mut blocks[..count];
        // RFC 2883, section 4: a DSACK is a first block below the ACK, or within the second block.
        let (left, right) = rest[0];
        let within = rest.get(1).is_some_and(|&(from, to)| from <= left && right <= to);
        if left < right && (right <= ack || within) {
            self.record_dsack(left, right, now);
            rest = &mut rest[1..];
        }
        rest.sort_unstable();
        let known = std::mem::take(&mut self.sack.known);
        let mut newest = None;
        for (i, &mut (left, right)) in rest.iter_mut().enumerate() {
            if left >= right || left < ack || right > self.stream.next {
                continue;
            }
            self.sack.known[i] = (left, right);
            let (from, to) = without_known(left, right, &known);
            if from >= to {
                continue;
            }
            let mut at = self.scoreboard.find(from);
            while self.scoreboard.get(at).is_some_and(|entry| entry.end <= to) {
                self.record_range(at);
                if self.deliver(at, now, None, ack) {
                    newest = newest.max(Some(at));
                }
                at += 1;
            }
        }
        newest
    }

    /// Records that entry `at`, beyond the first gap, has arrived.
    fn record_range(&mut self, at: usize) {
        let is_new =
            self.scoreboard.get(at).is_some_and(|entry| entry.delivered == Delivered::Nothing);
        if is_new && at >= self.scoreboard.head() {
            self.ranges.arrive(self.scoreboard.delivered_neighbours(at));
        }
    }

    /// Records that the gaps between `entries` are filled, so that the ranges in them are none any more.
    fn join_ranges(&mut self, entries: Range<usize>) {
        let mut ranges = 0;
        let mut before = false;
        for at in entries {
            let is_there =
                self.scoreboard.get(at).is_some_and(|entry| entry.delivered != Delivered::Nothing);
            ranges += usize::from(is_there && !before);
            before = is_there;
        }
        self.ranges.join(ranges);
    }

    /// Records a DSACK: the octets from `left` to `right` arrived more than once (RFC 2883).
    fn record_dsack(&mut self, left: u64, right: u64, now: Instant) {
        self.counts.acks.dsacks += 1;
        let mut at = self.scoreboard.find(left);
        let mut explained = false;
        while let Some(entry) = self.scoreboard.get_mut(at) {
            if entry.start >= right {
                break;
            }
            // If less than half of a segment had arrived before, the rest of it may have been needed.
            if (entry.end.min(right) - entry.start.max(left)) * 2 < entry.len() {
                at += 1;
                continue;
            }
            let was_retransmitted = entry.transmissions > 1;
            explained |= was_retransmitted;
            if was_retransmitted && entry.delivered == Delivered::Retransmission {
                // The second copy to arrive is the original.
                entry.delivered = Delivered::Original;
                let index = entry.index;
                let sent = entry.first.at;
                let start = entry.start;
                if !entry.is_remainder {
                    self.arrive(index, now, sent, start);
                }
            }
            self.prove_spurious_by_dsack(at);
            at += 1;
        }
        if !explained {
            self.counts.acks.dsacks_unexplained += 1;
        }
    }

    /// Records that the receiver has entry `at`; returns whether it arrives in order and for the
    /// first time.
    ///
    /// `echo` is the echoed timestamp of a cumulative acknowledgement, and `una` the first octet that
    /// was not acknowledged before it.
    fn deliver(&mut self, at: usize, now: Instant, echo: Option<u32>, una: u64) -> bool {
        let min_rtt = self.path.round_trips.to_receiver.min;
        let clock_step = self.clues.clock_step;
        let full_segment = u64::from(self.full_segment());
        let Some(entry) = self.scoreboard.get_mut(at) else { return false };
        if entry.delivered != Delivered::Nothing {
            return false;
        }
        let index = entry.index;
        let sent = entry.first.at;
        let start = entry.start;
        match entry.transmissions {
            0 => {
                entry.delivered = Delivered::Original;
                self.counts.not_captured += entry.len().div_ceil(full_segment);
                return false;
            }
            1 => {
                entry.delivered = Delivered::Original;
                return !entry.is_remainder && self.arrive(index, now, sent, start);
            }
            _ if !entry.original_passed => {
                entry.delivered = Delivered::Retransmission;
                return false;
            }
            _ => {}
        }
        // The receiver echoes the timestamp of the segment that fills the lowest hole (RFC 7323,
        // section 4.3), which shows which copy arrived (Eifel detection, RFC 3522).
        let original_by_echo = match (echo, entry.last.timestamp, entry.first.timestamp) {
            (Some(echo), Some(last), Some(first)) if entry.start <= una && first != last => {
                Some((echo.wrapping_sub(last) as i32) < 0)
            }
            _ => None,
        };
        let since_last = now.since(entry.last.at) + clock_step;
        let is_early = min_rtt.is_some_and(|rtt| since_last < rtt.mul_f64(RTT_MARGIN));
        if !original_by_echo.unwrap_or(is_early) {
            entry.delivered = Delivered::Retransmission;
            return false;
        }
        entry.delivered = Delivered::Original;
        if !entry.is_remainder {
            self.arrive(index, now, sent, start);
        }
        let reason = match original_by_echo {
            Some(_) => SpuriousReason::Timestamps,
            None => SpuriousReason::Time,
        };
        self.prove_spurious(at, reason);
        false
    }

    /// Records that the receiver has the original of a segment sent at `sent`; returns whether it
    /// arrived in order.
    fn arrive(&mut self, index: SendIndex, now: Instant, sent: Instant, start: u64) -> bool {
        let arrival = self.at_receiver.arrivals.arrive(index, now, self.clues.clock_step);
        let in_order = arrival == Arrival::InOrder;
        if !in_order {
            self.loss_attribution.record_late(sent);
            self.draw(start, |drawing, at| drawing.late(sent, at));
        }
        in_order
    }

    /// Measures a round trip if `ack` lies within an entry that was sent once. This happens if
    /// segments are smaller than estimated.
    fn measure_partial(&mut self, ack: u64, now: Instant) {
        let head = self.scoreboard.get(self.scoreboard.head());
        let entry = head.filter(|entry| entry.start < ack && entry.was_sent_once());
        if let Some(sent) = entry.map(|entry| entry.first.at) {
            self.path.round_trips.to_receiver.record(now.since(sent));
        }
    }

    /// Measures a round trip if entry `at` was sent once (Karn's algorithm). `at_once` is whether the
    /// receiver acknowledged it without delay.
    fn measure(&mut self, at: usize, now: Instant, at_once: bool) {
        let full_segment = u64::from(self.full_segment());
        let Some(entry) = self.scoreboard.get_mut(at) else { return };
        if !entry.was_sent_once() {
            return;
        }
        let sent = entry.first.at;
        let rtt = now.since(sent);
        entry.rtt = Some(rtt);
        let segments = entry.flight.div_ceil(full_segment);
        let path = &mut self.path;
        let index = entry.index.overall();
        path.dispersion.record(DeliveredPacket { sent, acknowledged: now, index });
        path.round_trips.to_receiver.record(rtt);
        if let (true, Some(min_rtt)) = (at_once, path.round_trips.to_receiver.min) {
            path.cross_traffic.record(rtt, min_rtt, segments);
        }
        path.round_trips.samples.record(rtt);
        self.charts.rtt.record(now, rtt.as_millis_f64());
    }
}

/// Returns the part of a block, from `left` to `right`, that the known blocks do not cover. Receivers
/// repeat blocks, so usually nothing or one end is left.
fn without_known(left: u64, right: u64, known: &[(u64, u64)]) -> (u64, u64) {
    let mut from = left;
    let mut to = right;
    for &(known_from, known_to) in known {
        if known_from <= from && from < known_to {
            from = known_to;
        }
        if known_from < to && to <= known_to {
            to = known_from;
        }
    }
    (from, to)
}
