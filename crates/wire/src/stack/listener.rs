//! Who waits for connections.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Waker;

use super::ConnectionId;

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    backlog: usize,
    /// Connections whose handshake is not done.
    pub(super) handshakes: usize,
    /// Connections that wait to be accepted.
    pub(super) queue: VecDeque<ConnectionId>,
    pub(super) waiting: Vec<Waker>,
}

impl Listener {
    pub(super) fn new(address: SocketAddr, backlog: usize) -> Self {
        let backlog = backlog.max(1);
        Self { address, backlog, handshakes: 0, queue: VecDeque::new(), waiting: Vec::new() }
    }

    /// Whether one more may come; else its SYN is dropped, and comes again.
    pub(super) fn has_room(&self) -> bool {
        self.handshakes + self.queue.len() < self.backlog
    }
}
