//! What is known of a path, and the hold that follows from it.

use unruffled_lateness::Lateness;
use unruffled_units::{Duration, Instant};

/// Minimum time for which a lateness counts; it also needs 1000 newer samples to expire.
const MEMORY: Duration = Duration::from_secs(10);

/// Ratio of the hold to the wait that costs least. The next lateness may exceed those seen.
const MARGIN: f64 = 1.25;

/// Cost of a packet that comes too late, in round trips. The sender takes it for lost and halves its window.
/// Reno, with a window of W segments, grows back in W/2 round trips and sends W²/8 segments less meanwhile,
/// which takes W/8 round trips: ten for a window of 80.
const TOO_LATE_ROUND_TRIPS: f64 = 10.0;

/// Round-trip time where no handshake was seen.
const DEFAULT_ROUND_TRIP: Duration = Duration::from_millis(50);

/// Number of losses without a late packet after which a path counts as one that keeps order.
const POINTLESS_WAITS: u32 = 3;

/// Number of samples after which a path is known.
const KNOWN_SAMPLES: u32 = 1000;

/// Number of samples after which the hold is computed again in any case.
const INTERVAL: u32 = 64;

/// What is known of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathModel {
    lateness: Lateness,
    /// Shortest round-trip time of a handshake.
    round_trip: Option<Duration>,
    /// Cached hold.
    hold: Duration,
    /// Samples until the hold is computed again.
    countdown: u32,
    /// Losses while nothing was late.
    pointless: u32,
    seen: u32,
}

impl PathModel {
    pub(crate) fn new() -> Self {
        Self {
            lateness: Lateness::new(MEMORY, 0.01, MARGIN),
            round_trip: None,
            hold: Duration::ZERO,
            countdown: 0,
            pointless: 0,
            seen: 0,
        }
    }

    /// Records the round-trip time of a handshake.
    pub(crate) fn on_handshake(&mut self, round_trip: Duration) {
        self.round_trip = Some(self.round_trip.map_or(round_trip, |known| known.min(round_trip)));
        self.countdown = 0;
    }

    /// Returns the shortest round-trip time.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// Returns the shortest round-trip time, or a default.
    pub(crate) fn known_round_trip(&self) -> Duration {
        self.round_trip.unwrap_or(DEFAULT_ROUND_TRIP)
    }

    /// Records a packet in order.
    #[inline]
    pub(crate) fn in_order(&mut self) {
        self.lateness.in_order();
        self.count();
    }

    /// Records a late packet.
    pub(crate) fn late(&mut self, lateness: Duration) {
        self.lateness.late(lateness);
        self.count();
        if lateness > self.hold || self.lateness.late_samples() < INTERVAL {
            self.countdown = 0;
        }
    }

    /// Records a packet that was sent again, so that its first transmission counts as lost.
    pub(crate) fn lost(&mut self) {
        self.lateness.lost();
        self.pointless = self.pointless.saturating_add(1);
        self.countdown = 0;
    }

    /// Records the arrival of a packet that counted as lost.
    pub(crate) fn found(&mut self) {
        self.lateness.found();
        self.countdown = 0;
    }

    #[inline]
    fn count(&mut self) {
        self.seen = self.seen.saturating_add(1);
        self.countdown = self.countdown.saturating_sub(1);
    }

    /// Returns the time for which a packet is held, at most.
    #[inline]
    pub(crate) fn hold(&mut self, now: Instant) -> Duration {
        if self.countdown == 0 {
            self.compute(now);
        }
        self.hold
    }

    #[inline(never)]
    fn compute(&mut self, now: Instant) {
        self.countdown = INTERVAL;
        self.lateness.refresh(now);
        let round_trip = self.known_round_trip();
        let learnt = self.lateness.cheapest_wait(round_trip.mul_f64(TOO_LATE_ROUND_TRIPS));
        let is_unknown = self.seen < KNOWN_SAMPLES && self.pointless < POINTLESS_WAITS;
        let first = self.round_trip.filter(|_| is_unknown).unwrap_or_default();
        self.hold = learnt.mul_f64(MARGIN).max(first);
    }

    /// Returns the current hold, the share of late samples, and the longest lateness.
    pub(crate) fn state(&self) -> (Duration, f64, Duration) {
        let samples = self.lateness.samples().max(1);
        let late = f64::from(self.lateness.late_samples()) / f64::from(samples);
        (self.hold, late, self.lateness.longest())
    }
}
