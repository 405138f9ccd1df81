//! The handshake: active, passive or simultaneous open (RFC 9293, sections 3.5 and 3.10.7.2 to
//! 3.10.7.3).

use unruffled_units::Instant;

use super::arrival::Arrival;
use super::path_mtu::MIN_MSS;
use super::timers::ConnectionTimer;
use super::transmit::Departure;
use super::{Connection, Error, State, reset_for};
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

    /// The peer did not answer a SYN in time. Requests a retransmission and returns true, unless there
    /// were `most` already.
    pub(super) fn retry(&mut self, most: Option<u32>) -> bool {
        if most.is_some_and(|most| self.retries >= most) {
            return false;
        }
        self.retries += 1;
        self.demand_again();
        true
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

impl<O: Observer> Arrival<'_, O> {
    /// Processes a segment in LISTEN (RFC 9293, section 3.10.7.2).
    pub(super) fn arrives_in_listen(&mut self) {
        let flags = self.segment.flags;
        if flags.rst || flags.ack || !flags.syn {
            let reason = if flags.ack { Ignored::UnacceptableAck } else { Ignored::NoConnection };
            self.connection.reset =
                if flags.ack { reset_for(self.segment).map(Box::new) } else { None };
            self.ignore(reason);
            return;
        }
        self.read_syn();
        self.connection.state = State::SynReceived;
        self.connection.handshake.demand();
    }

    /// Processes a segment in SYN-SENT (RFC 9293, section 3.10.7.3).
    pub(super) fn arrives_in_syn_sent(&mut self) {
        let flags = self.segment.flags;
        let acceptable = flags.ack && self.segment.ack == self.connection.numbers.ours.add(1);
        if flags.ack && !acceptable {
            self.connection.reset = reset_for(self.segment).map(Box::new);
            self.ignore(Ignored::UnacceptableAck);
        } else if flags.rst {
            if acceptable {
                self.connection.fail(Error::Refused);
            } else {
                self.ignore(Ignored::Reset);
            }
        } else if !flags.syn {
            self.ignore(Ignored::NoConnection);
        } else {
            self.read_syn();
            if acceptable {
                self.establish();
                self.connection.receiver.demand_ack();
            } else {
                // Simultaneous open: this retransmits the SYN with an acknowledgement.
                self.connection.state = State::SynReceived;
                self.connection.handshake.demand_again();
            }
        }
    }

    pub(super) fn read_syn(&mut self) {
        self.connection.numbers.theirs = self.segment.seq;
        self.connection.sack =
            self.connection.handshake.sack_offered() && self.segment.sack_permitted;
        self.connection.handshake.scale_offered = self.segment.window_scale;
        if self.segment.window_scale.is_none() {
            // Not even before the handshake is complete (RFC 7323, section 2.2).
            self.connection.receiver.without_scale();
        }
        self.connection.handshake.peer_mss = self.segment.mss;
        self.connection.clock.negotiate(self.segment.timestamps, self.now);
        self.connection.ecn.on_syn(self.segment);
        // The window of a SYN is never scaled.
        self.connection.peer_window.scale = 0;
        self.connection.peer_window.last_field = self.segment.window;
        self.connection.sender.stream.set_window(0, u64::from(self.segment.window));
    }

    /// Processes a SYN with the peer's initial number: a repeated one, or the first one in a
    /// simultaneous open.
    pub(super) fn on_repeated_syn(&mut self) -> Result<(), Ignored> {
        if self.connection.state != State::SynReceived {
            self.challenge();
            return Err(Ignored::Syn);
        }
        // The answer echoes this SYN, not the first one, which may be seconds older (RFC 7323,
        // section 4.3). The whole SYN lies before the start of the stream.
        self.connection.clock.update_recent(self.segment, 0, 0, self.now);
        self.connection.ecn.on_syn(self.segment);
        let acknowledges =
            self.segment.flags.ack && self.segment.ack == self.connection.numbers.ours.add(1);
        if acknowledges && !self.connection.handshake.passive {
            // Simultaneous open, RFC 9293, figure 7: their SYN-ACK acknowledges our SYN.
            self.establish();
        } else {
            self.connection.handshake.demand_again();
        }
        Ok(())
    }

    /// Called when the peer has acknowledged the SYN: puts the negotiated options in force. The
    /// application may have finished in the meantime.
    pub(super) fn establish(&mut self) {
        self.connection.state = if self.connection.sender.stream.finished() {
            State::FinWait1
        } else {
            State::Established
        };
        if let Some(first) =
            self.connection.handshake.first.filter(|_| !self.connection.handshake.resent)
        {
            self.connection.sender.sample_rtt(self.now.since(first), self.now);
            self.connection.receiver.on_handshake(self.now.since(first));
        }
        if self.connection.config.window.lost_syn_is_congestion
            && self.connection.handshake.retries > 0
        {
            self.connection.sender.after_lost_syn();
        }
        self.connection.handshake.due = false;
        self.connection.timers.stop(ConnectionTimer::Handshake);
        let timeouts = self.connection.config.timeouts;
        self.connection.timers.on_answer(timeouts.give_up, self.now);
        if !self.connection.sack {
            self.connection.sender.disable_sack(self.now);
        }
        if let Some(scale) = self.connection.handshake.scale_offered {
            // RFC 7323, section 2.3: a shift greater than 14 is taken for 14.
            self.connection.peer_window.scale = scale.min(14);
        }
        let peer_mss = self.connection.handshake.peer_mss.map(u32::from);
        if let Some(mss) = peer_mss.or(self.connection.config.segments.peer_mss) {
            self.connection.max_segment = self.connection.max_segment.min(mss.max(MIN_MSS));
        }
        let payload = self.connection.room().payload(0);
        self.connection.sender.stream.set_mss(payload);
        let window = if self.segment.flags.syn {
            u64::from(self.segment.window)
        } else {
            u64::from(self.segment.window) << self.connection.peer_window.scale
        };
        self.connection.peer_window.update(0, 0);
        self.connection.sender.stream.set_window(0, window);
        let Connection { idle, timers, .. } = &mut *self.connection;
        idle.start(timeouts.keep_alive, timers, self.now);
    }

    /// Returns to LISTEN and drops the state of a failed attempt (RFC 9293, section 3.10.7.4).
    pub(super) fn back_to_listen(&mut self) {
        self.connection.state = State::Listen;
        self.connection.sack = self.connection.handshake.sack_offered();
        self.connection.ecn = super::EcnState::default();
        self.connection.echo = None;
        self.connection.handshake = Handshake::new(
            self.connection.handshake.passive,
            self.connection.handshake.sack_offered,
        );
        self.connection.timers.stop(ConnectionTimer::Handshake);
        self.connection.timers.stop(ConnectionTimer::GiveUp);
        // The next peer is a different one, so the back-off does not apply to it.
        self.connection.sender.reset_backoff();
        self.connection.idle.unreachable = None;
        self.connection.clock = super::Clock::new(&self.connection.config);
        self.connection.receiver.reset_peer();
    }
}

