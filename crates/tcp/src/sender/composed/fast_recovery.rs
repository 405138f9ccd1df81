//! Fast recovery without SACK: when the third duplicate may begin it, and what its end does to the
//! window. ns-2's Reno, which the papers used, differs from RFC 5681 in both, and in how far the
//! window falls.

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
    /// As ns-2's Agent/TCP/Reno has it (tcp-reno.cc). The third duplicate begins it only once more
    /// than was sent before the last one is acknowledged: `bugFix_`, the Careful variant of
    /// RFC 2582, which RFC 6582 has for NewReno. And the acknowledgement that ends it grows the
    /// window like any other. Fast retransmit halves cwnd down to one segment, while ssthresh is a
    /// whole number and at least 2, and every timeout halves ssthresh, a repeated one as well
    /// (TcpAgent::slowdown and TcpAgent::timeout, tcp.cc). The first two duplicates after a timeout
    /// let a segment go each, which is a retransmission then (`singledup_`). Once the timeout is sixteenfold, the next
    /// round-trip time sets the estimators anew, for every sender (TcpAgent::rtt_backoff).
    Ns2,
}

impl FastRecovery {
    /// How many doublings of the timeout make the round-trip times before them doubtful.
    pub(crate) fn doubts_rtt_after(self) -> Option<u32> {
        (self == Self::Ns2).then_some(4)
    }

    /// How many of the duplicates after a timeout let a segment go each.
    pub(super) fn heeds_after_timeout(self) -> u32 {
        if self == Self::Ns2 { 2 } else { 0 }
    }

    /// Whether the window grows by the acknowledgement that ends recovery. NewReno's does not under
    /// ns-2 either: what it adds there is what partial acknowledgements deflated.
    fn grows_at_end(self, acks: Acks) -> bool {
        self == Self::Ns2 && acks == Acks::Reno
    }
}

/// How far a loss lets the window of Reno's congestion control fall. Use it for
/// [`RecoveryConfig::halving`](crate::RecoveryConfig::halving), to compare with ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halving {
    /// To half of what is in flight, and at least two segments (RFC 5681, equation 4).
    Flight,
    /// As ns-2 since January 2006 (`precisionReduce_` true): a fast retransmit halves cwnd down to one
    /// segment.
    Window,
    /// As ns-2 until then (`precisionReduce_` false): to a whole number of segments, half of the whole
    /// ones in cwnd, and as much after a timeout (TcpAgent::slowdown).
    Whole,
}

impl Halving {
    pub(super) fn of(config: &Config, acks: Acks) -> Self {
        let reno = config.recovery.fast == FastRecovery::Ns2 && acks == Acks::Reno;
        config.recovery.halving.unwrap_or(if reno { Self::Window } else { Self::Flight })
    }

    /// The window after a fast retransmit in ns-2: halved, where RFC 5681, equation 4, has half of
    /// what is in flight, and both at least 2.
    pub(super) fn halved(self, window: Window) -> Window {
        let cwnd = match self {
            Self::Whole => (window.cwnd.floor() / 2.0).floor(),
            Self::Window | Self::Flight => window.cwnd / 2.0,
        };
        Window { cwnd: cwnd.max(1.0), ssthresh: cwnd.floor().max(2.0) }
    }
}

impl Composed {
    /// Whether the window falls as in ns-2.
    pub(super) fn halves_as_ns2(&self) -> bool {
        matches!(self.control, AnyControl::Reno(_)) && self.policy.halving != Halving::Flight
    }

    /// A fast retransmit lets the window fall as in ns-2.
    pub(super) fn halve_as_ns2(&mut self) {
        self.window = self.policy.halving.halved(self.window);
    }

    /// The third duplicate came. May it begin recovery, or can it come from spurious retransmissions
    /// of the last one (RFC 6582, section 3.2, step 2)?
    pub(super) fn may_begin_recovery(&self, una: u64) -> bool {
        let careful = match self.policy.acks {
            Acks::Reno => self.policy.fast_recovery == FastRecovery::Ns2,
            Acks::NewReno => true,
            Acks::Sack => false,
        };
        !careful || self.recovery.recover.is_none_or(|recover| una > recover)
    }

    /// Whether an acknowledgement that advances restarts the retransmission timer. Of NewReno's
    /// partial ones only the first does: "Impatient" (RFC 6582, section 3.2, step 3, and section 4).
    pub(super) fn restarts_timer(&mut self) -> bool {
        let newreno = self.policy.acks == Acks::NewReno;
        match &mut self.recovery.phase {
            Phase::Recovery { partial, .. } if newreno => !std::mem::replace(partial, true),
            _ => true,
        }
    }

    /// Whether a new acknowledgement may grow the window: outside fast recovery, which stood at
    /// `before` when it came.
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
    fn round_trips_are_doubted_after_four_doublings_in_ns2_alone() {
        assert_eq!(FastRecovery::Ns2.doubts_rtt_after(), Some(4));
        assert_eq!(FastRecovery::Rfc5681.doubts_rtt_after(), None);
    }

    /// The window after a fast retransmit in ns-2, and ssthresh.
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
