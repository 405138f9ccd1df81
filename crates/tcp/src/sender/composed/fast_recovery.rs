//! Fast recovery without SACK: when the third duplicate may begin it, and what its end does to the
//! window. ns-2's Reno, which the papers used, differs from RFC 5681 in both, and in the window after a
//! loss.

use super::policy::Policy;
use super::{Acks, Composed, Phase};
use crate::Config;
use crate::parts::control::{AnyControl, Window};

/// How Reno's fast recovery begins and ends. Use it for
/// [`RecoveryConfig::fast`](crate::RecoveryConfig::fast), to compare with ns-2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastRecovery {
    /// Every third duplicate begins it, and the acknowledgement that ends it only deflates the
    /// window (RFC 5681, section 3.2, steps 2 and 6).
    #[default]
    Rfc5681,
    /// As in ns-2's Agent/TCP/Reno (tcp-reno.cc). The third duplicate begins a recovery only once more
    /// is acknowledged than was sent before the last one (`bugFix_`, the Careful variant of RFC 2582,
    /// which RFC 6582 has for NewReno). The acknowledgement that ends a recovery grows the window like
    /// any other. Fast retransmit halves cwnd down to one segment, while ssthresh is a whole number and
    /// at least 2. Every timeout halves ssthresh, repeated ones too (TcpAgent::slowdown and
    /// TcpAgent::timeout, tcp.cc). Each of the first two duplicates after a timeout permits one
    /// segment, which is a retransmission then (`singledup_`). Once the timeout has grown sixteenfold,
    /// the next round-trip time sets the estimators anew, for every sender (TcpAgent::rtt_backoff).
    Ns2,
}

impl FastRecovery {
    /// Number of doublings of the timeout after which earlier round-trip times no longer count.
    pub(crate) fn rtt_valid_doublings(self) -> Option<u32> {
        (self == Self::Ns2).then_some(4)
    }

    /// Number of duplicates after a timeout that permit one segment each.
    pub(super) fn duplicates_after_timeout(self) -> u32 {
        if self == Self::Ns2 { 2 } else { 0 }
    }

    /// Returns whether the acknowledgement that ends recovery grows the window. ns-2's NewReno does not
    /// either: what it adds there is what partial acknowledgements deflated.
    fn grows_at_end(self, acks: Acks) -> bool {
        self == Self::Ns2 && acks == Acks::Reno
    }
}

/// The window of Reno's congestion control after a loss. Use it for
/// [`RecoveryConfig::halving`](crate::RecoveryConfig::halving), to compare with ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// Half of what is in flight, at least two segments (RFC 5681, equation 4).
    Flight,
    /// Half of cwnd, at least one segment, as in ns-2 since January 2006 (`precisionReduce_` true).
    Window,
    /// Half of cwnd in whole segments, rounded down before and after, also after a timeout. As in ns-2
    /// until then (`precisionReduce_` false; TcpAgent::slowdown).
    Whole,
}

impl Halving {
    pub(super) fn of(config: &Config, acks: Acks) -> Self {
        let reno = config.recovery.fast == FastRecovery::Ns2 && acks == Acks::Reno;
        config.recovery.halving.unwrap_or(if reno { Self::Window } else { Self::Flight })
    }

    /// Returns ssthresh after a timeout, for which only whole segments differ from RFC 5681.
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
    /// Returns whether the third duplicate begins a recovery only once more is acknowledged than was
    /// sent before the last one.
    pub(super) fn is_careful(&self) -> bool {
        match self.acks {
            Acks::Reno => self.fast_recovery == FastRecovery::Ns2,
            Acks::NewReno => true,
            Acks::Sack => false,
        }
    }
}

impl Composed {
    /// Returns whether the window is reduced as in ns-2.
    pub(super) fn halves_as_ns2(&self) -> bool {
        matches!(self.control, AnyControl::Reno(_)) && self.policy.halving != Halving::Flight
    }

    /// Returns whether an acknowledgement that advances restarts the retransmission timer. Of NewReno's
    /// partial acknowledgements only the first does: "Impatient" (RFC 6582, section 3.2, step 3, and
    /// section 4).
    pub(super) fn restarts_timer(&mut self) -> bool {
        let newreno = self.policy.acks == Acks::NewReno;
        match &mut self.recovery.phase {
            Phase::Recovery { partial, .. } if newreno => !std::mem::replace(partial, true),
            _ => true,
        }
    }

    /// Returns whether a new acknowledgement may grow the window. `before` is the phase in which it
    /// came; in fast recovery the window does not grow.
    pub(super) fn grows_after(&self, before: Phase) -> bool {
        let ends = self.recovery.phase == Phase::Open
            && self.policy.fast_recovery.grows_at_end(self.policy.acks);
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

    /// cwnd and ssthresh after a fast retransmit in ns-2.
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
