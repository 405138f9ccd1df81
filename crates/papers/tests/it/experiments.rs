//! The built-in experiments are valid: each loads in full and quick, with its scenario at every
//! point, and its claims with made-up numbers.

use unruffled_papers::experiment::{BUILTIN, Experiment};
use unruffled_papers::reproduce::Plan;

const PAPERS: [&str; 5] = ["rr-tcp", "avg-dev", "tcp-pr", "tcp-dcr", "wb-rto"];

#[test]
fn each_can_be_planned_in_full_and_quick() {
    for quick in [false, true] {
        let experiments = Experiment::all(quick).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(experiments.len(), BUILTIN.len());
        for experiment in &experiments {
            let plan = Plan::new(std::slice::from_ref(experiment));
            let plan = plan.unwrap_or_else(|error| panic!("{error}"));
            let formulae = experiment.lines.iter().all(|line| line.variant.is_none());
            assert!(plan.runs() > 0 || formulae, "{} has no runs", experiment.id);
        }
    }
}

#[test]
fn each_has_its_files_name_and_a_paper() {
    let experiments = Experiment::all(false).unwrap_or_else(|error| panic!("{error}"));
    for (experiment, (name, _)) in experiments.iter().zip(BUILTIN) {
        assert_eq!(experiment.id, *name);
        assert!(PAPERS.contains(&experiment.paper.as_str()), "{name}: {}", experiment.paper);
    }
    let papers: Vec<usize> = experiments
        .iter()
        .map(|e| PAPERS.iter().position(|p| *p == e.paper).expect("is one of them"))
        .collect();
    assert!(papers.is_sorted(), "in the order of the papers");
}
