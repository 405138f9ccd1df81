//! What a connection takes on the heap, and what of it can be given back.

use super::Connection;
use crate::sender::SEGMENT_OCTETS;

impl Connection {
    /// What a segment takes in the tables at the most, while it is outstanding: in the end all of them
    /// may have been resent, and each be suspected. In octets.
    pub const SEGMENT_OCTETS: usize = SEGMENT_OCTETS;

    /// What the tables take that grow with what is outstanding and with what has arrived out of order:
    /// octets, whether they are in use or not.
    #[must_use]
    pub fn table_octets(&self) -> usize {
        self.sender.table_octets() + self.receiver.table_octets()
    }

    /// Frees what of those tables is not in use. They grow again as they did.
    pub fn shrink(&mut self) {
        self.sender.shrink();
        self.receiver.shrink();
    }
}
