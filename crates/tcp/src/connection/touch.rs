//! Memory that a segment will need, asked for before the segment is handled.

use super::Connection;

impl Connection {
    /// Reads something of each line of memory that an acknowledgement needs if nothing is on its way,
    /// and gives a number without meaning. Segments for many idle connections wait for memory one
    /// after another; done for all of them before, this lets them wait together.
    pub fn touch(&self) -> u64 {
        let own = u64::from(self.numbers.theirs.0)
            ^ u64::from(self.clock.on())
            ^ u64::from(self.peer_window.last_field)
            ^ u64::from(self.idle.window_probe_due)
            ^ u64::from(self.timers.next().is_some())
            ^ u64::from(self.reset.is_some());
        self.sender.touch() ^ own ^ self.receiver.touch()
    }
}
