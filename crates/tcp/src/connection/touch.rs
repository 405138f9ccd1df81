//! Prefetch of the memory that a segment will need.

use super::Connection;

impl Connection {
    /// Reads from each cache line that an acknowledgement needs when nothing is in flight, and
    /// returns a number without meaning. Segments for many idle connections wait for memory one
    /// after another. Calling this for all of the connections first overlaps those waits.
    pub fn touch(&self) -> u64 {
        let own = u64::from(self.numbers.theirs.0)
            ^ u64::from(self.clock.on())
            ^ u64::from(self.peer_window.last_field)
            ^ u64::from(self.idle.window_probe_due)
            ^ u64::from(self.timers.are_stopped())
            ^ u64::from(self.reset.is_some());
        self.sender.touch() ^ own ^ self.receiver.touch()
    }
}
