//! Resequencers at the far ends of links.

use std::net::{IpAddr, Ipv4Addr};

use unruffled_measure::{End, LinkId};
use unruffled_resequence::{
    Config, Flow, MEMORY_PER_OCTET, Packet as Facts, Protocol, Resequencer, Role,
};
use unruffled_units::Instant;

use super::{Network, Packet};
use crate::queue::{FutureEvent, Queue};

/// A resequencer, and the planned end of its waits.
#[derive(Debug)]
pub(super) struct Gateway {
    resequencer: Resequencer<u32>,
    /// Time of the next planned event, if any.
    armed: Option<Instant>,
    /// Whether the event was planned again behind the other events of its time.
    deferred: bool,
}

impl Gateway {
    pub(super) fn new(bounds: Config) -> Self {
        Self { resequencer: Resequencer::new(bounds), armed: None, deferred: false }
    }

    /// Plans the next end of a wait. A planned event that is too early is planned again when it comes. An
    /// earlier event replaces one that would be too late.
    fn arm(&mut self, link: LinkId, now: Instant, queue: &mut Queue) {
        let due = self.resequencer.poll_timeout().map(|due| due.max(now));
        if let Some(due) = due
            && self.armed.is_none_or(|armed| due < armed)
        {
            self.armed = Some(due);
            self.deferred = false;
            queue.plan(due, FutureEvent::Gateway(link.0));
        }
    }
}

impl Network {
    /// Returns whether the packet reaches a resequencer at the far end of its link.
    #[inline]
    pub(crate) fn meets_gateway(&self, id: u32) -> bool {
        self.steps[self.packets[id as usize].step as usize].gateway
    }

    /// Passes a TCP packet to the resequencer at the far end of its link, and returns the link.
    pub(crate) fn enter_gateway(&mut self, id: u32, now: Instant, queue: &mut Queue) -> LinkId {
        let packet = &self.packets[id as usize];
        let link = self.steps[packet.step as usize].link;
        if let Some(gateway) = &mut self.gateways[link.0 as usize] {
            gateway.resequencer.handle(&facts(packet), id, now);
            gateway.arm(link, now, queue);
        }
        link
    }

    /// Ends the waits at the far end of `link` that are over at `now`. A packet that arrives at the instant at
    /// which a wait ends is in time, so the other events of that instant come first.
    pub(crate) fn end_waits(&mut self, link: LinkId, now: Instant, queue: &mut Queue) {
        let Some(gateway) = &mut self.gateways[link.0 as usize] else { return };
        // An earlier event has replaced this one.
        if gateway.armed != Some(now) {
            return;
        }
        if !gateway.deferred && queue.due() == Some(now) {
            gateway.deferred = true;
            return queue.plan(now, FutureEvent::Gateway(link.0));
        }
        gateway.armed = None;
        gateway.resequencer.handle_timeout(now);
        gateway.arm(link, now, queue);
    }

    /// Returns the next packet that goes on from the resequencer at the far end of `link`.
    pub(crate) fn poll_release(&mut self, link: LinkId) -> Option<u32> {
        self.gateways[link.0 as usize].as_mut()?.resequencer.poll_release()
    }
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
