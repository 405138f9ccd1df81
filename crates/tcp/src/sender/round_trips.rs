//! Round-trip times, and the retransmission timeout computed from them.

use unruffled_units::Duration;

use crate::Config;
use crate::parts::respond::Before;
use crate::parts::timer::{AnyTimer, Rto};

/// Estimates of a sender's round-trip time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimates {
    /// Smoothed round-trip time, once one was measured.
    pub(crate) srtt: Option<Duration>,
    /// Its mean deviation, for timers that have one.
    pub(crate) rttvar: Option<Duration>,
    /// The retransmission timeout in force.
    pub(crate) rto: Duration,
}

/// The estimator of one connection.
#[derive(Debug)]
pub(crate) struct RoundTrips {
    rto: Rto,
    /// The last round-trip time measured.
    latest: Option<Duration>,
    /// Pending adaptation after a spurious timeout.
    adaptation: Option<Box<Adaptation>>,
    segments_per_ack: u32,
}

/// The state before a spurious timeout, from which the first round-trip time beyond `point` sets the
/// estimators (RFC 4015, step 11).
#[derive(Clone, Copy, Debug)]
struct Adaptation {
    point: u64,
    srtt: Duration,
    rttvar: Duration,
}

impl RoundTrips {
    pub(super) fn new(config: &Config, timer: AnyTimer) -> Self {
        Self {
            rto: Rto::new(config, timer),
            latest: None,
            adaptation: None,
            segments_per_ack: config.rto.segments_per_ack.max(1),
        }
    }

    /// Takes the round-trip time of the handshake.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        self.rto.sample(rtt, 1.0);
    }

    /// Records the round-trip time of a segment sent once. Its acknowledgement `una` arrived with
    /// `flight` segments outstanding.
    #[inline(always)]
    pub(super) fn measure(&mut self, rtt: Duration, una: u64, flight: u32) {
        self.sample(rtt, una, flight);
        self.latest = Some(rtt);
    }

    /// Sets the last round-trip time, for senders that smooth a different value.
    pub(super) fn set_latest(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
    }

    /// Records a round-trip time from a timestamp. RFC 4015, step 11: the first one of data that had not
    /// been sent when the timer expired spuriously resets the estimators.
    #[inline(always)]
    pub(super) fn sample(&mut self, rtt: Duration, una: u64, flight: u32) {
        match self.adaptation.take_if(|adapt| una > adapt.point) {
            Some(adapt) => self.rto.adapt(adapt.srtt, adapt.rttvar, rtt),
            None => {
                // ExpectedSamples = ceiling(FlightSize / (SMSS * 2)) (RFC 7323, appendix G).
                let expected = flight.div_ceil(self.segments_per_ack).max(1);
                self.rto.sample(rtt, f64::from(expected));
            }
        }
        self.rto.reset_backoff();
    }

    /// Records the mean round-trip time of both copies of a segment, if the timer uses such samples.
    pub(super) fn sample_retransmission(&mut self, rtt: Duration, flight: u32) {
        if self.rto.samples_retransmissions() {
            self.rto.sample(rtt, f64::from(flight.max(1)));
        }
    }

    /// Handles an acknowledgement of new data, with this window.
    #[inline]
    pub(super) fn on_progress(&mut self, cwnd: f64) {
        self.rto.progress(cwnd);
    }

    /// Prepares for the first round-trip time beyond `before` to reset the estimators, after a spurious
    /// timeout. A round-trip time must have been measured before the timeout.
    pub(super) fn adapt_after(&mut self, before: &Before) {
        let adaptation =
            before.rtt.map(|(srtt, rttvar)| Adaptation { point: before.point, srtt, rttvar });
        self.adaptation = adaptation.map(Box::new);
    }

    /// Cancels a pending adaptation.
    pub(super) fn cancel_adaptation(&mut self) {
        self.adaptation = None;
    }

    /// Returns SRTT_prev and RTTVAR_prev of RFC 4015, step 0.
    pub(super) fn before_timeout(&self) -> Option<(Duration, Duration)> {
        self.rto.estimators()
    }

    /// Returns the timeout for a timer that starts now.
    #[inline]
    pub(super) fn start_timeout(&mut self, cwnd: f64) -> Duration {
        self.rto.compute(cwnd, self.latest)
    }

    /// Backs off the timeout after the retransmission timer has expired.
    pub(super) fn back_off(&mut self) {
        self.rto.back_off();
    }

    /// Ends the backoff.
    pub(super) fn forget_backoff(&mut self) {
        self.rto.reset_backoff();
    }

    /// Raises the timeout when data transmission begins after a SYN was lost.
    pub(super) fn after_lost_syn(&mut self) {
        self.rto.after_lost_syn();
    }

    /// Returns SRTT, once a round-trip time was measured.
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.rto.srtt()
    }

    /// Returns the last round-trip time measured.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// Returns the timeout in force.
    pub(super) fn rto(&self) -> Duration {
        self.rto.current()
    }

    /// Returns the timeout without backoff.
    pub(super) fn base_rto(&self) -> Duration {
        self.rto.base()
    }

    pub(super) fn estimates(&self) -> Estimates {
        Estimates { srtt: self.rto.srtt(), rttvar: self.rto.rttvar(), rto: self.rto.current() }
    }
}
