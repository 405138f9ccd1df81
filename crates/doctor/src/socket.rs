//! A connection of the kernel at one moment.

use std::net::SocketAddr;

use crate::TcpInfo;

/// A connection at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Inode of the network namespace.
    pub namespace: u64,
    /// The kernel's number of the socket, which no other socket gets.
    pub cookie: u64,
    /// Local address.
    pub local: SocketAddr,
    /// Address of the other end.
    pub peer: SocketAddr,
    /// Inode of the socket, by which the process that has it open is found; 0 if none has.
    pub inode: u32,
    /// Number of the cgroup in which the socket was created. `None` if the kernel does not report it.
    pub cgroup: Option<u64>,
    /// Name of the congestion control.
    pub control: String,
    /// Octets of memory that queued data take, sent or not.
    pub queued: u32,
    /// Largest number of such octets for which the application may write.
    pub send_buffer: u32,
    /// Counters.
    pub info: TcpInfo,
}

impl Socket {
    /// Returns whether both ends are in the same network namespace, without a network between them.
    pub fn is_local(&self) -> bool {
        self.peer.ip().is_loopback() || self.peer.ip() == self.local.ip()
    }
}
