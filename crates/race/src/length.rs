//! How much a transfer sends.

use std::time::Duration;

use unruffled_lab::Scenario;
use unruffled_units as units;

/// A simulated transfer that takes so much longer than over an ideal path has shown how fast it is.
const ENOUGH: units::Duration = units::Duration::from_secs(600);

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

    /// The scenario of the same transfer in simulation, from its first packet on.
    pub(crate) fn simulated(self, scenario: &Scenario) -> Scenario {
        let expected = self.expected(scenario);
        let (octets, duration) = match self {
            Self::Bytes(octets) if scenario.is_single() => (Some(octets), expected + ENOUGH),
            _ => (None, expected),
        };
        let scenario = scenario.clone().with_bytes(octets);
        Scenario { duration, warmup: units::Duration::ZERO, ..scenario }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_lab::cancel::never;
    use unruffled_lab::reference::Reference;

    use super::*;

    /// A path that takes 100 ms there and back.
    fn path(keys: &str) -> Scenario {
        let text = format!(
            "duration = \"7 s\"\nseeds = 1\nvariants = [\"sack\"]\n[path]\nhops = [\"only\"]\n\
             [link.only]\ndelay = \"50 ms\"\n{keys}"
        );
        Scenario::parse("test", &text, &[]).expect(&text)
    }

    /// Two round trips, one of them the handshake's, are most of the time of few octets; 69 segments
    /// take 83 ms besides.
    #[test]
    fn few_octets_are_compared_with_as_many_over_the_undisturbed_path() {
        let scenario = path("rate = \"10 Mbit/s\"");
        for (octets, seconds) in [(1460, 0.15), (7300, 0.15), (14_600, 0.15), (100_000, 0.23)] {
            let simulated = Length::Bytes(octets).simulated(&scenario);
            let bps = Reference::of(&simulated, never(), &|| ()).expect("a path").bps();
            let took = octets as f64 * 8.0 / bps;
            assert!((seconds..seconds + 0.015).contains(&took), "{octets} B in {took} s");
        }
    }

    #[test]
    fn octets_take_as_long_as_the_slowest_link_or_the_scenario() {
        let expected = |rate: &str| Length::Bytes(1_250_000).expected(&path(rate));
        assert_eq!(expected("rate = \"10 Mbit/s\""), units::Duration::from_secs(1));
        assert_eq!(expected(""), units::Duration::from_secs(7));
    }
}
