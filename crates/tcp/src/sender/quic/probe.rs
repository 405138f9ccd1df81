//! The timers of a QUIC stack: losses by time, and probes (RFC 9002, section 6.2).

use unruffled_units::{Duration, Instant};

use super::transmit::Carried;
use super::{GRANULARITY, MAX_ACK_DELAY, Quic};
use crate::observer::{Cause, Event, Observer};
use crate::sender::stream::{Stream, Transmission};

/// Packets of a probe timeout (section 6.2.4: "MAY send up to two").
const PROBES: u32 = 2;
/// Maximum number of doublings of the probe timeout.
const MAX_BACKOFF: u32 = 16;

impl Quic {
    /// Returns the probe timeout without backoff (section 6.2.1).
    pub(super) fn probe_timeout(stream: &Stream) -> Duration {
        let estimates = stream.round_trips.estimates();
        match (estimates.srtt, estimates.rttvar) {
            (Some(srtt), Some(rttvar)) => srtt + (rttvar * 4).max(GRANULARITY) + MAX_ACK_DELAY,
            _ => estimates.rto,
        }
    }

    /// Sets the timer of the next probe.
    pub(super) fn arm(&mut self, stream: &Stream, now: Instant) {
        if !stream.outstanding() {
            self.probe_time = Instant::MAX;
            return;
        }
        let timeout = Self::probe_timeout(stream) * (1 << self.backoff.min(MAX_BACKOFF));
        self.probe_time = (self.last_sent + timeout).max(now + GRANULARITY);
    }

    pub(in crate::sender) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.loss_time <= now {
            self.detect(stream, self.flight(stream), now, observer);
            self.arm(stream, now);
            return;
        }
        if self.probe_time > now {
            return;
        }
        if stream.board.outstanding() == stream.board.sacked() && stream.board.reneged() {
            // The receiver has discarded what it had acknowledged.
            if let Some(numbers) = stream.discard_sacks() {
                self.renumber(&numbers);
            }
            stream.board.mark_all_lost();
        }
        self.backoff += 1;
        self.probes = self.backoff.min(PROBES);
        let cwnd = self.window.cwnd;
        observer.on_event(now, &Event::Timeout { cwnd });
        self.arm(stream, now);
        self.probe_time = self.probe_time.max(now + Self::probe_timeout(stream));
    }

    /// Sends a probe (section 6.2.4): a lost segment, or else the oldest one that is not acknowledged.
    pub(super) fn probe(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<(Carried, Transmission)> {
        if !self.rules.cancels {
            if let Some(packet) = self.sent.first_in_flight().filter(|_| self.again.is_empty()) {
                self.again.add(packet.start, packet.len, false);
            }
            return self.next(stream, u64::MAX, now);
        }
        // A retransmission may be in flight whose data has arrived by another packet.
        let board = &stream.board;
        let oldest = self.sent.first_in_flight_with(|segment| !board.is_delivered(segment));
        match stream.board.next_lost().or(oldest.map(|packet| packet.segment)) {
            Some(segment) => Some(self.resend(stream, segment, Cause::Probe, now)),
            None => self.next(stream, u64::MAX, now),
        }
    }
}
