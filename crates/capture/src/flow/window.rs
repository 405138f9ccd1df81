//! The receiver's window, and probes of a zero window (RFC 9293, section 3.8.6.1).
//!
//! Linux sends probes with an octet that is already acknowledged, or without data. BSD and Windows
//! send an octet beyond the window, which does not count as data before the receiver accepts it.

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::copies::MAX_QUEUE_DELAY;
use super::position::position_of;
use super::scoreboard::{Entry, Fingerprint};
use crate::packet::Segment;

/// Maximum time from the arrival of the acknowledgement that opens the window to the next data of a
/// sender that waits for it.
const SEND_DELAY: Duration = Duration::from_millis(20);

/// Maximum time from the passing of that acknowledgement to the next data, if the round trip from the
/// capture point to the sender is not known.
const SEND_DELAY_WITHOUT_RTT: Duration = Duration::from_millis(500);

/// The receiver's window, and the probes of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverWindow {
    /// Window that the last acknowledgement offered, in octets; `None` if its scale is not known.
    pub(super) offered: Option<u64>,
    /// Highest position up to which data was permitted; `None` if the scale is not known.
    edge: Option<u64>,
    /// Largest window offered, in octets.
    pub(super) largest: u64,
    /// Data beyond the window, which the receiver may still accept.
    pending: Option<ProbeData>,
    /// The last probe or keep-alive.
    last_probe: Option<Fingerprint>,
}

/// Data of a probe beyond the window.
#[derive(Clone, Copy, Debug)]
struct ProbeData {
    start: u64,
    end: u64,
    packet: Fingerprint,
    /// Number of times it was sent.
    transmissions: u32,
}

impl ReceiverWindow {
    /// Returns whether the receiver offers a window of zero.
    pub(super) fn is_zero(&self) -> bool {
        self.offered == Some(0)
    }

    /// Records the window of an acknowledgement of everything before `ack`.
    fn record(&mut self, ack: u64, window: Option<u64>) {
        self.offered = window;
        self.largest = self.largest.max(window.unwrap_or(0));
        self.edge = window.map(|window| (ack + window).max(self.edge.unwrap_or(0)));
    }
}

impl FlowDirection {
    /// Records the window of an acknowledgement of everything before `ack`. `scale` is the window
    /// scale, if it is known.
    pub(super) fn record_window(&mut self, ack: u64, segment: &Segment, scale: Option<u8>) {
        // The window of a SYN is not scaled (RFC 7323, section 2.2), and 0 is 0 at any scale.
        let scale = if segment.syn || segment.window == 0 { Some(0) } else { scale };
        self.window.record(ack, scale.map(|scale| u64::from(segment.window) << scale));
        if segment.window == 0 && !segment.syn {
            self.counts.acks.zero_windows += 1;
        }
    }

    /// Accounts for the time before new or old data passes.
    ///
    /// With nothing outstanding, the sender waited for the application. It waited for the window
    /// instead if that was zero and the sender sends as soon as the window opens.
    pub(super) fn end_rest(&mut self, now: Instant) {
        let rested = self.activity.take_resting();
        if self.activity.at_zero_window > Duration::ZERO {
            let to_sender = self.path.round_trips.to_sender.min;
            let delay = to_sender.map_or(SEND_DELAY_WITHOUT_RTT, |rtt| rtt * 2 + SEND_DELAY);
            let delay = delay + self.clues.clock_step;
            let opened = self.activity.events.last_ack.unwrap_or(now);
            if rested <= delay || now.since(opened) <= delay {
                self.activity.count_zero_window();
            }
        }
        let waited = std::mem::take(&mut self.activity.at_zero_window);
        self.activity.count_idle(rested + waited);
    }

    /// Records a packet without data: an acknowledgement, a probe or a keep-alive.
    ///
    /// Its number shows how much was sent before it.
    pub(super) fn record_empty(&mut self, segment: &Segment, packet: Fingerprint) {
        let start = position_of(segment.seq, self.stream.next);
        if start > self.stream.next && self.shows_sent_data() && !self.stream.is_implausible(start)
        {
            self.advance_time(packet.at);
            self.append_hole(start, packet);
            self.stream.passed = start;
            self.here.arrivals.overtake(self.next_index(), packet.at);
            self.update_state();
            return;
        }
        let next = self.stream.next as u32;
        let before_next = segment.seq.wrapping_add(1) == next;
        // Linux sets the urgent flag in a probe while urgent data is not acknowledged.
        let urgent = segment.urgent && segment.seq == next && self.window.is_zero();
        let nothing_outstanding = self.stream.origin.is_some() && self.stream.flight() == 0;
        if nothing_outstanding && (before_next || urgent) {
            self.record_probe_or_keep_alive(packet);
        }
    }

