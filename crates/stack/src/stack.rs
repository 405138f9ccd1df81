//! Many connections at once, between packets on one side and applications on the other.

mod application;
mod failure;
mod passive;
mod receive;
mod settings;
mod transmit;

use std::fmt;
use std::task::Waker;

use unruffled_tcp::{Event, Observer, State, initial_sequence_number};
use unruffled_units::Instant;

use crate::address::FourTuple;
use crate::budget::Budget;
use crate::config::StackConfig;
use crate::connections::Connections;
use crate::cookies::Cookies;
use crate::counters::Counters;
use crate::error::StackError;
use crate::ids::ConnectionId;
use crate::listener::Listeners;
use crate::ports::Ports;
use crate::requests::Requests;
use crate::time_wait::TimeWaits;
use crate::turns::{Replies, Turns};
use crate::usage::Usage;

/// Receives what happens in all connections. Use it to count or to log.
pub type Watcher = Box<dyn FnMut(ConnectionId, Instant, &Event) + Send>;

/// Many TCP connections without I/O and without a clock.
///
/// Drive it as the [crate's documentation](crate) shows, or run it with a driver of
/// `unruffled-wire`.
pub struct Stack {
    config: StackConfig,
    connections: Connections,
    listeners: Listeners,
    opening: Opening,
    /// Connections in TIME-WAIT that no application holds.
    time_waits: TimeWaits,
    budget: Budget,
    turns: Turns,
    replies: Replies,
    wakers: Vec<Waker>,
    counters: Counters,
    watcher: Option<Watcher>,
    condition: Condition,
}

/// State from which new connections are made.
struct Opening {
    /// Half-open connections.
    requests: Requests,
    cookies: Cookies,
    ports: Ports,
    isn_key: [u8; 16],
}

impl Opening {
    /// Returns the initial sequence number of a connection between these ends.
    fn isn(&self, ends: FourTuple, now: Instant) -> u32 {
        initial_sequence_number(&self.isn_key, ends.local, ends.remote, now)
    }
}

/// Whether the stack makes new connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Open,
    /// No new connections are made.
    ShutDown,
    /// No new connections are made, and all earlier ones have been dropped after a panic.
    Failed,
}

impl Condition {
    /// Returns the error of a connection or listener that does not exist.
    fn missing(self) -> StackError {
        if self == Self::Failed { StackError::Failed } else { StackError::Closed }
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("connections", &self.connections.len())
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

impl Stack {
    /// Returns a stack without connections.
    pub fn new(config: StackConfig) -> Self {
        Self {
            opening: Opening {
                requests: Requests::default(),
                cookies: Cookies::new(config.key.key_for("cookies")),
                ports: Ports::new(config.key.key_for("ports"), config.ports.clone()),
                isn_key: config.key.key_for("initial sequence numbers"),
            },
            time_waits: TimeWaits::default(),
            budget: Budget::new(config.limits),
            connections: Connections::new(config.key.key_for("directory")),
            config,
            listeners: Listeners::default(),
            turns: Turns::new(),
            replies: Replies::new(),
            wakers: Vec::new(),
            counters: Counters::default(),
            watcher: None,
            condition: Condition::Open,
        }
    }

    /// Passes all further events to `watcher`, or to none.
    pub fn watch(&mut self, watcher: Option<Watcher>) {
        self.watcher = watcher;
    }

    /// Returns the counts of what the stack has received, sent and refused.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns what the stack holds at this moment.
    pub fn usage(&self) -> Usage {
        Usage {
            connections: self.connections.len(),
            requests: self.opening.requests.len(),
            time_waits: self.time_waits.len(),
            octets: self.budget.used(),
        }
    }

    /// Returns the time at which to call [`Stack::handle_timeout`], unless another call changes it.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let next = [
            self.connections.next_due(),
            self.opening.requests.next_due(),
            self.time_waits.next_due(),
        ];
        next.into_iter().flatten().min()
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((due, id)) = self.connections.pop_due(now) {
            let Some(socket) = self.connections.get_mut(id) else { continue };
            // One entry may stand for both timers of a connection.
            if socket.schedule().is_orphan_due(due) {
                match socket.check_orphan(self.budget.limits().orphan_timeout, now) {
                    Some(due) => self.connections.plan(due, id),
                    None => {
                        self.counters.orphans_given_up += 1;
                        socket.abort();
                        self.after(id);
                    }
                }
            }
            let Some(socket) = self.connections.get_mut(id) else { continue };
            if !socket.schedule_mut().disarm(due) {
                continue;
            }
            let mut relay = Relay { watcher: &mut self.watcher, id };
            if socket.handle_timeout(now, &mut relay) {
                self.after(id);
            } else {
                self.connections.arm(id);
            }
        }
        self.answer_requests(now);
        self.time_waits.expire(now, &mut self.budget);
        self.connections.inspect_due(now, &mut self.budget, &mut self.wakers);
    }

    /// Moves the wakers of those who can proceed to `wakers`. Wake them without holding a lock on
    /// the stack.
    pub fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.wakers);
    }

    /// Follows up an event of a connection: it may have something to send, may wake those who wait,
    /// and may take more memory or less.
    fn after(&mut self, id: ConnectionId) {
        let allowance = self.budget.allowance();
        let Some(socket) = self.connections.get_mut(id) else { return };
        socket.wake(allowance, &mut self.wakers);
        self.connections.settle(id, &mut self.budget);
        self.turns.push(id, &mut self.connections);
    }

    /// Ends the turn of a connection that has nothing to send at this moment.
    fn end_turn(&mut self, id: ConnectionId, now: Instant) {
        let Some(socket) = self.connections.get_mut(id) else { return };
        socket.dequeue();
        if !socket.is_closed() {
            if socket.is_released() && socket.state() == State::TimeWait {
                self.enter_time_wait(id);
                return;
            }
            if !self.connections.follow_orphan(id, now, &mut self.budget) {
                self.counters.orphans_refused += 1;
                self.abort(id);
            }
            self.connections.arm(id);
            self.connections.end_turn(id, now, &mut self.budget);
            return;
        }
        // Another connection may use the ends now. Data that has not been read stays.
        socket.wake(self.budget.allowance(), &mut self.wakers);
        if socket.is_released() {
            self.connections.remove(id, &mut self.budget);
        } else {
            let ends = socket.ends();
            self.connections.free_ends(ends, id);
            self.connections.end_turn(id, now, &mut self.budget);
        }
    }

    /// Replaces a released connection in TIME-WAIT by an entry of a few octets.
    fn enter_time_wait(&mut self, id: ConnectionId) {
        let Some(socket) = self.connections.get(id) else { return };
        let ends = socket.ends();
        let kept = socket.time_wait();
        let is_current = self.connections.between(ends) == Some(id);
        self.connections.remove(id, &mut self.budget);
        if !self.time_waits.has_room(&self.budget) {
            self.counters.time_waits_refused += 1;
        } else if let Some(kept) = kept.filter(|_| is_current) {
            self.time_waits.add(ends, kept, &mut self.budget);
        }
    }
}

/// Passes the events of a connection to the watcher.
struct Relay<'a> {
    watcher: &'a mut Option<Watcher>,
    id: ConnectionId,
}

impl Observer for Relay<'_> {
    fn on_event(&mut self, now: Instant, event: &Event) {
        if let Some(watcher) = self.watcher {
            watcher(self.id, now, event);
        }
    }
}
