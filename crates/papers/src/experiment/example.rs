//! One scenario of an experiment, to look at by itself.

use unruffled_scenario::Scenario;

use super::model::{Experiment, Point};
use crate::error::Error;

/// A scenario of an experiment, with the senders that run over it.
#[derive(Clone, Debug)]
pub struct Example {
    /// The scenario.
    pub scenario: Scenario,
    /// The full names of the senders; one if the scenario's traffic names its own.
    pub senders: Vec<String>,
    /// The point of the sweep, such as `packets delayed (%) = 10`; none without a sweep.
    pub point: Option<String>,
}

impl Experiment {
    /// Returns the scenario over which most of the lines run at the point in the middle of the sweep.
    /// Returns `None` if all lines are formulae.
    ///
    /// # Errors
    /// Invalid settings. The error names their place in the experiment's file.
    pub fn example(&self) -> Result<Option<Example>, Error> {
        let points = &self.sweep.points;
        let Some(point) = points.get(points.len() / 2) else { return Ok(None) };
        let mut found: Vec<Example> = Vec::new();
        for line in self.lines.iter().filter(|line| line.formula().is_none()) {
            let (scenario, variant) = self.scenario(line, point)?;
            let sender = variant.name().to_owned();
            match found.iter_mut().find(|example| example.scenario.toml == scenario.toml) {
                Some(example) if example.senders.contains(&sender) => {}
                Some(example) => example.senders.push(sender),
                None => {
                    let (senders, point) = (vec![sender], self.words(point));
                    found.push(Example { scenario, senders, point });
                }
            }
        }
        // Of equally many the first.
        Ok(found.into_iter().rev().max_by_key(|example| example.senders.len()))
    }

    /// Describes a point of the sweep.
    fn words(&self, point: &Point) -> Option<String> {
        let label = self.sweep.label.as_ref()?;
        if point.variables.is_empty() {
            return Some(format!("{label} = {}", point.x));
        }
        let values = point.variables.iter().map(|(name, value)| format!("{name} = {value}"));
        Some(values.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_a_sweep_is_its_middle_with_all_senders() {
        let experiment = Experiment::load("rr-3", true).expect("is built in");
        let example = experiment.example().expect("is valid").expect("has runs");
        assert_eq!(example.point.as_deref(), Some("packets delayed (%) = 10"));
        assert!(example.scenario.toml.contains("10 %"), "{}", example.scenario.toml);
        assert!(example.senders.contains(&"rr-ta".to_owned()), "{:?}", example.senders);
    }

    #[test]
    fn each_experiment_with_runs_has_an_example() {
        for experiment in Experiment::all(true).expect("are valid") {
            let example = experiment.example().expect("is valid");
            let runs = experiment.lines.iter().any(|line| line.formula().is_none());
            assert_eq!(example.is_some(), runs, "{}", experiment.id);
        }
    }
}
