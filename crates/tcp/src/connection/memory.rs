//! Heap memory of a connection.

use super::Connection;
use crate::sender::SEGMENT_OCTETS;

impl Connection {
    /// Upper bound on the octets that an outstanding segment takes in the tables, reached when it
    /// was retransmitted and is suspected to be late.
    pub const SEGMENT_OCTETS: usize = SEGMENT_OCTETS;

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
