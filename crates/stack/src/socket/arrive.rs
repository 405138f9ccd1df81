//! Segments that arrive at a socket.

use unruffled_tcp::{Event, Observer, SackBlocks, Segment, SeqNr, TimeWait, Unreachable};
use unruffled_units::Instant;

use super::Socket;
use crate::budget::Allowance;
use crate::urgency::Urgency;

impl Socket {
    /// Handles a segment that arrived.
    ///
    /// The answer is immediate if an acknowledgement of a later segment would hide it: if this
    /// segment was out of order, filled part of a hole, or carried more than the next octets in
    /// order.
    pub(crate) fn handle(
        &mut self,
        mut segment: Segment,
        payload: &[u8],
        now: Instant,
        observer: &mut impl Observer,
    ) -> Urgency {
        if segment.flags.syn {
            // Data on a SYN is sent again: peers send it only with TCP Fast Open.
            segment.len = 0;
        }
        let offset = self.connection.receive_offset(segment.seq);
        let before = self.connection.received();
        let had_hole = self.connection.has_hole();
        let awaits_ack = self.connection.in_flight() > 0;
        if segment.flags.fin && self.is_released() {
            // Data after the release resets the connection. The FIN behind the data must not be
            // handled first: it may lead to TIME-WAIT, where the engine sends no reset.
            let has_new_data = offset.is_some_and(|at| at + u64::from(segment.len) > before);
            segment.flags.fin = !has_new_data;
        }
        let half = segment.len / 2;
        // A reset stays whole: it is judged by its sequence number (RFC 5961, section 3.2).
        let joined = half > 0 && segment.len > self.connection.max_arriving_payload();
        if joined && !segment.flags.rst {
            // Offload has joined several segments; each must be acknowledged, at once.
            let (first, second) = payload.split_at((half as usize).min(payload.len()));
            let mut head = Segment { len: half, ..segment };
            head.flags.fin = false;
            segment.seq = segment.seq.add(half);
            segment.len -= half;
            if offset.is_some_and(|at| at + u64::from(half) > before) {
                // Joined segments have equal options. Their SACK blocks count once, with the first
                // segment that has new data.
                segment.sack = SackBlocks::default();
            }
            let urgency = self.handle(head, first, now, observer);
            return match self.handle(segment, second, now, observer) {
                Urgency::Immediate => Urgency::Immediate,
                Urgency::Deferrable => urgency,
            };
        }
        let receive = &mut self.receive;
        let tally = &mut self.tally;
        let mut store = |at: Instant, event: &Event| {
            if let Event::Fresh { offset: at, len } = *event
                && let Some(offset) = offset
            {
                let from = at.saturating_sub(offset) as usize;
                if let Some(arrived) = payload.get(from..from + len as usize) {
                    debug_assert!(at + u64::from(len) <= receive.limit(), "accepted without room");
                    receive.write(at, arrived);
                }
            }
            tally.on_event(at, event);
            observer.on_event(at, event);
        };
        self.connection.handle_segment(&segment, now, &mut store);
        if self.is_released() {
            self.discard();
        }
        self.send.release(self.connection.unacknowledged_from());
        if awaits_ack && self.connection.in_flight() == 0 {
            self.tally.on_idle();
        }
        let advance = self.connection.received().wrapping_sub(before);
        let Segment { flags, len, .. } = segment;
        let only_next_octets =
            !flags.syn && !flags.fin && !flags.rst && !had_hole && advance == u64::from(len);
        if only_next_octets { Urgency::Deferrable } else { Urgency::Immediate }
    }

    /// Returns whether there is memory for the payload of `segment`: within this connection's
    /// share, or within a window that was advertised before memory ran short.
    pub(crate) fn has_memory_for(&self, segment: &Segment, allowance: Allowance) -> bool {
        if segment.len == 0 {
            return true;
        }
        // The segment may begin before the stream does, or end beyond the window.
        let first = self.connection.receive_offset(segment.seq);
        let last = self.connection.receive_offset(segment.seq.add(segment.len - 1));
        let end = first.map(|first| first + u64::from(segment.len)).or(last.map(|last| last + 1));
        let Some(end) = end else { return true };
        let needed = self.receive.storage_until(end);
        let held = self.receive.storage();
        needed <= held.max(self.max_receive_storage(allowance))
            || needed - held <= allowance.promised()
    }

    /// Returns whether `segment` carries information besides its payload. Without the payload, any
    /// other segment would count as a duplicate acknowledgement.
    pub(crate) fn is_informed_by(&self, segment: &Segment) -> bool {
        let connection = &self.connection;
        segment.flags.rst
            || !connection.state().is_synchronised()
            || !segment.sack.is_empty()
            || connection.send_offset(segment.ack) > connection.acknowledged()
    }

    /// Handles a router's report that a segment of this connection was too big for the path.
    pub(crate) fn handle_too_big(
        &mut self,
        mtu: u32,
        seq: SeqNr,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.connection.handle_packet_too_big(mtu, seq, now, observer);
    }

    /// Handles a report that a segment of this connection did not reach its destination.
    pub(crate) fn handle_unreachable(
        &mut self,
        what: Unreachable,
        seq: SeqNr,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.connection.handle_unreachable(what, seq, now, observer);
    }

    /// Returns whether a connection in TIME-WAIT may give way to the SYN `segment`, and if so the
    /// initial sequence number of the new connection.
    pub(crate) fn gives_way_to(&self, segment: &Segment) -> Option<u32> {
        if !self.connection.gives_way_to(segment) {
            return None;
        }
        self.connection.time_wait().map(|kept| kept.next_isn())
    }

    /// Returns what a table of connections in TIME-WAIT needs of this one.
    pub(crate) fn time_wait(&self) -> Option<TimeWait> {
        self.connection.time_wait()
    }

    /// Discards the data that no application will read; returns whether there was any.
    pub(super) fn discard_unread(&mut self) -> bool {
        let readable = self.connection.readable();
        if readable > 0 {
            self.receive.skip(readable);
            self.connection.read(readable);
        }
        readable > 0
    }

    fn discard(&mut self) {
        if self.discard_unread() {
            // A reset must report to the peer that its data is never read (RFC 9293, section 3.6.1;
            // RFC 2525, section 2.17).
            self.connection.abort();
        }
    }
}
