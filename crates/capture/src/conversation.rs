//! Conversations: the packets between two ends over one transport.

use crate::connection::TcpConnection;
use crate::udp::UdpConversation;

/// Packets between two ends.
#[derive(Clone, Debug)]
pub(crate) enum Conversation {
    Tcp(Box<TcpConnection>),
    Udp(Box<UdpConversation>),
}

impl Conversation {
    /// Returns the number of TCP segments in memory.
    pub(crate) fn segments_held(&self) -> usize {
        match self {
            Self::Tcp(connection) => connection.segments_held(),
            Self::Udp(_) => 0,
        }
    }
}
