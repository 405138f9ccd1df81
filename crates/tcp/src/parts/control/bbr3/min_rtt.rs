//! The minimum round-trip time, and when PROBE_RTT is due (draft-ietf-ccwg-bbr-06, section 5.3.4.3).

use unruffled_units::{Duration, Instant};

/// Time for which a minimum counts (BBR.MinRTTFilterLen).
const WINDOW: Duration = Duration::from_secs(10);

/// Time after the last minimum at which PROBE_RTT is due (BBR.ProbeRTTInterval).
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// The minima of two windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MinRtt {
    /// The minimum in force, and its time (BBR.min_rtt, BBR.min_rtt_stamp).
    min: Option<Duration>,
    at: Instant,
    /// The minimum since the last PROBE_RTT, and its time (BBR.probe_rtt_min_delay,
    /// BBR.probe_rtt_min_stamp).
    recent: Option<Duration>,
    recent_at: Instant,
    /// Whether PROBE_RTT is due (BBR.probe_rtt_expired).
    pub(super) expired: bool,
}

impl MinRtt {
    /// Begins with the round-trip time of the handshake.
    pub(super) fn begin(&mut self, rtt: Option<Duration>, now: Instant) {
        *self = Self { min: rtt, at: now, recent: rtt, recent_at: now, expired: false };
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.min
    }

    /// Takes the round-trip time of an acknowledgement at `now`, if it shows one.
    pub(super) fn on_ack(&mut self, rtt: Option<Duration>, now: Instant) {
        self.expired = now > self.recent_at + PROBE_INTERVAL;
        if let Some(rtt) = rtt
            && (self.expired || self.recent.is_none_or(|recent| rtt < recent))
        {
            self.recent = Some(rtt);
            self.recent_at = now;
        }
        if let Some(recent) = self.recent
            && (now > self.at + WINDOW || self.min.is_none_or(|min| recent < min))
        {
            self.min = Some(recent);
            self.at = self.recent_at;
        }
    }

    /// Records that PROBE_RTT ends, which makes the next one due later.
    pub(super) fn on_probed(&mut self, now: Instant) {
        self.recent_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_counts_for_ten_seconds_and_a_probe_is_due_after_five() {
        let ms = |n| Some(Duration::from_millis(n));
        let at = Instant::from_millis;
        let mut rtt = MinRtt::default();
        rtt.begin(ms(100), at(1000));
        rtt.on_ack(ms(120), at(6000));
        assert!(!rtt.expired);
        rtt.on_ack(ms(120), at(6001));
        assert!(rtt.expired);
        assert_eq!(rtt.get(), ms(100));
        rtt.on_ack(ms(110), at(6200));
        assert_eq!((rtt.get(), rtt.expired), (ms(100), false));
        rtt.on_ack(None, at(11_001));
        assert_eq!(rtt.get(), ms(110), "the minimum of the last five seconds replaces it");
    }
}
