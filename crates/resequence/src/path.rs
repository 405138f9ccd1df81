//! What is known of a path, and the hold that follows from it.

use unruffled_lateness::Lateness;
use unruffled_units::{Duration, Instant};

use crate::harm::Verdict;
use crate::pace::Terms;

/// Minimum time for which a lateness counts; it also needs 1000 newer samples to expire.
const MEMORY: Duration = Duration::from_secs(10);

/// Part of the wait that costs least by which the hold exceeds it, while few packets were late: the next
/// lateness may exceed those seen, which n samples make n times less likely.
const MARGIN: f64 = 0.25;

/// Number of late samples up to which the whole margin is added.
const FEW: f64 = 16.0;

/// Least part that is added, for what the queue on the way adds.
const LEAST_MARGIN: f64 = 0.05;

/// Round-trip time where no handshake was seen.
const DEFAULT_ROUND_TRIP: Duration = Duration::from_millis(50);

/// Hold before anything is known, in round trips of the handshake. After it the sender's timeout is three round
/// trips at least (RFC 6298, rule 2.2), of which the way of the packet and its acknowledgement take one.
const FIRST_ROUND_TRIPS: u64 = 2;

/// Maximum constant delay of a bulk transfer, in round trips, if it is not known that late packets slow its sender
/// down. BBR takes the round trip of the handshake for that of the path for ten seconds, and has 2.9 times as much
/// in flight as that permits at most.
const MAX_LAG_ROUND_TRIPS: f64 = 2.2;

/// Maximum constant delay for senders that late packets slow down, in round trips. Reno regains the rate of a window
/// of W packets with L round trips of delay after W·L round trips, each L + 1 times as long: with 10 packets, a
/// transfer gains from five after 300 of the shorter ones.
const MAX_HARMED_LAG_ROUND_TRIPS: f64 = 5.0;

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
    /// Cached time by which all packets of a bulk transfer go on later.
    lag: Duration,
    /// Samples until the hold is computed again.
    countdown: u32,
    /// Time of the latest loss that counted.
    latest_loss: Option<Instant>,
    /// Losses while nothing was late.
    pointless: u32,
    seen: u32,
    /// Whether late packets slow down the senders that send a number again.
    verdict: Option<Verdict>,
    /// Whether packets are held before it is known that lateness slows the senders down.
    always_hold: bool,
    /// Whether a flow does not show what late packets do to its sender.
    has_silent_flow: bool,
}

impl PathModel {
    /// Creates the model of an unknown path. With `always_hold`, packets are held whatever the sender.
    pub(crate) fn new(always_hold: bool) -> Self {
        Self {
            lateness: Lateness::new(MEMORY, 0.01, 1.0),
            round_trip: None,
            hold: Duration::ZERO,
            lag: Duration::ZERO,
            countdown: 0,
            latest_loss: None,
            pointless: 0,
            seen: 0,
            verdict: None,
            always_hold,
            has_silent_flow: false,
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
    /// Losses within a round trip count once, since the sender waits for all of them at a time.
    pub(crate) fn lost(&mut self, now: Instant) {
        if self.latest_loss.is_some_and(|at| now.since(at) < self.known_round_trip()) {
            return;
        }
        self.latest_loss = Some(now);
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

    /// Records whether late packets slow down the sender of a flow.
    pub(crate) fn on_verdict(&mut self, verdict: Verdict) {
        self.verdict = Some(verdict);
        self.countdown = 0;
    }

    /// Returns whether packets pass as they arrive. They do unless late packets slow the senders down. A flow that
    /// does not show that (`shows_harm`) is held in any case.
    #[inline]
    pub(crate) fn passes(&self, shows_harm: bool) -> bool {
        shows_harm && !self.always_hold && self.verdict != Some(Verdict::Harmed)
    }

    /// Returns what the path imposes on its flows; no packet is held for more than `longest`. `shows_harm` is
    /// whether a flow shows what late packets do to its sender.
    #[inline]
    pub(crate) fn update(&mut self, longest: Duration, shows_harm: bool, now: Instant) -> Terms {
        self.has_silent_flow |= !shows_harm;
        if self.countdown == 0 {
            self.compute(longest, now);
        }
        self.terms(shows_harm)
    }

    #[inline(never)]
    fn compute(&mut self, longest: Duration, now: Instant) {
        self.countdown = INTERVAL;
        self.lateness.refresh(now);
        let round_trip = self.known_round_trip();
        let learnt = self.lateness.worthwhile_wait(round_trip, longest);
        let is_unknown = self.seen < KNOWN_SAMPLES && self.pointless < POINTLESS_WAITS;
        let first = self.round_trip.filter(|_| is_unknown).unwrap_or_default() * FIRST_ROUND_TRIPS;
        let late = f64::from(self.lateness.late_samples());
        let margin = (MARGIN * (FEW / late.max(FEW))).max(LEAST_MARGIN);
        let learnt = learnt.mul_f64(1.0 + margin).min(longest);
        self.hold = learnt.max(first.min(longest));
        let max_lag = match self.verdict {
            Some(Verdict::Harmed) => MAX_HARMED_LAG_ROUND_TRIPS,
            Some(Verdict::Unharmed) | None => MAX_LAG_ROUND_TRIPS,
        };
        let is_short = learnt <= round_trip.mul_f64(max_lag);
        self.lag = if self.lateness.is_common() && is_short { learnt } else { Duration::ZERO };
    }

    /// Returns what the path imposes on its flows, as computed last.
    pub(crate) fn terms(&self, shows_harm: bool) -> Terms {
        let round_trip = self.known_round_trip();
        if self.passes(shows_harm) {
            return Terms { round_trip, ..Terms::NONE };
        }
        Terms { hold: self.hold, round_trip, lag: self.lag }
    }

    /// Returns the current hold, the share of late samples, and the longest lateness.
    pub(crate) fn state(&self) -> (Duration, f64, Duration) {
        let samples = self.lateness.samples().max(1);
        let late = f64::from(self.lateness.late_samples()) / f64::from(samples);
        let hold = if self.passes(!self.has_silent_flow) { Duration::ZERO } else { self.hold };
        (hold, late, self.lateness.longest())
    }
}
