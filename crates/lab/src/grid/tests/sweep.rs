//! Tests of sweeps: runs, rows and standings.

use super::*;

#[test]
fn standings_count_only_points_with_all_runs() {
    let sweep = Sweep::new(plan(GRID), None).unwrap();
    let wins_after = |runs: &[usize]| {
        let take = |made| sweep.take(vec![made]).unwrap();
        Batch::of(sweep.plan(), runs).make(&[], never(), take).unwrap();
        sweep.standings().iter().map(|standing| standing.wins).sum::<usize>()
    };
    // A point has two senders with two runs each.
    assert_eq!(wins_after(&[0, 1, 2]), 0);
    assert_eq!(wins_after(&[3]), 1);
}

/// Makes all runs, and returns the sweep and the number of runs that were missing.
fn swept(store: Option<Store>) -> (Sweep, usize) {
    let sweep = Sweep::new(plan(GRID), store).unwrap();
    let missing = sweep.missing().len();
    sweep.run(never(), &()).unwrap();
    assert!(sweep.missing().is_empty());
    (sweep, missing)
}

#[test]
fn the_rows_are_those_of_a_comparison_at_each_point() {
    let (sweep, _) = swept(None);
    let mut expected = Vec::new();
    for fraction in ["1 %", "10 %"] {
        for queue in [10, 100, 1000] {
            let set = [
                "variants=sack,rr-ta".to_owned(),
                "seeds=2".to_owned(),
                "duration=2 s".to_owned(),
                format!("delayed.fraction={fraction}"),
                format!("bottleneck.queue={queue}"),
            ];
            let scenario = unruffled_scenario::Scenario::load("rr-3", &set).unwrap();
            let variants = scenario.senders(&scenario.variants, "variants").unwrap();
            let compared = crate::compare::compare(&scenario, &variants, never(), || ()).unwrap();
            expected.extend(compared.variants.into_iter().flat_map(|runs| runs.rows));
        }
    }
    sweep.with_rows(|rows| {
        let rows: Vec<_> = rows.iter().flatten().cloned().collect();
        assert_eq!(rows, expected);
    });
}

#[test]
fn stored_runs_are_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let store = || Some(Store::open(&folder.path().join("runs.sqlite")).unwrap());
    let (first, missing) = swept(store());
    assert_eq!(missing, 24);
    let (again, missing) = swept(store());
    assert_eq!(missing, 0);
    assert_eq!(first.csv(), again.csv());
    // A larger grid has only its new points to run.
    let wider = GRID.replace("\"10 %\"]", "\"10 %\", \"20 %\"]");
    let wider = Sweep::new(plan(&wider), store()).unwrap();
    assert_eq!(wider.missing().len(), 12);
}

#[test]
fn batches_of_other_processes_in_any_order_give_the_same_results() {
    let (local, _) = swept(None);
    let sweep = Sweep::new(plan(GRID), None).unwrap();
    let estimate = sweep.estimate(never()).unwrap();
    assert!(estimate >= 0.0);
    let batches = sweep.batches(1e-9);
    for batch in batches.iter().rev() {
        let mut made = Vec::new();
        let batch = Batch::unpack(&batch.pack()).unwrap();
        batch.make(&[], never(), |m| made.push(m)).unwrap();
        // Results may arrive twice if a worker ends after its answer and the batch is repeated.
        for _ in 0..2 {
            sweep.take(Made::unpack(&Made::pack(made.clone())).unwrap()).unwrap();
        }
    }
    assert!(sweep.missing().is_empty());
    assert_eq!(sweep.csv(), local.csv());
}

#[test]
fn octets_that_are_not_results_are_rejected() {
    let refused = Made::unpack(b"nonsense").unwrap_err().to_string();
    assert_eq!(refused, "runs from elsewhere: not runs, nor their results");
}

