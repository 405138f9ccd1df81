mod exits;
mod paths;
mod set;
mod standstill;
mod traffic;
mod varying;

use unruffled_path::Red;

use super::*;

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("my.toml", text, &overrides).expect_err("is wrong").to_string()
}

fn rr_3(overrides: &[&str]) -> Result<Scenario, Error> {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load("rr-3", &overrides)
}

#[test]
fn built_in_scenarios_survive_a_round_trip_through_their_own_toml() {
    for (name, _) in BUILTIN {
        let scenario = Scenario::load(name, &[]).expect(name);
        let again = Scenario::parse(name, &scenario.toml, &[]).expect("its own TOML");
        assert_eq!(scenario, again);
    }
}

#[test]
fn control_characters_in_names_are_rejected() {
    for key in ["name", "title", "source"] {
        let line = error(&format!("{key} = \"a\\u001b[31mb\""), &[]);
        let expected =
            format!("my.toml:1: {key}: expected no control characters, found '\\u{{1b}}'");
        assert_eq!(line, expected);
    }
    for text in ["link.\"a\\u0007\".delay = \"1 ms\"", "[[traffic]]\nname = \"a\\u0007\""] {
        let line = error(text, &[]);
        assert!(line.ends_with("expected no control characters, found '\\u{7}'"), "{line}");
    }
    let line = rr_3(&["name=a\u{7}"]).expect_err("is wrong").to_string();
    assert_eq!(line, "--set: name: expected no control characters, found '\\u{7}'");
}

#[test]
fn a_count_of_one_is_singular() {
    let scenario = rr_3(&["tcp.window=1", "tcp.initial_window=1"]).expect("good overrides");
    let facts = scenario.facts();
    for fact in ["receiver's window", "initial window"] {
        let (_, words) = facts.iter().find(|(name, _)| name == fact).expect("is there");
        assert_eq!(words, "1 segment");
    }
}

#[test]
fn a_value_in_place_of_a_table_is_reported() {
    let head = "duration = '5 s'\nvariants = ['sack']\n";
    let link = "[link.a]\ndelay = '1 ms'\nrate = '1 Mbit/s'\n";
    for (text, expected) in [
        (
            format!("traffic = 3\n{head}path.hops = ['a']\n{link}"),
            "my.toml:1: traffic: expected [[traffic]] with a name, or [traffic.NAME]",
        ),
        (format!("path = 3\n{head}{link}"), "my.toml:1: path: expected a table, found 3"),
        (
            format!("link = 3\n{head}path.hops = ['a']\n"),
            "my.toml:1: link: expected a table, found 3",
        ),
        (
            format!("link.a = 3\n{head}path.hops = ['a']\n"),
            "my.toml:1: link.a: expected a table, found 3",
        ),
        (
            format!("{head}path.hops = ['a']\n{link}delayed = 3\n"),
            "my.toml:7: link.a.delayed: expected a table, found 3",
        ),
        (
            format!("{head}path.hops = ['a']\n"),
            "my.toml:3: path.hops: no table [link.a]: expected one",
        ),
    ] {
        assert_eq!(error(&text, &[]), expected);
    }
}

#[test]
fn names_have_visible_characters() {
    for key in ["name", "title"] {
        let line = error(&format!("{key} = \"\""), &[]);
        assert_eq!(line, format!("my.toml:1: {key}: expected some text, found \"\""));
        let line = rr_3(&[&format!("{key}=' '")]).expect_err("is blank").to_string();
        assert_eq!(line, format!("--set: {key}: expected some text, found \" \""));
    }
    for (name, table) in [("", "link"), (" ", "link"), ("a.b", "link"), (" ", "traffic")] {
        let line = error(&format!("[{table}.\"{name}\"]\ndelay = \"1 ms\""), &[]);
        let expected =
            format!("my.toml:1: {table}.{name}: expected a name without dots, found {name:?}");
        assert_eq!(line, expected);
    }
    let nodes = "duration = '5 s'\nvariants = ['sack']\ntopology.kind = 'explicit'\n\
                 [link.a]\ndelay = '1 ms'\nfrom = 'a'\nto = ' '\n";
    assert_eq!(error(nodes, &[]), "my.toml:7: link.a.to: expected some text, found \" \"");
}

