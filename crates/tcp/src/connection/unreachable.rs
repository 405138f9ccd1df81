//! ICMP messages about unreachable destinations (RFC 1122, section 4.2.3.9; RFC 5927). They are
//! reported to the application. Only a connection that is still opening may end because of one,
//! since messages can be forged.

use unruffled_units::Instant;

use super::{Connection, Error, State, ignore};
use crate::SeqNr;
use crate::observer::{Event, Ignored, Observer, Unreachable};

impl Connection {
    /// Processes an ICMP message that a packet of this connection was not delivered. `quoted` is
    /// the sequence number in the quoted part of the packet. A message about a packet that is not
    /// in flight is forged or late, and is ignored (RFC 5927, section 4.1).
    pub fn handle_unreachable(
        &mut self,
        what: Unreachable,
        quoted: SeqNr,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let una = self.sender.stream.una();
        let nxt = self.sender.stream.nxt();
        let in_flight = if opening {
            quoted == self.numbers.ours
        } else {
            quoted.unwrap(self.numbers.ours.add(1), una).is_some_and(|at| una <= at && at < nxt)
        };
        if !in_flight || matches!(self.state, State::Closed | State::Listen) {
            ignore(Ignored::StaleUnreachable, now, observer);
            return;
        }
        self.idle.unreachable = Some(what);
        observer.on_event(now, &Event::Unreachable { what });
        if self.state == State::SynSent && what == Unreachable::Port {
            self.fail(Error::Refused);
        }
    }

    /// Returns the last unreachable report, if no segment of the peer has arrived since.
    pub fn unreachable(&self) -> Option<Unreachable> {
        self.idle.unreachable
    }

    /// Ends the connection because the peer has been silent for too long. The error is
    /// [`Error::Unreachable`] if a node has reported the peer as unreachable since its last
    /// segment.
    pub(super) fn give_up(&mut self) {
        let known = self.idle.unreachable.map(|_| Error::Unreachable);
        self.fail(known.unwrap_or(Error::TimedOut));
    }
}
