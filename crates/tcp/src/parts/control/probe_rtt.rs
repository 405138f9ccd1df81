//! How long PROBE_RTT lasts, in both versions of BBR: from when little is in flight, for 200 ms and a round
//! trip.

use unruffled_units::{Duration, Instant};

/// Minimum duration (Linux: `bbr_probe_rtt_mode_ms`; draft-ietf-ccwg-bbr: ProbeRTTDuration).
const MIN_TIME: Duration = Duration::from_millis(200);

/// The time that PROBE_RTT has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProbeRtt {
    /// When the time is over, once little is in flight.
    ends: Option<Instant>,
    /// Whether a round trip has passed since.
    round_done: bool,
}

/// What an acknowledgement means to PROBE_RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Too much is in flight, or the round trip is not over.
    Waits,
    /// Little is in flight for the first time, so the round trip begins.
    Begins,
    /// The round trip is over.
    RoundDone,
}

impl ProbeRtt {
    /// Takes an acknowledgement: whether `little` is in flight, and whether it begins a round trip.
    pub(super) fn on_ack(&mut self, little: bool, round_start: bool, now: Instant) -> Progress {
        if self.ends.is_none() {
            if !little {
                return Progress::Waits;
            }
            *self = Self { ends: Some(now + MIN_TIME), round_done: false };
            return Progress::Begins;
        }
        self.round_done |= round_start;
        if self.round_done { Progress::RoundDone } else { Progress::Waits }
    }

    /// Returns whether the time is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.ends.is_some_and(|end| now > end)
    }
}
