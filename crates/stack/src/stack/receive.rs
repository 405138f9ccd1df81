//! Packets that arrive.

use unruffled_tcp::reset_for;
use unruffled_units::Instant;

use super::{Relay, Stack};
use crate::address::FourTuple;
use crate::codec::{self, Arrival, Checksums, Malformed, Packet};
use crate::ids::ConnectionId;
use crate::urgency::Urgency;

impl Stack {
    /// Receives a packet, IP header first.
    ///
    /// Invalid packets are counted and dropped. If the result is [`Urgency::Immediate`], call
    /// [`Stack::poll_transmit`] until it returns `None` before the next packet is received.
    pub fn receive(&mut self, packet: &[u8], checksums: Checksums, now: Instant) -> Urgency {
        self.receive_decoded(codec::decode(packet, checksums), now)
    }

    /// Receives a packet as [`Stack::receive`] does, after [`codec::decode`] has read it. A driver
    /// can thus decode packets before it locks the stack.
    pub fn receive_decoded(
        &mut self,
        packet: Result<Packet<'_>, Malformed>,
        now: Instant,
    ) -> Urgency {
        self.counters.received += 1;
        self.replies.set_urgency(Urgency::Deferrable);
        match packet {
            Err(reason) => self.counters.malformed.count(reason),
            Ok(Packet::Tcp(arrival)) => self.on_segment(&arrival, now),
            Ok(Packet::TooBig(report)) => {
                let ends = FourTuple { local: report.from, remote: report.to };
                self.on_report(ends, |socket, relay| {
                    socket.handle_too_big(report.mtu, report.seq, now, relay);
                });
            }
            Ok(Packet::Unreached(report)) => {
                let ends = FourTuple { local: report.from, remote: report.to };
                self.on_report(ends, |socket, relay| {
                    socket.handle_unreachable(report.what, report.seq, now, relay);
                });
            }
        }
        self.replies.urgency()
    }

    /// Looks up the connections of the packets that are received next, in this order, so that the
    /// processor loads their memory.
    ///
    /// Pass at most some tens of packets, so that all their connections fit into the processor's
    /// cache. The call is an optimisation: it changes no result, whatever is received next.
    pub fn look_ahead<'a>(
        &mut self,
        packets: impl IntoIterator<Item = &'a Result<Packet<'a>, Malformed>>,
    ) {
        self.connections.look_ahead(packets.into_iter().filter_map(|packet| match packet {
            Ok(Packet::Tcp(arrival)) => Some(FourTuple { local: arrival.to, remote: arrival.from }),
            _ => None,
        }));
    }

    fn on_segment(&mut self, arrival: &Arrival<'_>, now: Instant) {
        let ends = FourTuple { local: arrival.to, remote: arrival.from };
        if !self.config.owns(ends.local.ip()) {
            self.counters.foreign += 1;
            return;
        }
        if let Some(id) = self.connections.between_for_next(ends) {
            let socket = self.connections.get(id);
            if self.opening.requests.has_room(&self.budget)
                && let Some(isn) = socket.and_then(|socket| socket.gives_way_to(&arrival.segment))
                && let Some(listener) = self.listeners.serving(ends.local)
            {
                // TIME-WAIT gives way to a new connection (RFC 9293, section 3.10.7.4) if there is
                // room for one. The application that holds the old connection can still read its
                // data.
                if self.can_take(listener) {
                    self.connections.free_ends(ends, id);
                    self.add_request(ends, listener, &arrival.segment, isn, now);
                }
            } else {
                self.on_segment_of(id, arrival, now);
            }
        } else if !self.on_time_wait(ends, arrival, now) && !self.on_request(ends, arrival, now) {
            self.on_new(ends, arrival, now);
        }
    }

    /// Handles a segment of this connection.
    pub(super) fn on_segment_of(&mut self, id: ConnectionId, arrival: &Arrival<'_>, now: Instant) {
        let allowance = self.budget.allowance();
        let Some(socket) = self.connections.get_mut(id) else { return };
        let Arrival { mut segment, mut payload, .. } = *arrival;
        if !socket.has_memory_for(&segment, allowance) {
            self.counters.segments_refused += 1;
            if !socket.is_informed_by(&segment) {
                return;
            }
            // The payload counts as lost, but the acknowledgement may free memory.
            segment.len = 0;
            segment.flags.fin = false;
            payload = &[];
        }
        let mut relay = Relay { watcher: &mut self.watcher, id };
        let urgency = socket.handle(segment, payload, now, &mut relay);
        self.replies.set_urgency(urgency);
        self.after(id);
    }

    /// Handles a segment that belongs to no connection.
    fn on_new(&mut self, ends: FourTuple, arrival: &Arrival<'_>, now: Instant) {
        let flags = arrival.segment.flags;
        if let Some(listener) = self.listeners.serving(ends.local) {
            if flags.syn && !flags.ack && !flags.rst {
                self.on_syn(ends, listener, &arrival.segment, now);
                return;
            }
            if self.on_cookie(ends, listener, arrival, now) {
                return;
            }
            if !flags.ack {
                // A listener answers no other segment without ACK (RFC 9293, section 3.10.7.2): a
                // FIN must not show a scanner what a SYN would show.
                self.counters.stray += 1;
                return;
            }
        }
        self.counters.stray += 1;
        if let Some(reset) = reset_for(&arrival.segment) {
            self.replies.push(ends, reset, &mut self.counters);
        }
    }

    /// Passes an ICMP report to the connection between these ends, if there is one.
    fn on_report(
        &mut self,
        ends: FourTuple,
        handle: impl FnOnce(&mut crate::socket::Socket, &mut Relay<'_>),
    ) {
        let Some(id) = self.connections.between(ends) else { return };
        let Some(socket) = self.connections.get_mut(id) else { return };
        handle(socket, &mut Relay { watcher: &mut self.watcher, id });
        self.after(id);
    }
}
