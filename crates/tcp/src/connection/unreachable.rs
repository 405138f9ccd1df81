//! What routers and hosts say of packets that did not get there (RFC 1122, section 4.2.3.9; RFC
//! 5927): it is told to the application and ends no connection but one that is still opening, since
//! anybody can forge it.

use unruffled_units::Instant;

use super::{Connection, Error, State, ignore};
use crate::SeqNr;
use crate::observer::{Event, Ignored, Observer, Unreachable};

impl Connection {
    /// A packet of ours did not get there. `quoted` is the sequence number in the part of it that the
    /// message quotes: one about a packet that is not on its way is a stranger's, or late (RFC 5927,
    /// section 4.1).
    pub fn handle_unreachable(
        &mut self,
        what: Unreachable,
        quoted: SeqNr,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let (una, nxt) = (self.sender.stream.una(), self.sender.stream.nxt());
        let on_its_way = if opening {
            quoted == self.numbers.ours
        } else {
            quoted.unwrap(self.numbers.ours.add(1), una).is_some_and(|at| una <= at && at < nxt)
        };
        if !on_its_way || matches!(self.state, State::Closed | State::Listen) {
            ignore(Ignored::StaleUnreachable, now, observer);
            return;
        }
        self.unreachable = Some(what);
        observer.on_event(now, &Event::Unreachable { what });
        if self.state == State::SynSent && what == Unreachable::Port {
            self.fail(Error::Refused);
        }
    }

    /// What was said last to be out of reach, if the peer has not been heard since.
    pub fn unreachable(&self) -> Option<Unreachable> {
        self.unreachable
    }

    /// The peer has been silent for too long: says why, if somebody knows.
    pub(super) fn give_up(&mut self) {
        let known = self.unreachable.map(|_| Error::Unreachable);
        self.fail(known.unwrap_or(Error::TimedOut));
    }
}
