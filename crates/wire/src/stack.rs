//! Many connections at once, between packets on one side and applications on the other.
//!
//! Like the engine, a [`Stack`] does no I/O and has no clock. Packets go in with
//! [`Stack::receive`] and come out of [`Stack::poll_transmit`]; [`Stack::poll_timeout`] says when to
//! call [`Stack::handle_timeout`]. Applications use the `poll_*` methods of the futures kind: what
//! cannot be done yet is pending, and the waker of whoever asked is among [`Stack::take_wakers`] once
//! it can.

mod application;
mod arrival;
mod config;
mod departure;
mod listener;
mod slab;
mod socket;
mod timers;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::task::Waker;

use unruffled_tcp::{Event, Observer, Segment, State, initial_sequence_number};
use unruffled_units::{Duration, Instant};

pub use config::{StackConfig, StackError};
pub use departure::{Departure, Offload};
pub use socket::FourTuple;

use crate::codec::Drops;
use listener::Listener;
use slab::{Key, Slab};
use socket::{Owner, Socket};
use timers::Timers;

/// Packets that one connection may send before the next has its turn.
const QUANTUM: u32 = 32;

/// Most resets and the like that wait to leave.
const MAX_REPLIES: usize = 64;

/// How long an orphan waits for its peer to close (as Linux's `tcp_fin_timeout`).
const ORPHAN: Duration = Duration::from_secs(60);

/// Names a connection of a stack; never used for a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(Key);

/// Names a listener of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(Key);

/// What a stack has seen, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived.
    pub received: u64,
    /// Packets that left.
    pub sent: u64,
    /// Those dropped because of what they were.
    pub malformed: Drops,
    /// Those for addresses that are not ours.
    pub foreign: u64,
    /// Segments that belong to no connection, and no SYN for a listener.
    pub stray: u64,
    /// SYNs that no listener had room for.
    pub overflowed: u64,
}

/// Somebody who is told what happens in all connections.
pub type Watcher = Box<dyn FnMut(ConnectionId, Instant, &Event) + Send>;

/// The stack.
pub struct Stack {
    config: StackConfig,
    sockets: Slab<Socket>,
    by_tuple: HashMap<FourTuple, ConnectionId>,
    listeners: Slab<Listener>,
    by_address: HashMap<SocketAddr, ListenerId>,
    timers: Timers,
    /// Connections that may have something to send, in turn.
    eager: VecDeque<ConnectionId>,
    /// A segment that did not go together with those before it: it leaves next.
    held: Option<(ConnectionId, Segment)>,
    /// What the one whose turn it is may still send.
    quantum: u32,
    /// Answers that belong to no connection.
    replies: VecDeque<(FourTuple, Segment)>,
    /// An answer that must leave before anything more is read.
    urgent: bool,
    wakers: Vec<Waker>,
    next_port: u16,
    counters: Counters,
    watcher: Option<Watcher>,
    /// No new connections any more.
    shut: bool,
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
        let next_port = config.first_port();
        Self {
            config,
            sockets: Slab::new(),
            by_tuple: HashMap::new(),
            listeners: Slab::new(),
            by_address: HashMap::new(),
            timers: Timers::default(),
            eager: VecDeque::new(),
            held: None,
            quantum: QUANTUM,
            replies: VecDeque::new(),
            urgent: false,
            wakers: Vec::new(),
            next_port,
            counters: Counters::default(),
            watcher: None,
            shut: false,
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

    fn open(&mut self, tuple: FourTuple, owner: Owner, now: Instant) -> ConnectionId {
        let isn = initial_sequence_number(&self.config.key, tuple.local, tuple.remote, now);
        let config = self.config.connection_to(tuple.remote.ip(), isn);
        let (variant, room) = (&self.config.variant, self.config.send_buffer);
        let socket = Socket::new(tuple, config, variant, room, owner);
        let id = ConnectionId(self.sockets.insert(socket));
        self.by_tuple.insert(tuple, id);
        id
    }

    /// Something happened to a connection: it may have something to send, somebody may have waited
    /// for it, and its timer may have changed.
    fn after(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        if socket.connection.state() == State::Listen {
            // The attempt came to nothing, and it is the listener that waits for another.
            socket.connection.abort();
        }
        socket.wake(&mut self.wakers);
        if !socket.queued {
            socket.queued = true;
            self.eager.push_back(id);
        }
        if let Owner::Handshake(listener) = socket.owner
            && !socket.opening()
        {
            match self.listeners.get_mut(listener) {
                Some(waiting) => {
                    waiting.handshakes -= 1;
                    if socket.closed() {
                        // It is counted once, whatever still arrives for it.
                        socket.owner = Owner::Nobody;
                    } else {
                        socket.owner = Owner::Queue(listener);
                        waiting.queue.push_back(id);
                        self.wakers.append(&mut waiting.waiting);
                    }
                }
                None => {
                    // Nobody listens any more.
                    socket.owner = Owner::Nobody;
                    socket.connection.abort();
                }
            }
        }
    }

    fn orphan(&mut self, id: ConnectionId, now: Instant) {
        if let Some(socket) = self.sockets.get_mut(id.0) {
            socket.orphaned = Some(now + ORPHAN);
            self.plan(now + ORPHAN, id);
        }
    }

    /// When to call [`Stack::handle_timeout`], unless something happens before.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        while let Some((due, id)) = self.timers.peek() {
            if self.sockets.get(id.0).is_some_and(|socket| socket.waits_for(due)) {
                return Some(due);
            }
            self.timers.pop();
        }
        None
    }

    /// Timers may be due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((due, id)) = self.timers.peek().filter(|&(due, _)| due <= now) {
            self.timers.pop();
            let Some(socket) = self.sockets.get_mut(id.0) else { continue };
            if socket.orphaned == Some(due) {
                // All has been said, but the peer does not close.
                match socket.connection.state() {
                    State::FinWait2 => socket.connection.abort(),
                    _ => self.orphan(id, now),
                }
                self.after(id);
                continue;
            }
            if socket.armed != Some(due) {
                continue;
            }
            socket.armed = None;
            if socket.connection.poll_timeout().is_some_and(|at| at <= now) {
                let mut relay = Relay { watcher: &mut self.watcher, id };
                socket.connection.handle_timeout(now, &mut relay);
                self.after(id);
            } else {
                self.arm(id);
            }
        }
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
            if socket.owner == Owner::Nobody && socket.orphaned.is_none() {
                self.orphan(id, now);
            }
            self.arm(id);
            return;
        }
        // Its addresses are free for another; what has not been read stays.
        let tuple = socket.tuple;
        socket.wake(&mut self.wakers);
        if matches!(socket.owner, Owner::Nobody | Owner::Handshake(_)) {
            self.sockets.remove(id.0);
        }
        if self.by_tuple.get(&tuple) == Some(&id) {
            self.by_tuple.remove(&tuple);
        }
    }

    /// A connection in TIME-WAIT ends before its time.
    fn forget(&mut self, id: ConnectionId) {
        let Some(socket) = self.sockets.get_mut(id.0) else { return };
        socket.connection.abort();
        self.changed(id);
    }

    /// The application did something to a connection: it may have something to send.
    fn changed(&mut self, id: ConnectionId) {
        if let Some(socket) = self.sockets.get_mut(id.0)
            && !socket.queued
        {
            socket.queued = true;
            self.eager.push_back(id);
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
