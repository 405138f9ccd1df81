//! Round trips between the capture point and both ends.

use unruffled_units::Duration;

use crate::histogram::DurationHistogram;

/// Share of the minimum round trip within which no packet can be a reaction to another. The rest allows
/// for jitter.
pub(super) const RTT_MARGIN: f64 = 0.9;

/// Round trips of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// Round trip from the capture point to the receiver and back.
    pub(super) to_receiver: PathPart,
    /// Round trip from the capture point to the sender and back.
    pub(super) to_sender: PathPart,
    /// Round trips to the receiver, of data.
    pub(super) samples: DurationHistogram,
}

/// The part of the round trip on one side of the capture point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathPart {
    /// Minimum.
    pub(super) min: Option<Duration>,
    /// Number of measurements.
    pub(super) samples: u64,
}

impl PathPart {
    pub(super) fn record(&mut self, rtt: Duration) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.samples += 1;
    }
}

impl RoundTrips {
    /// Returns the minimum round trip between both ends, if both parts of it are known.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        Some(self.to_receiver.min? + self.to_sender.min?)
    }

    /// Returns the minimum round trip between both ends, or the part to the receiver if the other is
    /// not known.
    pub(super) fn min_rtt_or_part(&self) -> Duration {
        self.min_rtt().or(self.to_receiver.min).unwrap_or_default()
    }

    /// Returns the minimum time in which the sender can react to what passes the capture point: the
    /// way to the receiver, back to the sender, and back to the capture point. If the part to the
    /// receiver is not known, it is left out.
    pub(super) fn reaction_time(&self) -> Option<Duration> {
        self.min_rtt().or(self.to_sender.min)
    }

    /// Exchanges minima with the opposite direction, whose sender is this one's receiver.
    pub(super) fn share(&mut self, opposite: &mut Self) {
        share_min(&mut self.to_receiver, &mut opposite.to_sender);
        share_min(&mut self.to_sender, &mut opposite.to_receiver);
    }
}

fn share_min(one: &mut PathPart, other: &mut PathPart) {
    if one.min != other.min {
        let min = one.min.into_iter().chain(other.min).min();
        one.min = min;
        other.min = min;
    }
}
