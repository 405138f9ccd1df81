//! Extended Limited Transmit of TCP-NCR (RFC 4653, sections 3.1 to 3.4). While selective
//! acknowledgements report a hole, new data keeps flowing. The window is adjusted when the hole
//! closes, and reduced only when the hole is deemed a loss. `detect/ncr.rs` has the duplicate
//! threshold for that.

use std::borrow::Cow;

use super::{AnyLimitedTransmit, LimitedTransmit, Progress};
use crate::parts::control::Window;
use crate::parts::{Kind, maker};

/// Sends one segment for each two that left the network.
pub(crate) const CAREFUL: Kind<AnyLimitedTransmit> = Kind::new::<()>("ncr-careful", |values| {
    maker(values, |(), _| AnyLimitedTransmit::Ncr(ExtendedLimitedTransmit::new(true)))
});
/// Sends one segment for each that left the network.
pub(crate) const AGGRESSIVE: Kind<AnyLimitedTransmit> =
    Kind::new::<()>("ncr-aggressive", |values| {
        maker(values, |(), _| AnyLimitedTransmit::Ncr(ExtendedLimitedTransmit::new(false)))
    });

/// One period of Extended Limited Transmit, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    /// FlightSizePrev.
    flight_prev: f64,
    /// Skipped.
    skipped: u32,
}

/// The state of TCP-NCR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ExtendedLimitedTransmit {
    /// Whether to use Careful Limited Transmit instead of Aggressive.
    careful: bool,
    period: Option<Period>,
}

impl ExtendedLimitedTransmit {
    fn new(careful: bool) -> Self {
        Self { careful, period: None }
    }

    /// Called for an acknowledgement with SACK information outside loss recovery, when `flight`
    /// (FlightSize) was outstanding before it.
    fn on_sack(&mut self, flight: u32, cwnd: f64) {
        // (I.1) and (I.2); (I.3) is up to the detector. A full window counts with its fraction, the
        // credit towards its next segment. Otherwise the window would never grow over many periods.
        // A SACK when nothing is in flight leaves a window of one segment.
        let flight = f64::from(flight.max(1));
        let flight_prev = if flight >= cwnd.floor() { cwnd } else { flight };
        self.period.get_or_insert(Period { flight_prev, skipped: 0 });
    }

    /// Returns the window after the cumulative acknowledgement has advanced before loss recovery;
    /// `flight` is still outstanding, and `sack` is set if the acknowledgement has SACK
    /// information.
    fn on_advance(&mut self, flight: u32, sack: bool, window: Window) -> Window {
        let Some(period) = &mut self.period else { return window };
        // (T.1)
        let cwnd = (f64::from(flight) + 1.0).min(period.flight_prev);
        // (T.2), but never lower than before: the RFC's `ssthresh = FlightSizePrev` would end slow
        // start with the first reordering.
        let ssthresh = window.ssthresh.max(period.flight_prev);
        // (T.4): (I.2) and (I.3), not (I.1).
        if sack {
            period.skipped = 0;
        } else {
            self.period = None;
        }
        Window { cwnd, ssthresh }
    }
}

