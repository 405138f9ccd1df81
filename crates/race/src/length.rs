//! How much a transfer sends.

use std::time::Duration;

use unruffled_lab::Scenario;
use unruffled_units as units;

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// What can be sent in this time, the handshake included.
    Time(Duration),
    /// So many octets; their time is measured, the handshake included.
    Bytes(u64),
}

impl Length {
    /// How long it takes, or would take over an ideal path.
    pub(crate) fn expected(self, scenario: &Scenario) -> units::Duration {
        match self {
            Self::Time(time) => units::Duration::from_nanos(time.as_nanos() as u64),
            Self::Bytes(octets) => {
                let rates = scenario.hops.iter().filter_map(|hop| hop.link.rate);
                let slowest = rates.map(|rate| rate.bps()).fold(f64::INFINITY, f64::min);
                units::Duration::from_secs_f64(octets as f64 * 8.0 / slowest)
            }
        }
    }
}
