//! The end of a connection: an orderly close from one side or both, or an abort (RFC 9293, sections
//! 3.6 and 3.10.4 to 3.10.5).

use super::arrival::Arrival;
use super::timers::ConnectionTimer;
use super::{Connection, ConnectionTimers, Error, State};
use crate::observer::Observer;
use crate::segment::{Flags, Segment};

impl Connection {
    /// Closes the sending direction. A FIN follows the last octet written, and the application may
    /// still read. A call before the handshake is complete takes effect after it; use
    /// [`Connection::abort`] to give up a connection attempt.
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

    /// Ends the connection at once. Nothing more is sent, except a reset if the peer needs one.
    pub fn abort(&mut self) {
        match self.state {
            State::Closed => return,
            State::Listen | State::SynSent | State::TimeWait => {}
            // Also in CLOSING and LAST-ACK, unlike in RFC 9293, section 3.10.5: the FIN may be
            // lost, and the peer would wait for it.
            _ => {
                let reset = Segment {
                    seq: self.numbers.ours.add(1).at(self.sender.stream.nxt()),
                    flags: Flags { rst: true, ..Flags::default() },
                    ..Segment::default()
                };
                self.reset = Some(Box::new(reset));
            }
        }
        self.fail(Error::Aborted);
    }

    /// Returns whether the connection is in TIME-WAIT and a SYN may replace it with a new one,
    /// because the SYN is later by its timestamp or its number (RFC 9293, section 3.6.1; RFC 6191).
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

impl<O: Observer> Arrival<'_, O> {
    /// Called when everything up to the peer's FIN has arrived.
    pub(super) fn on_peer_finished(mut self) {
        match self.connection.state {
            State::Established => self.connection.state = State::CloseWait,
            State::FinWait1 => self.connection.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(),
            _ => {}
        }
    }

    /// Enters TIME-WAIT. Both ends have finished, but the last acknowledgement may be lost.
    pub(super) fn enter_time_wait(&mut self) {
        self.connection.state = State::TimeWait;
        self.connection.timers = ConnectionTimers::new();
        self.restart_time_wait();
    }

    pub(super) fn restart_time_wait(&mut self) {
        let due = self.now + self.connection.config.msl * 2;
        self.connection.timers.set(ConnectionTimer::TimeWait, due);
    }
}
