//! What counts as a duplicate acknowledgement of the first hole where there is SACK. RFC 6675 asks the
//! scoreboard; ns-2's Sack1, which the papers used, counts as Reno does.

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
    /// As ns-2's Agent/TCP/Sack1 has it (tcp-sack1.cc): acknowledgements with a SACK since the
    /// cumulative point last moved. Only the first hole can begin a recovery, and its count begins
    /// when it is the first; what is lost with it is every hole below the highest SACK
    /// (ScoreBoard::GetNextRetran). So where many segments are late at a time, a hole that becomes
    /// the first has to wait anew, and a recovery resends more.
    Run,
}

impl Composed {
    /// Whether the run of duplicates is what counts.
    pub(super) fn counts_runs(&self) -> bool {
        self.policy.duplicates == Duplicates::Run && self.policy.acks == Acks::Sack
    }

    /// The acknowledgement prolongs the run of duplicates, or ends it.
    #[inline]
    pub(super) fn count_run(&mut self, read: &Reading) {
        if read.advanced {
            self.recovery.run = 0;
        } else if read.delivery.sacked > 0 {
            self.recovery.run += 1;
        }
    }

    /// Duplicates that the first hole has caused.
    pub(super) fn duplicates(&self, stream: &Stream) -> u32 {
        if self.counts_runs() {
            self.recovery.run
        } else {
            stream.board.sacked().max(self.recovery.dupacks)
        }
    }

    /// Takes out of the detector's `rule` what the run decides: whether the first hole is lost, and
    /// in recovery that every hole is.
    pub(super) fn judge_by_run(&self, rule: &mut Rule, open: bool) -> bool {
        let Some(dupthresh) = rule.dupthresh.filter(|_| self.counts_runs()) else { return false };
        rule.dupthresh = (!open).then_some(1);
        open && self.recovery.run >= dupthresh
    }

    /// What has left the network when recovery begins, for the counted pipe: ns-2 takes off the run
    /// alone, whatever was SACKed before it.
    pub(super) fn left_at_recovery(&self, sacked: u32) -> u32 {
        if self.counts_runs() { self.recovery.run } else { sacked }
    }
}
