//! HyStart: the end of slow start before a loss, as Linux has it (`net/ipv4/tcp_cubic.c`,
//! `hystart_update`; Ha and Rhee, *Taming the elephants: new TCP slow start*, 2011).
//!
//! Two signs end slow start. One is the delay: the smallest of the first round-trip times of a round
//! exceeds the minimum by an eighth. The other is a train of acknowledgements, each at most 2 ms
//! behind the one before, that lasts longer than half the minimum round-trip time. Lateness
//! resembles both, so on a path that reorders packets slow start ends far below what the path holds.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::cubic::Cubic;
use super::{CongestionControl, Flow, Snapshot, Window};

/// The smallest window that ends slow start, in segments (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Round-trip times of a round that count before the delay is judged (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
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

/// The state of HyStart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HyStart {
    /// Minimum round-trip time so far.
    min_rtt: Option<Duration>,
    /// Present round, once there is one.
    round: Option<Round>,
    /// Whether slow start has been ended since the last timeout.
    found: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Round {
    began: Instant,
    /// SND.NXT when it began.
    ends_at: u64,
    /// Time of the last acknowledgement of the train.
    last_ack: Instant,
    samples: u32,
    smallest: Duration,
}

impl HyStart {
    /// Takes a round-trip time. Ends slow start by setting ssthresh to the window.
    pub(crate) fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        let RoundTripSample { now, rtt, una, nxt } = *sample;
        let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.found || !window.slow_start() {
            return;
        }
        let round = match &mut self.round {
            Some(round) if una <= round.ends_at => round,
            round => round.insert(Round {
                began: now,
                ends_at: nxt,
                last_ack: now,
                samples: 0,
                smallest: Duration::MAX,
            }),
        };
        if window.cwnd < LOW_WINDOW {
            return;
        }
        if now.since(round.last_ack) <= MAX_ACK_GAP {
            round.last_ack = now;
            self.found = now.since(round.began) > (min_rtt + ACK_DELAY) / 2;
        }
        round.smallest = round.smallest.min(rtt);
        if round.samples < MIN_SAMPLES {
            round.samples += 1;
        } else {
            let increase = (min_rtt / 8).clamp(MIN_DELAY_INCREASE, MAX_DELAY_INCREASE);
            self.found |= round.smallest > min_rtt + increase;
        }
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    /// Starts again after a timeout, whose slow start may be ended once more.
    pub(crate) fn on_timeout(&mut self) {
        self.round = None;
        self.found = false;
    }
}

/// CUBIC whose slow start HyStart may end.
#[derive(Debug)]
pub(crate) struct CubicWithHyStart {
    cubic: Cubic,
    hystart: HyStart,
}

impl CubicWithHyStart {
    pub(crate) fn new(cubic: Cubic) -> Self {
        Self { cubic, hystart: HyStart::default() }
    }
}

impl CongestionControl for CubicWithHyStart {
    fn about(&self) -> Cow<'static, str> {
        "CUBIC, RFC 9438, with HyStart".into()
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, window: &mut Window) {
        self.hystart.on_round_trip(sample, window);
    }

    fn grow(&mut self, window: &mut Window, acked: u32, counted: u32, flow: &Flow) {
        self.cubic.grow(window, acked, counted, flow);
    }

    fn on_limited(&mut self, flow: &Flow) {
        self.cubic.on_limited(flow);
    }

    fn on_loss(&mut self, window: &Window, timeout: bool, flow: &Flow) -> f64 {
        if timeout {
            self.hystart.on_timeout();
        }
        self.cubic.on_loss(window, timeout, flow)
    }

    fn snapshot(&self) -> Snapshot {
        self.cubic.snapshot()
    }

    fn on_undo(&mut self, window: &Window, saved: &Snapshot) {
        self.cubic.on_undo(window, saved);
    }

    fn on_smaller_segments(&mut self, ratio: f64) {
        self.cubic.on_smaller_segments(ratio);
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
        let mut hystart = HyStart { min_rtt: Some(ms(80)), ..HyStart::default() };
        let mut window = Window { cwnd, ssthresh: INFINITE };
        for (at, rtt) in acks {
            let now = Instant::from_millis(at);
            let sample = RoundTripSample { now, rtt: ms(rtt), una: 1, nxt: 100 };
            hystart.on_round_trip(&sample, &mut window);
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
