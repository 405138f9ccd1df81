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
    /// How long it takes, or would take over an ideal path; as long as the scenario, where the path
    /// sets no bound.
    pub(crate) fn expected(self, scenario: &Scenario) -> units::Duration {
        match self {
            Self::Time(time) => units::Duration::from_nanos(time.as_nanos() as u64),
            Self::Bytes(octets) => {
                let rates = scenario.hops.iter().filter_map(|hop| hop.link.rate);
                let slowest = rates.map(|rate| rate.bps()).reduce(f64::min);
                slowest.map_or(scenario.duration, |slowest| {
                    units::Duration::from_secs_f64(octets as f64 * 8.0 / slowest)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_take_as_long_as_the_slowest_link_or_the_scenario() {
        let expected = |rate: &str| {
            let text = format!(
                "duration = \"7 s\"\nseeds = 1\nvariants = [\"sack\"]\n[path]\nhops = [\"only\"]\n\
                 [link.only]\ndelay = \"1 ms\"\n{rate}"
            );
            let scenario = Scenario::parse("test", &text, &[]).expect(&text);
            Length::Bytes(1_250_000).expected(&scenario)
        };
        assert_eq!(expected("rate = \"10 Mbit/s\""), units::Duration::from_secs(1));
        assert_eq!(expected(""), units::Duration::from_secs(7));
    }
}