    /// Returns whether the number of a packet without data is the one after everything sent before it.
    /// The number of a sender that probes a window may be one more.
    fn shows_sent_data(&self) -> bool {
        self.stream.origin.is_some() && !self.window.is_zero() && self.window.pending.is_none()
    }

    /// Records a packet that holds nothing new and requests an acknowledgement.
    pub(super) fn record_probe_or_keep_alive(&mut self, packet: Fingerprint) {
        if self.window.is_zero() {
            self.record_probe(packet);
        } else if !self.is_copied_probe(packet) {
            self.counts.keepalives += 1;
            self.window.last_probe = Some(packet);
        }
    }

    /// Returns whether a packet is a copy of the last probe.
    fn is_copied_probe(&self, packet: Fingerprint) -> bool {
        // If neither the identification nor the clock separates probes, a packet counts as a copy if
        // the capture holds most packets twice.
        let recognisable = self.clues.ip_ids.is_unique(packet)
            || self.clues.clock_step < MAX_QUEUE_DELAY
            || self.counts.most_are_duplicates();
        self.window.last_probe.is_some_and(|last| {
            let alike = packet.id == last.id && packet.timestamp == last.timestamp;
            let delay = MAX_QUEUE_DELAY + self.clues.clock_step;
            alike && recognisable && packet.at.since(last.at) < delay
        })
    }

    fn record_probe(&mut self, packet: Fingerprint) {
        if self.is_copied_probe(packet) {
            return;
        }
        self.window.last_probe = Some(packet);
        self.counts.probes += 1;
        self.advance_time(packet.at);
        self.activity.count_zero_window();
        self.update_state();
    }

    /// Returns whether a segment that begins at `start` lies entirely beyond a zero window, so that it
    /// is a probe.
    pub(super) fn is_beyond_window(&self, start: u64, segment: &Segment) -> bool {
        if !self.window.is_zero() || segment.len == 0 {
            return false;
        }
        if start == self.stream.next {
            // A longer segment may use a window that was offered before, so it is a probe only
            // beyond the highest edge.
            return segment.len == 1 || self.window.edge.is_some_and(|edge| edge <= start);
        }
        // If the receiver shrank its window, a probe holds one octet of the segment that it dropped.
        let is_longer = |entry: &Entry| entry.len() > 1;
        let first = self.scoreboard.get(self.scoreboard.find(start));
        segment.len == 1 && start == self.stream.una && first.is_some_and(is_longer)
    }

    /// Records a probe with the octets from `start` to `end`, beyond the window.
    pub(super) fn record_probe_data(&mut self, start: u64, end: u64, packet: Fingerprint) {
        let is_copy = self.is_copied_probe(packet);
        self.record_probe(packet);
        if start == self.stream.next && !is_copy {
            let same = |data: &ProbeData| data.start == start && data.end == end;
            let before = self.window.pending.filter(same).map_or(0, |data| data.transmissions);
            let transmissions = before + 1;
            self.window.pending = Some(ProbeData { start, end, packet, transmissions });
        }
    }

    /// Reclassifies a probe as data if data that begins at `start` follows it, although the window
    /// still seems closed: the capture lacks the larger window.
    pub(super) fn reclassify_probe(&mut self, start: u64) {
        let Some(data) = self.window.pending.take() else { return };
        if data.start == self.stream.next && start >= data.end && self.window.is_zero() {
            let probes = u64::from(data.transmissions);
            self.counts.probes -= self.counts.probes.min(probes);
            self.accept_probe_data(data, data.end);
        }
    }

    /// Counts the data of a probe if an acknowledgement of everything before `ack` covers some of it.
    pub(super) fn acknowledge_probe(&mut self, ack: u64) {
        let Some(data) = self.window.pending.filter(|data| ack > data.start) else { return };
        self.window.pending = None;
        if data.start == self.stream.next {
            self.accept_probe_data(data, data.end.min(ack));
        }
    }

    /// Counts the data of a probe up to `end` as sent.
    fn accept_probe_data(&mut self, data: ProbeData, end: u64) {
        let at = data.packet.at;
        self.end_rest(at);
        self.activity.events.first_data.get_or_insert(at);
        self.append(end, data.packet);
        // It is not known which of several transmissions was accepted, so the acknowledgement does
        // not measure a round trip.
        if data.transmissions > 1
            && let Some(newest) = self.scoreboard.newest()
            && let Some(entry) = self.scoreboard.get_mut(newest)
        {
            entry.is_remainder = true;
        }
    }
}