#[test]
fn sack_blocks_may_add_octets_on_the_wire() {
    assert_eq!(rr_3(&[]).expect("a scenario").sack_block, 0);
    let scenario = rr_3(&["tcp.sack_block=8 B"]).expect("good overrides");
    assert_eq!(scenario.sack_block, 8);
    let (_, segments) = scenario.facts().into_iter().find(|(name, _)| name == "segments").unwrap();
    assert!(segments.ends_with(" B on the wire, 8 B more for each SACK block"), "{segments}");
    let line = rr_3(&["tcp.sack_block=1001 B"]).expect_err("is too much").to_string();
    assert_eq!(line, "--set: tcp.sack_block: expected at most 1000 B");
}

#[test]
fn the_behaviour_of_ns2_is_selected_by_keys() {
    use unruffled_tcp::Growth;
    let usual = rr_3(&[]).expect("a scenario").sender;
    assert_eq!((usual.ns2.growth, usual.ns2.min_after_backoff), (Growth::WhenUsed, false));
    let overrides = ["tcp.growth=always", "tcp.min_rto_after_backoff=true"];
    let scenario = rr_3(&overrides).expect("good overrides");
    for end in [&scenario.sender, &scenario.receiver] {
        assert_eq!((end.ns2.growth, end.ns2.min_after_backoff), (Growth::Always, true));
    }
    let overhead = ["distribution=uniform", "low=0 s", "high=500 us", "packets=both"];
    let overhead = overhead.map(|field| format!("link.bottleneck.overhead.{field}"));
    let scenario = rr_3(&overhead.each_ref().map(String::as_str)).expect("good overrides");
    let links = scenario.path_in_words();
    let (_, words) = links.iter().find(|(name, _)| name == "link bottleneck").expect("is there");
    assert!(words.ends_with("all packets later by U[0 s, 500 us], one after another"), "{words}");
    let line = rr_3(&[&overhead[0], &overhead[1]]).expect_err("no end").to_string();
    assert!(line.contains("link.bottleneck.overhead.high: missing: expected a value"), "{line}");
}

