//! Extended Limited Transmit of TCP-NCR (RFC 4653, sections 3.1 to 3.4): while selective
//! acknowledgements tell of a hole, new data keeps flowing; the window is put right when the hole
//! closes, and reduced only when it counts as lost. The duplicate threshold that decides on that
//! stands in `detect/ncr.rs`.

use unruffled_units::Instant;

use super::{Ack, LimitedTransmit, Phase, Sender, Transmission};
use crate::control::Window;

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
pub(crate) struct Ncr {
    /// Careful Limited Transmit, else Aggressive.
    careful: bool,
    period: Option<Period>,
}

impl Ncr {
    /// For the limited transmits that are Extended.
    pub(crate) fn new(limited_transmit: LimitedTransmit) -> Option<Self> {
        let careful = match limited_transmit {
            LimitedTransmit::Careful => true,
            LimitedTransmit::Aggressive => false,
            _ => return None,
        };
        Some(Self { careful, period: None })
    }

    /// FlightSizePrev, during Extended Limited Transmit.
    pub(crate) fn flight_prev(&self) -> Option<f64> {
        self.period.map(|period| period.flight_prev)
    }

    /// An acknowledgement with SACK information came outside loss recovery; `flight` (FlightSize)
    /// was outstanding when it came.
    pub(crate) fn on_sack(&mut self, flight: u32, cwnd: f64) {
        // (I.1) and (I.2); (I.3) is the detector's. A full window counts with its fraction, the
        // credit towards its next segment, or the window would never grow over many periods.
        // What says that it SACKs data when none is in flight leaves a window of one segment.
        let flight = f64::from(flight.max(1));
        let flight_prev = if flight >= cwnd.floor() { cwnd } else { flight };
        self.period.get_or_insert(Period { flight_prev, skipped: 0 });
    }

    /// The cumulative point advanced before loss recovery was triggered, and `flight` is
    /// outstanding still; `sack` if there is SACK information, too. Gives the window.
    pub(crate) fn on_progress(&mut self, flight: u32, sack: bool, window: Window) -> Window {
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

    /// (E.2): whether a new segment may leave while `pipe` segments are in the network.
    pub(crate) fn may_send(&self, pipe: u32) -> bool {
        self.period.is_some_and(|p| f64::from(pipe + p.skipped) <= p.flight_prev - 1.0)
    }

    /// (E.4): a segment left by (E.2); (E.3) is the scoreboard's.
    pub(crate) fn on_sent(&mut self) {
        if let Some(period) = self.period.as_mut().filter(|_| self.careful) {
            period.skipped += 1;
        }
    }

    /// Loss recovery begins (sections 3.2 and 3.4), or a timeout does.
    pub(crate) fn end(&mut self) {
        self.period = None;
    }
}

impl Sender {
    /// The steps that an acknowledgement calls for, but for the sending. `flight` was outstanding
    /// when it came.
    pub(super) fn on_ack_by_ncr(&mut self, ack: &Ack<'_>, advanced: bool, flight: u32) {
        let Some(ncr) = self.ncr.as_mut().filter(|_| self.phase == Phase::Open) else { return };
        let sack = !ack.blocks.is_empty();
        if advanced {
            self.window = ncr.on_progress(self.board.outstanding(), sack, self.window);
        }
        // Section 3.1 wants an acknowledgement without SACK information first. That it is missing
        // can only be when this one ended loss recovery, and then the threshold held during that
        // recovery would stay in force: a new period is due all the same.
        if sack {
            ncr.on_sack(flight, self.window.cwnd);
        }
    }

