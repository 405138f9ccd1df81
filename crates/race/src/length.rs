//! The length of a transfer, in time or in octets.

use std::time::Duration;

use unruffled_lab::Scenario;
use unruffled_lab::reference::capacity_bps;
use unruffled_units as units;

/// Limit on the duration of a simulated transfer, beyond its duration over an ideal path. The goodput of a
/// slower transfer is measured within this limit.
const SIMULATION_MARGIN: units::Duration = units::Duration::from_secs(600);

/// Length of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The octets that can be sent in this time, handshake included.
    Time(Duration),
    /// This number of octets. The time that they take is measured, handshake included.
    Bytes(u64),
}

impl Length {
    /// Returns the duration of the transfer over an ideal path, or the scenario's duration where no
    /// link of the path has a rate. All ways of the path together count as one link.
    pub(crate) fn expected(self, scenario: &Scenario) -> units::Duration {
        match self {
            Self::Time(time) => units::Duration::from_nanos(time.as_nanos() as u64),
            Self::Bytes(octets) => {
                let seconds = octets as f64 * 8.0 / capacity_bps(scenario);
                if seconds > 0.0 {
                    units::Duration::from_secs_f64(seconds)
                } else {
                    scenario.duration
                }
            }
        }
    }

    /// Returns the scenario of the same transfer in simulation, measured from its first packet.
    pub(crate) fn simulated(self, scenario: &Scenario) -> Scenario {
        let expected = self.expected(scenario);
        let (octets, duration) = match self {
            Self::Bytes(octets) if scenario.is_single() => {
                (Some(octets), expected + SIMULATION_MARGIN)
            }
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

    /// A path with a round-trip time of 100 ms.
    fn path(keys: &str) -> Scenario {
        let text = format!(
            "duration = \"7 s\"\nseeds = 1\nvariants = [\"sack\"]\n[path]\nhops = [\"only\"]\n\
             [link.only]\ndelay = \"50 ms\"\n{keys}"
        );
        Scenario::parse("test", &text, &[]).expect(&text)
    }

    /// A short transfer takes little more than two round trips, one of them for the handshake. 69 segments
    /// take another 83 ms.
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

    /// The ways carry 5 Mb/s each, and two thirds of the packets take the first.
    #[test]
    fn octets_take_as_long_as_the_ways_with_their_weights() {
        let text = "duration = '7 s'\nvariants = ['sack']\ntopology.kind = 'explicit'\n\
                    [link.l0]\nfrom = 'a'\nto = 'm'\nrate = '5 Mbit/s'\ndelay = '1 ms'\n\
                    [link.l1]\nfrom = 'm'\nto = 'b'\ndelay = '1 ms'\n\
                    [link.l2]\nfrom = 'a'\nto = 'b'\nrate = '5 Mbit/s'\ndelay = '1 ms'\n\
                    [[traffic]]\nname = 'flow'\nto = 'b'\nways = ['a m b', 'a b']\nweights = [2, 1]\n";
        let scenario = Scenario::parse("test", text, &[]).expect(text);
        let expected = Length::Bytes(937_500).expected(&scenario);
        assert_eq!(expected, units::Duration::from_secs(1));
    }
}
