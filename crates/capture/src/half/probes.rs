//! A closed window, and what a sender sends to learn whether it has opened (RFC 9293, section
//! 3.8.6.1): an octet of the past or none at all, as Linux does, or one beyond the window, as BSD and
//! Windows do. None of it is data before the receiver takes it.

use unruffled_units::{Duration, Instant};

use super::Half;
use super::activity::Doing;
use super::copies::COPIED;
use crate::outstanding::Mark;
use crate::packet::Segment;

/// A sender that waited for the window sends within this time of learning that it has opened.
const PROMPT: Duration = Duration::from_millis(20);

/// The same where nothing tells how far the sender is.
const PROMPT_FAR: Duration = Duration::from_millis(500);

/// What is known of a closed window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probing {
    /// What was sent beyond the window, and may yet be taken.
    held: Option<Held>,
    /// The last probe.
    last: Option<Mark>,
    /// The time that the window has been closed with nothing outstanding, while nothing tells that
    /// there was anything to send.
    waited: Duration,
}

/// Octets beyond the window.
#[derive(Clone, Copy, Debug)]
struct Held {
    start: u64,
    end: u64,
    mark: Mark,
    /// How often they were sent.
    times: u32,
}

impl Half {
    /// Whether the receiver takes nothing at all.
    pub(super) fn is_closed(&self) -> bool {
        self.offer.now == Some(0)
    }

    /// Time passes with a closed window and nothing outstanding.
    pub(super) fn wait_for_window(&mut self, passed: Duration) {
        self.probing.waited += passed;
    }

    /// The sender shows that it has something to send: it has been waiting for the window.
    fn count_as_closed(&mut self) {
        let waited = std::mem::take(&mut self.probing.waited);
        self.activity.times.window_full += waited;
        self.activity.times.closed += waited;
    }

    /// New data passes, or old: what the sender did before was waiting for the application, or for the
    /// window where it sends as soon as that has opened.
    pub(super) fn begin_to_send(&mut self, now: Instant) {
        let rested = std::mem::take(&mut self.activity.resting);
        if self.probing.waited > Duration::ZERO {
            let answer = self.trips.behind.least.map_or(PROMPT_FAR, |rtt| rtt * 2 + PROMPT);
            let opened = self.moments.last_ack.unwrap_or(now);
            if rested <= answer + self.tick || now.since(opened) <= answer + self.tick {
                self.count_as_closed();
            }
        }
        let waited = std::mem::take(&mut self.probing.waited);
        // What came before the first data is the handshake, or nobody's business.
        if self.moments.first_data.is_some() {
            self.activity.times.idle += rested + waited;
        }
    }

    /// A packet without data passes: a probe or a keep-alive, if it is no acknowledgement alone.
    pub(super) fn pass_empty(&mut self, segment: &Segment, mark: Mark) {
        let next = self.numbers.next as u32;
        let before = segment.seq.wrapping_add(1) == next;
        // Linux points to what is urgent from the first octet that is not acknowledged.
        let urgent = segment.urgent && segment.seq == next && self.is_closed();
        if self.numbers.origin.is_some() && self.flight() == 0 && (before || urgent) {
            self.probe_or_keep_alive(mark);
        }
    }

    /// A packet passes that holds nothing new, and calls for an acknowledgement.
    pub(super) fn probe_or_keep_alive(&mut self, mark: Mark) {
        if self.is_closed() {
            self.probe(mark);
        } else if !self.is_probe_again(mark) {
            self.counts.keepalives += 1;
            self.probing.last = Some(mark);
        }
    }

    /// Whether the last probe passes once more, at another place.
    fn is_probe_again(&self, mark: Mark) -> bool {
        let known = self.ids.is_own(mark);
        // Where neither that nor the clock tells, it matters whether the capture has all twice.
        let told = known || self.tick < COPIED || self.counts.duplicates > self.counts.segments / 2;
        self.probing.last.is_some_and(|last| {
            let alike = mark.id == last.id && mark.stamp == last.stamp;
            alike && told && mark.at.since(last.at) < COPIED + self.tick
        })
    }

    fn probe(&mut self, mark: Mark) {
        if self.is_probe_again(mark) {
            return;
        }
        self.probing.last = Some(mark);
        self.counts.probes += 1;
        self.pass(mark.at);
        self.count_as_closed();
        self.settle();
    }

    /// Whether a segment from `start` on lies wholly beyond a closed window, so that it may be there to
    /// be refused.
    pub(super) fn is_beyond_window(&self, start: u64, segment: &Segment) -> bool {
        if !self.is_closed() || segment.len == 0 {
            return false;
        }
        if start == self.numbers.next {
            // One octet, or else more than was ever permitted: what was may be on its way still.
            return segment.len == 1 || self.offer.edge.is_some_and(|edge| edge <= start);
        }
        // A receiver that has taken back what it offered: an octet of what it dropped.
        let longer = |entry: &crate::outstanding::Entry| entry.end - entry.start > 1;
        let first = self.outstanding.get(self.outstanding.find(start));
        segment.len == 1 && start == self.numbers.una && first.is_some_and(longer)
    }

    /// A segment beyond the window passes, from `start` to `end`.
    pub(super) fn probe_with_data(&mut self, start: u64, end: u64, mark: Mark) {
        let again = self.is_probe_again(mark);
        self.probe(mark);
        if start == self.numbers.next && !again {
            let held = self.probing.held.filter(|held| held.start == start && held.end == end);
            let times = held.map_or(0, |held| held.times) + 1;
            self.probing.held = Some(Held { start, end, mark, times });
        }
    }

    /// Data from `start` on passes. Where it goes on behind what was held for a probe and the window seems
    /// closed, that was data, and the capture lacks the larger window.
    pub(super) fn settle_probes(&mut self, start: u64) {
        let Some(held) = self.probing.held.take() else { return };
        if held.start == self.numbers.next && start >= held.end && self.is_closed() {
            self.counts.probes -= self.counts.probes.min(u64::from(held.times));
            self.take_probe(held, held.end);
        }
    }

    /// The receiver acknowledges all before `ack`: it may have taken what a probe held.
    pub(super) fn accept_probe(&mut self, ack: u64) {
        let Some(held) = self.probing.held.filter(|held| ack > held.start) else { return };
        self.probing.held = None;
        if held.start == self.numbers.next {
            self.take_probe(held, held.end.min(ack));
        }
    }

    /// What was held for a probe is data up to `end`.
    fn take_probe(&mut self, held: Held, end: u64) {
        self.begin_to_send(held.mark.at);
        self.moments.first_data.get_or_insert(held.mark.at);
        self.append(end, held.mark);
        // Nobody knows which of several was taken, so that its acknowledgement is no round trip.
        if held.times > 1
            && let Some(last) = self.outstanding.len().checked_sub(1)
            && let Some(entry) = self.outstanding.get_mut(last)
        {
            entry.rest = true;
        }
    }

    /// The window as an acknowledgement of all before `ack` offers it.
    pub(super) fn offer(&mut self, ack: u64, window: Option<u64>) {
        self.offer.now = window;
        self.offer.largest = self.offer.largest.max(window.unwrap_or(0));
        self.offer.edge = window.map(|window| (ack + window).max(self.offer.edge.unwrap_or(0)));
    }

    /// What the sender does with nothing outstanding.
    pub(super) fn resting(&self) -> Doing {
        if self.is_closed() { Doing::Closed } else { Doing::Idle }
    }
}
