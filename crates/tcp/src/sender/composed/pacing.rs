//! Pacing: when the next segment may leave, and whether the window limits a sender that paces (Linux:
//! `tcp_update_skb_after_send` and `tcp_cwnd_validate`).

use unruffled_units::{Duration, Instant};

use crate::parts::control::Window;
use crate::parts::control::pacing::send_quantum;

/// Segments of a connection that leave before it paces, as in Linux.
const UNPACED_SEGMENTS: u32 = 10;

/// The times at which segments may leave.
///
/// As many segments as a quantum has leave at a time, and the next quantum when the rate permits it. In any
/// time of length T at most rate·T and a quantum leave, and half a quantum more if polls are late.
/// The first segments of a connection, the first retransmission of a timeout, and probes leave whatever the
/// rate is, and those after them wait for the latter two as well.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    /// Segments per second, once there is a rate.
    rate: Option<f64>,
    /// When the next quantum may leave.
    next: Instant,
    /// When the present quantum began to leave, and how many segments it has left.
    began: Instant,
    left: f64,
    /// Segments sent before the sender paces, at most [`UNPACED_SEGMENTS`].
    unpaced: u32,
    /// Whether the next segment may leave at once.
    released: bool,
}

impl Pacer {
    /// Sets the rate, in segments per second. What is left of the present quantum falls to a whole one at this
    /// rate.
    pub(super) fn set_rate(&mut self, rate: Option<f64>) {
        self.rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
        if let Some(rate) = self.rate {
            self.left = self.left.min(send_quantum(rate));
        }
    }

    /// Returns when the next segment may leave, if not at `now`.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let in_quantum = self.began == now && self.left >= 1.0;
        let free = self.next <= now || in_quantum || self.released;
        (!free && self.rate.is_some()).then_some(self.next)
    }

    /// Returns how long after `now` the next segment may leave.
    pub(super) fn departs_in(&self, now: Instant) -> Duration {
        if self.rate.is_some() { self.next.since(now) } else { Duration::ZERO }
    }

    /// Lets the next segment leave at once. Those after it wait for it as well.
    pub(super) fn release(&mut self) {
        self.released = true;
    }

    /// Records that a segment leaves at `now`.
    pub(super) fn on_sent(&mut self, now: Instant) {
        let first = self.unpaced < UNPACED_SEGMENTS;
        self.unpaced += u32::from(first);
        let Some(rate) = self.rate else { return };
        if first {
            self.next = now;
            return;
        }
        let interval = 1.0 / rate;
        self.released = false;
        if self.blocked_until(now).is_some() {
            // A probe, or the retransmission of a timeout, begins no quantum.
            self.next += Duration::from_secs_f64(interval);
            return;
        }
        let mut late = 0.0;
        if self.began != now || self.left < 1.0 {
            self.began = now;
            self.left = send_quantum(rate);
            // A late poll does not slow the sender down.
            late = now.since(self.next).as_secs_f64().min(interval * self.left / 2.0);
            self.next = self.next.max(now);
        }
        self.left -= 1.0;
        self.next += Duration::from_secs_f64((interval - late).max(0.0));
    }
}

/// Whether the window limits a sender that paces. Between two segments there is often room in the window of
/// such a sender, so a whole round trip counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUsage {
    /// Whether the window was full in the present round trip.
    limited: bool,
    /// Most segments that were outstanding in it.
    most: u32,
    /// SND.NXT at its begin.
    ends_at: u64,
}

impl WindowUsage {
    /// Records a transmission: `outstanding` segments are in flight, and the window permits `allowed`.
    pub(super) fn on_sent(&mut self, outstanding: u32, allowed: u32, una: u64, nxt: u64) {
        let limited = outstanding >= allowed;
        if una >= self.ends_at || limited || (!self.limited && outstanding > self.most) {
            *self = Self { limited, most: outstanding, ends_at: nxt };
        }
    }

