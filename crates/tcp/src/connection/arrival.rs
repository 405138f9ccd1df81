//! Arriving segments: the checks of RFC 9293, section 3.10.7, in their order.

use unruffled_units::Instant;

use super::acceptance::{acceptable, nearly_acceptable};
use super::{Connection, Error, State, ignore};
use crate::observer::{Ignored, Observer};
use crate::segment::{Flags, Segment, Timestamps};

/// Payload length in octets from which on a segment cannot have been a packet.
const LEN_LIMIT: u32 = 65_536;

impl Connection {
    /// Processes a segment that arrived.
    #[inline]
    pub fn handle_segment(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.is_expected(segment) {
            self.on_expected(segment, now, observer);
        } else {
            self.handle_any_segment(segment, now, observer);
        }
    }

    /// Returns whether the segment takes the fast path (header prediction): the connection is
    /// established and without timestamps, and the segment is the next one expected, with no flags
    /// besides ACK. Of the checks in [`Self::arrives`] such a segment needs only that of its
    /// acknowledgement, because the expected number is acceptable whatever the window is.
    #[inline(always)]
    fn is_expected(&self, segment: &Segment) -> bool {
        self.state == State::Established
            && segment.flags.are_plain_ack()
            && segment.seq == self.numbers.theirs.add(1).at(self.receiver.next())
            && segment.len < LEN_LIMIT
            && segment.timestamps.is_none()
            && !self.clock.on()
    }

    /// Handles a segment for which [`Self::is_expected`] returned true, with the result of
    /// [`Self::arrives`].
    #[inline(always)]
    fn on_expected(&mut self, segment: &Segment, now: Instant, observer: &mut impl Observer) {
        let offset = self.receiver.next();
        if let Err(reason) = self.on_ack(segment, offset, now, observer) {
            return ignore(reason, now, observer);
        }
        self.on_acceptable(now);
        if segment.len > 0 {
            self.receiver.on_segment(offset, segment.len, false, segment.rtx, now, observer);
            if self.receiver.at_end() {
                self.on_peer_finished(now);
            }
        }
    }

    #[inline(never)]
    fn handle_any_segment(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if segment.len >= LEN_LIMIT {
            ignore(Ignored::Malformed, now, observer);
            return;
        }
        match self.state {
            // The driver answers with `reset_for`.
            State::Closed => ignore(Ignored::NoConnection, now, observer),
            State::Listen => self.arrives_in_listen(segment, now, observer),
            State::SynSent => self.arrives_in_syn_sent(segment, now, observer),
            _ => {
                if let Err(reason) = self.arrives(segment, now, observer) {
                    ignore(reason, now, observer);
                }
            }
        }
    }