#[test]
fn a_cancelled_sweep_returns_an_error_and_its_runs_stay_missing() {
    let token = CancellationToken::default();
    token.cancel();
    let sweep = Sweep::new(plan(GRID), None).unwrap();
    for refused in [sweep.run(&token, &()), sweep.estimate(&token).map(drop)] {
        let refused = refused.expect_err("is cancelled");
        assert!(matches!(refused, Error::Run(RunError::Cancelled)), "{refused}");
    }
    assert_eq!(sweep.missing().len(), 24);
}

#[test]
fn a_sweep_that_is_cancelled_keeps_its_finished_runs() {
    struct CancelFirst(CancellationToken);
    impl Watch for CancelFirst {
        fn done(&self, _: usize) {
            self.0.cancel();
        }
    }
    let watch = CancelFirst(CancellationToken::default());
    let sweep = Sweep::new(plan(GRID), Some(Store::in_memory().unwrap())).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let refused = pool.install(|| sweep.run(&watch.0, &watch)).expect_err("is cancelled");
    assert!(matches!(refused, Error::Run(RunError::Cancelled)), "{refused}");
    assert!((1..24).contains(&sweep.missing().len()), "{}", sweep.missing().len());
}

#[test]
fn csv_and_json_have_the_point_and_its_values() {
    let (sweep, _) = swept(None);
    let csv = sweep.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 25);
    assert!(lines[0].starts_with("point,delayed.fraction,bottleneck.queue,scenario,variant,seed,"));
    assert!(lines[24].starts_with("5,0.1,1000.0,rr-3,rr-ta,2,2.0,"), "{}", lines[24]);
    let json: serde_json::Value = serde_json::from_str(&sweep.json()).unwrap();
    assert_eq!(json["rows"][23]["delayed.fraction"], 0.1);
    assert_eq!(json["rows"].as_array().unwrap().len(), 24);
    let wins: u64 =
        json["standings"].as_array().unwrap().iter().map(|s| s["wins"].as_u64().unwrap()).sum();
    assert!(wins >= 6, "each point has a winner");
    assert!(sweep.render().contains("rr-3: 6 points, 24 runs"), "{}", sweep.render());
}

#[test]
fn the_median_of_an_even_number_of_points_is_between_the_middle_two() {
    let (sweep, _) = swept(None);
    let json: serde_json::Value = serde_json::from_str(&sweep.json()).unwrap();
    let mean = |point: usize, variant: &str| {
        let rows = json["rows"].as_array().unwrap().iter();
        let of = rows.filter(|row| row["point"] == point && row["variant"] == variant);
        of.map(|row| row["goodput_bps"].as_f64().unwrap()).sum::<f64>() / 2.0
    };
    let share = |point| mean(point, "sack") / mean(point, "sack").max(mean(point, "rr-ta"));
    let mut shares: Vec<f64> = (0..6).map(share).collect();
    shares.sort_by(f64::total_cmp);
    let median = json["standings"][0]["median_share"].as_f64().unwrap();
    assert!((median - (shares[2] + shares[3]) / 2.0).abs() < 1e-12, "{median} of {shares:?}");
    assert!(shares[3] - shares[2] > 1e-3, "they differ: {shares:?}");
}

/// Only one of the two points has a window, so the rows of the other have no counts of drops.
#[test]
fn csv_and_json_have_the_drops_at_far_ends_where_any_point_has_them() {
    let grid = "scenario = \"few-late\"\nvariants = [\"sack\"]\nseeds = 1\nduration = \"2 s\"\n\
                [grid]\n\"link.bottleneck.replay_window\" = [\"none\", 32]\n";
    let sweep = Sweep::new(plan(grid), None).unwrap();
    sweep.run(never(), &()).unwrap();
    let csv = sweep.csv();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let column = head.iter().position(|name| name == "replay_drops").expect("a column");
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert!(rows.iter().all(|row| row.len() == head.len()));
    assert_eq!(&rows[0][column], "");
    assert!(rows[1][column].parse::<u64>().unwrap() > 0, "{:?}", rows[1]);
    let json: serde_json::Value = serde_json::from_str(&sweep.json()).unwrap();
    assert!(json["rows"][0].get("replay_drops").is_none());
    assert_eq!(json["rows"][1]["replay_drops"].to_string(), rows[1][column]);
}
