//! What an acknowledgement reports: which packets it covers for the first time, what of the stream they carried,
//! and the round trip (RFC 9002, section 5).

use unruffled_units::{Duration, Instant};

use super::sent::Sent;
use super::{MAX_ACK_DELAY, Quic};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, RoundTripSample};
use crate::parts::detect::{LossDetector, SpuriousLoss};
use crate::sender::Ack;
use crate::sender::stream::{Entry, Stream};

impl Quic {
    /// Takes the packets that an acknowledgement covers for the first time. Returns the time of transmission
    /// of the highest, if that is the highest number acknowledged and so measures the round trip (section
    /// 5.1).
    pub(super) fn take_ranges(&mut self, stream: &Stream, ack: &Ack<'_>) -> Option<Instant> {
        let Self { acked, spurious, sent, .. } = self;
        let mut take = |packet: Sent| match packet.cut {
            None => acked.push(packet),
            Some(_) => spurious.push(packet),
        };
        let end = stream.last_packet().saturating_add(1);
        let plausible = |block: &&crate::SackBlock| block.right.0 <= end && block.left.0 > 0;
        let mut highest = 0;
        for block in ack.packets.iter().filter(plausible) {
            sent.acknowledge(block.left.0, block.right.0, &mut take);
            highest = highest.max(block.right.0 - 1);
            self.is_numbered = true;
        }
        if highest == 0 && ack.una > stream.una() {
            // The peer has no packet numbers.
            let below = stream.board.covered_by(ack.una);
            sent.acknowledge_segments(below, &mut take);
            highest = acked.iter().map(|packet| packet.number).max().unwrap_or(0);
        }
        acked.sort_unstable_by_key(|packet| packet.number);
        spurious.sort_unstable_by_key(|packet| packet.number);
        let newest = acked.last().filter(|packet| packet.number == highest);
        newest.map(|packet| packet.sent)
    }

    /// Passes the segments of these packets to the stream.
    pub(super) fn deliver(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        for &Sent { segment, start, len, .. } in &self.spurious {
            // It was sent again, unless its turn had not come.
            let waits = self.rules.cancels
                && !stream.board.is_delivered(segment)
                && stream.board.entry(segment).is_lost();
            if !waits {
                let event = Event::SpuriousRetransmission { offset: start, len };
                observer.on_event(now, &event);
            }
        }
        self.blocks.clear();
        for packet in self.acked.iter().chain(&self.spurious) {
            self.blocks.push((packet.start, packet.start + u64::from(packet.len)));
        }
        let una = if self.rules.cancels { self.known_una(stream, ack) } else { ack.una };
        let blocks = &self.blocks;
        let read = stream.acknowledge(&Ack { una, blocks, dsack: None, ..*ack }, now, |_| None);
        if read.advanced {
            stream.round_trips.on_progress(self.window.cwnd);
        }
        stream.expire_retransmissions(now, |_| Duration::ZERO);
    }

    /// Returns the end of what is known to have arrived in order. A QUIC acknowledgement reports packets, so
    /// that the data of one that is forgotten has to be sent again although it has arrived.
    pub(super) fn known_una(&self, stream: &Stream, ack: &Ack<'_>) -> u64 {
        if ack.packets.is_empty() {
            return ack.una;
        }
        let board = &stream.board;
        let mut una = stream.una();
        for segment in board.first()..board.end() {
            let &Entry { start, len, .. } = board.entry(segment);
            let end = start + u64::from(len);
            let reported = |&(left, right): &(u64, u64)| left <= start && end <= right;
            if !board.is_delivered(segment) && !self.blocks.iter().any(reported) {
                break;
            }
            una = end;
        }
        una
    }

    /// Takes a round-trip time. The receiver's delay counts in latest_rtt alone, unless the rest would be
    /// below the minimum (section 5.3).
    pub(super) fn measure(
        &mut self,
        stream: &mut Stream,
        sent: Instant,
        delay: Duration,
        now: Instant,
    ) {
        let rtt = now.since(sent);
        stream.min_rtt.sample(rtt, now);
        let least = stream.min_rtt().unwrap_or_default();
        let delay = delay.min(MAX_ACK_DELAY);
        let adjusted = if rtt >= least + delay { rtt - delay } else { rtt };
        let una = stream.una();
        stream.round_trips.measure(adjusted, una, 1);
        stream.round_trips.set_latest(rtt);
        if self.control.measures_round_trips() {
            let sample = RoundTripSample { now, rtt, una, nxt: stream.nxt() };
            self.control.on_round_trip(&sample, &mut self.window);
        }
    }

    /// Reports late packets, and lets the detector adapt to those that were deemed lost.
    pub(super) fn adapt(&mut self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        let highest = self.acked.last().map_or(0, |packet| packet.number);
        let newest = self.largest.max(highest);
        for packet in self.acked.iter().chain(&self.spurious) {
            if packet.number < self.largest {
                let length = self.largest - packet.number;
                let delay = now.since(self.largest_at);
                observer.on_event(now, &Event::Reordered { length, delay });
            }
        }
        let view = self.view(stream, now);
        for packet in &self.spurious {
            let packets = newest.saturating_sub(packet.number);
            let loss = SpuriousLoss { packets, sent: packet.sent };
            self.detector.on_spurious_loss(loss, &view);
        }
        if highest > self.largest {
            self.largest = highest;
            self.largest_at = now;
        }
        for packet in &self.spurious {
            if packet.cut.is_some_and(|cut| self.cuts.count_spurious(cut)) {
                let cause = Cause::FastRetransmit;
                observer.on_event(now, &Event::SpuriousReduction { cause });
            }
        }
    }
}
