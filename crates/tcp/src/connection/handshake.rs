//! The handshake: active, passive or simultaneous open (RFC 9293, sections 3.5 and 3.10.7.2 to
//! 3.10.7.3).

use unruffled_units::Instant;

use super::path_mtu::MIN_MSS;
use super::timers::ConnectionTimer;
use super::{Connection, Error, State, ignore, reset_for};
use crate::SeqNr;
use crate::observer::{Ignored, Observer};
use crate::segment::{Flags, Segment};

/// State of the SYN or SYN-ACK: when it was first sent, and how often it was retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    due: bool,
    first: Option<Instant>,
    resent: bool,
    retries: u32,
    /// Window scale that the peer's SYN offered. Only then may the answer carry one.
    scale_offered: Option<u8>,
    /// MSS option of the peer's SYN.
    peer_mss: Option<u16>,
    /// Whether this end began in LISTEN.
    passive: bool,
    /// Whether this end offers SACK.
    sack_offered: bool,
}

impl Handshake {
    pub(super) fn new(passive: bool, sack_offered: bool) -> Self {
        Self { passive, sack_offered, ..Self::default() }
    }

    /// Returns whether this end began in LISTEN.
    pub(super) fn passive(&self) -> bool {
        self.passive
    }

    /// Returns whether this end offers SACK.
    pub(super) fn sack_offered(&self) -> bool {
        self.sack_offered
    }

    /// Requests a SYN or SYN-ACK to be sent.
    pub(super) fn demand(&mut self) {
        self.due = true;
    }

    /// Requests a retransmission, because the peer seems not to have received the SYN or SYN-ACK.
    pub(super) fn demand_again(&mut self) {
        self.due = true;
        self.resent = true;
    }

    /// Takes over a handshake in which the driver has sent the SYN-ACK, at `first` and then
    /// `retries` times more.
    pub(super) fn resume(&mut self, first: Option<Instant>, retries: u32) {
        self.first = first;
        self.retries = retries;
        self.resent = retries > 0;
    }

    /// Returns the MSS option of the peer's SYN.
    pub(super) fn peer_mss(&self) -> Option<u16> {
        self.peer_mss
    }

    /// Returns whether a SYN or SYN-ACK is due, and clears the request.
    pub(super) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }
}

impl Connection {
    /// Processes a segment in LISTEN (RFC 9293, section 3.10.7.2).
    pub(super) fn arrives_in_listen(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let flags = segment.flags;
        if flags.rst || flags.ack || !flags.syn {
            let reason = if flags.ack { Ignored::UnacceptableAck } else { Ignored::NoConnection };
            self.reset = if flags.ack { reset_for(segment).map(Box::new) } else { None };
            ignore(reason, now, observer);
            return;
        }
        self.read_syn(segment, now);
        self.state = State::SynReceived;
        self.handshake.demand();
    }

    /// Processes a segment in SYN-SENT (RFC 9293, section 3.10.7.3).
    pub(super) fn arrives_in_syn_sent(
        &mut self,
        segment: &Segment,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let flags = segment.flags;
        let acceptable = flags.ack && segment.ack == self.numbers.ours.add(1);
        if flags.ack && !acceptable {
            self.reset = reset_for(segment).map(Box::new);
            ignore(Ignored::UnacceptableAck, now, observer);
        } else if flags.rst {
            if acceptable {
                self.fail(Error::Refused);
            } else {
                ignore(Ignored::Reset, now, observer);
            }
        } else if !flags.syn {
            ignore(Ignored::NoConnection, now, observer);
        } else {
            self.read_syn(segment, now);
            if acceptable {
                self.establish(segment, now);
                self.receiver.demand_ack();
            } else {
                // Simultaneous open: this retransmits the SYN with an acknowledgement.
                self.state = State::SynReceived;
                self.handshake.demand_again();
            }
        }
    }

    pub(super) fn read_syn(&mut self, segment: &Segment, now: Instant) {
        self.numbers.theirs = segment.seq;
        self.sack = self.handshake.sack_offered() && segment.sack_permitted;
        self.handshake.scale_offered = segment.window_scale;
        if segment.window_scale.is_none() {
            // Not even before the handshake is complete (RFC 7323, section 2.2).
            self.receiver.without_scale();
        }
        self.handshake.peer_mss = segment.mss;
        self.clock.negotiate(segment.timestamps, now);
        // The window of a SYN is never scaled.
        self.peer_window.scale = 0;
        self.peer_window.last_field = segment.window;
        self.sender.stream.set_window(0, u64::from(segment.window));
    }

