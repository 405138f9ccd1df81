//! Arriving segments: the checks of RFC 9293, section 3.10.7, in their order.

use unruffled_units::Instant;

use super::acceptance::{acceptable, nearly_acceptable};
use super::{Connection, Error, State, ignore};
use crate::observer::{Ignored, Observer};
use crate::segment::Segment;

/// Payload length in octets from which on a segment cannot have been a packet.
const LEN_LIMIT: u32 = 65_536;

/// A segment that has arrived, and the connection that processes it.
pub(super) struct Arrival<'a, O> {
    pub(super) connection: &'a mut Connection,
    pub(super) segment: &'a Segment,
    pub(super) now: Instant,
    pub(super) observer: &'a mut O,
}

impl Connection {
    /// Processes a segment that arrived.
    #[inline(always)]
    pub fn handle_segment(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let mut arrival = Arrival { connection: self, segment, now, observer };
        match arrival.plain_offset() {
            Some(offset) => arrival.on_plain(offset),
            None => arrival.process(),
        }
    }
}

impl<O: Observer> Arrival<'_, O> {
    /// Borrows the parts again, for a call outside the fast path. The fast path keeps its own copy in
    /// registers, because no function receives the address of it.
    #[inline(always)]
    pub(super) fn reborrow(&mut self) -> Arrival<'_, O> {
        Arrival {
            connection: self.connection,
            segment: self.segment,
            now: self.now,
            observer: self.observer,
        }
    }

    /// Returns the stream offset of a segment that takes the fast path (header prediction): the
    /// connection is established and without timestamps, and the segment is the next one expected, or
    /// its text is further on in the window, with no flags besides ACK and no CE. Of the checks in
    /// [`Self::arrives`] such a segment needs only that of its acknowledgement, because the expected
    /// number is acceptable whatever the window is.
    #[inline(always)]
    fn plain_offset(&self) -> Option<u64> {
        let next = self.connection.receiver.next();
        let expected = self.connection.numbers.theirs.add(1).at(next);
        let offset = next + u64::from(self.segment.seq.0.wrapping_sub(expected.0));
        let edge = self.connection.receiver.window().edge();
        let len = self.segment.len;
        let plain = self.connection.state == State::Established
            && self.segment.flags.are_plain_ack()
            && (offset == next || (len > 0 && offset + u64::from(len) <= edge))
            && len < LEN_LIMIT
            && self.segment.timestamps.is_none()
            && self.segment.packet.is_none()
            && !self.segment.ecn.has_report()
            && !self.connection.clock.on();
        plain.then_some(offset)
    }

    /// Handles a segment with the `offset` that [`Self::plain_offset`] returned, with the result of
    /// [`Self::arrives`].
    #[inline(always)]
    fn on_plain(&mut self, offset: u64) {
        if let Err(reason) = self.on_ack(offset) {
            return self.ignore(reason);
        }
        self.connection.idle.on_acceptable(self.now);
        if self.segment.len > 0 {
            self.connection.receiver.on_segment(
                offset,
                self.segment.len,
                false,
                self.segment.rtx,
                self.now,
                self.observer,
            );
            if self.connection.receiver.at_end() {
                self.reborrow().on_peer_finished();
            }
        }
    }

    #[inline(never)]
    fn process(mut self) {
        if self.segment.len >= LEN_LIMIT {
            self.ignore(Ignored::Malformed);
            return;
        }
        match self.connection.state {
            // The driver answers with `reset_for`.
            State::Closed => self.ignore(Ignored::NoConnection),
            State::Listen => self.arrives_in_listen(),
            State::SynSent => self.arrives_in_syn_sent(),
            _ => {
                if let Err(reason) = self.arrives() {
                    self.ignore(reason);
                }
            }
        }
    }

    /// Processes a segment of a synchronised connection (RFC 9293, section 3.10.7.4, with the
    /// checks of RFC 5961 and RFC 7323).
    fn arrives(&mut self) -> Result<(), Ignored> {
        let flags = self.segment.flags;
        if flags.syn && !flags.rst && self.segment.seq == self.connection.numbers.theirs {
            return self.on_repeated_syn();
        }
        if !self.segment.packet.is_none() && !self.accepts_packet() {
            return Err(Ignored::OldPacket);
        }
        let offset = self.acceptable_offset()?;
        if flags.rst {
            return self.on_reset(offset == self.connection.receiver.next());
        }
        if flags.syn {
            if self.connection.state == State::SynReceived && self.connection.handshake.passive() {
                self.back_to_listen();
            } else {
                self.challenge();
            }
            return Err(Ignored::Syn);
        }
        if !flags.ack {
            return Err(Ignored::NoAck);
        }
        if self.connection.state == State::SynReceived {
            if self.segment.ack != self.connection.numbers.ours.add(1) {
                // <SEQ=SEG.ACK><CTL=RST>
                self.connection.reset = super::reset_for(self.segment).map(Box::new);
                return Err(Ignored::UnacceptableAck);
            }
            self.establish();
        }
        self.on_ack(offset)?;
        // Not before the acknowledgement is checked: an attacker that does not know what was sent
        // must not change TS.Recent, which would make this end drop the peer's segments (RFC 7323,
        // section 5.3, R3; RFC 5961, section 5).
        self.connection.clock.update_recent(
            self.segment,
            offset,
            self.connection.receiver.last_acknowledged(),
            self.now,
        );
        self.connection.idle.on_acceptable(self.now);
        if self.segment.len == 0 && !flags.fin {
            return Ok(());
        }
        self.on_data(offset)
    }

    /// Takes the packet number. Returns false if the receiver discards the packet.
    #[inline(never)]
    fn accepts_packet(&mut self) -> bool {
        let answered = self.segment.len > 0 || self.segment.flags.fin;
        self.connection.receiver.accepts(self.segment.packet, answered, self.now)
    }

    /// Returns the stream offset at which the segment begins, if its timestamp and its sequence
    /// number are acceptable. Otherwise answers it as the RFCs require.
    #[inline(always)]
    fn acceptable_offset(&mut self) -> Result<u64, Ignored> {
        let next = self.connection.receiver.next();
        let edge = self.connection.receiver.window().edge();
        // Numbers before the first octet of the stream are old ones.
        let offset = self.segment.seq.unwrap(self.connection.numbers.theirs.add(1), next);
        if let Some(reason) = self.connection.clock.check(self.segment, self.now) {
            if reason == Ignored::OldTimestamp {
                self.answer_unacceptable(offset);
            } else if self.segment.flags.syn {
                // The peer may have restarted: it resets this connection when challenged (RFC 5961,
                // section 4).
                self.challenge();
            }
            return Err(reason);
        }
        let len = self.segment.sequence_len();
        let window = edge.saturating_sub(next);
        // A closed window still takes acknowledgements, resets, and a FIN that needs no room. The
        // receiver cuts off text.
        let allowed =
            |offset: u64| acceptable(offset, len, next, window) || (window == 0 && offset == next);
        offset.filter(|&offset| allowed(offset)).ok_or_else(|| self.reject(offset))
    }

    /// Answers a segment whose sequence number is not acceptable. Its acknowledgement may count
    /// nevertheless.
    #[cold]
    fn reject(&mut self, offset: Option<u64>) -> Ignored {
        if !self.segment.flags.rst {
            self.answer_unacceptable(offset);
        }
        let bare = self.segment.flags.are_plain_ack() && self.segment.len == 0;
        let next = self.connection.receiver.next();
        let edge = self.connection.receiver.window().edge();
        if let Some(offset) = offset
            && bare
            && self.connection.state.is_synchronised()
            && nearly_acceptable(offset, next, edge)
        {
            // If its acknowledgement is unacceptable too, the answer above already covers it.
            let _ = self.on_ack(offset);
        }
        Ignored::OutsideWindow
    }

    /// Processes the rest of an acceptable segment after its acknowledgement: text, and a FIN.
    #[inline(always)]
    fn on_data(&mut self, offset: u64) -> Result<(), Ignored> {
        let fin = self.segment.flags.fin;
        if fin && self.connection.state == State::TimeWait {
            // "The only thing that can arrive in this state is a retransmission of the remote FIN.
            // Acknowledge it, and restart the 2 MSL timeout."
            self.connection.receiver.demand_ack();
            self.restart_time_wait();
        }
        if !self.connection.state.receives() {
            return if self.segment.len > 0 { Err(Ignored::BeyondEnd) } else { Ok(()) };
        }
        if self.segment.ecn.has_report() {
            self.reborrow().on_report(offset);
        }
        if let Some((echo, ago)) = self.connection.clock.echo(self.segment, self.now) {
            self.connection.receiver.on_echo(echo, ago, self.segment.len);
        }
        self.connection.receiver.on_segment(
            offset,
            self.segment.len,
            fin,
            self.segment.rtx,
            self.now,
            self.observer,
        );
        if self.connection.receiver.at_end() {
            self.reborrow().on_peer_finished();
        }
        Ok(())
    }

    /// "If an incoming segment is not acceptable, an acknowledgment should be sent in reply." Old
    /// text and an old FIN are reported as duplicates (RFC 2883). The peer's own FIN restarts
    /// TIME-WAIT. Packets with numbers are answered as any other packet: at once or later if they carry data,
    /// and not at all otherwise (RFC 9000, section 13.2.1).
    fn answer_unacceptable(&mut self, offset: Option<u64>) {
        let len = self.segment.len;
        let fin = self.segment.flags.fin;
        let rtx = self.segment.rtx;
        let numbers = len + u32::from(fin);
        let old = |offset: &u64| offset + u64::from(numbers) <= self.connection.receiver.next();
        match offset.filter(old) {
            Some(offset) if numbers > 0 && self.connection.state.is_synchronised() => {
                self.connection.receiver.on_segment(offset, len, fin, rtx, self.now, self.observer);
                if !self.connection.receiver.reports_packets() {
                    self.connection.receiver.demand_ack();
                }
            }
            _ if numbers == 0 && self.connection.receiver.reports_packets() => {}
            _ if numbers > 0 => self.connection.receiver.demand_ack(),
            _ => self.challenge(),
        }
        let again = |offset| offset + u64::from(numbers) == self.connection.receiver.next();
        if fin && self.connection.state == State::TimeWait && offset.is_some_and(again) {
            self.restart_time_wait();
        }
    }

    /// Processes a reset. Only one with the exact number is accepted (RFC 5961, section 3.2).
    fn on_reset(&mut self, exact: bool) -> Result<(), Ignored> {
        if !exact {
            self.challenge();
            return Err(Ignored::Reset);
        }
        match self.connection.state {
            State::SynReceived if self.connection.handshake.passive() => self.back_to_listen(),
            State::SynReceived => self.connection.fail(Error::Refused),
            State::TimeWait => self.connection.close(),
            State::Closing | State::LastAck
                if self.connection.sender.stream.data_acknowledged() =>
            {
                self.connection.close()
            }
            _ => self.connection.fail(Error::Reset),
        }
        Ok(())
    }

    /// Sends a challenge ACK, unless the limit is reached.
    #[inline]
    pub(super) fn challenge(&mut self) {
        if self.connection.challenges.allows(self.now) {
            self.connection.receiver.demand_ack();
        }
    }

    /// Reports that the segment was dropped.
    #[inline]
    pub(super) fn ignore(&mut self, reason: Ignored) {
        ignore(reason, self.now, self.observer);
    }
}
