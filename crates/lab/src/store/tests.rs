use super::*;
use std::sync::Barrier;
use unruffled_measure::{FlowRecord, SenderMeans};

fn record(goodput_bps: f64) -> RunRecord {
    let flow = FlowRecord {
        goodput_bps,
        means: SenderMeans { fa_ratio: Some(0.1 + 0.2), ..SenderMeans::default() },
        ..FlowRecord::default()
    };
    RunRecord { flows: vec![flow], ..RunRecord::default() }
}

fn key(seed: u64) -> Key {
    Key::of_canonical("duration = \"1 s\"", &Variant::named("sack").expect("exists"), seed)
}

fn put(store: &Store, seed: u64, record: &RunRecord) {
    let run = Run {
        key: key(seed),
        of: "test",
        scenario: "duration = \"1 s\"",
        variant: "sack",
        seed,
        record,
        took: Duration::from_millis(5),
    };
    store.put(&run).expect("has room");
}

#[test]
fn a_stored_record_is_read_back_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let numbers = [1.0 / 3.0, f64::MIN_POSITIVE / 4.0, -0.0, f64::INFINITY, 1e300];
    let store = Store::open(&path).expect("opens");
    for (seed, number) in (1..).zip(numbers) {
        assert!(!store.has(&key(seed)).expect("reads"));
        put(&store, seed, &record(number));
    }
    drop(store);
    let store = Store::open(&path).expect("opens again");
    for (seed, number) in (1..).zip(numbers) {
        let back = store.get(&key(seed)).expect("reads").expect("is there");
        assert_eq!(back.flows[0].goodput_bps.to_bits(), number.to_bits());
        assert_eq!(back, record(number));
    }
    assert_eq!(store.get(&key(99)).expect("reads"), None);
}

#[test]
fn a_full_disk_is_an_error_and_stored_runs_survive() {
    let store = Store::in_memory().expect("opens");
    put(&store, 1, &record(1.0));
    let limit = "SELECT page_count FROM pragma_page_count";
    let pages: i64 = store.connection.query_row(limit, [], |row| row.get(0)).expect("counts");
    store.connection.pragma_update(None, "max_page_count", pages).expect("can be set");
    let large = RunRecord { flows: vec![FlowRecord::default(); 1000], ..RunRecord::default() };
    let run = Run {
        key: key(2),
        of: "test",
        scenario: "",
        variant: "sack",
        seed: 2,
        record: &large,
        took: Duration::ZERO,
    };
    let refused = store.put(&run).expect_err("has no room").to_string();
    assert_eq!(
        refused,
        "memory: no room left on its disk: expected some, or another file by --store"
    );
    assert!(store.has(&key(1)).expect("reads"));
}

#[test]
fn several_threads_can_create_a_store_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..50 {
        let path = folder.path().join(format!("{round}.sqlite"));
        let path = &path;
        let start = &Barrier::new(4);
        std::thread::scope(|scope| {
            for seed in 1..=4 {
                scope.spawn(move || {
                    start.wait();
                    put(&Store::open(path).expect("waits"), seed, &record(1.0));
                });
            }
        });
        let store = Store::open(path).expect("opens");
        assert!((1..=4).all(|seed| store.has(&key(seed)).expect("reads")));
    }
}

#[test]
fn nan_is_read_back_as_nan() {
    let store = Store::in_memory().expect("opens");
    put(&store, 1, &record(f64::NAN));
    let back = store.get(&key(1)).expect("reads").expect("is there");
    assert!(back.flows[0].goodput_bps.is_nan());
}

#[test]
fn a_stored_run_is_not_replaced() {
    let store = Store::in_memory().expect("opens");
    put(&store, 1, &record(1.0));
    put(&store, 1, &record(2.0));
    assert_eq!(store.get(&key(1)).expect("reads"), Some(record(1.0)));
    assert_eq!(store.holdings().expect("reads")[0].runs, 1);
}

