//! Aggregation of acknowledgements: how many more segments arrive at a time than the bandwidth explains
//! (Linux, `bbr_update_ack_aggregation`).

use unruffled_units::Instant;

/// Round trips for which a maximum counts, once or twice (`bbr_extra_acked_win_rtts`).
const WINDOW_ROUNDS: u32 = 5;

/// Segments after which an epoch begins anew (`bbr_ack_epoch_acked_reset_thresh`).
const MAX_EPOCH: f64 = (1 << 20) as f64;

/// Longest time whose segments count as aggregated, in seconds (`bbr_extra_acked_max_us`).
const MAX_SECONDS: f64 = 0.1;

/// A time in which segments were delivered faster than the bandwidth explains. Both versions of BBR use it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::parts::control) struct Epoch {
    began: Instant,
    /// Segments delivered in it.
    delivered: f64,
}

impl Epoch {
    /// Begins an epoch.
    pub(in crate::parts::control) fn restart(&mut self, now: Instant) {
        self.began = now;
        self.delivered = 0.0;
    }

    /// Takes `delivered` segments at `now`, with this bandwidth in segments per second. Returns by how many
    /// the epoch exceeds what the bandwidth explains.
    pub(in crate::parts::control) fn on_ack(
        &mut self,
        delivered: u32,
        bandwidth: f64,
        now: Instant,
    ) -> f64 {
        let delivered = f64::from(delivered);
        let mut expected = (bandwidth * now.since(self.began).as_secs_f64()).floor();
        // A slower rate than the bandwidth ends the epoch.
        if self.delivered <= expected || self.delivered + delivered >= MAX_EPOCH {
            self.restart(now);
            expected = 0.0;
        }
        self.delivered += delivered;
        self.delivered - expected
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(in crate::parts::control) fn scale(&mut self, ratio: f64) {
        self.delivered *= ratio;
    }
}

/// The aggregation of acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Aggregation {
    epoch: Epoch,
    /// Maxima of the present window and of the one before.
    extra: [f64; 2],
    /// Round trips in the present window.
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch.
    pub(super) fn restart(&mut self, now: Instant) {
        self.epoch.restart(now);
    }

    /// Takes `delivered` segments at `now`, with this bandwidth in segments per second.
    pub(super) fn on_ack(
        &mut self,
        delivered: u32,
        bandwidth: f64,
        cwnd: f64,
        round_start: bool,
        now: Instant,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.extra = [0.0, self.extra[0]];
            }
        }
        let extra = self.epoch.on_ack(delivered, bandwidth, now).clamp(0.0, cwnd);
        self.extra[0] = self.extra[0].max(extra);
    }

    /// Returns the segments by which the window is larger because of aggregation.
    pub(super) fn window(&self, bandwidth: f64) -> f64 {
        self.extra[0].max(self.extra[1]).min(bandwidth * MAX_SECONDS)
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.epoch.scale(ratio);
        self.extra = self.extra.map(|extra| extra * ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_beyond_the_bandwidth_counts_for_five_to_ten_round_trips() {
        let mut aggregation = Aggregation::default();
        let at = Instant::from_millis;
        // 1000 segments a second: 20 at once, then 10 after 5 ms, which explain 5.
        aggregation.on_ack(20, 1000.0, 100.0, true, at(100));
        assert_eq!(aggregation.window(1000.0), 20.0);
        aggregation.on_ack(10, 1000.0, 100.0, false, at(105));
        assert_eq!(aggregation.window(1000.0), 25.0);
        assert_eq!(aggregation.window(100.0), 10.0, "at most 100 ms");
        for round in 2..10 {
            aggregation.on_ack(1, 1000.0, 100.0, true, at(100 * round));
            assert_eq!(aggregation.window(1000.0), 25.0, "round {round}");
        }
        aggregation.on_ack(1, 1000.0, 100.0, true, at(1000));
        assert_eq!(aggregation.window(1000.0), 1.0);
    }

    #[test]
    fn the_window_bounds_it() {
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(50, 1000.0, 30.0, true, Instant::from_millis(100));
        assert_eq!(aggregation.window(1000.0), 30.0);
    }
}