    /// Processes a segment of a synchronised connection (RFC 9293, section 3.10.7.4, with the
    /// checks of RFC 5961 and RFC 7323).
    fn arrives(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Result<(), Ignored> {
        let flags = segment.flags;
        if flags.syn && !flags.rst && segment.seq == self.numbers.theirs {
            return self.on_repeated_syn(segment, now);
        }
        let offset = self.acceptable_offset(segment, now, observer)?;
        if flags.rst {
            return self.on_reset(offset == self.receiver.next(), now);
        }
        if flags.syn {
            if self.state == State::SynReceived && self.handshake.passive() {
                self.back_to_listen();
            } else {
                self.challenge(now);
            }
            return Err(Ignored::Syn);
        }
        if !flags.ack {
            return Err(Ignored::NoAck);
        }
        if self.state == State::SynReceived {
            if segment.ack != self.numbers.ours.add(1) {
                // <SEQ=SEG.ACK><CTL=RST>
                self.reset = super::reset_for(segment).map(Box::new);
                return Err(Ignored::UnacceptableAck);
            }
            self.establish(segment, now);
        }
        self.on_ack(segment, offset, now, observer)?;
        // Not before the acknowledgement is checked: an attacker that does not know what was sent
        // must not change TS.Recent, which would make this end drop the peer's segments (RFC 7323,
        // section 5.3, R3; RFC 5961, section 5).
        self.clock.update_recent(segment, offset, self.receiver.last_acknowledged(), now);
        self.on_acceptable(now);
        if segment.len == 0 && !flags.fin {
            return Ok(());
        }
        self.on_data(segment, offset, now, observer)
    }

    /// Returns the stream offset at which the segment begins, if its timestamp and its sequence
    /// number are acceptable. Otherwise answers it as the RFCs require.
    #[inline(always)]
    fn acceptable_offset(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Result<u64, Ignored> {
        let next = self.receiver.next();
        let edge = self.receiver.window().edge();
        // Numbers before the first octet of the stream are old ones.
        let offset = segment.seq.unwrap(self.numbers.theirs.add(1), next);
        if let Some(reason) = self.clock.check(segment, now) {
            if reason == Ignored::OldTimestamp {
                self.answer_unacceptable(segment, offset, now, observer);
            } else if segment.flags.syn {
                // The peer may have restarted: it resets this connection when challenged (RFC 5961,
                // section 4).
                self.challenge(now);
            }
            return Err(reason);
        }
        let len = segment.sequence_len();
        let window = edge.saturating_sub(next);
        // A closed window still takes acknowledgements, resets, and a FIN that needs no room. The
        // receiver cuts off text.
        let allowed =
            |offset: u64| acceptable(offset, len, next, window) || (window == 0 && offset == next);
        offset
            .filter(|&offset| allowed(offset))
            .ok_or_else(|| self.reject(segment, offset, now, observer))
    }

    /// Answers a segment whose sequence number is not acceptable. Its acknowledgement may count
    /// nevertheless.
    #[cold]
    fn reject(
        &mut self,
        segment: &Segment,
        offset: Option<u64>,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Ignored {
        if !segment.flags.rst {
            self.answer_unacceptable(segment, offset, now, observer);
        }
        let bare = segment.flags.are_plain_ack() && segment.len == 0;
        let next = self.receiver.next();
        let edge = self.receiver.window().edge();
        if let Some(offset) = offset
            && bare
            && self.state.is_synchronised()
            && nearly_acceptable(offset, next, edge)
        {
            // If its acknowledgement is unacceptable too, the answer above already covers it.
            let _ = self.on_ack(segment, offset, now, observer);
        }
        Ignored::OutsideWindow
    }

    /// Processes the rest of an acceptable segment after its acknowledgement: text, and a FIN.
    #[inline(always)]
    fn on_data(
        &mut self,
        segment: &Segment,
        offset: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Result<(), Ignored> {
        let fin = segment.flags.fin;
        if fin && self.state == State::TimeWait {
            // "The only thing that can arrive in this state is a retransmission of the remote FIN.
            // Acknowledge it, and restart the 2 MSL timeout."
            self.receiver.demand_ack();
            self.restart_time_wait(now);
        }
        if !self.state.receives() {
            return if segment.len > 0 { Err(Ignored::BeyondEnd) } else { Ok(()) };
        }
        if let Some((echo, ago)) = self.clock.echo(segment, now) {
            self.receiver.on_echo(echo, ago, segment.len);
        }
        self.receiver.on_segment(offset, segment.len, fin, segment.rtx, now, observer);
        if self.receiver.at_end() {
            self.on_peer_finished(now);
        }
        Ok(())
    }

    /// "If an incoming segment is not acceptable, an acknowledgment should be sent in reply." Old
    /// text and an old FIN are reported as duplicates (RFC 2883). The peer's own FIN restarts
    /// TIME-WAIT.
    fn answer_unacceptable(
        &mut self,
        segment: &Segment,
        offset: Option<u64>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let len = segment.len;
        let fin = segment.flags.fin;
        let rtx = segment.rtx;
        let numbers = len + u32::from(fin);
        let old = |offset: &u64| offset + u64::from(numbers) <= self.receiver.next();
        match offset.filter(old) {
            Some(offset) if numbers > 0 && self.state.is_synchronised() => {
                self.receiver.on_segment(offset, len, fin, rtx, now, observer);
                self.receiver.demand_ack();
            }
            _ if numbers > 0 => self.receiver.demand_ack(),
            _ => self.challenge(now),
        }
        let again = |offset| offset + u64::from(numbers) == self.receiver.next();
        if fin && self.state == State::TimeWait && offset.is_some_and(again) {
            self.restart_time_wait(now);
        }
    }

    /// Processes a reset. Only one with the exact number is accepted (RFC 5961, section 3.2).
    fn on_reset(&mut self, exact: bool, now: Instant) -> Result<(), Ignored> {
        if !exact {
            self.challenge(now);
            return Err(Ignored::Reset);
        }
        match self.state {
            State::SynReceived if self.handshake.passive() => self.back_to_listen(),
            State::SynReceived => self.fail(Error::Refused),
            State::TimeWait => self.close(),
            State::Closing | State::LastAck if self.sender.stream.data_acknowledged() => {
                self.close()
            }
            _ => self.fail(Error::Reset),
        }
        Ok(())
    }

    /// Sends a challenge ACK, unless the limit is reached.
    pub(super) fn challenge(&mut self, now: Instant) {
        if self.challenges.allows(now) {
            self.receiver.demand_ack();
        }
    }

    /// Adds timestamps to a reset, if they were negotiated. A reset without an acknowledgement
    /// echoes nothing (RFC 7323, section 3.2).
    pub(super) fn stamped(&self, reset: Segment, now: Instant) -> Segment {
        let negotiated = !matches!(self.state, State::Listen | State::SynSent);
        let stamps = self.clock.option(now).filter(|_| negotiated);
        Segment { timestamps: stamps.map(|stamps| Timestamps { echo: 0, ..stamps }), ..reset }
    }

    /// Returns the reset with which this end aborts the connection.
    pub(super) fn reset_segment(&self) -> Segment {
        Segment {
            seq: self.numbers.ours.add(1).at(self.sender.stream.nxt()),
            flags: Flags { rst: true, ..Flags::default() },
            ..Segment::default()
        }
    }
}
