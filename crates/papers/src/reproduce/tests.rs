use std::sync::Mutex;

use unruffled_lab::store::{Prune, Store};

use super::{Plan, Progress, json, tiny};
use crate::experiment::Experiment;

#[test]
fn stored_runs_are_not_made_again_and_have_the_same_results() {
    let experiments = [tiny::experiment(false)];
    let plan = Plan::new(&experiments).expect("makes sense");
    let store = Mutex::new(Store::in_memory().expect("opens"));
    // Two seeds: two points of two lines, and one of the line that does not depend on x.
    assert_eq!(plan.runs(), 2 * (2 * 2 + 1));
    plan.missing(&store).expect("reads").run(&store, &()).expect("runs");
    let first = json(&plan.outcomes(&store).expect("all there"));
    struct None;
    impl Progress for None {
        fn begin(&self, runs: usize, _: f64, there: usize) {
            assert_eq!((runs, there), (0, 10));
        }
        fn done(&self, _: f64) {
            panic!("no run is made");
        }
    }
    plan.missing(&store).expect("reads").run(&store, &None).expect("has nothing to do");
    assert_eq!(json(&plan.outcomes(&store).expect("all there")), first);
    // Runs that were pruned are made again and have the same results.
    store.lock().expect("is free").prune(Prune::All).expect("prunes");
    assert_eq!(json(&plan.outcomes(&store).expect("makes them")), first);
}

/// Counts runs to make, and runs that are there.
#[derive(Default)]
struct Counted(Mutex<(usize, usize)>);

impl Progress for Counted {
    fn begin(&self, runs: usize, _: f64, there: usize) {
        *self.0.lock().expect("is free") = (runs, there);
    }
    fn done(&self, _: f64) {}
}

#[test]
fn links_are_counted_for_experiments_that_read_them() {
    let without = tiny::TEXT.replace("record.series = [\"queue\"]", "record.series = [\"cwnd\"]");
    let without = without.replace("series('l', 'queue')", "series('flow-1', 'cwnd')");
    let with = without.replace("sum('retransmits')", "link('l', 'dropped_packets')");
    assert_ne!(with, without);
    let read = |text: &str| [Experiment::parse("tiny.toml", text, true).expect("makes sense")];
    let (without, with) = (read(&without), read(&with));
    let store = Mutex::new(Store::in_memory().expect("opens"));
    let made = |experiments: &[Experiment]| {
        let (plan, counted) = (Plan::new(experiments).expect("makes sense"), Counted::default());
        plan.missing(&store).expect("reads").run(&store, &counted).expect("runs");
        let outcomes = json(&plan.outcomes(&store).expect("all there"));
        (counted.0.into_inner().expect("is free"), outcomes)
    };
    // A point of three lines. Runs without links do not serve an experiment that reads them.
    let ((runs, there), first) = made(&without);
    assert_eq!((runs, there), (3, 0));
    assert_eq!(made(&with).0, (3, 0));
    assert_eq!(made(&with).0, (0, 3));
    // Runs with links serve one that does not.
    store.lock().expect("is free").prune(Prune::All).expect("prunes");
    assert_eq!(made(&with).0, (3, 0));
    assert_eq!(made(&without), ((0, 3), first));
}
