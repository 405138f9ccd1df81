//! Data that passes: new, late, retransmitted or copied.

use std::ops::Range;

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::counts::SpuriousReason;
use super::scoreboard::{Entry, Fingerprint};
use super::send_order::SendOrder;
use crate::reordering::SendIndex;

/// Shortest retransmission timeout in use: Linux's `TCP_RTO_MIN`, less a tenth for jitter.
const MIN_RTO: Duration = Duration::from_millis(180);

/// Smallest ratio of a retransmission timeout to the round trip. Senders that wait for late packets
/// wait for less.
const MIN_RTO_RTTS: f64 = 1.2;

/// Time within which a sender reacts to an acknowledgement.
const ACK_REACTION_TIME: Duration = Duration::from_millis(5);

/// Maximum number of segments in one IP packet. A packet with more is not split into segments.
const MAX_JOINED_SEGMENTS: u64 = 1400;

impl FlowDirection {
    /// Appends a hole up to `start`, which `overtaking` overtook before the capture point.
    pub(super) fn append_hole(&mut self, start: u64, overtaking: Fingerprint) {
        let pieces = (start - self.stream.next).div_ceil(u64::from(self.full_segment()));
        let index = self.next_index();
        self.scoreboard.push(Entry::hole(self.stream.next, start, index, overtaking));
        self.stream.segments += pieces;
        self.stream.next = start;
    }

    /// Appends new data up to `end`, in segments as the network carries them.
    pub(super) fn append(&mut self, end: u64, packet: Fingerprint) {
        let now = packet.at;
        let full_segment = u64::from(self.full_segment()).max(1);
        let pieces = (end - self.stream.next).div_ceil(full_segment);
        let splittable = pieces <= MAX_JOINED_SEGMENTS;
        let size = if splittable { full_segment } else { end - self.stream.next };
        self.clues.ip_ids.record(packet, pieces);
        self.clues.timestamps.record(packet);
        self.copies.newest_data_is_unanswered = true;
        if let Some(last) = self.here.last {
            self.here.spacing.record(now.since(last) / pieces.max(1));
        }
        let first = self.stream.next;
        while self.stream.next < end {
            let start = self.stream.next;
            let piece_end = start + size.min(end - start);
            let index = self.next_index();
            let piece = packet.of_piece((start - first) / size);
            let flight = piece_end - self.stream.una;
            self.scoreboard.push(Entry::sent(start, piece_end, index, piece, flight));
            self.here.arrivals.arrive(index, now, self.clues.clock_step);
            self.draw(start, |drawing, at| drawing.new_data(now, at));
            self.counts.segments += 1;
            self.stream.segments += 1;
            self.stream.next = piece_end;
        }
    }

    /// Returns the index of the next new segment in the order of sending.
    pub(super) fn next_index(&self) -> SendIndex {
        let original = self.stream.segments;
        SendIndex::new(original, original + self.counts.retransmitted.segments)
    }

    /// Records a packet from `start` to `end`, all of it below the highest position.
    ///
    /// The packet as a whole is either a copy, a late original, or a retransmission.
    pub(super) fn record_below(&mut self, start: u64, end: u64, packet: Fingerprint) {
        let entries = self.scoreboard.range(start, end, u64::from(self.full_segment()));
        if self.is_copy_of_all(entries.clone(), packet) {
            self.counts.duplicates += u64::from(self.sizes.weight(end - start));
            let first = entries.start;
            for at in entries {
                if let Some(entry) = self.scoreboard.get_mut(at) {
                    entry.pass_copy(packet, at - first);
                }
            }
        } else if self.is_late_original(entries.clone(), packet) {
            entries.for_each(|at| self.record_late_original(at, packet));
        } else {
            self.retransmit(start, end, entries, packet);
        }
    }

    /// Returns whether a packet that holds only the last octet is a copy of the newest segment.
    pub(super) fn is_copy_of_newest(&self, packet: Fingerprint) -> bool {
        let newest = self.scoreboard.newest().and_then(|at| self.scoreboard.get(at));
        newest.is_some_and(|entry| entry.len() == 1 && self.is_copy(packet, entry, 0, true))
    }

