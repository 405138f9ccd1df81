//! Connections that peers open: from a SYN, over a request or a cookie, to the listener's queue.

use unruffled_tcp::{Config, Connection, Segment, SeqNr, State, Verdict, syn_ack};
use unruffled_units::Instant;

use super::{Relay, Stack};
use crate::address::FourTuple;
use crate::codec::Arrival;
use crate::cookies;
use crate::ids::ListenerId;
use crate::options::Options;
use crate::requests::Due;
use crate::socket::{Owner, Socket};

impl Stack {
    /// Handles a SYN for a listener.
    pub(super) fn on_syn(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        now: Instant,
    ) {
        if !self.can_take(listener) {
            return;
        }
        if self.opening.requests.has_room(&self.budget) {
            let isn = self.opening.isn(ends, now);
            self.add_request(ends, listener, syn, isn, now);
        } else {
            let isn = self.opening.cookies.make(ends, syn, now);
            let config = self.incoming(ends, listener, isn);
            let mut answer = syn_ack(&config, &self.config.variant, syn, now);
            cookies::write_options(&mut answer, syn);
            self.counters.cookies_sent += 1;
            self.replies.push(ends, answer, &mut self.counters);
        }
    }

    /// Stores the request of a SYN, for which there is room, and answers it.
    pub(super) fn add_request(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) {
        self.opening.requests.add(ends, listener, syn, isn, now, &mut self.budget);
        self.answer_syn(ends, listener, syn, isn, now);
    }

    /// Returns whether the listener's backlog and the limits allow one more connection, and counts
    /// the refusal if not.
    pub(super) fn can_take(&mut self, listener: ListenerId) -> bool {
        if !self.listeners.get(listener).is_some_and(|listener| listener.has_room()) {
            self.counters.overflowed += 1;
            return false;
        }
        let has_room = self.budget.has_room_for_connection(self.connections.len());
        self.counters.connections_refused += u64::from(!has_room);
        has_room
    }

    /// Returns the settings of a connection that the peer opens.
    ///
    /// The listener's receive buffer size sets the first window. The window scale is the same for
    /// all listeners: it must not change between SYN-ACK and ACK.
    fn incoming(&self, ends: FourTuple, listener: ListenerId, isn: u32) -> Config {
        let mut config = self.config.connection_to(ends, isn);
        let options = self.listeners.get(listener).map(|listener| listener.options());
        if let Some(octets) = options.and_then(|options| options.receive_buffer) {
            config.initial_receive_buffer = Some(octets as u64);
        }
        config
    }

    fn answer_syn(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) {
        let config = self.incoming(ends, listener, isn);
        let answer = syn_ack(&config, &self.config.variant, syn, now);
        self.replies.push(ends, answer, &mut self.counters);
    }

    /// Sends unacknowledged SYN-ACKs again, or gives their requests up.
    pub(super) fn answer_requests(&mut self, now: Instant) {
        while let Some(due) = self.opening.requests.poll_due(now, &mut self.budget) {
            match due {
                Due::Retransmit(ends) => {
                    if let Some(request) = self.opening.requests.get_mut(ends) {
                        let (syn, isn) = (request.syn(), request.isn());
                        let listener = request.listener();
                        self.answer_syn(ends, listener, &syn, isn, now);
                    }
                }
                Due::GivenUp => self.counters.requests_given_up += 1,
            }
        }
    }

    /// Handles a segment for a half-open connection; returns false if there is none.
    pub(super) fn on_request(
        &mut self,
        ends: FourTuple,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> bool {
        let Some(request) = self.opening.requests.get_mut(ends) else { return false };
        let isn = request.isn();
        let listener = request.listener();
        let repeated = request.is_repeated_by(&arrival.segment);
        let syn = request.syn();
        if repeated {
            self.answer_syn(ends, listener, &syn, isn, now);
            return true;
        }
        let answered = request.answered();
        let retries = request.retries();
        let flags = arrival.segment.flags;
        if flags.ack
            && arrival.segment.ack != SeqNr(isn).add(1)
            && self.on_cookie(ends, listener, arrival, now)
        {
            // A cookie had answered an earlier copy of the SYN, before there was room for the
            // request.
            if self.connections.between(ends).is_some() {
                self.opening.requests.remove(ends, &mut self.budget);
            }
            return true;
        }
        if flags.ack && !flags.rst && !self.can_take(listener) {
            // The request stays: the next SYN-ACK causes another acknowledgement.
            return true;
        }
        let config = self.incoming(ends, listener, isn);
        let connection =
            Connection::accept(config, &self.config.variant, &syn, answered, retries, now);
        if self.begin(ends, listener, connection, arrival, now) != State::SynReceived {
            self.opening.requests.remove(ends, &mut self.budget);
        }
        true
    }

    /// Handles a segment for a listener if it acknowledges a cookie; returns whether it does.
    pub(super) fn on_cookie(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> bool {
        let flags = arrival.segment.flags;
        if !flags.ack || flags.syn || flags.rst {
            return false;
        }
        let Some(syn) = self.opening.cookies.check(ends, &arrival.segment, now) else {
            return false;
        };
        if !self.can_take(listener) {
            return true;
        }
        let isn = arrival.segment.ack.0.wrapping_sub(1);
        let config = self.incoming(ends, listener, isn);
        let connection = Connection::accept(config, &self.config.variant, &syn, None, 0, now);
        if self.begin(ends, listener, connection, arrival, now).is_synchronised() {
            self.counters.cookies_accepted += 1;
        }
        true
    }

    /// Lets a new connection handle its first segment, and returns the state after it.
    ///
    /// If that ends the handshake, the connection is queued at the listener. If not, only its
    /// answer remains.
    fn begin(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        connection: Connection,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> State {
        let default = Options::of(&self.config);
        let owner = Owner::Queue(listener);
        let mut socket = Socket::new(ends, connection, self.config.send_buffer, default, owner);
        if let Some(listener) = self.listeners.get(listener) {
            socket.apply(listener.options(), now);
        }
        let id = self.connections.insert(socket, &mut self.budget);
        self.on_segment_of(id, arrival, now);
        let Some(socket) = self.connections.get_mut(id) else { return State::Closed };
        let state = socket.state();
        if state.is_synchronised() {
            if let Some(listener) = self.listeners.get_mut(listener) {
                listener.push(id, &mut self.wakers);
            }
            return state;
        }
        let mut relay = Relay { watcher: &mut self.watcher, id };
        let answer = socket.transmit(self.budget.allowance(), now, &mut relay);
        self.connections.remove(id, &mut self.budget);
        if let Some(answer) = answer {
            self.replies.push(ends, answer, &mut self.counters);
        }
        state
    }

    /// Handles a segment for a connection in TIME-WAIT; returns false if there is none.
    pub(super) fn on_time_wait(
        &mut self,
        ends: FourTuple,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> bool {
        let listener = self.listeners.serving(ends.local);
        let has_room = self.opening.requests.has_room(&self.budget);
        let Some(kept) = self.time_waits.get_mut(ends) else { return false };
        if let Some(listener) = listener
            && has_room
            && kept.gives_way_to(&arrival.segment)
        {
            let isn = kept.next_isn();
            if self.can_take(listener) {
                self.time_waits.remove(ends, &mut self.budget);
                self.add_request(ends, listener, &arrival.segment, isn, now);
            }
            return true;
        }
        match kept.handle_segment(&arrival.segment, now) {
            Verdict::Drop => {}
            Verdict::Answer(answer) => self.replies.push(ends, answer, &mut self.counters),
            Verdict::End => self.time_waits.remove(ends, &mut self.budget),
        }
        true
    }
}