    /// Processes a SYN with the peer's initial number: a repeated one, or the first one in a
    /// simultaneous open.
    pub(super) fn on_repeated_syn(
        &mut self,
        segment: &Segment,
        now: Instant,
    ) -> Result<(), Ignored> {
        if self.state != State::SynReceived {
            self.challenge(now);
            return Err(Ignored::Syn);
        }
        // The answer echoes this SYN, not the first one, which may be seconds older (RFC 7323,
        // section 4.3). The whole SYN lies before the start of the stream.
        self.clock.update_recent(segment, 0, 0, now);
        let acknowledges = segment.flags.ack && segment.ack == self.numbers.ours.add(1);
        if acknowledges && !self.handshake.passive {
            // Simultaneous open, RFC 9293, figure 7: their SYN-ACK acknowledges our SYN.
            self.establish(segment, now);
        } else {
            self.handshake.demand_again();
        }
        Ok(())
    }

    /// Called when the peer has acknowledged the SYN: puts the negotiated options in force. The
    /// application may have finished in the meantime.
    pub(super) fn establish(&mut self, segment: &Segment, now: Instant) {
        self.state =
            if self.sender.stream.finished() { State::FinWait1 } else { State::Established };
        if let Some(first) = self.handshake.first.filter(|_| !self.handshake.resent) {
            self.sender.sample_rtt(now.since(first), now);
            self.receiver.on_handshake(now.since(first));
        }
        if self.config.window.lost_syn_is_congestion && self.handshake.retries > 0 {
            self.sender.after_lost_syn();
        }
        self.handshake.due = false;
        self.timers.stop(ConnectionTimer::Handshake);
        self.on_answer(now);
        if !self.sack {
            self.sender.disable_sack(now);
        }
        if let Some(scale) = self.handshake.scale_offered {
            // RFC 7323, section 2.3: a shift greater than 14 is taken for 14.
            self.peer_window.scale = scale.min(14);
        }
        let peer_mss = self.handshake.peer_mss.map(u32::from);
        if let Some(mss) = peer_mss.or(self.config.segments.peer_mss) {
            self.max_segment = self.max_segment.min(mss.max(MIN_MSS));
        }
        self.sender.stream.set_mss(self.payload(0));
        let window = if segment.flags.syn {
            u64::from(segment.window)
        } else {
            u64::from(segment.window) << self.peer_window.scale
        };
        self.peer_window.update(0, 0);
        self.sender.stream.set_window(0, window);
        self.start_keep_alive(now);
    }

    /// Called when the peer did not answer a SYN in time.
    pub(super) fn on_handshake_timer(&mut self) {
        if self.config.timeouts.syn_retries.is_some_and(|max| self.handshake.retries >= max) {
            self.give_up();
            return;
        }
        self.handshake.retries += 1;
        self.handshake.demand_again();
        self.sender.back_off();
    }

    /// Returns to LISTEN and drops the state of a failed attempt (RFC 9293, section 3.10.7.4).
    pub(super) fn back_to_listen(&mut self) {
        self.state = State::Listen;
        self.sack = self.handshake.sack_offered();
        self.handshake = Handshake::new(self.handshake.passive, self.handshake.sack_offered);
        self.timers.stop(ConnectionTimer::Handshake);
        self.timers.stop(ConnectionTimer::GiveUp);
        // The next peer is a different one, so the back-off does not apply to it.
        self.sender.reset_backoff();
        self.unreachable = None;
        self.clock = super::Clock::new(&self.config);
        self.receiver.reset_peer();
    }

    /// Returns the SYN or the SYN-ACK.
    pub(super) fn syn(&mut self, now: Instant) -> Segment {
        self.handshake.first.get_or_insert(now);
        self.timers.set(ConnectionTimer::Handshake, now + self.sender.handshake_timeout());
        self.expect_answer(now);
        let answering = self.state == State::SynReceived;
        let offers_scale = !answering || self.handshake.scale_offered.is_some();
        Segment {
            seq: self.numbers.ours,
            ack: if answering { self.numbers.theirs.add(1) } else { SeqNr(0) },
            flags: Flags { syn: true, ack: answering, ..Flags::default() },
            window: self.receiver.window().syn_field(),
            mss: Some(self.config.mss.min(u32::from(u16::MAX)) as u16),
            window_scale: offers_scale.then(|| self.receiver.window().scale()),
            sack_permitted: self.sack,
            timestamps: self.clock.option(now),
            ..Segment::default()
        }
    }
}
