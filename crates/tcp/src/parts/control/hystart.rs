//! HyStart: the end of slow start before a loss, as Linux has it (`net/ipv4/tcp_cubic.c`,
//! `hystart_update`; Ha and Rhee, *Taming the elephants: new TCP slow start*, 2011).
//!
//! Two signs end slow start. One is the delay: the smallest of the first round-trip times of a round
//! exceeds the minimum by an eighth. The other is a train of acknowledgements, each at most 2 ms
//! behind the one before, that lasts longer than half the minimum round-trip time. Lateness
//! resembles both, so on a path that reorders packets slow start ends far below what the path holds.

use unruffled_units::{Duration, Instant};

use super::Window;

/// The smallest window that ends slow start, in segments (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Round-trip times of a round that count before the delay is judged (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;
/// The bounds of the tolerated increase of the delay.
const MIN_DELAY_INCREASE: Duration = Duration::from_millis(4);
const MAX_DELAY_INCREASE: Duration = Duration::from_millis(16);
/// Longest gap within a train of acknowledgements (`hystart_ack_delta_us`).
const MAX_ACK_GAP: Duration = Duration::from_millis(2);
/// Time by which offloads delay acknowledgements, at most (`hystart_ack_delay`).
const ACK_DELAY: Duration = Duration::from_millis(1);

/// A round-trip time, and where the stream stands.
#[derive(Clone, Copy, Debug)]
pub struct RoundTripSample {
    /// Present time.
    pub now: Instant,
    /// Round-trip time of the segment sent last among those that the acknowledgement covers.
    pub rtt: Duration,
    /// SND.UNA.
    pub una: u64,
    /// SND.NXT.
    pub nxt: u64,
}

/// The state of HyStart, and of the present round of slow start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HyStart {
    /// Begin of the round.
    began: Instant,
    /// SND.NXT when it began.
    ends_at: u64,
    /// Time of the last acknowledgement of the train.
    last_ack: Instant,
    smallest: Duration,
    samples: u8,
    in_round: bool,
    /// Whether slow start has been ended since the last timeout.
    found: bool,
    /// Whether slow start is never ended.
    off: bool,
}

impl HyStart {
    /// Returns the state at the start; `on`: it ends slow start.
    pub(crate) fn new(on: bool) -> Self {
        Self { off: !on, ..Self::default() }
    }

    /// Returns whether it ends slow start.
    pub(crate) fn is_on(&self) -> bool {
        !self.off
    }

    /// Takes a round-trip time; `min_rtt` is the minimum so far. Ends slow start by setting ssthresh to
    /// the window.
    pub(crate) fn on_round_trip(
        &mut self,
        sample: &RoundTripSample,
        min_rtt: Duration,
        window: &mut Window,
    ) {
        let RoundTripSample { now, rtt, una, nxt } = *sample;
        if self.found || !window.slow_start() {
            return;
        }
        if !self.in_round || una > self.ends_at {
            *self = Self {
                began: now,
                ends_at: nxt,
                last_ack: now,
                smallest: Duration::MAX,
                samples: 0,
                in_round: true,
                off: self.off,
                found: false,
            };
        }
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if now.since(self.last_ack) <= MAX_ACK_GAP {
            self.last_ack = now;
            self.found = now.since(self.began) > (min_rtt + ACK_DELAY) / 2;
        }
        self.smallest = self.smallest.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else {
            let increase = (min_rtt / 8).clamp(MIN_DELAY_INCREASE, MAX_DELAY_INCREASE);
            self.found |= self.smallest > min_rtt + increase;
        }
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    /// Starts again after a timeout, whose slow start may be ended once more.
    pub(crate) fn on_timeout(&mut self) {
        self.in_round = false;
        self.found = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Plays acknowledgements, given by time and round-trip time in milliseconds, of a round that
    /// began at 1000 ms with a minimum of 80 ms. Returns ssthresh.
    fn play(cwnd: f64, acks: impl IntoIterator<Item = (u64, u64)>) -> f64 {
        let mut hystart = HyStart::default();
        let mut window = Window { cwnd, ssthresh: INFINITE };
        for (at, rtt) in acks {
            let now = Instant::from_millis(at);
            let sample = RoundTripSample { now, rtt: ms(rtt), una: 1, nxt: 100 };
            hystart.on_round_trip(&sample, ms(80), &mut window);
        }
        window.ssthresh
    }

    #[test]
    fn a_delay_above_the_minimum_by_more_than_an_eighth_ends_slow_start_at_the_ninth_sample() {
        let acks = |rtt, count: u64| (0..count).map(move |n| (1000 + 5 * n, rtt));
        assert_eq!(play(20.0, acks(91, 8)), INFINITE);
        assert_eq!(play(20.0, acks(91, 9)), 20.0);
        assert_eq!(play(20.0, acks(90, 50)), INFINITE, "80 + 80/8");
        assert_eq!(play(15.0, acks(91, 50)), INFINITE, "below the smallest window");
    }

    #[test]
    fn one_undelayed_sample_of_the_round_refutes_the_increase() {
        let acks = (0..30).map(|n| (1000 + 5 * n, if n == 3 { 85 } else { 120 }));
        assert_eq!(play(20.0, acks), INFINITE);
    }

    #[test]
    fn a_train_longer_than_half_the_minimum_ends_slow_start() {
        // (80 + 1)/2 = 40.5 ms.
        assert_eq!(play(20.0, (0..=40).map(|n| (1000 + n, 80))), INFINITE);
        assert_eq!(play(20.0, (0..=41).map(|n| (1000 + n, 80))), 20.0);
        let with_gap = (0..=60).filter(|n| !(20..23).contains(n));
        assert_eq!(play(20.0, with_gap.map(|n| (1000 + n, 80))), INFINITE, "4 ms apart");
    }

    #[test]
    fn after_a_timeout_slow_start_can_be_ended_again() {
        let mut hystart = HyStart { found: true, ..HyStart::default() };
        hystart.on_timeout();
        assert!(!hystart.found);
    }
}
