//! Round-trip times, as acknowledgements give them, and the retransmission timeout made of them.

use unruffled_units::{Duration, Instant};

use super::{Acks, Composed};
use crate::Config;
use crate::parts::respond::Before;
use crate::parts::timer::{AnyTimer, Rto};
use crate::sender::Ack;
use crate::sender::stream::{Delivery, Reading, Stream};

/// What round trips have told.
#[derive(Debug)]
pub(super) struct RoundTrips {
    pub(super) rto: Rto,
    /// The last one measured.
    pub(super) latest: Option<Duration>,
    /// What stood before a spurious timeout whose round-trip time is still to be learnt from.
    pub(super) adapt: Option<Box<Adaptation>>,
    segments_per_ack: u32,
}

/// What the first round-trip time beyond `point` sets the timer from (RFC 4015, step 11).
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    point: u64,
    srtt: Duration,
    rttvar: Duration,
}

impl Adaptation {
    /// By what stood before a spurious timeout, if a round-trip time had been measured.
    pub(super) fn of(before: &Before) -> Option<Box<Self>> {
        let (srtt, rttvar) = before.rtt?;
        Some(Box::new(Self { point: before.point, srtt, rttvar }))
    }
}

impl RoundTrips {
    pub(super) fn new(config: &Config, timer: AnyTimer) -> Self {
        let doubtful_after = config.recovery.fast.doubts_rtt_after();
        Self {
            rto: Rto::new(&config.rto, doubtful_after, timer),
            latest: None,
            adapt: None,
            segments_per_ack: config.rto.segments_per_ack.max(1),
        }
    }

    /// The handshake timed a round trip.
    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        self.rto.sample(rtt, 1.0);
    }

    /// The timeout of a timer that starts now.
    #[inline]
    pub(super) fn timeout(&mut self, cwnd: f64) -> Duration {
        self.rto.compute(cwnd, self.latest)
    }

    /// A round trip was timed, with `flight` segments outstanding when the acknowledgement came. RFC
    /// 4015, step 11: the first one of data that had not been sent when the timer expired spuriously
    /// sets the timer anew.
    #[inline(always)]
    fn sample(&mut self, rtt: Duration, una: u64, flight: u32) {
        match self.adapt.take_if(|adapt| una > adapt.point) {
            Some(adapt) => self.rto.adapt(adapt.srtt, adapt.rttvar, rtt),
            None => {
                // ExpectedSamples = ceiling(FlightSize / (SMSS * 2)) (RFC 7323, appendix G).
                let expected = flight.div_ceil(self.segments_per_ack).max(1);
                self.rto.sample(rtt, f64::from(expected));
            }
        }
        self.rto.forget_backoff();
    }
}

impl Composed {
    /// When the segment was sent that a delivery times, if it does: one sent once (Karn's rule; RFC
    /// 6298, section 3). Without SACK, those behind a segment that was resent may have arrived long
    /// before it.
    fn timed(&self, delivery: &Delivery) -> Option<Instant> {
        let waited = self.policy.acks != Acks::Sack && delivery.any_retransmitted;
        delivery.original_sent.filter(|_| !waited)
    }

    /// Takes a round-trip time by this end's own clock, which is finer; what was sent more than once
    /// is timed by its timestamp, where there is one (RFC 7323, section 4.1).
    #[inline(always)]
    pub(super) fn measure_rtt(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
    ) {
        let Reading { delivery, advanced, flight_before, .. } = read;
        let timed = self.timed(delivery);
        if let Some(sent) = timed {
            let rtt = now.since(sent);
            self.round_trips.sample(rtt, stream.una(), *flight_before);
            stream.min_rtt.sample(rtt, now);
            self.round_trips.latest = Some(rtt);
            self.probe.on_rtt_sample();
        }
        if *advanced {
            self.round_trips.rto.progress(self.window.cwnd);
        }
        if let Some(echo) = ack.echo.filter(|_| *advanced && timed.is_none()) {
            self.round_trips.sample(now.since(echo), stream.una(), *flight_before);
        }
    }
}
