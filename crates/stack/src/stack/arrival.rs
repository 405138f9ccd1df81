//! What a packet does when it arrives.

use std::net::SocketAddr;

use unruffled_tcp::{Segment, reset_for};
use unruffled_units::Instant;

use super::{ConnectionId, FourTuple, ListenerId, Relay, Stack};
use crate::codec::{self, Arrival, Checksums, Malformed, Packet, TooBig, Unreached};

impl Stack {
    /// A packet arrived. Where this returns true, send what [`Stack::poll_transmit`] has before the
    /// next packet goes in: an answer would be lost in a later one.
    pub fn receive(&mut self, packet: &[u8], checksums: Checksums, now: Instant) -> bool {
        self.receive_decoded(codec::decode(packet, checksums), now)
    }

    /// As [`Stack::receive`], for a packet that has been read already: what takes long about it can
    /// be done before the stack is held.
    pub fn receive_decoded(&mut self, packet: Result<Packet<'_>, Malformed>, now: Instant) -> bool {
        self.counters.received += 1;
        self.replies.urgent = false;
        match packet {
            Err(reason) => self.counters.malformed.count(reason),
            Ok(Packet::TooBig(told)) => self.on_too_big(&told, now),
            Ok(Packet::Unreached(told)) => self.on_unreached(&told, now),
            Ok(Packet::Tcp(arrival)) => self.on_segment(&arrival, now),
        }
        self.replies.urgent
    }

    fn on_segment(&mut self, arrival: &Arrival<'_>, now: Instant) {
        let tuple = FourTuple { local: arrival.to, remote: arrival.from };
        if !self.config.owns(tuple.local.ip()) {
            self.counters.foreign += 1;
            return;
        }
        if let Some(id) = self.connection_for_next(tuple) {
            if let Some(isn) = self.gives_way(id, &arrival.segment)
                && let Some(listener) = self.listener_for(tuple.local)
            {
                // TIME-WAIT gives way to a new connection (RFC 9293, section 3.10.7.4), if it can be
                // taken; whoever holds the old one still reads what it has.
                if self.can_take(listener) {
                    self.strike(tuple, id);
                    self.add_request(tuple, listener, &arrival.segment, isn, now);
                }
            } else {
                self.on_segment_of(id, arrival, now);
            }
        } else if !self.on_time_wait(tuple, arrival, now) && !self.on_request(tuple, arrival, now) {
            self.on_new(tuple, arrival, now);
        }
    }

    /// The initial sequence number of the connection for which this one, in TIME-WAIT, makes room.
    fn gives_way(&self, id: ConnectionId, segment: &Segment) -> Option<u32> {
        let connection = &self.sockets.get(id.0)?.connection;
        (self.has_room_for_request() && connection.gives_way_to(segment))
            .then(|| connection.time_wait().map(|kept| kept.next_isn()))?
    }

    pub(super) fn on_segment_of(&mut self, id: ConnectionId, arrival: &Arrival<'_>, now: Instant) {
        let allowance = self.budget.allowance();
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let Arrival { mut segment, mut payload, .. } = *arrival;
        if !socket.has_memory_for(&segment, allowance) {
            self.counters.segments_refused += 1;
            if !socket.is_told_more_by(&segment) {
                return;
            }
            // Its text is as good as lost, but what it acknowledges frees memory.
            (segment.len, segment.flags.fin, payload) = (0, false, &[]);
        }
        let mut relay = Relay { watcher: &mut self.watcher, id };
        self.replies.urgent = socket.handle(segment, payload, now, &mut relay);
        self.after(id);
    }

    fn on_new(&mut self, tuple: FourTuple, arrival: &Arrival<'_>, now: Instant) {
        let flags = arrival.segment.flags;
        if let Some(listener) = self.listener_for(tuple.local) {
            if flags.syn && !flags.ack && !flags.rst {
                self.on_syn(tuple, listener, &arrival.segment, now);
                return;
            }
            if self.on_cookie(tuple, listener, arrival, now) {
                return;
            }
            if !flags.ack {
                // To a listener no other segment without ACK calls for an answer (RFC 9293, section
                // 3.10.7.2): a FIN must not tell a scanner what a SYN would.
                self.counters.stray += 1;
                return;
            }
        }
        self.counters.stray += 1;
        if let Some(reset) = reset_for(&arrival.segment) {
            self.reply(tuple, reset);
        }
    }

    pub(super) fn listener_for(&self, local: SocketAddr) -> Option<ListenerId> {
        self.listeners.serving(local).map(ListenerId)
    }

    fn on_unreached(&mut self, told: &Unreached, now: Instant) {
        let tuple = FourTuple { local: told.from, remote: told.to };
        let Some(id) = self.connection_between(tuple) else { return };
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let mut relay = Relay { watcher: &mut self.watcher, id };
        socket.connection.handle_unreachable(told.what, told.seq, now, &mut relay);
        self.after(id);
    }

    fn on_too_big(&mut self, told: &TooBig, now: Instant) {
        let tuple = FourTuple { local: told.from, remote: told.to };
        let Some(id) = self.connection_between(tuple) else { return };
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        let mut relay = Relay { watcher: &mut self.watcher, id };
        socket.connection.handle_packet_too_big(told.mtu, told.seq, now, &mut relay);
        self.after(id);
    }
}
