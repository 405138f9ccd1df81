//! A scenario without some of its traffic.

use unruffled_scenario::{Arrivals, Scenario, Traffic};
use unruffled_units::{Duration, Instant};

/// Returns the scenario with only the groups that `stays` selects. The others stay in the list, so
/// that indices and random numbers do not change, and start after the end of the run.
pub(crate) fn without(scenario: &Scenario, stays: impl Fn(&Traffic) -> bool) -> Scenario {
    let mut scenario = scenario.clone();
    let after = Instant::ZERO + scenario.duration + Duration::from_secs(1);
    for group in scenario.traffic.iter_mut().filter(|group| !stays(group)) {
        group.arrivals = Arrivals::At(after);
        group.stop = None;
    }
    scenario
}
