//! The pipe by counting acknowledgements, as Fall and Floyd had it ("Simulation-based comparisons of
//! Tahoe, Reno and SACK TCP", 1996, section 5) and as ns-2's Sack1, which the papers used, has it
//! still. RFC 6675 computes the pipe from the scoreboard instead.

/// How the sender estimates what is in the network during fast recovery. Use it for
/// [`RecoveryConfig::pipe`](crate::RecoveryConfig::pipe), to compare with ns-2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipe {
    /// From the scoreboard (RFC 6675, SetPipe).
    #[default]
    SetPipe,
    /// By counting acknowledgements and transmissions. A partial acknowledgement takes two: one for
    /// the segment that was lost and one for its retransmission, though where nothing was lost only
    /// one has left. So it sends somewhat more than SetPipe when packets are reordered.
    Counted,
}

/// The count, while there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountedPipe {
    count: Option<u32>,
}

impl CountedPipe {
    /// Recovery begins with so many segments outstanding and SACKed.
    pub(crate) fn begin(&mut self, outstanding: u32, sacked: u32) {
        self.count = Some(outstanding.saturating_sub(sacked));
    }

    /// Recovery has ended.
    pub(crate) fn end(&mut self) {
        self.count = None;
    }

    /// An acknowledgement came, whatever it said; a partial one if it advanced.
    pub(crate) fn on_ack(&mut self, advanced: bool) {
        self.add(if advanced { -2 } else { -1 });
    }

    /// A segment was sent; the one that begins recovery takes the place of the one deemed lost.
    pub(crate) fn on_sent(&mut self) {
        self.add(1);
    }

    /// The pipe, if it is counted now.
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
    fn a_late_segment_takes_two_out_of_the_pipe() {
        // ns-2, tcp-sack1.cc: 12 outstanding when the third duplicate comes: pipe 12 − 3.
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