impl LimitedTransmit for ExtendedLimitedTransmit {
    fn about(&self) -> Cow<'static, str> {
        match self.careful {
            true => "RFC 4653, one per two SACKed".into(),
            false => "RFC 4653, one per SACKed".into(),
        }
    }

    /// Returns 0: RFC 4653 sends by the pipe, not by a count of duplicates.
    fn allowance(&self, _duplicates: u32, _cwnd: f64) -> u32 {
        0
    }

    /// Returns whether a new segment may be sent while `pipe` segments are in the network (E.2).
    fn may_exceed(&self, pipe: u32) -> bool {
        self.period.is_some_and(|p| f64::from(pipe + p.skipped) <= p.flight_prev - 1.0)
    }

    /// Called when a segment was sent by (E.2): this is (E.4). (E.3) is up to the scoreboard.
    fn on_exceeded(&mut self) {
        if let Some(period) = self.period.as_mut().filter(|_| self.careful) {
            period.skipped += 1;
        }
    }

    /// Returns FlightSizePrev during Extended Limited Transmit (section 3.4: ssthresh = cwnd =
    /// (FlightSizePrev / 2)).
    fn flight_before(&self) -> Option<f64> {
        self.period.map(|period| period.flight_prev)
    }

    fn on_progress(&mut self, progress: &Progress, window: &mut Window) {
        let Progress { advanced, sack, flight_before, flight } = *progress;
        if advanced {
            *window = self.on_advance(flight, sack, *window);
        }
        // Section 3.1 requires an acknowledgement without SACK information first. It can only be
        // missing if this one ended loss recovery. Then the threshold of that recovery would stay
        // in force, so a new period begins nevertheless.
        if sack {
            self.on_sack(flight_before, window.cwnd);
        }
    }

    /// Called when loss recovery begins (sections 3.2 and 3.4), also after a timeout.
    fn on_recovery(&mut self) {
        self.period = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { cwnd: 10.0, ssthresh: 20.0 };

    /// Returns how many segments each SACKed segment releases, starting with `pipe` segments in the
    /// network.
    fn sends(ncr: &mut ExtendedLimitedTransmit, mut pipe: u32, sacks: u32) -> Vec<u32> {
        let mut sent = Vec::new();
        for _ in 0..sacks {
            pipe -= 1;
            let mut count = 0;
            while ncr.may_exceed(pipe) {
                ncr.on_exceeded();
                pipe += 1;
                count += 1;
            }
            sent.push(count);
        }
        sent
    }

    #[test]
    fn a_sack_of_nothing_leaves_a_window_of_one_segment() {
        let mut ncr = ExtendedLimitedTransmit::new(true);
        ncr.on_sack(0, 2.0);
        assert_eq!(ncr.on_advance(0, false, WINDOW).cwnd, 1.0);
    }

    #[test]
    fn careful_sends_one_for_every_second_segment_that_left() {
        // FlightSizePrev 10. 1st: 9 + 0 ≤ 9, send: pipe 10, Skipped 1. 2nd: 9 + 1 > 9.
        // 3rd: 8 + 1 ≤ 9, send: pipe 9, Skipped 2. 4th: 8 + 2 > 9. 5th: 7 + 2 ≤ 9. 6th: 7 + 3 > 9.
        let mut ncr = ExtendedLimitedTransmit::new(true);
        ncr.on_sack(10, 10.0);
        assert_eq!(sends(&mut ncr, 10, 6), [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn aggressive_sends_one_for_every_segment_that_left() {
        let mut ncr = ExtendedLimitedTransmit::new(false);
        ncr.on_sack(10, 10.0);
        assert_eq!(sends(&mut ncr, 10, 4), [1, 1, 1, 1]);
    }

    #[test]
    fn a_lost_acknowledgement_is_compensated() {
        // (E.5): one SACK reports three segments: 10 − 3 = 7, 8 and 9 are each ≤ 9.
        let mut aggressive = ExtendedLimitedTransmit::new(false);
        aggressive.on_sack(10, 10.0);
        assert_eq!(sends(&mut aggressive, 8, 1), [3]);
        // Careful: 7 + 0 ≤ 9, 8 + 1 ≤ 9, 9 + 2 > 9: one for two, rounded up.
        let mut careful = ExtendedLimitedTransmit::new(true);
        careful.on_sack(10, 10.0);
        assert_eq!(sends(&mut careful, 8, 1), [2]);
    }

    #[test]
    fn nothing_is_sent_outside_of_extended_limited_transmit() {
        assert!(!ExtendedLimitedTransmit::new(false).may_exceed(0));
    }

    #[test]
    fn progress_ends_the_period_and_sets_the_window() {
        let mut ncr = ExtendedLimitedTransmit::new(true);
        ncr.on_sack(10, 10.0);
        // (T.1): min(6 + 1, 10). (T.2): max(20, 10).
        assert_eq!(ncr.on_advance(6, false, WINDOW), Window { cwnd: 7.0, ssthresh: 20.0 });
        assert_eq!(ncr.flight_before(), None);
        // (T.1): min(12 + 1, 10). (T.2): max(4, 10): slow start leads back to 10.
        ncr.on_sack(10, 10.0);
        let avoiding = Window { cwnd: 10.0, ssthresh: 4.0 };
        assert_eq!(ncr.on_advance(12, false, avoiding), Window { cwnd: 10.0, ssthresh: 10.0 });
    }

    #[test]
    fn progress_with_sack_information_restarts_with_the_old_flight_size() {
        // (T.4): (I.2) Skipped = 0, but not (I.1): FlightSizePrev stays 10 although 6 are
        // outstanding.
        let mut ncr = ExtendedLimitedTransmit::new(true);
        ncr.on_sack(10, 10.0);
        sends(&mut ncr, 10, 3);
        assert_eq!(ncr.period, Some(Period { flight_prev: 10.0, skipped: 2 }));
        ncr.on_advance(6, true, WINDOW);
        ncr.on_sack(6, 7.0);
        assert_eq!(ncr.period, Some(Period { flight_prev: 10.0, skipped: 0 }));
    }

    #[test]
    fn a_full_window_counts_with_its_fraction_and_an_idle_one_as_far_as_it_was_used() {
        let mut ncr = ExtendedLimitedTransmit::new(true);
        ncr.on_sack(10, 10.75);
        assert_eq!(ncr.flight_before(), Some(10.75));
        assert!(ncr.may_exceed(9) && !ncr.may_exceed(10));
        ncr.on_recovery();
        ncr.on_sack(4, 10.75);
        assert_eq!(ncr.flight_before(), Some(4.0));
    }
}
