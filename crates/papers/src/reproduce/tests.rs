use std::sync::Mutex;

use unruffled_lab::store::{Prune, Store};

use super::{Plan, Progress, json, tiny};

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
