//! All connections of a stack: by id, by their ends, by due time, with their charges.

use std::collections::VecDeque;
use std::task::Waker;

use unruffled_units::{Duration, Instant};

use crate::address::FourTuple;
use crate::budget::Budget;
use crate::directory::Directory;
use crate::error::StackError;
use crate::ids::ConnectionId;
use crate::lookahead::Lookahead;
use crate::slab::Slab;
use crate::socket::Socket;
use crate::timers::Timers;

/// Time without activity after which empty buffers are freed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of connections below which the processor's cache holds all that are in use.
const LOOKAHEAD_MIN_CONNECTIONS: usize = 64;

/// All connections of a stack.
pub(crate) struct Connections {
    sockets: Slab<Box<Socket>>,
    directory: Directory,
    lookahead: Lookahead,
    timers: Timers,
    /// Connections whose buffers are inspected, each with the time of the next inspection.
    inspections: VecDeque<(Instant, ConnectionId)>,
}

impl Connections {
    /// Returns an empty table; `key` is the directory's secret.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self {
            sockets: Slab::default(),
            directory: Directory::new(key),
            lookahead: Lookahead::default(),
            timers: Timers::default(),
            inspections: VecDeque::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sockets.len()
    }

    pub(crate) fn get(&self, id: ConnectionId) -> Option<&Socket> {
        self.sockets.get(id.key()).map(|socket| &**socket)
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Socket> {
        self.sockets.get_mut(id.key()).map(|socket| &mut **socket)
    }

    /// Returns the socket of a connection, or the error `missing` if there is no such connection.
    pub(crate) fn existing(
        &self,
        id: ConnectionId,
        missing: StackError,
    ) -> Result<&Socket, StackError> {
        self.get(id).ok_or(missing)
    }

    /// Returns the socket of a connection without an error; `missing` is the error if there is no
    /// such connection.
    pub(crate) fn sound(
        &mut self,
        id: ConnectionId,
        missing: StackError,
    ) -> Result<&mut Socket, StackError> {
        let socket = self.get_mut(id).ok_or(missing)?;
        match socket.error() {
            Some(error) => Err(error.into()),
            None => Ok(socket),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Socket> {
        self.sockets.iter().map(|socket| &**socket)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Socket> {
        self.sockets.iter_mut().map(|socket| &mut **socket)
    }

    /// Returns the ids of the connections that hold their ends, in a fixed order.
    pub(crate) fn current(&self) -> Vec<ConnectionId> {
        let mut ids: Vec<ConnectionId> = self.directory.iter().collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) fn insert(&mut self, mut socket: Socket, budget: &mut Budget) -> ConnectionId {
        let (_, takes) = socket.recharge();
        budget.charge(takes);
        let ends = socket.ends();
        let id = ConnectionId::new(self.sockets.insert(Box::new(socket)));
        self.lookahead.clear();
        self.directory.insert(self.directory.hash(ends), id);
        id
    }

    pub(crate) fn remove(&mut self, id: ConnectionId, budget: &mut Budget) {
        let Some(socket) = self.sockets.remove(id.key()) else { return };
        budget.refund(socket.charged());
        if socket.schedule().is_orphan() {
            budget.remove_orphan();
        }
        self.free_ends(socket.ends(), id);
    }

    /// Makes the ends of a connection available to another one.
    pub(crate) fn free_ends(&mut self, ends: FourTuple, id: ConnectionId) {
        self.lookahead.clear();
        self.directory.remove(self.directory.hash(ends), id);
    }
}

/// Lookup by the ends.
impl Connections {
    /// Returns the connection between these ends.
    pub(crate) fn between(&self, ends: FourTuple) -> Option<ConnectionId> {
        self.directory.get(self.directory.hash(ends), |id| self.is_between(id, ends))
    }

    /// Returns the connection between these ends, those of the packet that is received next.
    pub(crate) fn between_for_next(&mut self, ends: FourTuple) -> Option<ConnectionId> {
        let sockets = &self.sockets;
        let is_it =
            |id: ConnectionId| sockets.get(id.key()).is_some_and(|socket| socket.ends() == ends);
        if let Some(id) = self.lookahead.next(is_it) {
            return Some(id);
        }
        let found = self.between(ends);
        self.lookahead.set_last(found);
        found
    }

    fn is_between(&self, id: ConnectionId, ends: FourTuple) -> bool {
        self.get(id).is_some_and(|socket| socket.ends() == ends)
    }

    /// Looks up and touches the connections between these ends, those of the packets that are
    /// received next.
    pub(crate) fn look_ahead(&mut self, ends: impl Iterator<Item = FourTuple>) {
        let Self { directory, lookahead, sockets, .. } = self;
        lookahead.clear();
        if directory.len() < LOOKAHEAD_MIN_CONNECTIONS {
            return;
        }
        // Equal hashes mean equal ends, with a chance of 2^-64 against it. The ends are compared
        // when the packet is received.
        lookahead.fill(ends, |ends| directory.hash(ends), |hash| directory.get(hash, |_| true));
        let found = || lookahead.found().filter_map(|id| sockets.get(id.key()));
        let mut sum = 0;
        // First one line of each socket: this loads its entries of the page table.
        for socket in found() {
            sum ^= u64::from(socket.is_finished());
        }
        for socket in found() {
            sum ^= socket.touch();
        }
        // Without a use of the result the compiler would remove the reads.
        std::hint::black_box(sum);
    }
}

/// Timers and memory.
impl Connections {
    /// Adds an entry for the connection's timer, or for its check as an orphan.
    pub(crate) fn plan(&mut self, due: Instant, id: ConnectionId) {
        self.timers.push(due, id);
        // A connection has at most two current entries.
        let sockets = &self.sockets;
        self.timers.tidy(sockets.len(), |due, id| {
            sockets.get(id.key()).is_some_and(|socket| socket.schedule().waits_for(due))
        });
    }

    /// Adds an entry for the connection's timer, if it is due earlier than the current entry.
    pub(crate) fn arm(&mut self, id: ConnectionId) {
        if let Some(due) = self.get_mut(id).and_then(Socket::arm) {
            self.plan(due, id);
        }
    }

    /// Returns when the next timer or inspection is due.
    pub(crate) fn next_due(&mut self) -> Option<Instant> {
        let inspection = self.inspections.front().map(|next| next.0);
        while let Some((due, id)) = self.timers.peek() {
            if self.get(id).is_some_and(|socket| socket.schedule().waits_for(due)) {
                return Some(inspection.map_or(due, |inspection| inspection.min(due)));
            }
            self.timers.pop();
        }
        inspection
    }

    /// Removes and returns the next entry that is due. The entry may be outdated.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<(Instant, ConnectionId)> {
        let entry = self.timers.peek().filter(|&(due, _)| due <= now)?;
        self.timers.pop();
        Some(entry)
    }

    /// Makes a released connection an orphan, or follows an orphan into FIN-WAIT-2. Returns false
    /// if there are too many orphans already.
    pub(crate) fn follow_orphan(
        &mut self,
        id: ConnectionId,
        now: Instant,
        budget: &mut Budget,
    ) -> bool {
        let limits = *budget.limits();
        let Some(socket) = self.get_mut(id) else { return true };
        let due = if socket.schedule().is_orphan() {
            socket.follow_orphan(limits.orphan_timeout, now)
        } else if !socket.is_released() {
            None
        } else if budget.add_orphan() {
            Some(socket.start_orphan(&limits, now))
        } else {
            return false;
        };
        if let Some(due) = due {
            self.plan(due, id);
        }
        true
    }

    /// Charges the budget with what the connection takes now.
    pub(crate) fn settle(&mut self, id: ConnectionId, budget: &mut Budget) {
        let Some(socket) = self.get_mut(id) else { return };
        let (had, takes) = socket.recharge();
        budget.refund(had);
        budget.charge(takes);
    }

    /// Ends the connection's turn: frees memory if it is short, and plans an inspection if the
    /// connection has memory to free later.
    pub(crate) fn end_turn(&mut self, id: ConnectionId, now: Instant, budget: &mut Budget) {
        let allowance = budget.allowance();
        let Some(socket) = self.get_mut(id) else { return };
        if socket.end_turn(allowance, now) {
            if self.inspections.len() > 2 * self.sockets.len() + 64 {
                // Most of these entries belong to connections that have been removed.
                let sockets = &self.sockets;
                self.inspections.retain(|&(_, id)| sockets.get(id.key()).is_some());
            }
            self.inspections.push_back((now + IDLE_TIMEOUT, id));
        }
        self.settle(id, budget);
    }

    /// Inspects the connections that are due: frees the memory of idle ones.
    pub(crate) fn inspect_due(
        &mut self,
        now: Instant,
        budget: &mut Budget,
        wakers: &mut Vec<Waker>,
    ) {
        while let Some(&(_, id)) = self.inspections.front().filter(|next| next.0 <= now) {
            self.inspections.pop_front();
            let Some(socket) = self.get_mut(id) else { continue };
            if socket.inspect(IDLE_TIMEOUT, now, wakers) {
                self.inspections.push_back((now + IDLE_TIMEOUT, id));
            }
            self.settle(id, budget);
        }
    }
}
