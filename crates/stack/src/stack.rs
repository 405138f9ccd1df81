//! Many connections at once, between packets on one side and applications on the other.
//!
//! Like the engine, a [`Stack`] does no I/O and has no clock. Packets go in with
//! [`Stack::receive`] and come out of [`Stack::poll_transmit`]; [`Stack::poll_timeout`] says when to
//! call [`Stack::handle_timeout`]. Applications use the `poll_*` methods of the futures kind: what
//! cannot be done yet is pending, and the waker of whoever asked is among [`Stack::take_wakers`] once
//! it can.

mod application;
mod arrival;
mod budget;
mod config;
mod cookies;
mod counters;
mod departure;
mod directory;
mod failure;
pub mod info;
mod listener;
mod lookahead;
mod memory;
mod options;
mod orphan;
mod passive;
mod ports;
mod requests;
mod secret;
mod slab;
mod socket;
mod time_wait;
mod timers;

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

use unruffled_tcp::{Connection, Event, Observer, Segment, State, initial_sequence_number};
use unruffled_units::Instant;

pub use budget::Limits;
pub use config::{StackConfig, StackError};
pub use counters::Counters;
pub use departure::{Departure, Offload};
pub use info::Info;
pub use options::{BufferSizes, Options};
pub use secret::Secret;
pub use socket::FourTuple;

use budget::Budget;
use cookies::Cookies;
use directory::Directory;
use listener::Listeners;
use ports::Ports;
use requests::Requests;
use slab::{Key, Slab};
use socket::{Owner, Socket};
use time_wait::TimeWaits;
use timers::Timers;

/// Packets that one connection may send before the next has its turn.
const QUANTUM: u32 = 32;

/// Most turns that wait for connections that are no more, beside one for each that there is.
const GONE: usize = 1024;

/// Most SYN-ACKs, resets and the like that wait to leave: more than a driver's batch brings.
const MAX_REPLIES: usize = 1024;

/// Names a connection of a stack; never used for a second one. Use it to write, read and close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(Key);

/// Names a listener of a stack. Use it to accept what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(Key);

/// Receives what happens in all connections. Use it to count or to log.
pub type Watcher = Box<dyn FnMut(ConnectionId, Instant, &Event) + Send>;

/// The stack. Use it behind `unruffled_wire::driver::Driver`, or drive it by hand: the module says in
/// which order.
pub struct Stack {
    config: StackConfig,
    sockets: Slab<Box<Socket>>,
    directory: Directory,
    listeners: Listeners,
    timers: Timers,
    turns: Turns,
    replies: Replies,
    wakers: Vec<Waker>,
    opening: Opening,
    /// Connections in TIME-WAIT that nobody holds.
    time_waits: TimeWaits,
    budget: Budget,
    /// Connections whose buffers are to be looked at, and when.
    watched: VecDeque<(Instant, ConnectionId)>,
    counters: Counters,
    watcher: Option<Watcher>,
    condition: Condition,
}

/// What connections come into being with.
struct Opening {
    /// Half-open connections, and what stands for them when there are too many.
    requests: Requests,
    cookies: Cookies,
    ports: Ports,
    isn_key: [u8; 16],
}

/// Who may send next.
#[derive(Debug)]
struct Turns {
    /// Connections that may have something to send, in turn.
    eager: VecDeque<ConnectionId>,
    /// A segment that did not go together with those before it: it leaves next.
    held: Option<(ConnectionId, Segment)>,
    /// What the one whose turn it is may still send.
    quantum: u32,
}

/// Answers that belong to no connection.
#[derive(Debug, Default)]
struct Replies {
    queue: VecDeque<(FourTuple, Segment)>,
    /// An answer, of whomever, must leave before anything more is read.
    urgent: bool,
}

/// Whether new connections are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Open,
    /// No new connections any more.
    Shut,
    /// All that it held has been dropped.
    Failed,
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack")
            .field("connections", &self.sockets.len())
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

