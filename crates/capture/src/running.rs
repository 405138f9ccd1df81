//! Totals of an analysis in progress.

use crate::analysis::DataTotals;
use crate::analyzer::Analyzer;
use crate::conversation::Conversation;

/// Totals of an analysis in progress. None of them decreases, except the number of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningTotals {
    /// Frames.
    pub frames: u64,
    /// Octets of the frames on the network.
    pub bytes: u64,
    /// Conversations that are followed now.
    pub flows: u64,
    /// Data segments that were overtaken.
    pub late: u64,
    /// Retransmissions.
    pub retransmitted: u64,
}

impl Analyzer {
    /// Returns the totals so far. The time that this takes grows with the number of flows.
    pub fn so_far(&self) -> RunningTotals {
        let (totals, mut data) = self.ended();
        let mut flows = 0;
        for conversation in self.open() {
            flows += 1;
            if let Conversation::Tcp(connection) = conversation {
                for direction in connection.directions() {
                    direction.add_counts(&mut data);
                }
            }
        }
        let DataTotals { reordered, retransmitted, .. } = data;
        let (frames, bytes) = totals;
        RunningTotals { frames, bytes, flows, late: reordered, retransmitted }
    }
}