#[test]
fn an_error_is_one_line_with_its_place() {
    for (overrides, expected) in [
        (["delayed.fraction=120 %"], "--set: link.bottleneck.delayed.fraction: expected"),
        (["bottleneck.rate=-3 Mbit/s"], "--set: link.bottleneck.rate: expected"),
        (["duration=never"], "--set: duration: expected a time"),
        (["tcp.windw=3"], "--set: tcp.windw: unknown key: expected one of"),
        (["tcp=3"], "--set: tcp: expected a table of byte_counting, delayed_ack"),
        (["path={}"], "--set: path: expected a table of hops"),
        (["traffic=3"], "--set: traffic: expected [[traffic]] with a name, or [traffic.NAME]"),
        (["variant=3"], "--set: variant: expected a table, [variant.NAME]"),
        (["variant.sack=3"], "--set: variant.sack: expected a table, [variant.NAME]"),
        (["link.new.rate=1 Mbit/s"], "--set: link.new.rate: no link new in the network: expected"),
        (["seeds=0"], "--set: seeds: expected a whole number from 1"),
        (["delayed.distribution=gauss"], "distribution: expected constant, uniform"),
        (
            ["link.bottleneck.red.max=3"],
            "--set: link.bottleneck.red.max: expected greater than min",
        ),
        (["link.bottleneck.red.weight=2"], "red.weight: expected greater than 0 and at most 1"),
        (["link.bottleneck.red.limit=2"], "--set: link.bottleneck.red.limit: unknown key"),
        (["link.bottleneck.redrawn.every=50 ms"], "bottleneck.redrawn.mean: missing: expected"),
        (["link.bottleneck.burst.mean=50 ms"], "bottleneck.burst.fraction: missing: expected"),
        (
            ["link.bottleneck.burst.fracton=1 %"],
            "--set: link.bottleneck.burst.fracton: unknown key, and \
             link.bottleneck.burst.fraction is missing: expected a value such as \"10 %\"",
        ),
        (["link.bottleneck.blackout.length=2 s"], "blackout.at: missing: expected times such as"),
        (["link.bottleneck.resend.errors=1 %"], "bottleneck.resend.after: missing: expected"),
        (["record.interval=0 s"], "--set: record.interval: expected at most 1000000 points"),
        (["path.hops=nowhere"], "--set: path.hops: no table [link.nowhere]"),
        (["warmup=2000 s"], "--set: warmup: expected less than"),
        (["variant.rr-ta.history=-3 s"], "--set: variant.rr-ta.history: expected 1 ms to"),
        (["variant.rr-tb.history=3 s"], "rr-tb: no such variant: expected one of"),
        (["variant.rr-ta.memory=3 s"], "no such parameter: expected one of fa_ratio"),
        (["nonsense"], "--set nonsense: expected KEY=VALUE"),
    ] {
        let message = rr_3(&overrides).expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn an_error_in_a_file_names_its_line() {
    let good = BUILTIN[0].1;
    let broken = good.replace("mean = \"25 ms\"", "mean = \"25 parsecs\"");
    let line = 1 + good.lines().position(|l| l.starts_with("mean")).expect("has a mean");
    let message = error(&broken, &[]);
    let expected = format!("my.toml:{line}: link.bottleneck.delayed.mean: expected a time");
    assert!(message.starts_with(&expected), "{message}");

    let message = error("name = \"x\"\nduration = = 3\n", &[]);
    assert!(message.starts_with("my.toml:2: not TOML: "), "{message}");
    assert!(!message.contains('\n'), "{message}");

    let message = error("name = \"x\"\n", &[]);
    assert!(message.starts_with("my.toml: duration: missing"), "{message}");

    let message = error("", &["duration=9 s"]);
    assert!(message.starts_with("my.toml: variants: missing"), "{message}");

    let message = error("name = \"x\"\nduratoin = \"9 s\"\n", &[]);
    let expected = "my.toml:2: duratoin: unknown key, and duration is missing: expected a value";
    assert!(message.starts_with(expected), "{message}");

    let misspelt = good.replace("delay = \"50 ms\"", "dealy = \"50 ms\"");
    let line = 1 + misspelt.lines().position(|l| l.starts_with("dealy")).expect("has it");
    let message = error(&misspelt, &[]);
    let expected = format!("my.toml:{line}: link.bottleneck.dealy: unknown key, and ");
    assert!(message.starts_with(&expected), "{message}");
    let missing = "link.bottleneck.delay is missing: expected a value such as \"50 ms\"";
    assert!(message.ends_with(missing), "{message}");
}

#[test]
fn parameters_of_a_sender_apply_to_its_combinations() {
    let scenario = rr_3(&["variant.rr-ta.history=40s"]).expect("a parameter");
    let mut variant = Variant::named("rr-ta").expect("exists");
    scenario.parametrise(&mut variant).expect("fits");
    let history = variant.parameters().find(|(p, _)| p.name == "history").map(|(_, v)| v);
    assert_eq!(history, Some(40.0));
}

/// A dumbbell with two groups of traffic.
const SHARED: &str = r#"
duration = "10 s"
variants = ["sack"]
[topology]
kind = "dumbbell"
[link.source]
rate = "10 Mbit/s"
delay = "1 ms"
[link.sink]
delay = "1 ms"
[link.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
queue = 50
[[traffic]]
name = "bulk"
count = 3
gap = "100 ms"
[[traffic]]
name = "a-web"
app = "web"
sender = "rr-ta"
segments = [10, 20]
egress = "none"
pause.distribution = "pareto"
pause.scale = "1 s"
pause.shape = 1.5
"#;

fn shared(overrides: &[&str]) -> Result<Scenario, Error> {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("my.toml", SHARED, &overrides)
}

#[test]
fn a_missing_file_and_an_unknown_name_are_distinguished() {
    let message = |name: &str| Scenario::load(name, &[]).expect_err(name).to_string();
    for name in ["nowhere.toml", "./nowhere", "no/where", "nowhere.json"] {
        assert_eq!(message(name), format!("{name}: no such file"));
    }
    assert_eq!(message("rr-3.toml"), "rr-3.toml: no such file; did you mean rr-3?");
    let unknown = "satelite: no such scenario: expected rr-3, dcr-4, ";
    let line = message("satelite");
    assert!(line.starts_with(unknown) && line.ends_with("; did you mean satellite?"), "{line}");
    assert!(message("rack").ends_with("a TOML file; rack is a variant"));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("two-paths.toml"), "").expect("is written");
    let near = folder.path().join("two-path.toml").display().to_string();
    let expected = format!("; did you mean {}?", folder.path().join("two-paths.toml").display());
    assert_eq!(message(&near), format!("{near}: no such file{expected}"));
}
