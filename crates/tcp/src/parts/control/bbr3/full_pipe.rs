//! Whether the path is full: by a plateau of the delivery rate, and in STARTUP by losses as well
//! (draft-ietf-ccwg-bbr-06, section 5.3.1).

/// Growth of the rate below which it is level.
const GROWTH: f64 = 1.25;

/// Level round trips after which the path is full.
const LEVEL_ROUNDS: u32 = 3;

/// Ranges of lost segments in a round trip that end STARTUP (BBRStartupFullLossCnt).
const LOST_RANGES: u32 = 6;

/// Looks for a plateau of the delivery rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FullPipe {
    /// Rate from which growth is measured (BBR.full_bw).
    rate: f64,
    /// Round trips without growth (BBR.full_bw_count).
    level_rounds: u32,
    /// Whether the path is full since the search began (BBR.full_bw_now).
    pub(super) now: bool,
    /// Whether it was full at any time (BBR.full_bw_reached).
    pub(super) reached: bool,
}

impl FullPipe {
    /// Begins to search anew, from `rate` on.
    pub(super) fn restart(&mut self, rate: f64) {
        self.rate = rate;
        self.level_rounds = 0;
        self.now = false;
    }

    /// Takes the rate of a round trip that the application did not limit.
    pub(super) fn on_round(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= GROWTH * self.rate {
            self.restart(rate);
            return;
        }
        self.level_rounds += 1;
        self.now = self.level_rounds >= LEVEL_ROUNDS;
        self.reached |= self.now;
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.rate *= ratio;
    }
}

/// The losses of STARTUP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StartupLosses {
    /// Ranges of neighbouring segments lost in the present round trip.
    ranges: u32,
    last: Option<u64>,
    /// Round trips before the present recovery, if there is one.
    recovering_since: Option<u64>,
}

impl StartupLosses {
    /// Records the loss of segment `number`.
    pub(super) fn on_lost(&mut self, number: u64) {
        let continues = self.last.is_some_and(|last| number == last + 1 || number + 1 == last);
        self.ranges += u32::from(!continues);
        self.last = Some(number);
    }

    /// Records whether a recovery is in progress in round trip `round`.
    pub(super) fn on_state(&mut self, recovering: bool, round: u64) {
        self.recovering_since = recovering.then(|| self.recovering_since.unwrap_or(round));
    }

    /// Ends a round trip. Returns whether enough was lost in it, and recovery has lasted for a round trip.
    pub(super) fn end_round(&mut self, round: u64) -> bool {
        let ranges = std::mem::take(&mut self.ranges);
        ranges >= LOST_RANGES && self.recovering_since.is_some_and(|since| round > since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_level_round_trips_show_a_full_path_and_growth_by_a_quarter_does_not() {
        let mut pipe = FullPipe::default();
        for rate in [100.0, 125.0, 150.0, 155.0, 157.0] {
            pipe.on_round(rate);
            assert!(!pipe.now, "at {rate}");
        }
        // 125 is a quarter more than 100, and 157 a quarter more than 125.
        for rate in [190.0, 180.0] {
            pipe.on_round(rate);
            assert!(!pipe.now, "at {rate}");
        }
        pipe.on_round(196.0);
        assert!(pipe.now && pipe.reached);
        pipe.restart(0.0);
        assert!(!pipe.now && pipe.reached, "the path was full at some time");
    }

    #[test]
    fn neighbouring_losses_are_one_range() {
        let mut losses = StartupLosses::default();
        losses.on_state(true, 4);
        [10, 11, 12, 20, 30, 29, 40, 50].into_iter().for_each(|number| losses.on_lost(number));
        assert!(!losses.end_round(5), "five ranges");
        (0..6).for_each(|n| losses.on_lost(100 + 2 * n));
        assert!(losses.end_round(6));
        (0..6).for_each(|n| losses.on_lost(200 + 2 * n));
        losses.on_state(false, 6);
        losses.on_state(true, 7);
        assert!(!losses.end_round(7), "this recovery began in the same round trip");
    }
}
