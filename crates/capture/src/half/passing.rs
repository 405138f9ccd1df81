//! Data that passes: new, late, or sent again.

use unruffled_units::{Duration, Instant};

use super::Half;
use super::activity::Doing;
use super::order::Order;
use crate::outstanding::{Delivered, Entry, Mark};

/// The minimum retransmission timeout in use (Linux's `TCP_RTO_MIN`, a tenth less for jitter).
const MIN_TIMEOUT: Duration = Duration::from_millis(180);

/// The timer runs for more than so many round trips; those that wait for a late packet for less.
const PATIENT: f64 = 1.2;

/// A sender that resends because of an acknowledgement does so within this time.
const PROMPT: Duration = Duration::from_millis(5);

impl Half {
    /// A stretch up to `start` is overtaken by `by` before it came here.
    pub(super) fn leave_out(&mut self, start: u64, by: Mark) {
        let pieces = (start - self.numbers.next).div_ceil(u64::from(self.full_segment()));
        self.outstanding.push(Entry::new(self.numbers.next, start, self.next_number(), by));
        self.numbers.segments += pieces;
        self.numbers.next = start;
    }

    /// New data up to `end`, in segments as the network carries them.
    pub(super) fn append(&mut self, end: u64, mark: Mark) {
        let full = u64::from(self.full_segment()).max(1);
        let pieces = (end - self.numbers.next).div_ceil(full);
        // A joined segment is at most as long as an IP packet; nothing longer is cut up.
        let size = if pieces > 1400 { end - self.numbers.next } else { full };
        self.ids.in_order(mark.id, pieces);
        self.stamps.now = mark.stamp.map(|stamp| (stamp, mark.at));
        self.stamps.first = self.stamps.first.or(self.stamps.now);
        if let Some(last) = self.here.last {
            self.here.spacing.record(mark.at.since(last) / pieces.max(1));
        }
        while self.numbers.next < end {
            let piece = size.min(end - self.numbers.next);
            let number = self.next_number();
            let entry = Entry::new(self.numbers.next, self.numbers.next + piece, number, mark);
            let flight = self.numbers.next + piece - self.numbers.una;
            self.outstanding.push(Entry { flight, transmissions: 1, original: true, ..entry });
            self.here.arrivals.arrive(number, mark.at);
            self.draw(self.numbers.next, |sketch, at| sketch.new_data(mark.at, at));
            self.counts.segments += 1;
            self.numbers.segments += 1;
            self.numbers.next += piece;
        }
    }

    /// A segment passes from `start` to `end`, all below what has passed or was left out.
    pub(super) fn below(&mut self, start: u64, end: u64, mark: Mark) {
        let mut at = self.outstanding.find(start);
        let mut position = start;
        if self.outstanding.get(at).is_none_or(|entry| entry.start > position) {
            // It was sent so long ago that nothing is known of it but whether it is acknowledged.
            self.counts.resent += 1;
            self.draw(start, |sketch, at| sketch.resent(mark.at, at));
            if start < self.numbers.una {
                self.counts.spurious.total += 1;
                self.counts.spurious.by_acknowledgement += 1;
                self.draw(start, |sketch, at| sketch.spurious(mark.at, at));
            }
            self.episodes.resent(mark.at, self.numbers.next, self.flight());
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
    pub(super) fn fill(&mut self, at: usize, mark: Mark) {
        let Some(entry) = self.outstanding.get(at) else { return };
        let (overtaken_by, acknowledged) = (entry.first, at < self.outstanding.head());
        let (number, start) = (entry.number, entry.start);
        // The capture has it late: its acknowledgement stands before it.
        let order = if acknowledged { Order::Before } else { self.order(mark, overtaken_by) };
        let original = order == Order::Before;
        if original {
            self.counts.segments += 1;
            self.counts.unseen -= self.counts.unseen.min(u64::from(acknowledged));
            self.here.arrivals.arrive(number, mark.at);
            self.draw(start, |sketch, at| sketch.late(mark.at, at));
        }
        let episode = if original { 0 } else { self.again(at, mark) };
        let Some(entry) = self.outstanding.get_mut(at) else { return };
        (entry.first, entry.last) = (mark, mark);
        entry.original = original;
        entry.transmissions = if original { 1 } else { 2 };
        entry.episode = episode;
    }

    /// Something passes that has passed before.
    pub(super) fn repeat(&mut self, at: usize, mark: Mark) {
        let Some(entry) = self.outstanding.get(at) else { return };
        let (last, first, original) = (entry.last, entry.first, entry.original);
        let (delivered, number, start) = (entry.delivered, entry.number, entry.start);
        if self.is_copy(mark, first) || self.is_copy(mark, last) {
            self.counts.duplicates += 1;
            return;
        }
        if !original && self.order(mark, last) == Order::Before {
            // The original after all: what was taken for its repair was not needed.
            self.counts.segments += 1;
            self.here.arrivals.arrive(number, mark.at);
            self.draw(start, |sketch, at| sketch.late(mark.at, at));
            if let Some(entry) = self.outstanding.get_mut(at) {
                entry.original = true;
            }
            self.prove_spurious(at, |counts| &mut counts.spurious.by_original);
            return;
        }
        let episode = self.again(at, mark);
        if let Some(entry) = self.outstanding.get_mut(at) {
            entry.last = mark;
            entry.transmissions = entry.transmissions.saturating_add(1);
            entry.episode = episode;
        }
        if delivered != Delivered::Not {
            self.prove_spurious(at, |counts| &mut counts.spurious.by_acknowledgement);
        }
    }

    /// Whether entry `at`, which is sent again, is so because the timer ran out: it has run since what
    /// comes before the entry was acknowledged (RFC 6298, section 5), and no acknowledgement, to which
    /// other retransmissions are an answer, came just before.
    fn by_timer(&self, at: usize, now: Instant) -> bool {
        let Some(entry) = self.outstanding.get(at) else { return false };
        // An answer passes here so much later than what it is an answer to.
        let answer = self.trips.behind.unwrap_or_default();
        let begun = self.moments.advanced.map_or(entry.first.at, |at| at.max(entry.first.at));
        let patient = self.round_trip().map_or(Duration::ZERO, |rtt| rtt.mul_f64(PATIENT));
        let quiet = self.moments.last_ack.is_none_or(|last| now.since(last) > answer + PROMPT);
        at == self.outstanding.head()
            && quiet
            && now.since(begun) >= answer + patient.max(MIN_TIMEOUT)
    }

    /// A retransmission of entry `at` passes; gives the number of the recovery.
    pub(super) fn again(&mut self, at: usize, mark: Mark) -> u64 {
        self.counts.resent += 1;
        if let Some(start) = self.outstanding.get(at).map(|entry| entry.start) {
            self.draw(start, |sketch, at| sketch.resent(mark.at, at));
        }
        if self.by_timer(at, mark.at) {
            let quiet = self.here.last.map_or(Duration::ZERO, |last| mark.at.since(last));
            self.counts.timeouts += 1;
            // What was taken for flow or recovery was waiting.
            let moved = match self.activity.doing {
                Doing::Recovering => &mut self.activity.times.recovering,
                Doing::WindowFull => &mut self.activity.times.window_full,
                Doing::Flowing | Doing::Idle => &mut self.activity.times.flowing,
            };
            let waited = quiet.saturating_sub(quiet.saturating_sub(*moved));
            *moved = moved.saturating_sub(waited);
            self.activity.times.stalled += waited;
        }
        self.episodes.resent(mark.at, self.numbers.next, self.flight())
    }
}
