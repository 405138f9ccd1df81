//! The reference of shares: the goodput of the undisturbed path.
//!
//! The compared traffic has the network to itself. No packet is late, lost or dropped, and the
//! senders start with the whole window, so that neither a detector nor a congestion control limits
//! them. The remaining limits are the rates and delays of the links, the ways over which packets
//! are spread, the receiver's window, the handshake and the application. No sender delivers more.

mod alone;
mod limit;
mod ways;
mod without;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unruffled_measure::FlowRecord;
use unruffled_sim::{App, Arrivals, Spread};

use alone::Alone;
use unruffled_scenario::{Scenario, Traffic};

use crate::cancel::{CancellationToken, RunError};
use crate::job::{Job, Ran};
use crate::parallel;
pub use limit::Limit;
use ways::{Ways, directed, payload};
pub(crate) use without::without;

/// The goodput of the compared traffic over the undisturbed path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The goodput in bits per second for each seed; one value if it does not depend on the seed.
    /// NaN if the undisturbed path takes no time.
    by_seed: Vec<f64>,
    /// The limiting factor.
    pub limit: Limit,
}

impl Reference {
    /// Returns a reference with that goodput for all seeds.
    pub fn new(bps: f64, limit: Limit) -> Self {
        Self { by_seed: vec![bps], limit }
    }

    /// Simulates the compared traffic of `scenario` over the undisturbed path. `done` is called
    /// after each of the [`runs`].
    ///
    /// # Errors
    /// [`RunError::Cancelled`], or a link's configuration that is invalid; loaded scenarios have none.
    pub fn of(
        scenario: &Scenario,
        cancel: &CancellationToken,
        done: &(impl Fn() + Sync),
    ) -> Result<Self, RunError> {
        let plan = Plan::new(&Arc::new(scenario.clone()));
        let ran = parallel::try_map(plan.jobs(), |job: Job| {
            let ran = job.run(cancel)?;
            done();
            Ok::<Ran, RunError>(ran)
        })?;
        Ok(plan.conclude(&ran))
    }

    /// Returns the goodput in bits per second, the mean over the seeds.
    pub fn bps(&self) -> f64 {
        self.by_seed.iter().sum::<f64>() / self.by_seed.len() as f64
    }

    /// Returns the goodput in a run with that seed.
    pub(crate) fn at(&self, seed: u64) -> f64 {
        let bps = self.by_seed.get(seed.saturating_sub(1) as usize).or(self.by_seed.first());
        bps.copied().unwrap_or(f64::NAN)
    }
}

/// The runs of a reference.
#[derive(Debug)]
pub(crate) struct Plan {
    scenario: Arc<Scenario>,
    groups: Vec<Alone>,
}

impl Plan {
    /// Plans the runs.
    pub(crate) fn new(scenario: &Arc<Scenario>) -> Self {
        let groups = groups(scenario).map(|group| Alone::new(scenario, group)).collect();
        Self { scenario: scenario.clone(), groups }
    }

    /// Returns the number of runs.
    pub(crate) fn runs(&self) -> usize {
        let of_seed: usize = self.groups.iter().map(Alone::runs).sum();
        of_seed * seeds(&self.scenario).count()
    }

    /// Returns the runs: for each seed those of each group.
    pub(crate) fn jobs(&self) -> Vec<Job> {
        seeds(&self.scenario)
            .flat_map(|seed| self.groups.iter().flat_map(move |group| group.jobs(seed)))
            .collect()
    }

