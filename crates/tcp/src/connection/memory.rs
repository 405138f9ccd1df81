//! Heap memory of a connection.

use super::Connection;
impl Connection {
    /// Returns the upper bound on the octets that an outstanding segment takes in the tables, reached
    /// when it was retransmitted and is suspected to be late. It is larger for a sender that samples
    /// the path, such as BBR.
    #[must_use]
    pub fn segment_octets(&self) -> usize {
        self.sender.segment_octets()
    }

    /// Returns the octets allocated for tables that grow with outstanding segments and with data
    /// that has arrived out of order.
    #[must_use]
    pub fn table_octets(&self) -> usize {
        self.sender.table_octets() + self.receiver.table_octets()
    }

    /// Frees the unused part of those tables. They grow again when required.
    pub fn shrink(&mut self) {
        self.sender.shrink();
        self.receiver.shrink();
    }
}
