//! Duplicate acknowledgements of the first hole with SACK. RFC 6675 counts them on the scoreboard. ns-2's
//! Sack1, which the papers used, counts them as Reno does.

use super::Acks;
use super::policy::Policy;
use super::recovery::Recovery;
use crate::config::Duplicates;
use crate::parts::detect::Rule;
use crate::sender::stream::{Reading, Stream};

impl Recovery {
    /// Extends the run of duplicates by an acknowledgement, or ends it.
    #[inline]
    pub(super) fn count_run(&mut self, read: &Reading) {
        if read.advanced {
            self.run = 0;
        } else if read.delivery.sacked > 0 {
            self.run += 1;
        }
    }

    /// Returns the number of duplicates that the first hole has caused.
    pub(super) fn duplicates(&self, policy: &Policy, stream: &Stream) -> u32 {
        if policy.counts_runs() { self.run } else { stream.board.sacked().max(self.dupacks) }
    }
}

impl Policy {
    /// Returns whether the first hole is lost by the run of duplicates, and not by the scoreboard.
    pub(super) fn counts_runs(&self) -> bool {
        self.duplicates == Duplicates::Run && self.acks == Acks::Sack
    }

    /// Removes from the detector's `rule` what the `run` of duplicates decides. Returns whether the
    /// first hole is lost; in recovery, every hole is.
    pub(super) fn judge_by_run(&self, run: u32, rule: &mut Rule, open: bool) -> bool {
        let Some(dupthresh) = rule.dupthresh.filter(|_| self.counts_runs()) else { return false };
        rule.dupthresh = (!open).then_some(1);
        open && run >= dupthresh
    }

    /// Returns the number of segments that have left the network when recovery begins, for the counted
    /// pipe. ns-2 subtracts only the `run`, and not what was `sacked` before it.
    pub(super) fn left_at_recovery(&self, run: u32, sacked: u32) -> u32 {
        if self.counts_runs() { run } else { sacked }
    }
}
