//! What the application, and the driver that keeps its octets, say and ask.

use super::{Connection, State};
use crate::SeqNr;

/// More than any stream has: offsets stay far from overflowing.
const LONGEST: u64 = u64::MAX / 2;

impl Connection {
    /// The application writes `octets` more. After [`Connection::finish`], or when the connection
    /// has ended, that does nothing.
    pub fn write(&mut self, octets: u64) {
        if self.state != State::Closed && !self.sender.stream.finished() {
            self.sender.stream.write(octets.min(LONGEST - self.sender.stream.written()));
        }
    }

    /// Octets written that were never sent.
    pub fn unsent(&self) -> u64 {
        self.sender.stream.written().saturating_sub(self.sender.stream.nxt())
    }

    /// The application has taken `octets` of what is [`Connection::readable`]. The peer is told when
    /// that opens the window enough: poll for segments afterwards.
    pub fn read(&mut self, octets: u64) {
        self.receiver.read(octets);
    }

    /// Octets that have arrived in order and were not read.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Octets for which the driver must have room, from the first that was not read: the peer may
    /// send no more, since the window is never open wider.
    pub fn receive_room(&self) -> u64 {
        self.receiver.window().room()
    }

    /// The receive window, less what has not been read: it grows to [`Config::receive_buffer`] where
    /// that begins smaller.
    ///
    /// [`Config::receive_buffer`]: crate::Config::receive_buffer
    pub fn receive_buffer(&self) -> u64 {
        self.receiver.window().size()
    }

    /// Bounds what is promised to the peer from now on: the driver has memory for no more than
    /// `octets` that are not read. What has been promised already is still accepted.
    pub fn bound_receive_window(&mut self, octets: u64) {
        self.receiver.bound_window(octets);
    }

    /// Whether the peer has finished and everything up to its FIN has arrived.
    pub fn peer_finished(&self) -> bool {
        self.receiver.at_end()
    }

    /// The stream offset below which everything is acknowledged: the send buffer may drop it.
    pub fn unacknowledged_from(&self) -> u64 {
        self.sender.stream.una().min(self.sender.stream.written())
    }

    /// The stream offset of the payload of a segment that this end sends, by its sequence number.
    pub fn send_offset(&self, seq: SeqNr) -> u64 {
        seq.unwrap(self.numbers.ours.add(1), self.sender.stream.una()).unwrap_or(0)
    }

    /// The stream offset at which the payload of an arriving segment belongs, by its sequence
    /// number: none before the handshake, or when it lies behind the window. It may lie before what
    /// was read. What of the segment may be stored says [`Event::Fresh`](crate::Event::Fresh).
    pub fn receive_offset(&self, seq: SeqNr) -> Option<u64> {
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            return None;
        }
        seq.unwrap(self.numbers.theirs.add(1), self.receiver.next())
            .filter(|&offset| offset < self.receiver.window().edge())
    }
}