    /// (E.2) to (E.5): the next new segment beyond the window.
    pub(super) fn extended_limited_transmit(&mut self, now: Instant) -> Option<Transmission> {
        if !self.ncr.is_some_and(|ncr| ncr.may_send(self.board.pipe())) {
            return None;
        }
        let transmission = self.new_data(now)?;
        if let Some(ncr) = &mut self.ncr {
            ncr.on_sent();
        }
        Some(transmission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { cwnd: 10.0, ssthresh: 20.0 };

    fn ncr(limited_transmit: LimitedTransmit) -> Ncr {
        Ncr::new(limited_transmit).expect("extended")
    }

    /// How many segments each SACKed segment lets go, from `pipe` segments in the network on.
    fn sends(ncr: &mut Ncr, mut pipe: u32, sacks: u32) -> Vec<u32> {
        let mut sent = Vec::new();
        for _ in 0..sacks {
            pipe -= 1;
            let mut count = 0;
            while ncr.may_send(pipe) {
                ncr.on_sent();
                pipe += 1;
                count += 1;
            }
            sent.push(count);
        }
        sent
    }

    #[test]
    fn a_sack_of_nothing_leaves_a_window_of_one_segment() {
        let mut ncr = ncr(LimitedTransmit::Careful);
        ncr.on_sack(0, 2.0);
        assert_eq!(ncr.on_progress(0, false, WINDOW).cwnd, 1.0);
    }

    #[test]
    fn careful_sends_one_for_every_second_segment_that_left() {
        // FlightSizePrev 10. 1st: 9 + 0 ≤ 9, send: pipe 10, Skipped 1. 2nd: 9 + 1 > 9.
        // 3rd: 8 + 1 ≤ 9, send: pipe 9, Skipped 2. 4th: 8 + 2 > 9. 5th: 7 + 2 ≤ 9. 6th: 7 + 3 > 9.
        let mut ncr = ncr(LimitedTransmit::Careful);
        ncr.on_sack(10, 10.0);
        assert_eq!(sends(&mut ncr, 10, 6), [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn aggressive_sends_one_for_every_segment_that_left() {
        let mut ncr = ncr(LimitedTransmit::Aggressive);
        ncr.on_sack(10, 10.0);
        assert_eq!(sends(&mut ncr, 10, 4), [1, 1, 1, 1]);
    }

    #[test]
    fn a_lost_acknowledgement_is_made_up_for() {
        // (E.5): one SACK tells of three segments: 10 − 3 = 7, 8 and 9 are each ≤ 9.
        let mut aggressive = ncr(LimitedTransmit::Aggressive);
        aggressive.on_sack(10, 10.0);
        assert_eq!(sends(&mut aggressive, 8, 1), [3]);
        // Careful: 7 + 0 ≤ 9, 8 + 1 ≤ 9, 9 + 2 > 9: one for two, rounded up.
        let mut careful = ncr(LimitedTransmit::Careful);
        careful.on_sack(10, 10.0);
        assert_eq!(sends(&mut careful, 8, 1), [2]);
    }

    #[test]
    fn nothing_is_sent_outside_of_extended_limited_transmit() {
        assert!(!ncr(LimitedTransmit::Aggressive).may_send(0));
        assert_eq!(Ncr::new(LimitedTransmit::Rfc3042), None);
    }

    #[test]
    fn progress_ends_the_period_and_sets_the_window() {
        let mut ncr = ncr(LimitedTransmit::Careful);
        ncr.on_sack(10, 10.0);
        // (T.1): min(6 + 1, 10). (T.2): max(20, 10).
        assert_eq!(ncr.on_progress(6, false, WINDOW), Window { cwnd: 7.0, ssthresh: 20.0 });
        assert_eq!(ncr.flight_prev(), None);
        // (T.1): min(12 + 1, 10). (T.2): max(4, 10): slow start leads back to 10.
        ncr.on_sack(10, 10.0);
        let avoiding = Window { cwnd: 10.0, ssthresh: 4.0 };
        assert_eq!(ncr.on_progress(12, false, avoiding), Window { cwnd: 10.0, ssthresh: 10.0 });
    }

    #[test]
    fn progress_with_sack_information_restarts_with_the_old_flight_size() {
        // (T.4): (I.2) Skipped = 0, but not (I.1): FlightSizePrev stays 10 although 6 are out.
        let mut ncr = ncr(LimitedTransmit::Careful);
        ncr.on_sack(10, 10.0);
        sends(&mut ncr, 10, 3);
        assert_eq!(ncr.period, Some(Period { flight_prev: 10.0, skipped: 2 }));
        ncr.on_progress(6, true, WINDOW);
        ncr.on_sack(6, 7.0);
        assert_eq!(ncr.period, Some(Period { flight_prev: 10.0, skipped: 0 }));
    }

    #[test]
    fn a_full_window_is_remembered_with_its_fraction_and_an_idle_one_as_it_was_used() {
        let mut ncr = ncr(LimitedTransmit::Careful);
        ncr.on_sack(10, 10.75);
        assert_eq!(ncr.flight_prev(), Some(10.75));
        assert!(ncr.may_send(9) && !ncr.may_send(10));
        ncr.end();
        ncr.on_sack(4, 10.75);
        assert_eq!(ncr.flight_prev(), Some(4.0));
    }
}
