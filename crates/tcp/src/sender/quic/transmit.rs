//! What is sent next, and when: lost data before new data, within the window and the pace.

use unruffled_units::Instant;

use super::sent::Sent;
use super::{Quic, Room};
use crate::observer::Cause;
use crate::sender::stream::{Entry, Retransmission, SegNo, Stream, Transmission};

/// Rate of pacing, in windows per round trip (section 7.7: N of 1.25).
const PACING_GAIN: f64 = 1.25;

/// Packets that left together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    pub(super) at: Instant,
    pub(super) packets: f64,
    /// When the next burst may leave.
    pub(super) next: Instant,
    /// Whether it held back a packet.
    pub(super) waits: bool,
}

/// The part of the stream that a packet carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    segment: SegNo,
    start: u64,
    len: u32,
}

impl Carried {
    /// Returns what a packet with this outstanding segment carries.
    pub(super) fn by(stream: &Stream, segment: SegNo) -> Self {
        let &Entry { start, len, .. } = stream.board.entry(segment);
        Self { segment, start, len }
    }
}

impl Quic {
    /// Returns the next packet to send.
    pub(in crate::sender) fn poll(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<Transmission> {
        self.burst.waits = false;
        let (carried, transmission) = if self.probes > 0 {
            self.probes -= 1;
            self.probe(stream, now)?
        } else {
            let room = self.room(stream)?;
            self.burst.waits = self
                .rules
                .paces
                .is_some_and(|early| now + early < self.burst.next && now != self.burst.at);
            if self.burst.waits {
                return None;
            }
            self.next(stream, room, now)?
        };
        self.pace(stream, now);
        let part = self.part(stream, u64::from(carried.len), 1);
        self.prr.out += part;
        self.prr.more = (self.prr.more - part).max(0.0);
        self.on_sent(stream, carried, now);
        Some(transmission)
    }

    /// Counts a packet of a burst.
    pub(super) fn pace(&mut self, stream: &Stream, now: Instant) {
        let Some(srtt) = stream.round_trips.srtt().filter(|_| self.rules.paces.is_some()) else {
            return;
        };
        if self.burst.at != now {
            self.burst = Burst { at: now, ..Burst::default() };
        }
        self.burst.packets += self.rules.share;
        self.burst.next = now + srtt.mul_f64(self.burst.packets / (PACING_GAIN * self.window.cwnd));
    }

    /// Returns `octets` in `packets`, with their headers, as a number of full packets.
    pub(super) fn part(&self, stream: &Stream, octets: u64, packets: u32) -> f64 {
        let header = match self.rules.room {
            Room::Cut { header, .. } => f64::from(header),
            Room::Any => 0.0,
        };
        let full = f64::from(stream.mss()) + header;
        (octets as f64 + f64::from(packets) * header) * self.rules.share / full
    }

    /// Returns what is in flight as a number of full packets.
    pub(super) fn flight(&self, stream: &Stream) -> f64 {
        self.part(stream, self.sent.octets_in_flight(), self.sent.in_flight())
    }

    /// Returns the maximum number of octets of a packet that may leave now.
    pub(super) fn room(&self, stream: &Stream) -> Option<u64> {
        let more = (self.window.cwnd - self.flight(stream)).max(0.0) + self.prr.more;
        match self.rules.room {
            Room::Any => (more > 0.0).then_some(u64::MAX),
            Room::Cut { header, least } => {
                let octets = more * f64::from(stream.mss() + header);
                let enough = octets >= f64::from(least);
                enough.then(|| (octets as u64).saturating_sub(u64::from(header)).max(1))
            }
        }
    }

    pub(super) fn on_sent(&mut self, stream: &Stream, carried: Carried, now: Instant) {
        let number = stream.last_packet();
        let Carried { segment, start, len } = carried;
        let before = self.rate.on_sent(self.sent.in_flight() == 0, now);
        self.sent.push(Sent { number, segment, start, len, sent: now, before, cut: None });
        if self.rules.recovers_by_time {
            self.cuts.on_sent(number, now);
        }
        self.last_sent = now;
        self.arm(stream, now);
    }

    /// Sends what was lost, or else a new segment with at most `room` octets.
    pub(super) fn next(
        &mut self,
        stream: &mut Stream,
        room: u64,
        now: Instant,
    ) -> Option<(Carried, Transmission)> {
        if !self.is_numbered {
            // A TCP no longer has what is acknowledged.
            self.again.forget_before(stream.una());
        }
        if let Some((start, len)) = self.again.take(room.min(stream.mss().into()), stream.written())
        {
            let transmission = stream.send_again(start, len, now);
            return Some((Carried { segment: stream.board.first(), start, len }, transmission));
        }
        if let Some(segment) = stream.board.next_lost() {
            return Some(self.resend(stream, segment, Cause::FastRetransmit, now));
        }
        let segment = stream.board.end();
        let len = stream.next_new()?.min(room);
        let transmission = stream.push_new(len, now);
        Some((Carried::by(stream, segment), transmission))
    }

    pub(super) fn resend(
        &mut self,
        stream: &mut Stream,
        segment: SegNo,
        cause: Cause,
        now: Instant,
    ) -> (Carried, Transmission) {
        let retransmission = Retransmission { under: None, suspected: false };
        let carried = Carried::by(stream, segment);
        (carried, stream.retransmit(segment, cause, retransmission, &mut self.ledger, now))
    }

    /// Sends the next `len` octets, whatever the window.
    pub(in crate::sender) fn send_new(
        &mut self,
        stream: &mut Stream,
        len: u64,
        now: Instant,
    ) -> Transmission {
        let segment = stream.board.end();
        let transmission = stream.push_new(len, now);
        self.on_sent(stream, Carried::by(stream, segment), now);
        transmission
    }

    /// Records that the peer accepted the octet of a window probe, which was sent at `sent`.
    pub(in crate::sender) fn on_window_probe_accepted(&mut self, stream: &Stream, sent: Instant) {
        self.on_sent(stream, Carried::by(stream, stream.board.end() - 1), sent);
    }
}
