//! Connections that come in: from a SYN, over a request or a cookie, to the listener's queue.

use unruffled_tcp::{Config, Connection, Segment, SeqNr, State, Verdict, syn_ack};
use unruffled_units::Instant;

use super::options::Options;
use super::requests::Due;
use super::socket::{Owner, Socket};
use super::{FourTuple, ListenerId, MAX_REPLIES, Relay, Stack, budget, cookies};
use crate::codec::Arrival;

impl Stack {
    /// A SYN for a listener arrived.
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
        if self.has_room_for_request() {
            let isn = self.isn(ends, now);
            self.add_request(ends, listener, syn, isn, now);
        } else {
            let isn = self.opening.cookies.make(ends, syn, now);
            let mut answer = self.syn_ack(ends, listener, syn, isn, now);
            cookies::write_options(&mut answer, syn);
            self.counters.cookies_sent += 1;
            self.reply(ends, answer);
        }
    }

    /// Answers a SYN that is taken, and for which there is room, and keeps what is needed of it.
    pub(super) fn add_request(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) {
        self.opening.requests.add(ends, listener.0, syn, isn, now);
        self.budget.charge(budget::REQUEST);
        self.answer_syn(ends, listener, syn, isn, now);
    }

    pub(super) fn has_room_for_request(&self) -> bool {
        let limit = self.budget.limits.requests;
        self.opening.requests.len() < limit && self.budget.has_room_for(budget::REQUEST)
    }

    /// Whether the listener can have one connection more.
    pub(super) fn can_take(&mut self, listener: ListenerId) -> bool {
        if !self.listeners.get(listener.0).is_some_and(|listener| listener.has_room()) {
            self.counters.overflowed += 1;
            return false;
        }
        let room = self.budget.has_room_for_connection(self.sockets.len());
        self.counters.connections_refused += u64::from(!room);
        room
    }

    /// Settings of a connection that comes in. A size that the listener has for receive buffers is
    /// the first window, but the scale is everybody's: it must not change between SYN-ACK and ACK.
    fn incoming(&self, ends: FourTuple, listener: ListenerId, isn: u32) -> Config {
        let mut config = self.config.connection_to(ends, isn);
        let options = self.listeners.get(listener.0).map(|listener| listener.options);
        if let Some(octets) = options.and_then(|options| options.receive_buffer) {
            config.initial_receive_buffer = Some(octets as u64);
        }
        config
    }

    fn syn_ack(
        &self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) -> Segment {
        let config = self.incoming(ends, listener, isn);
        syn_ack(&config, &self.config.variant, syn, now)
    }

    fn answer_syn(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        syn: &Segment,
        isn: u32,
        now: Instant,
    ) {
        let answer = self.syn_ack(ends, listener, syn, isn, now);
        self.reply(ends, answer);
    }

    pub(super) fn reply(&mut self, ends: FourTuple, answer: Segment) {
        if self.replies.queue.len() < MAX_REPLIES {
            self.replies.queue.push_back((ends, answer));
        } else {
            self.counters.replies_dropped += 1;
        }
    }

    /// SYN-ACKs that nobody has acknowledged leave again, or are given up.
    pub(super) fn answer_requests(&mut self, now: Instant) {
        while let Some(due) = self.opening.requests.poll_due(now) {
            match due {
                Due::Again(ends) => {
                    if let Some(request) = self.opening.requests.get_mut(ends) {
                        let (syn, isn) = (request.syn(), request.isn);
                        let listener = ListenerId(request.listener);
                        self.answer_syn(ends, listener, &syn, isn, now);
                    }
                }
                Due::Over => {
                    self.budget.refund(budget::REQUEST);
                    self.counters.requests_given_up += 1;
                }
            }
        }
    }

    /// A segment arrived for a half-open connection, if there is one: says whether there is.
    pub(super) fn on_request(
        &mut self,
        ends: FourTuple,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> bool {
        let Some(request) = self.opening.requests.get_mut(ends) else { return false };
        let isn = request.isn;
        let listener = ListenerId(request.listener);
        let repeated = request.is_repeated_by(&arrival.segment);
        let syn = request.syn();
        if repeated {
            self.answer_syn(ends, listener, &syn, isn, now);
            return true;
        }
        let (answered, retries) = (request.answered(), u32::from(request.retries));
        let flags = arrival.segment.flags;
        if flags.ack
            && arrival.segment.ack != SeqNr(isn).add(1)
            && self.on_cookie(ends, listener, arrival, now)
        {
            // The SYN had been answered by a cookie before there was room for it.
            if self.connection_between(ends).is_some() {
                self.end_request(ends);
            }
            return true;
        }
        if flags.ack && !flags.rst && !self.can_take(listener) {
            // It stays half-open, and the SYN-ACK that leaves again will ask once more.
            return true;
        }
        let config = self.incoming(ends, listener, isn);
        let connection =
            Connection::accept(config, &self.config.variant, &syn, answered, retries, now);
        if self.begin(ends, listener, connection, arrival, now) != State::SynReceived {
            self.end_request(ends);
        }
        true
    }

    fn end_request(&mut self, ends: FourTuple) {
        self.opening.requests.remove(ends);
        self.budget.refund(budget::REQUEST);
    }

    /// What arrived for a listener may acknowledge a cookie: says whether it does.
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

    /// Lets the connection that is to come into being handle its first segment, and queues it at the
    /// listener if that ends the handshake; else nothing of it stays but its answer. Says in which
    /// state that leaves it.
    fn begin(
        &mut self,
        ends: FourTuple,
        listener: ListenerId,
        connection: Connection,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> State {
        let (buffer, default) = (self.config.send_buffer, Options::of(&self.config));
        let owner = Owner::Queue(listener.0);
        let mut socket = Socket::new(ends, connection, buffer, default, owner);
        if let Some(listener) = self.listeners.get(listener.0) {
            socket.apply(listener.options, now);
        }
        let id = self.insert(socket);
        self.on_segment_of(id, arrival, now);
        let Some(socket) = self.sockets.get_mut(id.0) else { return State::Closed };
        let state = socket.connection.state();
        if state.is_synchronised() {
            if let Some(listener) = self.listeners.get_mut(listener.0) {
                listener.queue.push_back(id);
                self.wakers.append(&mut listener.waiting);
            }
            return state;
        }
        let mut relay = Relay { watcher: &mut self.watcher, id };
        let allowance = self.budget.allowance();
        let answer = socket.transmit(allowance, now, &mut relay);
        self.remove(id);
        if let Some(answer) = answer {
            self.reply(ends, answer);
        }
        state
    }

    /// A segment arrived for a connection in TIME-WAIT, if there is one: says whether there is.
    pub(super) fn on_time_wait(
        &mut self,
        ends: FourTuple,
        arrival: &Arrival<'_>,
        now: Instant,
    ) -> bool {
        let listener = self.listener_for(ends.local);
        let room = self.has_room_for_request();
        let Some(kept) = self.time_waits.get_mut(ends) else { return false };
        if let Some(listener) = listener.filter(|_| room && kept.gives_way_to(&arrival.segment)) {
            let isn = kept.next_isn();
            if self.can_take(listener) {
                self.forget_time_wait(ends);
                self.add_request(ends, listener, &arrival.segment, isn, now);
            }
            return true;
        }
        match kept.handle_segment(&arrival.segment, now) {
            Verdict::Drop => {}
            Verdict::Answer(answer) => self.reply(ends, answer),
            Verdict::End => self.forget_time_wait(ends),
        }
        true
    }
}
