//! What counts as a duplicate acknowledgement of the first hole with SACK. RFC 6675 uses the scoreboard.
//! ns-2's Sack1, which the papers used, counts as Reno does.

use super::policy::Policy;
use super::recovery::Recovery;
use super::{Acks, Composed};
use crate::parts::detect::Rule;
use crate::sender::stream::{Reading, Stream};

/// How duplicates are counted with SACK. Use it for
/// [`RecoveryConfig::duplicates`](crate::RecoveryConfig::duplicates), to compare with ns-2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Segments SACKed above a hole, for each hole (RFC 6675, IsLost).
    #[default]
    Sacked,
    /// Acknowledgements with a SACK since the cumulative point last moved, as in ns-2's Agent/TCP/Sack1
    /// (tcp-sack1.cc). Only the first hole can begin a recovery, and its count begins when it becomes
    /// the first. Every hole below the highest SACK is lost with it (ScoreBoard::GetNextRetran). Where
    /// many segments are late at a time, a hole that becomes the first waits anew, and a recovery
    /// resends more.
    Run,
}

impl Recovery {
    /// The acknowledgement prolongs the run of duplicates, or ends it.
    #[inline]
    pub(super) fn count_run(&mut self, read: &Reading) {
        if read.advanced {
            self.run = 0;
        } else if read.delivery.sacked > 0 {
            self.run += 1;
        }
    }
}

impl Policy {
    /// Returns whether the run of duplicates counts.
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

    /// Segments that have left the network when recovery begins, for the counted pipe. ns-2 subtracts
    /// only the `run`, whatever was `sacked` before it.
    pub(super) fn left_at_recovery(&self, run: u32, sacked: u32) -> u32 {
        if self.counts_runs() { run } else { sacked }
    }
}

impl Composed {
    /// Duplicates that the first hole has caused.
    pub(super) fn duplicates(&self, stream: &Stream) -> u32 {
        if self.policy.counts_runs() {
            self.recovery.run
        } else {
            stream.board.sacked().max(self.recovery.dupacks)
        }
    }
}
