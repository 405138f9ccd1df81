//! The order in which connections send.

use std::collections::VecDeque;

use unruffled_tcp::Segment;

use crate::address::FourTuple;
use crate::connections::Connections;
use crate::counters::Counters;
use crate::ids::ConnectionId;
use crate::urgency::Urgency;

/// Segments that one connection may send before the next has its turn.
const QUANTUM_SEGMENTS: u32 = 32;

/// Maximum number of queue entries of removed connections, in addition to one entry for each
/// connection.
const MAX_OUTDATED: usize = 1024;

/// Maximum number of SYN-ACKs, resets and other answers without a connection that wait to be sent.
/// It is larger than a driver's batch.
const MAX_REPLIES: usize = 1024;

/// The connections that may have something to send, in turn.
#[derive(Debug)]
pub(crate) struct Turns {
    queue: VecDeque<ConnectionId>,
    /// A segment that could not be joined to those before it. It is sent next.
    held: Option<(ConnectionId, Segment)>,
    /// Segments that the connection whose turn it is may still send.
    quantum: u32,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), held: None, quantum: QUANTUM_SEGMENTS }
    }

    /// Queues a connection unless it is queued already.
    pub(crate) fn push(&mut self, id: ConnectionId, connections: &mut Connections) {
        if !connections.get_mut(id).is_some_and(|socket| socket.enqueue()) {
            return;
        }
        self.queue.push_back(id);
        // Entries are removed when their turn comes, and no turn comes while nothing can leave.
        if self.queue.len() > 2 * connections.len() + MAX_OUTDATED {
            self.queue.retain(|&id| connections.get(id).is_some());
        }
    }

    /// Returns the connection whose turn it is.
    pub(crate) fn current(&self) -> Option<ConnectionId> {
        self.queue.front().copied()
    }

    /// Counts a segment of the current connection, whose turn ends with its quantum.
    pub(crate) fn count_segment(&mut self) {
        self.quantum -= 1;
        if self.quantum == 0 {
            self.quantum = QUANTUM_SEGMENTS;
            self.queue.rotate_left(1);
        }
    }

    /// Removes the current connection from the queue.
    pub(crate) fn remove_current(&mut self) {
        self.queue.pop_front();
        self.quantum = QUANTUM_SEGMENTS;
    }

    pub(crate) fn hold(&mut self, id: ConnectionId, segment: Segment) {
        self.held = Some((id, segment));
    }

    pub(crate) fn take_held(&mut self) -> Option<(ConnectionId, Segment)> {
        self.held.take()
    }
}

/// Answers that belong to no connection, and the urgency of the last answer of any kind.
#[derive(Debug)]
pub(crate) struct Replies {
    queue: VecDeque<(FourTuple, Segment)>,
    urgency: Urgency,
}

impl Replies {
    pub(crate) fn new() -> Self {
        Self { queue: VecDeque::new(), urgency: Urgency::Deferrable }
    }

    /// Queues an answer, or counts it as dropped if too many wait.
    pub(crate) fn push(&mut self, ends: FourTuple, answer: Segment, counters: &mut Counters) {
        if self.queue.len() < MAX_REPLIES {
            self.queue.push_back((ends, answer));
        } else {
            counters.replies_dropped += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(FourTuple, Segment)> {
        self.queue.pop_front()
    }

    pub(crate) fn urgency(&self) -> Urgency {
        self.urgency
    }

    pub(crate) fn set_urgency(&mut self, urgency: Urgency) {
        self.urgency = urgency;
    }
}