    /// Returns whether a packet is a copy of all `entries`, of which there is at least one.
    fn is_copy_of_all(&self, entries: Range<usize>, packet: Fingerprint) -> bool {
        let first = entries.start;
        let newest = self.scoreboard.newest();
        let is_copy = |at: usize| {
            let passed = self.scoreboard.get(at).filter(|entry| !entry.is_hole());
            passed.is_some_and(|entry| self.is_copy(packet, entry, at - first, Some(at) == newest))
        };
        !entries.is_empty() && entries.clone().all(is_copy)
    }

    /// Returns whether a packet that covers `entries` was sent before what has passed of them, or before
    /// what has overtaken them.
    fn is_late_original(&mut self, mut entries: Range<usize>, packet: Fingerprint) -> bool {
        let scoreboard = &self.scoreboard;
        let has_passed = |at| scoreboard.get(at).is_none_or(|entry| entry.original_passed);
        if entries.is_empty() || entries.clone().any(has_passed) {
            return false;
        }
        let is_hole = |at: &usize| scoreboard.get(*at).is_some_and(Entry::is_hole);
        let at = entries.clone().find(is_hole).unwrap_or(entries.start);
        // The capture has the packet out of order: its acknowledgement is before it.
        if is_hole(&at) && entries.all(|at| at < scoreboard.head()) {
            return true;
        }
        let Some(entry) = scoreboard.get(at) else { return false };
        // The last transmission of a hole is what overtook it; otherwise it is what was taken for a
        // retransmission.
        let last = entry.last;
        let followers = self.stream.segments.saturating_sub(entry.index.original() + 1);
        self.send_order(packet, last, followers) == SendOrder::Before
    }

    /// Records the original of entry `at`, which passes late.
    fn record_late_original(&mut self, at: usize, packet: Fingerprint) {
        let now = packet.at;
        let acknowledged = at < self.scoreboard.head();
        let Some(entry) = self.scoreboard.get_mut(at) else { return };
        let index = entry.index;
        let start = entry.start;
        let was_hole = entry.is_hole();
        entry.pass_late(packet);
        entry.is_outdated = self.recent_timestamp.last_is_outdated();
        self.counts.segments += 1;
        if was_hole && acknowledged {
            self.counts.not_captured = self.counts.not_captured.saturating_sub(1);
        }
        self.here.arrivals.arrive(index, now, self.clues.clock_step);
        self.draw(start, |drawing, at| drawing.late(now, at));
        if !was_hole {
            // What passed before was a retransmission, and it was spurious.
            self.prove_spurious(at, SpuriousReason::Original);
        }
    }

    /// Returns whether the retransmission of the first unacknowledged entry is due to the timer.
    ///
    /// The timer has run since the data before the entry was acknowledged (RFC 6298, section 5). Other
    /// retransmissions react to an acknowledgement, so one passes just before them.
    fn is_timeout(&self, now: Instant) -> bool {
        let Some(entry) = self.scoreboard.get(self.scoreboard.head()) else { return false };
        // A reaction passes the capture point this much later than the acknowledgement that causes
        // it. If that is not known, and the original was lost before the capture point, the sender may
        // be far away.
        let reaction_time = match self.path.round_trips.to_sender.min {
            None if entry.is_hole() => return false,
            to_sender => to_sender.unwrap_or_default(),
        };
        let events = &self.activity.events;
        let sent = entry.first.at;
        let timer_start = events.last_advance.map_or(sent, |at| at.max(sent));
        let min_rtt = self.path.round_trips.min_rtt().unwrap_or_default();
        let min_rto = min_rtt.mul_f64(MIN_RTO_RTTS).max(MIN_RTO);
        let no_cause =
            events.last_ack.is_none_or(|last| now.since(last) > reaction_time + ACK_REACTION_TIME);
        no_cause && now.since(timer_start) >= reaction_time + min_rto
    }

    /// Counts a timeout if the retransmission of the first unacknowledged entry is due to one.
    pub(super) fn detect_timeout(&mut self, now: Instant) {
        if !self.is_timeout(now) {
            return;
        }
        self.counts.retransmitted.timeouts += 1;
        let quiet = self.here.last.map_or(Duration::ZERO, |last| now.since(last));
        self.activity.count_timeout(quiet);
    }
}
