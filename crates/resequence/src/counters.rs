//! Counts of packets, and the state of the paths.

use unruffled_units::Duration;

use crate::Path;

/// Counts of packets and flows since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets handled.
    pub packets: u64,
    /// Packets with a place in the order of a flow: data.
    pub data: u64,
    /// Packets that were held.
    pub held: u64,
    /// Packets that others had overtaken.
    pub late: u64,
    /// Late packets that arrived after the wait for them had ended.
    pub too_late: u64,
    /// Gaps in the numbers for which the wait ended before they were filled.
    pub given_up: u64,
    /// Packets that went on early because the budget was used up.
    pub over_budget: u64,
    /// Flows that were forgotten at the limit of flows, or of the gaps in their numbers.
    pub flows_evicted: u64,
    /// Sum of the times for which packets were held.
    pub held_time: Duration,
}

/// State at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of flows.
    pub flows: usize,
    /// Number of paths.
    pub paths: usize,
    /// Number of packets held.
    pub packets: usize,
    /// Sum of the octets of the packets held.
    pub octets: u64,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathState {
    /// The path.
    pub path: Path,
    /// Current bound on the time for which a packet is held.
    pub hold: Duration,
    /// Share of the recent packets that were late, 0…1.
    pub late: f64,
    /// Longest recent lateness.
    pub longest: Duration,
    /// Round-trip time of the handshakes, if one was seen.
    pub round_trip: Option<Duration>,
}