impl<O: Observer> Departure<'_, O> {
    /// Returns the SYN or the SYN-ACK.
    pub(super) fn syn(&mut self) -> Segment {
        self.connection.handshake.first.get_or_insert(self.now);
        self.connection
            .timers
            .set(ConnectionTimer::Handshake, self.now + self.connection.sender.handshake_timeout());
        let give_up = self.connection.config.timeouts.give_up;
        self.connection.timers.expect_answer(give_up, self.now);
        let answering = self.connection.state == State::SynReceived;
        let mode = self.connection.config.ecn;
        let ecn = match answering {
            true => self.connection.ecn.send_syn_ack(mode),
            false => self.connection.ecn.send_syn(mode, self.connection.handshake.retries > 0),
        };
        let offers_scale = !answering || self.connection.handshake.scale_offered.is_some();
        Segment {
            seq: self.connection.numbers.ours,
            ack: if answering { self.connection.numbers.theirs.add(1) } else { SeqNr(0) },
            flags: Flags { syn: true, ack: answering, ..Flags::default() },
            ecn,
            window: self.connection.receiver.window().syn_field(),
            mss: Some(self.connection.config.mss.min(u32::from(u16::MAX)) as u16),
            window_scale: offers_scale.then(|| self.connection.receiver.window().scale()),
            sack_permitted: self.connection.sack,
            timestamps: self.connection.clock.option(self.now),
            ..Segment::default()
        }
    }
}
