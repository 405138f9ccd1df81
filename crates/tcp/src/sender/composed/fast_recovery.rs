//! Fast recovery without SACK: the condition under which the third duplicate begins it, and the effect
//! of its end on the window. ns-2's Reno, which the papers used, differs from RFC 5681 in both, and in
//! the window after a loss.

use super::policy::Policy;
use super::recovery::Recovery;
use super::{Acks, Phase};
use crate::config::{FastRecovery, Halving, Ns2Compat};
use crate::parts::control::{AnyControl, Window};

impl FastRecovery {
    /// Returns the number of doublings of the timeout after which earlier round-trip times no longer
    /// count, if there is one.
    pub(crate) fn rtt_valid_doublings(self) -> Option<u32> {
        (self == Self::Ns2).then_some(4)
    }

    /// Returns the number of duplicates after a timeout that permit one segment each.
    pub(super) fn duplicates_after_timeout(self) -> u32 {
        if self == Self::Ns2 { 2 } else { 0 }
    }

    /// Returns whether the acknowledgement that ends recovery grows the window. In ns-2's NewReno it does
    /// not: the increase there restores what partial acknowledgements deflated.
    fn grows_at_end(self, acks: Acks) -> bool {
        self == Self::Ns2 && acks == Acks::Reno
    }
}

impl Halving {
    pub(super) fn of(rules: &Ns2Compat, acks: Acks) -> Self {
        let reno = rules.fast_recovery == FastRecovery::Ns2 && acks == Acks::Reno;
        rules.halving.unwrap_or(if reno { Self::Window } else { Self::Flight })
    }

    /// Returns ssthresh after a timeout. It differs from RFC 5681 only with [`Halving::Whole`].
    pub(super) fn ssthresh_after_timeout(self, window: Window) -> f64 {
        match self {
            Self::Whole => self.halved(window).ssthresh,
            Self::Flight | Self::Window => window.ssthresh,
        }
    }

    /// Returns the window after a fast retransmit in ns-2.
    pub(super) fn halved(self, window: Window) -> Window {
        let cwnd = match self {
            Self::Whole => (window.cwnd.floor() / 2.0).floor(),
            Self::Window | Self::Flight => window.cwnd / 2.0,
        };
        Window { cwnd: cwnd.max(1.0), ssthresh: cwnd.floor().max(2.0) }
    }
}

impl Policy {
    /// Returns whether the third duplicate begins a recovery only if more has been acknowledged than was
    /// sent before the previous recovery began.
    pub(super) fn is_careful(&self) -> bool {
        match self.acks {
            Acks::Reno => self.fast_recovery == FastRecovery::Ns2,
            Acks::NewReno => true,
            Acks::Sack => false,
        }
    }

    /// Returns whether the window is reduced as in ns-2.
    pub(super) fn halves_as_ns2(&self, control: &AnyControl) -> bool {
        matches!(control, AnyControl::Reno(_)) && self.halving != Halving::Flight
    }
}

impl Recovery {
    /// Returns whether an acknowledgement that advances restarts the retransmission timer. With NewReno,
    /// only the first partial acknowledgement does: "Impatient" (RFC 6582, section 3.2, step 3, and
    /// section 4).
    pub(super) fn restarts_timer(&mut self, policy: &Policy) -> bool {
        let newreno = policy.acks == Acks::NewReno;
        match &mut self.phase {
            Phase::Recovery { partial, .. } if newreno => !std::mem::replace(partial, true),
            _ => true,
        }
    }

    /// Returns whether a new acknowledgement may grow the window. `before` is the phase in which it
    /// arrived; in fast recovery the window does not grow.
    pub(super) fn grows_after(&self, policy: &Policy, before: Phase) -> bool {
        let ends = self.phase == Phase::Open && policy.fast_recovery.grows_at_end(policy.acks);
        ends || !matches!(before, Phase::Recovery { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_expire_after_four_doublings_in_ns2_alone() {
        assert_eq!(FastRecovery::Ns2.rtt_valid_doublings(), Some(4));
        assert_eq!(FastRecovery::Rfc5681.rtt_valid_doublings(), None);
    }

    /// Returns cwnd and ssthresh after a fast retransmit in ns-2.
    fn after(halving: Halving, cwnd: f64) -> (f64, f64) {
        let Window { cwnd, ssthresh } = halving.halved(Window { cwnd, ssthresh: 64.0 });
        (cwnd, ssthresh)
    }

    #[test]
    fn ns2_halves_the_window_down_to_one_segment() {
        assert_eq!(after(Halving::Window, 15.0), (7.5, 7.0));
        assert_eq!(after(Halving::Window, 3.0), (1.5, 2.0));
        assert_eq!(after(Halving::Window, 1.5), (1.0, 2.0));
    }

    #[test]
    fn ns2_before_2006_halves_whole_segments() {
        assert_eq!(after(Halving::Whole, 15.9), (7.0, 7.0));
        assert_eq!(after(Halving::Whole, 3.9), (1.0, 2.0));
        assert_eq!(after(Halving::Whole, 1.5), (1.0, 2.0));
    }
}
