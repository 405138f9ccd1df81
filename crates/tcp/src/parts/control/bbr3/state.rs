//! The states of the machine (draft-ietf-ccwg-bbr-06, section 5.3), with their gains.

/// The state of the machine (BBR.state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The rate doubles in each round trip.
    Startup,
    /// The queue that STARTUP made drains.
    Drain,
    /// The queue that a probe for bandwidth made drains.
    Down,
    /// The rate is that of the path.
    Cruise,
    /// The pipe fills before a probe for bandwidth.
    Refill,
    /// A probe for bandwidth.
    Up,
    /// Half of what the path holds is in flight, so that the minimum round-trip time shows.
    ProbeRtt,
}

impl State {
    /// Returns the gains of the rate and of the window.
    pub(super) fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (2.77, 2.0),
            Self::Drain => (0.5, 2.0),
            Self::Down => (0.9, 2.0),
            Self::Cruise | Self::Refill => (1.0, 2.0),
            Self::Up => (1.25, 2.25),
            Self::ProbeRtt => (1.0, 0.5),
        }
    }

    /// Returns whether the state belongs to the cycle of PROBE_BW.
    pub(super) fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Returns whether the sender at present looks for more bandwidth.
    pub(super) fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}