    /// Returns whether the window may grow. In slow start it may if at least half of it was used.
    pub(super) fn is_limit(&self, window: &Window) -> bool {
        self.limited || (window.slow_start() && window.cwnd < 2.0 * f64::from(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends whatever the pacer permits at these times, given in milliseconds, at 100 segments per second.
    fn play(pacer: &mut Pacer, polls: &[u64]) -> Vec<u32> {
        let polls = polls.iter().map(|&at| {
            let now = Instant::from_millis(at);
            let mut sent = 0;
            while pacer.blocked_until(now).is_none() && sent < 50 {
                pacer.on_sent(now);
                sent += 1;
            }
            sent
        });
        polls.collect()
    }

    fn pacer(rate: f64) -> Pacer {
        let mut pacer = Pacer { unpaced: UNPACED_SEGMENTS, ..Pacer::default() };
        pacer.set_rate(Some(rate));
        pacer
    }

    #[test]
    fn one_segment_at_a_time_leaves_below_the_rate_of_pairs() {
        let polls: Vec<u64> = (1000..1050).collect();
        let sent = play(&mut pacer(100.0), &polls);
        let at: Vec<usize> = (0..50).filter(|&ms| sent[ms] > 0).collect();
        // The poll at 1000 ms is late by a second, which makes up for half an interval.
        assert_eq!(at, [0, 5, 15, 25, 35, 45]);
        assert_eq!(sent.iter().sum::<u32>(), 6);
    }

    #[test]
    fn a_quantum_leaves_at_a_time() {
        // 1000 segments a second: pairs, each 2 ms.
        let mut pacer = pacer(1000.0);
        pacer.next = Instant::from_millis(1000);
        assert_eq!(play(&mut pacer, &[1000, 1001, 1002, 1003, 1004]), [2, 0, 2, 0, 2]);
        assert_eq!(pacer.departs_in(Instant::from_millis(1005)), Duration::from_millis(1));
    }

    #[test]
    fn a_rate_that_falls_shortens_the_present_quantum() {
        // 8192 segments a second: eight at a time. Half of that rate has four.
        let now = Instant::from_millis(1000);
        let mut pacer = pacer(8192.0);
        pacer.next = now;
        for _ in 0..2 {
            pacer.on_sent(now);
        }
        pacer.set_rate(Some(4096.0));
        assert_eq!(play(&mut pacer, &[1000]), [4], "and not the six that were left");
        // Two at the first rate and four at the second take 1.2 ms.
        assert_eq!(pacer.departs_in(now), Duration::from_nanos(1_220_704));
    }

    #[test]
    fn a_poll_that_is_late_does_not_slow_the_sender_down() {
        let mut pacer = pacer(1000.0);
        pacer.next = Instant::from_millis(1000);
        // Two segments each 2 ms; the second pair is late by 1 ms, the third one is not.
        assert_eq!(play(&mut pacer, &[1000, 1003, 1004, 1005, 1006]), [2, 2, 2, 0, 2]);
    }

    #[test]
    fn a_segment_that_leaves_at_once_delays_the_others_and_begins_no_quantum() {
        let mut pacer = pacer(1000.0);
        pacer.next = Instant::from_millis(1000);
        assert_eq!(play(&mut pacer, &[1000]), [2], "the next pair may leave at 1002");
        pacer.release();
        assert_eq!(play(&mut pacer, &[1001, 1002, 1003, 1004, 1005]), [1, 0, 2, 0, 2]);
    }

    #[test]
    fn without_a_rate_and_in_the_first_ten_segments_nothing_waits() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Some(1000.0));
        assert_eq!(play(&mut pacer, &[1000]), [12], "ten, and a quantum");
        let mut pacer = Pacer::default();
        assert_eq!(play(&mut pacer, &[1000]), [50]);
        pacer.set_rate(Some(1000.0));
        assert_eq!(play(&mut pacer, &[1000]), [2], "the first ten are over");
    }

    #[test]
    fn the_window_counts_as_full_for_a_round_trip_and_in_slow_start_when_half_of_it_is_used() {
        let mut usage = WindowUsage::default();
        let slow_start = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let avoidance = Window { cwnd: 10.0, ssthresh: 5.0 };
        usage.on_sent(5, 10, 0, 5);
        assert!(!usage.is_limit(&slow_start) && !usage.is_limit(&avoidance));
        usage.on_sent(6, 10, 0, 6);
        assert!(usage.is_limit(&slow_start) && !usage.is_limit(&avoidance));
        usage.on_sent(10, 10, 1, 11);
        assert!(usage.is_limit(&avoidance));
        usage.on_sent(4, 10, 9, 13);
        assert!(usage.is_limit(&avoidance), "still the round trip in which it was full");
        usage.on_sent(4, 10, 11, 15);
        assert!(!usage.is_limit(&avoidance));
    }
}
