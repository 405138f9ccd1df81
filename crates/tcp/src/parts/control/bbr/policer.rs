//! The rate of a policer: two intervals with much loss and nearly the same rate (Linux,
//! `bbr_lt_bw_sampling`).

use unruffled_units::{Duration, Instant};

use crate::parts::control::Totals;

/// Minimum length of an interval, in round trips (`bbr_lt_intvl_min_rtts`).
const MIN_ROUNDS: u32 = 4;

/// Share of the segments whose loss shows a policer, relative to those delivered (`bbr_lt_loss_thresh`).
const MIN_LOSS: f64 = 50.0 / 256.0;

/// Relative difference up to which two rates are the same (`bbr_lt_bw_ratio`).
const SAME_RATIO: f64 = 1.0 / 8.0;

/// Difference up to which two rates are the same, in segments per second: 4 kb/s (`bbr_lt_bw_diff`).
const SAME_DIFFERENCE: f64 = 4000.0 / 8.0 / 1448.0;

/// Round trips for which a policer's rate is used (`bbr_lt_bw_max_rtts`).
const MAX_ROUNDS: u32 = 48;

/// Minimum length of an interval.
const MIN_LENGTH: Duration = Duration::from_millis(1);

/// The sampling of intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Policer {
    /// Rate of the last interval with much loss, or 0 (`lt_bw`).
    rate: f64,
    /// Whether two intervals had this rate, so that it limits the sender (`lt_use_bw`).
    limits: bool,
    /// Whether an interval has begun (`lt_is_sampling`).
    sampling: bool,
    /// Round trips of the interval, or of the use of its rate (`lt_rtt_cnt`).
    rounds: u32,
    /// Begin of the interval.
    began: Instant,
    /// Totals at the begin.
    totals: Totals,
}

/// What one acknowledgement means to the policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Present totals.
    pub(super) totals: Totals,
    /// Time of the last delivery.
    pub(super) delivered_at: Instant,
    /// Segments found lost since the last acknowledgement.
    pub(super) lost: u32,
    /// Whether a round trip began.
    pub(super) round_start: bool,
    /// Whether the application limited the sample.
    pub(super) app_limited: bool,
    /// Whether the sender is in PROBE_BW.
    pub(super) probing_bandwidth: bool,
}

/// What follows from an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    None,
    /// A policer was found. Its rate limits the sender from now on.
    Found,
    /// The rate has been used for long enough.
    Over,
}

impl Policer {
    /// Returns the policer's rate, in segments per second, while it limits the sender.
    pub(super) fn limit(&self) -> Option<f64> {
        self.limits.then_some(self.rate)
    }

    /// Begins to sample the path anew.
    pub(super) fn reset(&mut self, totals: Totals, at: Instant) {
        *self = Self { began: at, totals, ..Self::default() };
    }

    /// Takes an acknowledgement, or a timeout as the loss of one segment.
    pub(super) fn on_ack(&mut self, facts: &Facts) -> Finding {
        if self.limits {
            if facts.probing_bandwidth && facts.round_start {
                self.rounds += 1;
                if self.rounds >= MAX_ROUNDS {
                    self.reset(facts.totals, facts.delivered_at);
                    return Finding::Over;
                }
            }
            return Finding::None;
        }
        // An interval begins and ends with a loss, so that it shows what the policer lets through.
        if !self.sampling {
            if facts.lost == 0 {
                return Finding::None;
            }
            self.begin(facts);
            self.sampling = true;
        }
        if facts.app_limited {
            self.reset(facts.totals, facts.delivered_at);
            return Finding::None;
        }
        self.rounds += u32::from(facts.round_start);
        if self.rounds < MIN_ROUNDS {
            return Finding::None;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(facts.totals, facts.delivered_at);
            return Finding::None;
        }
        if facts.lost == 0 {
            return Finding::None;
        }
        let lost = facts.totals.lost.saturating_sub(self.totals.lost);
        let delivered = facts.totals.delivered.saturating_sub(self.totals.delivered);
        if delivered == 0 || (lost as f64) < MIN_LOSS * delivered as f64 {
            return Finding::None;
        }
        let length = facts.delivered_at.since(self.began);
        if length < MIN_LENGTH {
            return Finding::None;
        }
        self.end_interval(delivered as f64 / length.as_secs_f64(), facts)
    }

    fn begin(&mut self, facts: &Facts) {
        self.began = facts.delivered_at;
        self.totals = facts.totals;
        self.rounds = 0;
    }

    fn end_interval(&mut self, rate: f64, facts: &Facts) -> Finding {
        if self.rate > 0.0 {
            let difference = (rate - self.rate).abs();
            if difference <= SAME_RATIO * self.rate || difference <= SAME_DIFFERENCE {
                self.rate = (rate + self.rate) / 2.0;
                self.limits = true;
                self.rounds = 0;
                return Finding::Found;
            }
        }
        self.rate = rate;
        self.begin(facts);
        Finding::None
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.rate *= ratio;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays an interval of `rounds` round trips of 100 ms with these segments delivered and lost in each.
    fn play(
        policer: &mut Policer,
        facts: &mut Facts,
        rounds: u32,
        (delivered, lost): (u64, u32),
    ) -> Finding {
        let mut last = Finding::None;
        for _ in 0..rounds {
            facts.totals.delivered += delivered;
            facts.totals.lost += u64::from(lost);
            facts.delivered_at += Duration::from_millis(100);
            last = policer.on_ack(&Facts { lost, ..*facts });
            if last != Finding::None {
                break;
            }
        }
        last
    }

    fn facts() -> Facts {
        Facts {
            totals: Totals::default(),
            delivered_at: Instant::ZERO,
            lost: 0,
            round_start: true,
            app_limited: false,
            probing_bandwidth: true,
        }
    }

    #[test]
    fn two_intervals_with_a_fifth_lost_and_the_same_rate_show_a_policer() {
        let (mut policer, mut facts) = (Policer::default(), facts());
        // The first loss begins an interval. Four round trips later 400 segments have come in 0.4 s.
        assert_eq!(play(&mut policer, &mut facts, 4, (100, 20)), Finding::None);
        assert_eq!(policer.limit(), None);
        assert_eq!(play(&mut policer, &mut facts, 5, (100, 20)), Finding::Found);
        assert_eq!(policer.limit(), Some(1000.0));
        assert_eq!(play(&mut policer, &mut facts, 47, (100, 0)), Finding::None);
        assert_eq!(play(&mut policer, &mut facts, 1, (100, 0)), Finding::Over);
        assert_eq!(policer.limit(), None);
    }

    #[test]
    fn a_tenth_lost_shows_none() {
        let (mut policer, mut facts) = (Policer::default(), facts());
        play(&mut policer, &mut facts, 100, (100, 10));
        assert_eq!(policer.limit(), None);
    }

    #[test]
    fn two_rates_that_differ_by_more_than_an_eighth_show_none() {
        let (mut policer, mut facts) = (Policer::default(), facts());
        play(&mut policer, &mut facts, 4, (100, 25));
        assert_eq!(play(&mut policer, &mut facts, 4, (130, 30)), Finding::None);
        assert_eq!(policer.limit(), None);
    }
}