    /// Returns the reference, from the results of all runs.
    pub(crate) fn conclude(&self, ran: &[Ran]) -> Reference {
        let Self { scenario, groups } = self;
        let mut ran = ran.iter();
        let mut flows = Vec::new();
        for _ in seeds(scenario) {
            flows.extend(groups.iter().map(|group| group.most(ran.by_ref().take(group.runs()))));
        }
        let by_seed = flows.chunks(groups.len().max(1));
        let mut by_seed: Vec<f64> = by_seed.map(|ran| together(scenario, groups, ran)).collect();
        if by_seed.is_empty() {
            by_seed.push(f64::NAN);
        }
        // The first group determines the limit of all.
        let first = groups.first().zip(flows.first());
        let limit = first.map_or(Limit::Links, |(group, ran)| group.limit(ran));
        Reference { by_seed, limit }
    }
}

/// Returns the number of runs that a reference requires.
pub fn runs(scenario: &Scenario) -> u64 {
    Plan::new(&Arc::new(scenario.clone())).runs() as u64
}

/// Returns the capacity of the undisturbed network for the first group of the compared traffic, including
/// headers, in bits per second: infinite if no link has a rate.
pub fn capacity_bps(scenario: &Scenario) -> f64 {
    let capacity = |group: &Traffic| Ways::of(scenario, group, group.weights()).bps;
    groups(scenario).next().map_or(f64::INFINITY, capacity)
}

/// Returns the groups of the compared traffic, or all groups if there are none. Datagrams have no
/// reference.
fn groups(scenario: &Scenario) -> impl Iterator<Item = &Traffic> {
    scenario.compared().filter(|group| !matches!(group.app, App::Datagrams { .. }))
}

/// Returns the seeds to run: only one if starts, ways and applications do not depend on the seed.
fn seeds(scenario: &Scenario) -> std::ops::RangeInclusive<u64> {
    let same = groups(scenario).all(|group| {
        matches!(group.app, App::Bulk { .. })
            && !matches!(group.arrivals, Arrivals::Random { .. })
            && (group.ways.len() < 2 || group.spread == Spread::RoundRobin)
    });
    1..=if same { 1 } else { scenario.seeds }
}

/// Returns the goodput of all groups together, in bits per second. Each group was simulated alone.
///
/// Groups that share a link deliver no more than the link carries. Each link gives a bound, for
/// which it serves the groups that use it least first; the result is the smallest bound.
fn together(scenario: &Scenario, groups: &[Alone], ran: &[FlowRecord]) -> f64 {
    let longest = ran.iter().map(|flow| flow.duration_s).fold(0.0, f64::max);
    let bits: Vec<f64> = ran.iter().map(|flow| flow.delivered_bytes as f64 * 8.0).collect();
    let mut most: f64 = bits.iter().sum();
    if groups.len() > 1 {
        for (at, (link, _)) in directed(scenario).into_iter().enumerate() {
            let Some(rate) = link.link.rate else { continue };
            let mut used: Vec<(f64, f64)> =
                groups.iter().zip(&bits).map(|(group, &bits)| (group.crossed(at), bits)).collect();
            used.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut room = rate.bps() * longest * payload(scenario);
            let mut all = 0.0;
            for (share, bits) in used {
                let fits = if share > 0.0 { bits.min(room / share) } else { bits };
                room -= fits * share;
                all += fits;
            }
            most = most.min(all);
        }
    }
    if longest > 0.0 { most / longest } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::never;

    #[test]
    fn an_undisturbed_path_without_rate_and_delay_has_no_goodput() {
        let text = "duration = \"2 s\"\nvariants = [\"sack\"]\n[path]\nhops = [\"wan\"]\n\
                    [link.wan]\ndelay = \"0 s\"\nalternate.extra = \"9 ms\"\n";
        let endless = Scenario::parse("my.toml", text, &[]).expect("takes time");
        let bps = Reference::of(&endless, never(), &|| ()).expect("is not run").bps();
        assert!(bps.is_nan(), "{bps}");
        let short = ["flow.bytes=1 MB".to_owned()];
        let short = Scenario::parse("my.toml", text, &short).expect("takes time");
        let bps = Reference::of(&short, never(), &|| ()).expect("is over").bps();
        assert!(bps.is_nan(), "{bps}");
    }
}
