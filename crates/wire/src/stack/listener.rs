//! Who waits for connections.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Waker;

use super::ConnectionId;
use super::options::Options;

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    /// What its connections begin with.
    pub(super) options: Options,
    backlog: usize,
    /// Connections that wait to be accepted.
    pub(super) queue: VecDeque<ConnectionId>,
    pub(super) waiting: Vec<Waker>,
}

impl Listener {
    pub(super) fn new(address: SocketAddr, backlog: usize, options: Options) -> Self {
        let backlog = backlog.max(1);
        Self { address, options, backlog, queue: VecDeque::new(), waiting: Vec::new() }
    }

    /// Whether one more may wait to be accepted; else nothing of a new connection is taken, and its
    /// peer tries again.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.backlog
    }
}