impl Stack {
    /// A stack without connections.
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
            watched: VecDeque::new(),
            directory: Directory::new(config.key.key_for("directory")),
            config,
            sockets: Slab::default(),
            listeners: Listeners::default(),
            timers: Timers::default(),
            turns: Turns { eager: VecDeque::new(), held: None, quantum: QUANTUM },
            replies: Replies::default(),
            wakers: Vec::new(),
            counters: Counters::default(),
            watcher: None,
            condition: Condition::Open,
        }
    }

    /// Tells `watcher` of all that happens from now on.
    pub fn watch(&mut self, watcher: Option<Watcher>) {
        self.watcher = watcher;
    }

    /// What went in and out.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Connections in memory, in whatever state.
    pub fn connections(&self) -> usize {
        self.sockets.len()
    }

    /// Half-open connections.
    pub fn requests(&self) -> usize {
        self.opening.requests.len()
    }

    /// Connections in TIME-WAIT that nobody holds.
    pub fn time_waits(&self) -> usize {
        self.time_waits.len()
    }

    fn open(&mut self, tuple: FourTuple, isn: Option<u32>, now: Instant) -> ConnectionId {
        let isn = isn.unwrap_or_else(|| self.isn(tuple, now));
        let config = self.config.connection_to(tuple, isn);
        let connection = Connection::connect(config, &self.config.variant);
        let options = Options::of(&self.config);
        let send_buffer = self.config.send_buffer;
        self.insert(Socket::new(tuple, connection, send_buffer, options, Owner::Application))
    }

    fn isn(&self, tuple: FourTuple, now: Instant) -> u32 {
        initial_sequence_number(&self.opening.isn_key, tuple.local, tuple.remote, now)
    }

    /// Something happened to a connection: it may have something to send, somebody may have waited
    /// for it, and its timer may have changed.
    fn after(&mut self, id: ConnectionId) {
        let allowance = self.budget.allowance();
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        socket.wake(allowance, &mut self.wakers);
        self.settle(id);
        self.changed(id);
    }

    /// When to call [`Stack::handle_timeout`], unless something happens before.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let watched = self.watched.front().map(|next| next.0);
        let others = [self.opening.requests.next(), self.time_waits.next(), watched];
        let next = others.into_iter().flatten().min();
        while let Some((due, id)) = self.timers.peek() {
            if self.sockets.get(id.0).is_some_and(|socket| socket.waits_for(due)) {
                return Some(next.map_or(due, |next| next.min(due)));
            }
            self.timers.pop();
        }
        next
    }

    /// Timers may be due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((due, id)) = self.timers.peek().filter(|&(due, _)| due <= now) {
            self.timers.pop();
            let Some(socket) = self.sockets.get(id.0) else { continue };
            // One entry may stand for both of its timers.
            if socket.orphan.is_some_and(|orphan| orphan.due == due) {
                self.look_at_orphan(id, now);
            }
            let socket = self.sockets.get_mut(id.0).filter(|socket| socket.armed == Some(due));
            let Some(socket) = socket else { continue };
            socket.armed = None;
            if socket.connection.poll_timeout().is_some_and(|at| at <= now) {
                let mut relay = Relay { watcher: &mut self.watcher, id };
                socket.handle_timeout(now, &mut relay);
                self.after(id);
            } else {
                self.arm(id);
            }
        }
        self.answer_requests(now);
        let (before, waits) = (self.time_waits.len(), &mut self.time_waits);
        waits.expire(now);
        self.budget.refund((before - waits.len()) * budget::TIME_WAIT);
        self.free_idle(now);
    }

    fn plan(&mut self, due: Instant, id: ConnectionId) {
        self.timers.push(due, id);
        // A connection has two that count at the most.
        let sockets = &self.sockets;
        self.timers.tidy(sockets.len(), |due, id| {
            sockets.get(id.0).is_some_and(|socket| socket.waits_for(due))
        });
    }

    /// Plans the connection's next timer, if it is earlier than the one planned.
    fn arm(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        if let Some(due) = socket.connection.poll_timeout()
            && socket.armed.is_none_or(|armed| due < armed)
        {
            socket.armed = Some(due);
            self.plan(due, id);
        }
    }

    /// The connection has nothing to send for now.
    fn rest(&mut self, id: ConnectionId, now: Instant) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        socket.queued = false;
        if !socket.closed() {
            if socket.owner == Owner::Nobody && socket.connection.state() == State::TimeWait {
                self.wait_out(id);
                return;
            }
            self.follow_orphan(id, now);
            self.arm(id);
            self.economise(id, now);
            return;
        }
        // Its addresses are free for another; what has not been read stays.
        let tuple = socket.tuple;
        socket.wake(self.budget.allowance(), &mut self.wakers);
        if socket.owner == Owner::Nobody {
            self.remove(id);
        } else {
            self.strike(tuple, id);
            self.economise(id, now);
        }
    }

    /// Nobody holds the connection, and it is in TIME-WAIT: little of it is kept.
    fn wait_out(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get(id.0) else { return };
        let (tuple, kept) = (socket.tuple, socket.connection.time_wait());
        let current = self.connection_between(tuple) == Some(id);
        self.remove(id);
        let limit = self.budget.limits.time_waits;
        if self.time_waits.len() >= limit || !self.budget.has_room_for(budget::TIME_WAIT) {
            self.counters.time_waits_refused += 1;
        } else if let Some(kept) = kept.filter(|_| current) {
            self.time_waits.add(tuple, kept);
            self.budget.charge(budget::TIME_WAIT);
        }
    }

    /// A connection in TIME-WAIT ends before its time.
    fn forget_time_wait(&mut self, tuple: FourTuple) {
        if self.time_waits.remove(tuple).is_some() {
            self.budget.refund(budget::TIME_WAIT);
        }
    }

    /// The application did something to a connection: it may have something to send.
    fn changed(&mut self, id: ConnectionId) {
        if let Some(socket) = self.sockets.get_mut(id.0)
            && !socket.queued
        {
            socket.queued = true;
            self.turns.eager.push_back(id);
            // Those that are no more go with their turns, which do not come while nothing can leave.
            if self.turns.eager.len() > 2 * self.sockets.len() + GONE {
                self.turns.eager.retain(|id| self.sockets.get(id.0).is_some());
            }
        }
    }

    /// Moves to `wakers` those whose wish can be granted; wake them without holding the stack.
    pub fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.wakers);
    }
}

/// Passes a connection's events on to the watcher.
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
