//! What stands behind a file descriptor.

use std::fs::File;
use std::net::SocketAddr;

use unruffled_stack::{ConnectionId, ListenerId};

use crate::wishes::Wishes;

/// What a descriptor is at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Fresh from socket().
    Fresh,
    /// listen() was called with this backlog; the stack listens from the first packet on, so that
    /// socket options may follow.
    Waiting(SocketAddr, usize),
    /// A listener of the stack.
    Listener(ListenerId),
    /// A connection of the stack.
    Connection(ConnectionId),
}

/// A socket as packetdrill knows it. What POSIX has and the stack has not is kept here.
#[derive(Debug)]
pub(crate) struct Descriptor {
    /// Keeps the number taken: packetdrill closes some descriptors by the C library's close().
    _number: File,
    pub(crate) kind: Kind,
    /// The family of its addresses is IPv6.
    pub(crate) v6: bool,
    /// O_NONBLOCK.
    pub(crate) nonblocking: bool,
    /// Where bind() put it.
    pub(crate) bound: Option<SocketAddr>,
    /// Whether connect() has returned 0. Further calls return EISCONN.
    pub(crate) connected: bool,
    /// Whether the connection's error was returned. It is returned once, as Linux's `sk_err` is.
    pub(crate) error_returned: bool,
    /// shutdown(SHUT_RD).
    pub(crate) deaf: bool,
    /// What setsockopt() has set; an accepted socket begins with its listener's.
    pub(crate) wishes: Wishes,
    /// Octets that MSG_PEEK has returned and that have not been read.
    pub(crate) peeked: Vec<u8>,
}

impl Descriptor {
    pub(crate) fn new(number: File, kind: Kind, v6: bool) -> Self {
        Self {
            _number: number,
            kind,
            v6,
            nonblocking: false,
            bound: None,
            connected: false,
            error_returned: false,
            deaf: false,
            wishes: Wishes::default(),
            peeked: Vec::new(),
        }
    }
}
