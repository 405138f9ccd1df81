//! Gateways at the far ends of links: an exit that may drop packets, then a resequencer.

use std::net::{IpAddr, Ipv4Addr};

use unruffled_measure::{End, LinkId};
use unruffled_path::{Applies, Arrival, Exit, Leaving, LinkConfig, Outcome, Piece, Span};
use unruffled_resequence::{
    Config, Flow, MEMORY_PER_OCTET, Packet as Facts, Protocol, Resequencer, Role,
};
use unruffled_units::Instant;

use super::{Network, Packet};
use crate::queue::{FutureEvent, Queue};

/// An exit or a resequencer, or both, and the planned end of their waits.
#[derive(Debug)]
pub(super) struct Gateway {
    exit: Option<Exit<u32>>,
    resequencer: Option<Resequencer<u32>>,
    /// Time of the next planned event, if any.
    armed: Option<Instant>,
}

impl Gateway {
    /// Creates the gateway of a link with the packets in `carries` and the bounds of its resequencer.
    /// Returns `None` if packets leave the link as they arrive.
    pub(super) fn new(
        config: &LinkConfig,
        carries: Applies,
        bounds: Option<Config>,
    ) -> Option<Self> {
        let exit = Exit::carrying(config, carries);
        if exit.is_none() && bounds.is_none() {
            return None;
        }
        Some(Self { exit, resequencer: bounds.map(Resequencer::new), armed: None })
    }

    /// Returns whether packets pass an exit, which requires their numbers.
    pub(super) fn has_exit(&self) -> bool {
        self.exit.is_some()
    }

    /// Plans the next end of a wait. A planned event that is too early is planned again when it comes. An
    /// earlier event replaces one that would be too late.
    fn arm(&mut self, link: LinkId, now: Instant, queue: &mut Queue) {
        let exit = self.exit.as_ref().and_then(Exit::poll_timeout);
        let resequencer = self.resequencer.as_ref().and_then(Resequencer::poll_timeout);
        let due = exit.into_iter().chain(resequencer).min();
        if let Some(due) = due.map(|due| due.max(now))
            && self.armed.is_none_or(|armed| due < armed)
        {
            self.armed = Some(due);
            queue.plan(due, FutureEvent::Gateway(link.0));
        }
    }
}

impl Network {
    /// Returns whether the packet reaches a gateway at the far end of its link.
    #[inline]
    pub(crate) fn meets_gateway(&self, id: u32) -> bool {
        self.steps[self.packets[id as usize].step as usize].gateway
    }

    /// Returns the link of the packet's step.
    pub(crate) fn link_of(&self, id: u32) -> LinkId {
        self.steps[self.packets[id as usize].step as usize].link
    }

    /// Keeps the number of the packet that was offered last to `link`, at `now`, and the number of packets for
    /// which it waits at the exit there. Records the arrivals of its fragments at that exit.
    #[cold]
    pub(super) fn number(&mut self, id: u32, on: LinkId, outcome: &Outcome, now: Instant) {
        let link = &self.hops[on.0 as usize].link;
        if let Some(gateway) = &mut self.gateways[on.0 as usize]
            && let Some(exit) = &mut gateway.exit
        {
            exit.expect(link, outcome, now);
        }
        let number = link.offered();
        self.keep_number(id, (number, outcome.late_by));
    }

    /// Gives a copy of a packet the packet's number.
    #[cold]
    pub(super) fn number_copy(&mut self, copy: u32, id: u32) {
        let number = self.numbers[id as usize];
        self.keep_number(copy, number);
    }

    fn keep_number(&mut self, id: u32, number: (u64, u32)) {
        let id = id as usize;
        if self.numbers.len() <= id {
            self.numbers.resize(self.packets.len(), (0, 0));
        }
        self.numbers[id] = number;
    }

    /// Passes a packet to the exit at the far end of `link`. Returns false if there is none.
    pub(crate) fn enter_exit(
        &mut self,
        id: u32,
        link: LinkId,
        now: Instant,
        queue: &mut Queue,
    ) -> bool {
        let Some(gateway) = &mut self.gateways[link.0 as usize] else { return false };
        let Some(exit) = &mut gateway.exit else { return false };
        let piece = if exit.reads_pieces() { piece(&self.packets[id as usize]) } else { None };
        let (number, late_by) = self.numbers[id as usize];
        let tunnel_number = self.tunnels.number(id, link);
        exit.handle(Arrival { number, late_by, piece, tunnel_number }, id, now);
        gateway.arm(link, now, queue);
        true
    }

