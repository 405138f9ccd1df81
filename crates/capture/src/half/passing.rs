//! Data that passes: new, late, or sent again.

use std::ops::Range;

use unruffled_units::{Duration, Instant};

use super::Half;
use super::activity::Doing;
use super::order::Order;
use crate::outstanding::{Entry, Mark, Passings};

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
        self.ids.in_order(mark, pieces);
        self.unanswered = true;
        self.stamps.now = mark.stamp.map(|stamp| (stamp, mark.at));
        self.stamps.first = self.stamps.first.or(self.stamps.now);
        if let Some(last) = self.here.last {
            self.here.spacing.record(mark.at.since(last) / pieces.max(1));
        }
        let first = self.numbers.next;
        while self.numbers.next < end {
            let piece = size.min(end - self.numbers.next);
            let number = self.next_number();
            let mark = mark.of_piece((self.numbers.next - first) / size);
            let entry = Entry::new(self.numbers.next, self.numbers.next + piece, number, mark);
            let flight = self.numbers.next + piece - self.numbers.una;
            self.outstanding.push(Entry { flight, transmissions: 1, original: true, ..entry });
            self.here.arrivals.arrive(number, mark.at, self.tick);
            self.draw(self.numbers.next, |sketch, at| sketch.new_data(mark.at, at));
            self.counts.segments += 1;
            self.numbers.segments += 1;
            self.numbers.next += piece;
        }
    }

    /// A packet passes from `start` to `end`, all below what has passed or was left out. It is one
    /// thing as a whole: a copy of what passed, a late original, or a retransmission.
    pub(super) fn below(&mut self, start: u64, end: u64, mark: Mark) {
        let entries = self.outstanding.span(start, end, u64::from(self.full_segment()));
        if self.is_copy_of(entries.clone(), mark) {
            self.counts.duplicates += u64::from(self.weight(end - start));
            let first = entries.start;
            for at in entries {
                if let Some(entry) = self.outstanding.get_mut(at) {
                    entry.pass_again(mark, at - first);
                }
            }
        } else if self.is_original(entries.clone(), mark) {
            entries.for_each(|at| self.fill(at, mark));
        } else {
            self.again(start, end, entries, mark);
        }
    }

    /// Whether the packet of that mark, which holds the last octet alone, is a copy of the last.
    pub(super) fn is_last(&self, mark: Mark) -> bool {
        let last = self.outstanding.len().checked_sub(1);
        let one = last.and_then(|at| self.outstanding.get(at));
        one.is_some_and(|entry| entry.end - entry.start == 1 && self.is_copy(mark, entry, 0, true))
    }

    /// Whether all `entries` have passed as the packet of that mark.
    fn is_copy_of(&self, entries: Range<usize>, mark: Mark) -> bool {
        let (first, len) = (entries.start, self.outstanding.len());
        let is_copy = |at: usize| {
            let newest = at + 1 == len;
            let passed = self.outstanding.get(at).filter(|entry| entry.transmissions > 0);
            passed.is_some_and(|entry| self.is_copy(mark, entry, at - first, newest))
        };
        !entries.is_empty() && entries.clone().all(is_copy)
    }

    /// Whether the packet of that mark, which holds `entries`, was sent before what has passed of them
    /// or has overtaken them.
    fn is_original(&mut self, mut entries: Range<usize>, mark: Mark) -> bool {
        let outstanding = &self.outstanding;
        let passed = |at| outstanding.get(at).is_none_or(|entry| entry.original);
        if entries.is_empty() || entries.clone().any(passed) {
            return false;
        }
        let hole = |at: &usize| outstanding.get(*at).is_some_and(|entry| entry.transmissions == 0);
        let at = entries.clone().find(hole).unwrap_or(entries.start);
        // The capture has it late: its acknowledgement stands before it.
        if hole(&at) && entries.all(|at| at < outstanding.head()) {
            return true;
        }
        let Some(entry) = outstanding.get(at) else { return false };
        // Of a hole, what overtook it; else what was taken for its repair.
        let behind = self.numbers.segments.saturating_sub(entry.number.new + 1);
        self.order(mark, entry.last, behind) == Order::Before
    }

    /// The original of entry `at` passes, late.
    fn fill(&mut self, at: usize, mark: Mark) {
        let acknowledged = at < self.outstanding.head();
        let Some(entry) = self.outstanding.get_mut(at) else { return };
        let (number, start) = (entry.number, entry.start);
        let hole = entry.transmissions == 0;
        entry.original = true;
        if hole {
            *entry = Entry { transmissions: 1, first: mark, last: mark, ..entry.clone() };
            entry.passings = Passings::new(mark);
        }
        self.counts.segments += 1;
        self.counts.unseen -= self.counts.unseen.min(u64::from(hole && acknowledged));
        self.here.arrivals.arrive(number, mark.at, self.tick);
        self.draw(start, |sketch, at| sketch.late(mark.at, at));
        if !hole {
            // What was taken for its repair was not needed.
            self.prove_spurious(at, |counts| &mut counts.spurious.by_original);
        }
    }

    /// Whether the first entry that is not acknowledged, which is sent again, is so because the timer ran
    /// out: it has run since what comes before the entry was acknowledged (RFC 6298, section 5), and no
    /// acknowledgement, to which other retransmissions are an answer, came just before.
    fn by_timer(&self, now: Instant) -> bool {
        let Some(entry) = self.outstanding.get(self.outstanding.head()) else { return false };
        // An answer passes here so much later than what it is an answer to. Where that is not known,
        // and the original was lost before it came here, the sender may be far.
        let answer = match self.trips.behind.least {
            None if entry.transmissions == 0 => return false,
            behind => behind.unwrap_or_default(),
        };
        let begun = self.moments.advanced.map_or(entry.first.at, |at| at.max(entry.first.at));
        let patient = self.round_trip().map_or(Duration::ZERO, |rtt| rtt.mul_f64(PATIENT));
        let quiet = self.moments.last_ack.is_none_or(|last| now.since(last) > answer + PROMPT);
        quiet && now.since(begun) >= answer + patient.max(MIN_TIMEOUT)
    }

    /// The first entry that is not acknowledged is sent again.
    pub(super) fn note_timeout(&mut self, now: Instant) {
        if !self.by_timer(now) {
            return;
        }
        let quiet = self.here.last.map_or(Duration::ZERO, |last| now.since(last));
        self.counts.timeouts += 1;
        // What was taken for flow or recovery was waiting.
        let moved = match self.activity.doing {
            Doing::Recovering => &mut self.activity.times.recovering,
            Doing::WindowFull => &mut self.activity.times.window_full,
            Doing::Flowing | Doing::Idle | Doing::Closed => &mut self.activity.times.flowing,
        };
        let waited = quiet.saturating_sub(quiet.saturating_sub(*moved));
        *moved = moved.saturating_sub(waited);
        self.activity.times.stalled += waited;
    }
}
