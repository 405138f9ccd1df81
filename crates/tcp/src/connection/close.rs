//! How a connection ends: in order, from one side or both, or at once (RFC 9293, sections 3.6 and
//! 3.10.4 to 3.10.5).

use unruffled_units::Instant;

use super::timers::ConnectionTimer;
use super::{Connection, ConnectionTimers, Error, State};
use crate::segment::Segment;

impl Connection {
    /// The application writes no more; it may still read. A FIN follows the last octet written. Before
    /// the handshake is done this is remembered; [`Connection::abort`] gives up an attempt.
    pub fn finish(&mut self) {
        if self.state == State::Closed {
            return;
        }
        self.sender.stream.finish();
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// The application wants no more of it: nothing is sent but a reset, where the peer needs one.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::TimeWait => {}
            // In CLOSING and LAST-ACK as well, unlike in RFC 9293, section 3.10.5: the FIN may be lost,
            // and the peer would wait for it.
            _ => self.reset = Some(Box::new(self.reset_segment())),
        }
        self.fail(Error::Aborted);
    }

    /// Everything up to the peer's FIN has arrived.
    pub(super) fn on_peer_finished(&mut self, now: Instant) {
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait_out(now),
            _ => {}
        }
    }

    /// Both ends know that both have finished; the peer may not have our last acknowledgement.
    pub(super) fn wait_out(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.timers = ConnectionTimers::new();
        self.restart_time_wait(now);
    }

    pub(super) fn restart_time_wait(&mut self, now: Instant) {
        self.timers.set(ConnectionTimer::TimeWait, now + self.config.msl * 2);
    }

    /// Whether a SYN may begin a new connection in place of this one, which is in TIME-WAIT: it is
    /// later by its timestamp or its number (RFC 9293, section 3.6.1; RFC 6191).
    pub fn gives_way_to(&self, segment: &Segment) -> bool {
        let flags = segment.flags;
        if self.state != State::TimeWait || !flags.syn || flags.ack || flags.rst {
            return false;
        }
        let beyond = segment.seq.distance(self.numbers.theirs.add(1).at(self.receiver.next())) > 0;
        self.clock.gives_way_to(segment.timestamps, beyond)
    }

    pub(super) fn fail(&mut self, error: Error) {
        self.error = Some(error);
        self.close();
    }

    pub(super) fn close(&mut self) {
        self.state = State::Closed;
        self.timers = ConnectionTimers::new();
    }
}