#[test]
fn a_key_depends_on_all_that_determines_a_run_and_not_on_names() {
    let scenario = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
        Scenario::load("rr-3", &settings).expect("good settings")
    };
    let sack = Variant::named("sack").expect("exists");
    let original = Key::of(&scenario(&[]), &sack, 1);
    for same in [&["name=other"][..], &["title=x"], &["seeds=9"], &["variants=reno"]] {
        assert_eq!(Key::of(&scenario(same), &sack, 1), original, "{same:?}");
    }
    for other in [&["duration=999 s"][..], &["delayed.fraction=11 %"], &["tcp.window=51"]] {
        assert_ne!(Key::of(&scenario(other), &sack, 1), original, "{other:?}");
    }
    assert_ne!(Key::of(&scenario(&[]), &sack, 2), original);
    let reno = Variant::named("reno").expect("exists");
    assert_ne!(Key::of(&scenario(&[]), &reno, 1), original);
    let ta = Variant::named("rr-ta").expect("exists");
    let mut short = ta.clone();
    short.set("history", "40 s").expect("a parameter");
    assert_ne!(Key::of(&scenario(&[]), &ta, 1), Key::of(&scenario(&[]), &short, 1));
}

#[test]
fn a_file_that_is_not_a_store_is_rejected_and_not_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("text.sqlite");
    std::fs::write(&text, "some other text\n".repeat(100)).expect("can be written");
    let foreign = folder.path().join("foreign.sqlite");
    let connection = Connection::open(&foreign).expect("opens");
    connection.execute_batch("CREATE TABLE run (a); INSERT INTO run VALUES (1)").expect("fits");
    drop(connection);
    for path in [&text, &foreign] {
        let before = std::fs::read(path).expect("is there");
        let message = Store::open(path).err().expect("is refused").to_string();
        let expected = format!("{}: not a store of runs: expected another file", path.display());
        assert_eq!(message, expected);
        assert!(std::fs::read(path).expect("is there") == before, "{} has changed", path.display());
    }
}

#[test]
fn a_file_of_another_layout_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    drop(Store::open(&path).expect("opens"));
    let connection = Connection::open(&path).expect("opens");
    connection.pragma_update(None, "user_version", LAYOUT_VERSION + 1).expect("can be set");
    drop(connection);
    let message = Store::open(&path).err().expect("is refused").to_string();
    assert!(message.contains("made by another version of unruffled"), "{message}");
}

#[test]
fn a_damaged_record_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let store = Store::open(&path).expect("opens");
    put(&store, 1, &record(1.0));
    drop(store);
    let connection = Connection::open(&path).expect("opens");
    let change = "UPDATE run SET record = zeroblob(length(record))";
    connection.execute(change, []).expect("can be changed");
    drop(connection);
    let store = Store::open(&path).expect("the tables are whole");
    let message = store.get(&key(1)).expect_err("is damaged").to_string();
    assert!(message.contains("damaged: remove the file, or give another by --store"), "{message}");
    drop(store);

    // Damage that SQLite itself detects.
    let mut bytes = std::fs::read(&path).expect("is there");
    let half = bytes.len() / 2;
    bytes[100..half].fill(0x5A);
    std::fs::write(&path, bytes).expect("can be written");
    let found = Store::open(&path).and_then(|store| store.get(&key(1)).map(drop));
    let message = found.expect_err("is damaged").to_string();
    assert!(!message.contains('\n') && message.contains("damaged"), "{message}");
}

