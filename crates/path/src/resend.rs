//! Repair of transmission errors by the link, like the wireless link of TCP-DCR, section 5.
//!
//! The link resends a damaged packet from the head of the queue, after a round trip of the link.
//!
//! The transmission time of a packet is known when it is admitted. Only retransmissions that are ready
//! before that time come first, and these are of packets sent earlier, whose damage is already known. The
//! transmission time of a retransmission is known once nothing else can come first: when a later packet
//! is offered whose transmission would begin after the retransmission is ready, or when it is ready.

use std::collections::{BTreeMap, VecDeque};

use unruffled_units::{Duration, Instant};

use crate::impairment::{Crossing, Fate, Stage};
use crate::{Direction, DropCause, Outcome, Ticket, Verdict};

/// Packets that were damaged, until they are resent.
#[derive(Clone, Debug)]
pub(crate) struct Resender {
    /// Impairment that determines which transmissions are damaged.
    damage: Stage,
    /// Shortest time from the end of a transmission to the next one of the same packet.
    after: Duration,
    /// Number of times that a packet is resent; `None` for no limit.
    attempts: Option<u32>,
    /// Packets to be resent, in the order in which they are ready, which is that of their transmissions.
    held: VecDeque<(Ticket, Pending)>,
    /// Outcomes of resent packets that have not been requested yet.
    resolved: BTreeMap<u32, Outcome>,
    /// Ticket of the packet held last.
    last_ticket: Ticket,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) bytes: u32,
    pub(crate) direction: Direction,
    pub(crate) flow: u32,
    /// Time at which the packet arrived at the link, or may be resent.
    pub(crate) ready: Instant,
    /// Number of times that the packet has been damaged.
    pub(crate) damaged: u32,
}

impl Resender {
    pub(crate) fn new(damage: Stage, after: Duration, attempts: Option<u32>) -> Self {
        Self {
            damage,
            after,
            attempts,
            held: VecDeque::new(),
            resolved: BTreeMap::new(),
            last_ticket: Ticket(0),
        }
    }

    /// Returns the verdict on a packet at the end of its transmission, if the transmission is damaged.
    #[inline(never)]
    pub(crate) fn damage(&mut self, packet: Pending, crossing: &Crossing) -> Option<Verdict> {
        let mut fate = Fate::default();
        self.damage.apply(&mut fate, crossing);
        if !fate.lost {
            return None;
        }
        if self.attempts.is_some_and(|attempts| packet.damaged >= attempts) {
            return Some(Verdict::Drop(DropCause::Loss));
        }
        let until = crossing.departed + self.after;
        let ticket = Ticket(self.last_ticket.0.wrapping_add(1));
        self.last_ticket = ticket;
        let packet = Pending { ready: until, damaged: packet.damaged + 1, ..packet };
        self.held.push_back((ticket, packet));
        Some(Verdict::Held { until, ticket })
    }

    /// Removes and returns the next packet to be resent, if it is ready by `time`.
    pub(crate) fn next_ready_by(&mut self, time: Instant) -> Option<(Ticket, Pending)> {
        let is_ready = self.held.front().is_some_and(|(_, packet)| packet.ready <= time);
        if is_ready { self.held.pop_front() } else { None }
    }

    /// Stores the outcome of a packet that was resent.
    pub(crate) fn resolve(&mut self, ticket: Ticket, outcome: Outcome) {
        self.resolved.insert(ticket.0, outcome);
    }

    /// Removes and returns the outcome of a packet that was held, if it is known.
    pub(crate) fn take_resolved(&mut self, ticket: Ticket) -> Option<Outcome> {
        self.resolved.remove(&ticket.0)
    }
}
