//! Calls of the application, and of the driver that stores its octets.

use super::{Connection, State};
use crate::SeqNr;

/// Upper bound on the length of a stream in octets, which keeps offsets far from overflowing.
const MAX_STREAM_LEN: u64 = u64::MAX / 2;

impl Connection {
    /// Writes `octets` more to the stream. Does nothing after [`Connection::finish`], or when the
    /// connection has ended.
    pub fn write(&mut self, octets: u64) {
        if self.state != State::Closed && !self.sender.stream.finished() {
            self.sender.stream.write(octets.min(MAX_STREAM_LEN - self.sender.stream.written()));
        }
    }

    /// Returns how many octets were written but not yet sent.
    pub fn unsent(&self) -> u64 {
        self.sender.stream.written().saturating_sub(self.sender.stream.nxt())
    }

    /// Records that the application has read `octets` of those that are [`Connection::readable`].
    /// If that opens the window enough, a window update is due: poll for segments afterwards.
    pub fn read(&mut self, octets: u64) {
        self.receiver.read(octets);
    }

    /// Returns how many octets have arrived in order but were not yet read.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Returns how many octets the driver needs room for, counted from the first unread one. The
    /// peer may not send more, because the window never opens further.
    pub fn receive_room(&self) -> u64 {
        self.receiver.window().room()
    }

    /// Returns the size of the receive window plus the unread octets. It grows up to
    /// [`Config::receive_buffer`] if it starts smaller.
    ///
    /// [`Config::receive_buffer`]: crate::Config::receive_buffer
    pub fn receive_buffer(&self) -> u64 {
        self.receiver.window().size()
    }

    /// Limits future window advertisements: the driver has memory for at most `octets` unread
    /// octets. Data within windows already advertised is still accepted.
    pub fn bound_receive_window(&mut self, octets: u64) {
        self.receiver.bound_window(octets);
    }

    /// Returns whether the peer has finished and everything up to its FIN has arrived.
    pub fn peer_finished(&self) -> bool {
        self.receiver.at_end()
    }

    /// Returns the stream offset below which everything is acknowledged. The driver may drop the
    /// octets below it.
    pub fn unacknowledged_from(&self) -> u64 {
        self.sender.stream.una().min(self.sender.stream.written())
    }

    /// Returns the stream offset of the payload of a segment to send, by its sequence number.
    pub fn send_offset(&self, seq: SeqNr) -> u64 {
        seq.unwrap(self.numbers.ours.add(1), self.sender.stream.una()).unwrap_or(0)
    }

    /// Returns the stream offset of the payload of an arriving segment, by its sequence number, or
    /// `None` before the handshake or beyond the window. The offset may be below what was read.
    /// [`Event::Fresh`](crate::Event::Fresh) reports which octets to store.
    pub fn receive_offset(&self, seq: SeqNr) -> Option<u64> {
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            return None;
        }
        seq.unwrap(self.numbers.theirs.add(1), self.receiver.next())
            .filter(|&offset| offset < self.receiver.window().edge())
    }
}