#[test]
fn reading_changes_nothing_and_does_not_wait_for_a_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a b?#%41.sqlite");
    let store = Store::open(&path).expect("opens");
    put(&store, 1, &record(1.0));
    drop(store);
    let before = std::fs::read(&path).expect("is there");
    let alone = || std::fs::read_dir(&folder).expect("is there").count() == 1;
    assert_eq!(Store::look(&path).expect("opens").holdings().expect("reads")[0].runs, 1);
    assert!(std::fs::read(&path).expect("is there") == before && alone());

    let mut permissions = std::fs::metadata(&path).expect("is there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).expect("is ours");
    assert_eq!(Store::look(&path).expect("opens").holdings().expect("reads")[0].runs, 1);
    assert!(Store::look_with(&path, "mode=ro&immutable=1").is_ok() && alone());

    let writer = Connection::open(&path).expect("opens");
    if writer.execute_batch("BEGIN IMMEDIATE").is_ok() {
        let began = Instant::now();
        assert_eq!(Store::look(&path).expect("opens").holdings().expect("reads")[0].runs, 1);
        assert!(began.elapsed() < BUSY_TIMEOUT / 2);
    }
    let none = folder.path().join("none.sqlite");
    assert!(Store::look(&none).is_err() && !none.exists(), "no file is created");
}

#[test]
fn pruning_removes_the_selected_runs() {
    let store = Store::in_memory().expect("opens");
    for seed in 1..=3 {
        put(&store, seed, &record(1.0));
    }
    let old = "UPDATE run SET model = 'old' WHERE seed = 1";
    store.connection.execute(old, []).expect("fits");
    let aged = "UPDATE run SET made = made - 86400 * 9 WHERE seed = 2";
    store.connection.execute(aged, []).expect("fits");
    assert_eq!(store.prune(Prune::OtherVersions).expect("prunes"), 1);
    assert_eq!(store.prune(Prune::Older(10)).expect("prunes"), 0);
    assert_eq!(store.prune(Prune::Older(8)).expect("prunes"), 1);
    assert!(store.has(&key(3)).expect("reads"));
    assert_eq!(store.prune(Prune::All).expect("prunes"), 1);
    assert!(store.holdings().expect("reads").is_empty());
}

#[test]
fn damaged_records_are_not_exported() {
    let store = Store::in_memory().expect("opens");
    put(&store, 1, &record(7.5));
    let csv = || {
        let mut text = Vec::new();
        let result = store.csv(|line| std::io::Write::write_all(&mut text, line));
        result.map(|()| String::from_utf8(text).expect("is text")).map_err(|e| e.to_string())
    };
    let change = |change: &str| store.connection.execute(change, []).expect("can be changed");
    change("UPDATE run SET key = x'0102'");
    assert!(csv().expect("reads").contains("\n0102,"), "a short key is printed whole");
    change("UPDATE run SET hash = zeroblob(32)");
    let message = csv().expect_err("is damaged");
    assert!(message.contains("damaged: remove the file, or give another by --store"), "{message}");
    change("ALTER TABLE run RENAME COLUMN seconds TO minutes");
    let results = [csv().map(drop), store.holdings().map(drop).map_err(|e| e.to_string())];
    for message in results.map(|result| result.expect_err("lacks a column")) {
        assert!(message.contains("memory: damaged: remove the file"), "{message}");
    }
}

#[test]
fn the_csv_of_an_empty_store_has_the_usual_header() {
    let store = Store::in_memory().expect("opens");
    let csv = || {
        let mut text = Vec::new();
        store.csv(|line| std::io::Write::write_all(&mut text, line)).expect("reads");
        String::from_utf8(text).expect("is text")
    };
    let empty = csv();
    put(&store, 1, &record(7.5));
    assert_eq!(empty.lines().collect::<Vec<_>>(), [csv().lines().next().expect("a header")]);
}

#[test]
fn csv_has_a_line_for_each_flow() {
    let store = Store::in_memory().expect("opens");
    put(&store, 1, &RunRecord { flows: vec![FlowRecord::default(); 2], ..RunRecord::default() });
    put(&store, 2, &record(7.5));
    let mut text = Vec::new();
    store.csv(|line| std::io::Write::write_all(&mut text, line)).expect("reads");
    let text = String::from_utf8(text).expect("is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 3, "{text}");
    assert!(lines[0].starts_with("run,model,made_for,variant,seed,seconds,flow,group,"), "{text}");
    let columns = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{text}");
    assert!(lines[3].contains(",7.5,"), "{text}");
}