    /// Returns the next packet that leaves the exit at the far end of `link`.
    pub(crate) fn poll_exit(&mut self, link: LinkId) -> Option<Leaving<u32>> {
        self.gateways[link.0 as usize].as_mut()?.exit.as_mut()?.poll()
    }

    /// Returns whether there is a resequencer at the far end of `link`.
    pub(crate) fn has_resequencer(&self, link: LinkId) -> bool {
        self.gateways[link.0 as usize].as_ref().is_some_and(|gateway| gateway.resequencer.is_some())
    }

    /// Passes a TCP packet to the resequencer at the far end of `link`. Returns false if there is none.
    pub(crate) fn enter_resequencer(
        &mut self,
        id: u32,
        link: LinkId,
        now: Instant,
        queue: &mut Queue,
    ) -> bool {
        let Some(gateway) = &mut self.gateways[link.0 as usize] else { return false };
        let Some(resequencer) = &mut gateway.resequencer else { return false };
        resequencer.handle(&facts(&self.packets[id as usize]), id, now);
        gateway.arm(link, now, queue);
        true
    }

    /// Ends the waits at the far end of `link` that are over at `now`. A packet that arrives at the instant at
    /// which a wait ends is in time, so the other events of that instant come first.
    pub(crate) fn end_waits(&mut self, link: LinkId, now: Instant, queue: &mut Queue) {
        let Some(gateway) = &mut self.gateways[link.0 as usize] else { return };
        // An earlier event has replaced this one.
        if gateway.armed != Some(now) {
            return;
        }
        if queue.continues(now) {
            return queue.plan(now, FutureEvent::Gateway(link.0));
        }
        gateway.armed = None;
        if let Some(exit) = &mut gateway.exit {
            exit.handle_timeout(now);
        }
        if let Some(resequencer) = &mut gateway.resequencer {
            resequencer.handle_timeout(now);
        }
        gateway.arm(link, now, queue);
    }

    /// Returns the next packet that goes on from the resequencer at the far end of `link`.
    pub(crate) fn poll_release(&mut self, link: LinkId) -> Option<u32> {
        self.gateways[link.0 as usize].as_mut()?.resequencer.as_mut()?.poll_release()
    }
}

/// Returns the TCP octets of a packet. A datagram, whose sequence number is always 0, opens no range.
fn piece(packet: &Packet) -> Option<Piece> {
    let Packet { segment, flow, to, .. } = packet;
    let first = segment.seq.0;
    let len = segment.sequence_len();
    let span = if segment.flags.rst {
        Span::Closes
    } else if segment.flags.syn {
        Span::Opens(segment.seq.add(len).0)
    } else if len == 0 {
        return None;
    } else {
        Span::Octets { first, len }
    };
    Some(Piece { flow: u64::from(flow.0) << 1 | to.index() as u64, span })
}

/// Returns the facts about a TCP packet. All senders are in one network and all receivers in another, so
/// that the flows which cross a link in the same direction share what the resequencer learns of it.
fn facts(packet: &Packet) -> Facts {
    let Packet { segment, flow: id, to, size, .. } = packet;
    let host = |network| IpAddr::V4(Ipv4Addr::new(10, 0, network, 1));
    let (source, destination) = match to {
        End::Receiver => (host(1), host(2)),
        End::Sender => (host(2), host(1)),
    };
    let flow = Flow {
        protocol: Protocol::Tcp,
        interface: 0,
        source,
        destination,
        ports: ((id.0 >> 16) as u16, id.0 as u16),
        context: 0,
    };
    let span = segment.sequence_len();
    let role = if segment.flags.rst {
        Role::Close
    } else if segment.flags.syn {
        Role::Open { next: segment.seq.add(span).0 }
    } else if span == 0 {
        Role::Acknowledgement
    } else {
        let timestamp = segment.timestamps.map(|timestamps| timestamps.value);
        Role::Data { number: u64::from(segment.seq.0), span, timestamp }
    };
    Facts { flow, role, octets: size.saturating_mul(MEMORY_PER_OCTET) }
}
