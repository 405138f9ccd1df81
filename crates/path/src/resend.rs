//! A link that repairs its own transmission errors, as the wireless link of TCP-DCR, section 5:
//! what arrives damaged is sent again from the head of the queue, after a round trip of the link.
//!
//! A packet's transmission is still known the moment it is admitted. All that may come before it
//! are retransmissions that are ready before it would begin, and these are of packets sent before
//! it, whose damage is known by then. A retransmission is known as soon as nothing can come before
//! it: when a later packet is offered that would begin after it is ready, or when it is ready.

use std::collections::{BTreeMap, VecDeque};

use unruffled_units::{Duration, Instant};

use crate::impairment::{Crossing, Fate, Stage};
use crate::{Direction, DropCause, Outcome, Ticket, Verdict};

/// Damages packets, and keeps them until they are sent again.
#[derive(Clone, Debug)]
pub(crate) struct Resend {
    /// Says which transmissions are damaged.
    damage: Stage,
    /// From the end of a transmission to the next one of the same packet, at least.
    after: Duration,
    /// How often a packet is sent again; `None`: until it gets through.
    attempts: Option<u32>,
    /// Not yet sent again, in the order in which they become ready: that of their transmissions.
    held: VecDeque<(Ticket, Packet)>,
    /// What became of those sent again, until it is asked for.
    resolved: BTreeMap<u32, Outcome>,
    /// The ticket of the packet held last.
    last: Ticket,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) bytes: u32,
    pub(crate) way: Direction,
    /// When it came to the link, or may be sent again.
    pub(crate) came: Instant,
    /// How often it has been damaged.
    pub(crate) damaged: u32,
}

impl Resend {
    pub(crate) fn new(damage: Stage, after: Duration, attempts: Option<u32>) -> Self {
        let (held, resolved) = (VecDeque::new(), BTreeMap::new());
        Self { damage, after, attempts, held, resolved, last: Ticket(0) }
    }

    /// What becomes of a packet at the end of its transmission, if that is damaged.
    #[inline(never)]
    pub(crate) fn damage(&mut self, packet: Packet, crossing: &Crossing) -> Option<Verdict> {
        let mut fate = Fate::default();
        self.damage.touch(&mut fate, crossing);
        if !fate.lost {
            return None;
        }
        if self.attempts.is_some_and(|attempts| packet.damaged >= attempts) {
            return Some(Verdict::Drop(DropCause::Loss));
        }
        let until = crossing.departed + self.after;
        let ticket = Ticket(self.last.0.wrapping_add(1));
        self.last = ticket;
        self.held
            .push_back((ticket, Packet { came: until, damaged: packet.damaged + 1, ..packet }));
        Some(Verdict::Held { until, ticket })
    }

    /// The next packet to be sent again, if it may be by `by`.
    pub(crate) fn next_by(&mut self, by: Instant) -> Option<(Ticket, Packet)> {
        let ready = self.held.front().is_some_and(|(_, held)| held.came <= by);
        if ready { self.held.pop_front() } else { None }
    }

    /// Keeps what became of a packet that was sent again.
    pub(crate) fn resolve(&mut self, ticket: Ticket, outcome: Outcome) {
        self.resolved.insert(ticket.0, outcome);
    }

    /// What became of a packet that was held, if that is known.
    pub(crate) fn resolved(&mut self, ticket: Ticket) -> Option<Outcome> {
        self.resolved.remove(&ticket.0)
    }
}
