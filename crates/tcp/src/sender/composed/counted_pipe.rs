//! The pipe, counted from acknowledgements as in Fall and Floyd ("Simulation-based comparisons of Tahoe,
//! Reno and SACK TCP", 1996, section 5) and in ns-2's Sack1, which the papers used. RFC 6675 computes
//! the pipe from the scoreboard instead.

/// The count, during a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountedPipe {
    count: Option<u32>,
}

impl CountedPipe {
    /// Begins a recovery with `outstanding` segments, of which `sacked` are SACKed.
    pub(crate) fn begin(&mut self, outstanding: u32, sacked: u32) {
        self.count = Some(outstanding.saturating_sub(sacked));
    }

    /// Ends the recovery.
    pub(crate) fn end(&mut self) {
        self.count = None;
    }

    /// Counts an acknowledgement, which is a partial one if it `advanced`.
    pub(crate) fn on_ack(&mut self, advanced: bool) {
        self.add(if advanced { -2 } else { -1 });
    }

    /// Counts a segment that was sent. The first one of a recovery replaces the lost one, so the caller
    /// does not count it.
    pub(crate) fn on_sent(&mut self) {
        self.add(1);
    }

    /// Returns the pipe, during a recovery.
    pub(crate) fn get(&self) -> Option<u32> {
        self.count
    }

    fn add(&mut self, by: i32) {
        self.count = self.count.map(|count| count.saturating_add_signed(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_acknowledgement_takes_two_segments_out_of_the_pipe() {
        // ns-2, tcp-sack1.cc: with 12 outstanding at the third duplicate, the pipe is 12 − 3.
        let mut pipe = CountedPipe::default();
        pipe.on_ack(false);
        assert_eq!(pipe.get(), None, "nothing is counted outside recovery");
        pipe.begin(12, 3);
        assert_eq!(pipe.get(), Some(9));
        pipe.on_ack(false);
        assert_eq!(pipe.get(), Some(8), "a duplicate");
        pipe.on_ack(true);
        assert_eq!(pipe.get(), Some(6), "a partial acknowledgement");
        pipe.on_sent();
        assert_eq!(pipe.get(), Some(7));
    }
}
