//! Loss detection of Linux before RACK, `tp->reordering`: the duplicate threshold is the longest
//! reordering seen (tcp_update_reordering in net/ipv4/tcp_input.c, up to Linux 4.14).

use std::borrow::Cow;

use super::fixed::DUPTHRESH;
use super::{Detector, LossDetector, Reordering, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "linux-reordering" Settings {
        max_dupthresh: u32 = Parameter {
            name: "max_dupthresh",
            unit: Unit::Segments,
            default: 300.0,
            range: (3.0, 1e6),
            about: "maximum duplicate threshold (sysctl tcp_max_reordering)",
            source: "Linux 3.18 to 4.14",
        },
    }
}

/// Linux's detector before RACK.
pub(crate) const LINUX_REORDERING: Kind<Detector> =
    Kind::new::<Settings>("linux-reordering", |values| {
        maker(values, |settings: Settings, _| {
            boxed(LinuxReordering { max_dupthresh: settings.max_dupthresh, dupthresh: DUPTHRESH })
        })
    });

/// Adapts to the longest reordering. Only a timeout that a lower threshold would have avoided
/// resets it.
#[derive(Debug)]
pub(crate) struct LinuxReordering {
    max_dupthresh: u32,
    dupthresh: u32,
}

impl LossDetector for LinuxReordering {
    fn about(&self) -> Cow<'static, str> {
        "dupthresh from the longest reordering seen".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }

    fn on_reordering(&mut self, sample: Reordering, _view: &View) {
        // Linux counts from the late segment to the highest SACKed one, including both (fackets_out
        // less the index of the late one). That is one more than the reordering length, so the same
        // reordering causes no retransmission the next time.
        let metric = sample.length.saturating_add(1).min(self.max_dupthresh);
        self.dupthresh = self.dupthresh.max(metric);
    }

    fn on_timeout(&mut self, _first: bool, view: &View) {
        // tcp_enter_loss: "Timeout in disordered state after receiving substantial DUPACKs suggests
        // that the degree of reordering is over-estimated": back to sysctl_tcp_reordering. Linux's
        // states Open and Disorder, before any recovery, are one phase here.
        if !view.recovering && view.sacked >= DUPTHRESH {
            self.dupthresh = DUPTHRESH;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, late, view};
    use super::*;

    #[test]
    fn the_longest_reordering_is_the_threshold_until_a_timeout() {
        let mut detector = detector("linux-reordering");
        assert_eq!(detector.rule(&view(0)), Rule::dupthresh(3));
        // A length of n is n + 1 segments including both ends. Shorter ones change nothing.
        for (length, expected) in
            [(1, 3), (2, 3), (3, 4), (20, 21), (7, 21), (298, 299), (299, 300)]
        {
            detector.on_reordering(late(length), &view(0));
            assert_eq!(detector.rule(&view(0)), Rule::dupthresh(expected), "after {length}");
        }
        detector.on_reordering(late(5000), &view(0));
        assert_eq!(detector.dupthresh(), Some(300), "tcp_max_reordering");
        detector.on_timeout(true, &View { sacked: 3, ..view(0) });
        assert_eq!(detector.dupthresh(), Some(3));
    }

    #[test]
    fn only_a_timeout_with_enough_sacked_and_no_recovery_resets_the_threshold() {
        // sacked_out >= sysctl_tcp_reordering, and icsk_ca_state <= TCP_CA_Disorder.
        for (sacked, recovering, expected) in
            [(0, false, 21), (2, false, 21), (3, false, 3), (50, false, 3), (3, true, 21)]
        {
            let mut detector = detector("linux-reordering");
            detector.on_reordering(late(20), &view(0));
            detector.on_timeout(!recovering, &View { sacked, recovering, ..view(0) });
            assert_eq!(
                detector.dupthresh(),
                Some(expected),
                "{sacked} SACKed, recovering {recovering}"
            );
        }
    }
}
