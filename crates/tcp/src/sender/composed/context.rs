//! What the machine works with while it handles an event.

use unruffled_units::Instant;

use super::Composed;
use crate::parts::detect::View;
use crate::sender::Ack;
use crate::sender::stream::{Reading, Stream};

/// One event of a sender: its machine and stream, the time, and the observer.
pub(in crate::sender) struct Step<'a, O> {
    pub(in crate::sender) sender: &'a mut Composed,
    pub(in crate::sender) stream: &'a mut Stream,
    pub(in crate::sender) now: Instant,
    pub(in crate::sender) observer: &'a mut O,
}

impl<O> Step<'_, O> {
    /// Returns the part of the sender's state that detectors receive.
    pub(super) fn view(&self) -> View {
        self.sender.view(self.stream, self.now)
    }
}

/// One acknowledgement that the stream has read, and the sender that processes it.
pub(super) struct AckContext<'a, 'b, O> {
    pub(super) sender: &'a mut Composed,
    pub(super) stream: &'a mut Stream,
    pub(super) ack: &'a Ack<'b>,
    /// Result of reading it into the scoreboard.
    pub(super) read: Reading,
    pub(super) now: Instant,
    pub(super) observer: &'a mut O,
}

impl<O> AckContext<'_, '_, O> {
    /// Returns the part of the sender's state that detectors receive.
    #[inline]
    pub(super) fn view(&self) -> View {
        self.sender.view(self.stream, self.now)
    }

    /// Returns the same event for steps that do not depend on the acknowledgement.
    #[inline]
    pub(super) fn step(&mut self) -> Step<'_, O> {
        Step { sender: self.sender, stream: self.stream, now: self.now, observer: self.observer }
    }
}
