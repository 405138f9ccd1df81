//! The pacing rate of a sender that knows the bandwidth of its path: that of BBR, in both versions.

use super::Flow;

/// Share of the bandwidth at which the sender paces, so that no queue stays (`bbr_pacing_margin_percent`,
/// BBR.PacingMarginPercent).
pub(super) const PACING_MARGIN: f64 = 0.99;

/// Round-trip time assumed for the first rate, in seconds.
const NOMINAL_RTT: f64 = 0.001;

/// The pacing rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BandwidthPacing {
    /// In segments per second.
    rate: f64,
    /// Windows that leave in a round trip while the bandwidth is unknown.
    startup_gain: f64,
    /// Whether the rate is from a round-trip time that was measured.
    seen_rtt: bool,
}

impl BandwidthPacing {
    /// Returns the rate before a round-trip time is known.
    pub(super) fn new(startup_gain: f64, initial_window: f64) -> Self {
        Self { rate: startup_gain * initial_window / NOMINAL_RTT, startup_gain, seen_rtt: false }
    }

    /// Returns the rate in segments per second.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Sets the rate from the first round-trip time, if that is known (`bbr_init_pacing_rate_from_rtt`).
    pub(super) fn begin(&mut self, cwnd: f64, flow: &Flow) {
        let Some(srtt) = flow.srtt.filter(|srtt| srtt.as_nanos() > 0) else { return };
        self.seen_rtt = true;
        self.rate = self.startup_gain * cwnd / srtt.as_secs_f64();
    }

    /// Sets the rate to `gain` times the bandwidth. It does not fall until the path is `full`.
    pub(super) fn set(&mut self, gain: f64, bandwidth: f64, full: bool, cwnd: f64, flow: &Flow) {
        if !self.seen_rtt {
            self.begin(cwnd, flow);
        }
        let rate = PACING_MARGIN * gain * bandwidth;
        if rate > 0.0 && (full || rate > self.rate) {
            self.rate = rate;
        }
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.rate *= ratio;
    }
}
