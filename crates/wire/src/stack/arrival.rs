//! What a packet does when it arrives.

use std::net::SocketAddr;

use unruffled_tcp::{Segment, reset_for};
use unruffled_units::Instant;

use super::socket::Owner;
use super::{ConnectionId, FourTuple, ListenerId, MAX_REPLIES, Relay, Stack, config};
use crate::codec::{self, Arrival, Checksums, Packet, TooBig};

impl Stack {
    /// A packet arrived. Where this returns true, send what [`Stack::poll_transmit`] has before the
    /// next packet goes in: an answer would be lost in a later one.
    pub fn receive(&mut self, packet: &[u8], checksums: Checksums, now: Instant) -> bool {
        self.counters.received += 1;
        self.urgent = false;
        match codec::decode(packet, checksums) {
            Err(reason) => self.counters.malformed.count(reason),
            Ok(Packet::TooBig(told)) => self.on_too_big(&told, now),
            Ok(Packet::Tcp(arrival)) => self.on_segment(&arrival, now),
        }
        self.urgent
    }

    fn on_segment(&mut self, arrival: &Arrival<'_>, now: Instant) {
        let tuple = FourTuple { local: arrival.to, remote: arrival.from };
        if !self.config.owns(tuple.local.ip()) {
            self.counters.foreign += 1;
            return;
        }
        match self.by_tuple.get(&tuple) {
            Some(&id) if self.takes(id, &arrival.segment) => self.on_segment_of(id, arrival, now),
            Some(&id) => {
                // TIME-WAIT gives way to a new connection (RFC 9293, section 3.10.7.4).
                self.by_tuple.remove(&tuple);
                self.forget(id);
                self.on_new(tuple, arrival, now);
            }
            None => self.on_new(tuple, arrival, now),
        }
    }

    /// Whether the segment is for this connection, and not for a new one in place of it.
    fn takes(&self, id: ConnectionId, segment: &Segment) -> bool {
        self.sockets.get(id.0).is_some_and(|socket| !socket.connection.gives_way_to(segment))
    }

    fn on_segment_of(&mut self, id: ConnectionId, arrival: &Arrival<'_>, now: Instant) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let mut relay = Relay { watcher: &mut self.watcher, id };
        self.urgent = socket.handle(arrival.segment, arrival.payload, now, &mut relay);
        self.after(id);
    }

    fn on_new(&mut self, tuple: FourTuple, arrival: &Arrival<'_>, now: Instant) {
        let flags = arrival.segment.flags;
        if flags.syn
            && !flags.ack
            && !flags.rst
            && let Some(listener) = self.listener_for(tuple.local)
        {
            let Some(waiting) = self.listeners.get_mut(listener.0).filter(|l| l.has_room()) else {
                self.counters.overflowed += 1;
                return;
            };
            waiting.handshakes += 1;
            let id = self.open(tuple, Owner::Handshake(listener.0), now);
            self.on_segment_of(id, arrival, now);
            return;
        }
        self.counters.stray += 1;
        if let Some(reset) = reset_for(&arrival.segment)
            && self.replies.len() < MAX_REPLIES
        {
            self.replies.push_back((tuple, reset));
        }
    }

    pub(super) fn listener_for(&self, local: SocketAddr) -> Option<ListenerId> {
        let any = config::unspecified(local);
        self.by_address.get(&local).or_else(|| self.by_address.get(&any)).copied()
    }

    fn on_too_big(&mut self, told: &TooBig, now: Instant) {
        let tuple = FourTuple { local: told.from, remote: told.to };
        let Some(&id) = self.by_tuple.get(&tuple) else { return };
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let mut relay = Relay { watcher: &mut self.watcher, id };
        socket.connection.handle_packet_too_big(told.mtu, told.seq, now, &mut relay);
        self.after(id);
    }
}
