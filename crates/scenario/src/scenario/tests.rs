mod standstill;

use unruffled_path::Red;

use super::*;
use crate::links;

fn error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("my.toml", text, &overrides).expect_err("is wrong").to_string()
}

fn rr_3(overrides: &[&str]) -> Result<Scenario, Error> {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load("rr-3", &overrides)
}

#[test]
fn the_built_in_ones_load_and_come_back_from_their_own_toml() {
    for (name, _) in BUILTIN {
        let scenario = Scenario::load(name, &[]).expect(name);
        let again = Scenario::parse(name, &scenario.toml, &[]).expect("its own TOML");
        assert_eq!(scenario, again);
    }
}

#[test]
fn any_key_can_be_set_and_its_beginning_left_out() {
    let scenario = rr_3(&["delayed.fraction=30%", "link.bottleneck.delay = 20 ms", "seeds=2"])
        .expect("good overrides");
    assert_eq!(scenario.seeds, 2);
    assert_eq!(scenario.hops[1].link.delay, Duration::from_millis(20));
    assert!(scenario.toml.contains("30%"), "{}", scenario.toml);
    let lossy = rr_3(&["link.bottleneck.loss.fraction=1%"]).expect("a new table");
    assert_eq!(lossy.hops[1].link.impairments.len(), 2);
}

#[test]
fn a_key_that_the_file_does_not_have_may_leave_out_the_beginning_of_its_table() {
    for key in ["delayed.until", "bottleneck.delayed.until", "link.bottleneck.delayed.until"] {
        let scenario = rr_3(&[&format!("{key}=5 s")]).expect(key);
        let words = links::in_words(&scenario.hops[1].link);
        assert!(words.ends_with("from 0 s to 5 s"), "{words}");
    }
    let lossy = rr_3(&["bottleneck.loss.fraction=1%", "loss.from=5 s"]).expect("a new table");
    assert_eq!(lossy.hops[1].link.impairments.len(), 2);

    let both = ["link.source.loss.fraction=1%", "link.sink.loss.fraction=1%", "loss.from=5 s"];
    let several = rr_3(&both).expect_err("two tables").to_string();
    let wanted = "--set: loss.from: could be several: expected one of link.source.loss.from, \
                  link.sink.loss.from";
    assert_eq!(several, wanted);

    let text = SHARED.replace("\"bulk\"", "\"tcp\"");
    let overrides = ["tcp.mss=500 B".to_owned()];
    let whole =
        Scenario::parse("my.toml", &text, &overrides).expect("no group of traffic is meant");
    assert_eq!(whole.sender.mss, 500);
}

#[test]
fn control_characters_are_no_part_of_names() {
    for key in ["name", "title", "source"] {
        let line = error(&format!("{key} = \"a\\u001b[31mb\""), &[]);
        let wanted = format!("my.toml:1: {key}: expected no control characters, found '\\u{{1b}}'");
        assert_eq!(line, wanted);
    }
    for text in ["link.\"a\\u0007\".delay = \"1 ms\"", "[[traffic]]\nname = \"a\\u0007\""] {
        let line = error(text, &[]);
        assert!(line.ends_with("expected no control characters, found '\\u{7}'"), "{line}");
    }
    let line = rr_3(&["name=a\u{7}"]).expect_err("is wrong").to_string();
    assert_eq!(line, "--set: name: expected no control characters, found '\\u{7}'");
}

#[test]
fn what_is_set_is_one_value() {
    let line = rr_3(&["tcp.window=20\nfoo = 1"]).expect_err("is more").to_string();
    assert!(line.starts_with("--set: tcp.window: expected") && !line.contains('\n'), "{line}");
    let line = rr_3(&["tcp.window=20 # as ever"]).expect_err("is more").to_string();
    assert!(line.starts_with("--set: tcp.window: expected"), "{line}");
    // What is called so is called so, though it looks like something else.
    let named = rr_3(&["name=1e3", "title=3 # ways", "source='4'"]).expect("good names");
    assert_eq!((named.name.as_str(), named.title.as_str()), ("1e3", "3 # ways"));
    assert_eq!(named.source, "4");
}

#[test]
fn a_group_of_which_all_is_left_to_its_defaults_is_there_however_it_is_written() {
    for written in [
        "[traffic.x]\n[traffic.y]\ncount = 2\n",
        "[traffic]\nx = {}\ny.count = 2\n",
        "[[traffic]]\nname = \"x\"\n[[traffic]]\nname = \"y\"\ncount = 2\n",
    ] {
        let text = format!(
            "duration = \"3 s\"\nvariants = [\"sack\"]\npath.hops = [\"a\"]\n\
             link.a.delay = \"10 ms\"\nlink.a.rate = \"5 Mbit/s\"\n{written}"
        );
        let scenario = Scenario::parse("my.toml", &text, &[]).expect(written);
        let groups: Vec<_> = scenario.traffic.iter().map(|g| (g.name.as_str(), g.count)).collect();
        assert_eq!(groups, [("x", 1), ("y", 2)], "{written}");
    }
}

#[test]
fn one_is_no_plural_in_words() {
    let scenario = rr_3(&["tcp.window=1", "tcp.initial_window=1"]).expect("good overrides");
    let facts = scenario.facts();
    for fact in ["receiver's window", "initial window"] {
        let (_, words) = facts.iter().find(|(name, _)| name == fact).expect("is told");
        assert_eq!(words, "1 segment");
    }
}

#[test]
fn a_value_in_the_place_of_a_table_is_called_so() {
    let head = "duration = '5 s'\nvariants = ['sack']\n";
    let link = "[link.a]\ndelay = '1 ms'\nrate = '1 Mbit/s'\n";
    for (text, wanted) in [
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
        assert_eq!(error(&text, &[]), wanted);
    }
}

#[test]
fn what_has_a_name_has_one_that_shows() {
    for key in ["name", "title"] {
        let line = error(&format!("{key} = \"\""), &[]);
        assert_eq!(line, format!("my.toml:1: {key}: expected some text, found \"\""));
        let line = rr_3(&[&format!("{key}=' '")]).expect_err("is blank").to_string();
        assert_eq!(line, format!("--set: {key}: expected some text, found \" \""));
    }
    for (name, table) in [("", "link"), (" ", "link"), ("a.b", "link"), (" ", "traffic")] {
        let line = error(&format!("[{table}.\"{name}\"]\ndelay = \"1 ms\""), &[]);
        let wanted =
            format!("my.toml:1: {table}.{name}: expected a name without dots, found {name:?}");
        assert_eq!(line, wanted);
    }
    let nodes = "duration = '5 s'\nvariants = ['sack']\ntopology.kind = 'explicit'\n\
                 [link.a]\ndelay = '1 ms'\nfrom = 'a'\nto = ' '\n";
    assert_eq!(error(nodes, &[]), "my.toml:7: link.a.to: expected some text, found \" \"");
}

#[test]
fn a_list_of_numbers_may_be_texts() {
    let two_ways = r#"
        duration = "10 s"
        variants = ["sack"]
        topology.kind = "explicit"
        link.a = { from = "s", to = "d", delay = "10 ms" }
        link.b = { from = "s", to = "r", delay = "10 ms" }
        link.c = { from = "r", to = "d", delay = "10 ms" }
        [[traffic]]
        name = "bulk"
        from = "s"
        to = "d"
        ways = ["s d", "s r d"]
        weights = ["70", 30]
    "#;
    let scenario = Scenario::parse("my.toml", two_ways, &[]).expect("a scenario");
    let weights: Vec<f64> = scenario.traffic[0].ways.iter().map(|way| way.weight).collect();
    assert_eq!(weights, [70.0, 30.0]);
    let huge = error(two_ways, &["traffic.bulk.weights=[1e308, 1e308]"]);
    assert!(huge.contains("weights: expected numbers from 0 on, not all 0"), "{huge}");
    let wrong = error(two_ways, &["traffic.bulk.weights=[\"many\", 30]"]);
    assert!(wrong.contains("expected a list of 2 numbers"), "{wrong}");
}

#[test]
fn sack_blocks_may_take_room_on_the_wire() {
    assert_eq!(rr_3(&[]).expect("a scenario").sack_block, 0);
    let scenario = rr_3(&["tcp.sack_block=8 B"]).expect("good overrides");
    assert_eq!(scenario.sack_block, 8);
    let (_, segments) = scenario.facts().into_iter().find(|(name, _)| name == "segments").unwrap();
    assert!(segments.ends_with(" B on the wire, 8 B more for each SACK block"), "{segments}");
    let line = rr_3(&["tcp.sack_block=1001 B"]).expect_err("is too much").to_string();
    assert_eq!(line, "--set: tcp.sack_block: expected at most 1000 B");
}

#[test]
fn a_queue_may_drop_at_random() {
    let red = ["queue=200", "red.min=20", "red.max=60", "red.weight=0.002"];
    let red = red.map(|key| format!("link.bottleneck.{key}"));
    let scenario = Scenario::load("rr-3", &red).expect("good overrides");
    let red = Red { min: 20.0, max: 60.0, weight: Some(0.002), ..Red::default() };
    assert_eq!(scenario.hops[1].link.red, Some(red));
    let words = &scenario.path_in_words()[1].1;
    let wanted = "RED queue of 200, thresholds 20 and 60 × 500 B, weight 0.002, gently to 10 %";
    assert!(words.contains(wanted), "{words}");
}

/// The bottleneck of `rr-3` without its delayed packets, with `keys` for its `table`.
fn bottleneck(table: &str, keys: &[&str]) -> Result<Hop, String> {
    let keys = keys.iter().map(|key| format!("link.bottleneck.{table}.{key}"));
    let overrides: Vec<String> = keys.chain(["delayed.fraction=0 %".to_owned()]).collect();
    let scenario = Scenario::load("rr-3", &overrides).map_err(|e| e.to_string())?;
    Ok(scenario.hops[1].clone())
}

#[test]
fn what_befalls_packets_is_read_and_put_in_words() {
    for (table, keys, wanted) in [
        (
            "redrawn",
            &["every=50 ms", "mean=200 ms", "deviation=60 ms"][..],
            "data packets later by N(200 ms, 60 ms), drawn anew every 50 ms",
        ),
        ("loss", &["every=200"], "the last of every 200 data packets lost"),
        ("loss", &["every=1"], "all data packets lost"),
        ("loss", &["every=1", "packets=both"], "all packets lost"),
        ("alternate", &["every=1", "extra=5 ms"], "all data packets 5 ms later"),
        (
            "burst",
            &["fraction=0.02 %", "distribution=uniform", "low=300 ms", "high=400 ms"],
            "0.02 % of data packets start a loss of all for U[300 ms, 400 ms]",
        ),
        (
            "blackout",
            &["at=['50 s', '75 s']", "length=2 s"],
            "all packets lost for 2 s at 50 s, 75 s",
        ),
        (
            "blackout",
            &["every=40 s", "length=2 s", "packets=acks", "from=100 s"],
            "acknowledgements lost for 2 s every 40 s from 100 s",
        ),
        (
            "resend",
            &["errors=2 %", "after=42 ms"],
            "2 % of data packets damaged and sent again after 42 ms",
        ),
        (
            "resend",
            &["errors=2 %", "after=42 ms", "attempts=3", "packets=both"],
            "2 % of all packets damaged and sent again up to 3 times after 42 ms",
        ),
    ] {
        let hop = bottleneck(table, keys).expect(wanted);
        let words = links::in_words(&hop.link);
        assert!(words.ends_with(wanted), "{words}");
    }
}

#[test]
fn what_ns2_did_otherwise_is_asked_for_by_key() {
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
fn what_cannot_befall_packets_is_refused() {
    for (table, keys, wanted) in [
        (
            "redrawn",
            &["every=0 s", "mean=200 ms", "deviation=60 ms"][..],
            "link.bottleneck.redrawn.every: expected more than 0 s",
        ),
        ("loss", &["every=200", "fraction=1 %"], "loss.fraction: expected either this or every"),
        ("loss", &["every=0"], "link.bottleneck.loss.every: expected"),
        ("blackout", &["every=2 s", "length=2 s"], "blackout.every: expected longer than length"),
        ("blackout", &["at=soon", "length=2 s"], "blackout.at: expected a time"),
        (
            "blackout",
            &["at=5 s", "every=9 s", "length=2 s"],
            "blackout.at: expected either at or every, not both",
        ),
        (
            "resend",
            &["errors=100 %", "after=42 ms"],
            "resend.errors: expected at most 0.999 without attempts",
        ),
        (
            "burst",
            &["fraction=1 %", "distribution=uniform", "low=2 s", "high=1 s"],
            "burst.low: expected at most high",
        ),
    ] {
        let message = bottleneck(table, keys).expect_err(wanted);
        assert!(message.contains(wanted) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn blackouts_are_episodes() {
    let keys = ["at=['50 s', '990 s', '2000 s']", "length=20 s"];
    let keys = keys.map(|key| format!("link.bottleneck.blackout.{key}"));
    let scenario = Scenario::load("rr-3", &keys).expect("good overrides");
    let spans: Vec<(f64, f64)> =
        scenario.episodes().iter().map(|e| (e.from_s, e.until_s)).collect();
    assert_eq!(spans, [(50.0, 70.0), (990.0, 1000.0)]);
}

#[test]
fn what_comes_after_the_end_is_no_episode() {
    let times = |from: &str| [format!("link.bottleneck.delayed.from={from}")];
    let spans = |from: &str| {
        let scenario = Scenario::load("rr-3", &times(from)).expect("good overrides");
        scenario.episodes().iter().map(|e| (e.from_s, e.until_s)).collect::<Vec<_>>()
    };
    assert_eq!(spans("900 s"), [(900.0, 1000.0)]);
    assert_eq!(spans("2000 s"), []);
}

#[test]
fn what_is_wrong_is_said_in_one_line_with_its_place() {
    for (overrides, wanted) in [
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
        let message = rr_3(&overrides).expect_err(wanted).to_string();
        assert!(message.contains(wanted), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_files_error_names_its_line() {
    let good = BUILTIN[0].1;
    let broken = good.replace("mean = \"25 ms\"", "mean = \"25 parsecs\"");
    let line = 1 + good.lines().position(|l| l.starts_with("mean")).expect("has a mean");
    let message = error(&broken, &[]);
    let wanted = format!("my.toml:{line}: link.bottleneck.delayed.mean: expected a time");
    assert!(message.starts_with(&wanted), "{message}");

    let message = error("name = \"x\"\nduration = = 3\n", &[]);
    assert!(message.starts_with("my.toml:2: not TOML: "), "{message}");
    assert!(!message.contains('\n'), "{message}");

    let message = error("name = \"x\"\n", &[]);
    assert!(message.starts_with("my.toml: duration: missing"), "{message}");

    let message = error("", &["duration=9 s"]);
    assert!(message.starts_with("my.toml: variants: missing"), "{message}");

    let message = error("name = \"x\"\nduratoin = \"9 s\"\n", &[]);
    let wanted = "my.toml:2: duratoin: unknown key, and duration is missing: expected a value";
    assert!(message.starts_with(wanted), "{message}");

    let misspelt = good.replace("delay = \"50 ms\"", "dealy = \"50 ms\"");
    let line = 1 + misspelt.lines().position(|l| l.starts_with("dealy")).expect("has it");
    let message = error(&misspelt, &[]);
    let wanted = format!("my.toml:{line}: link.bottleneck.dealy: unknown key, and ");
    assert!(message.starts_with(&wanted), "{message}");
    let missing = "link.bottleneck.delay is missing: expected a value such as \"50 ms\"";
    assert!(message.ends_with(missing), "{message}");
}

#[test]
fn a_senders_parameters_hold_for_those_made_of_it() {
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
fn groups_of_traffic_keep_the_order_of_the_file_and_come_back_from_its_toml() {
    let scenario = shared(&["traffic.bulk.count=4"]).expect("is right");
    let groups: Vec<_> = scenario.traffic.iter().map(|g| (g.name.as_str(), g.count)).collect();
    assert_eq!(groups, [("bulk", 4), ("a-web", 1)]);
    let access: Vec<_> = scenario.traffic.iter().map(|g| g.access.clone()).collect();
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(access, [(named("source"), named("sink")), (named("source"), None)]);
    assert_eq!(scenario.compared().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["bulk"]);
    let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
    assert_eq!(scenario, again);
}

#[test]
fn real_packets_cross_a_chain_alone_and_another_network_is_refused_at_its_key() {
    let refused = |overrides: &[String]| {
        let refused = Scenario::parse_for_real_packets("my.toml", SHARED, overrides);
        refused.expect_err("a dumbbell is no chain").to_string()
    };
    let wanted = "topology.kind: expected chain: real packets cross links in a row (path.hops)";
    assert_eq!(refused(&[]), format!("my.toml:5: {wanted}"));
    let set = ["topology.kind=parking-lot", "topology.hops=bottleneck"].map(str::to_owned);
    assert_eq!(refused(&set), format!("--set: {wanted}"));
    let half_late = Scenario::text("half-late").expect("is built in");
    assert!(Scenario::parse_for_real_packets("half-late", &half_late, &[]).is_ok());
}

#[test]
fn wrong_traffic_is_refused_with_its_place() {
    for (overrides, wanted) in [
        ("traffic.bulk.from=r3", "--set: traffic.bulk.from: no node r3: expected one of r1, r2"),
        ("traffic.bulk.to=r1", "traffic.bulk.to: expected another node than from"),
        ("traffic.bulk.access=bottleneck", "no access link bottleneck: expected none or one of"),
        ("traffic.bulk.stop=0 s", "traffic.bulk.stop: expected a time after 0.2 s, the last start"),
        ("traffic.bulk.weights=[1, 2]", "weights: expected traffic.bulk.ways beside it"),
        ("traffic.bulk.epsilon=1", "epsilon: expected traffic.bulk.ways beside it"),
        ("traffic.bulk.spread=runs", "traffic.bulk.spread: expected traffic.bulk.ways beside it"),
        ("traffic.bulk.bytes=0 B", "traffic.bulk.bytes: expected 1 B or more"),
        ("traffic.a-web.segments=[1.5, 2]", "segments: expected two whole numbers"),
        ("traffic.a-web.bytes=1 MB", "traffic.a-web.bytes: unknown key: expected one of access"),
        (
            "link.sorce.delay=1 ms",
            "link.sorce: no traffic takes it: expected its name in path.hops",
        ),
        ("tcp.window=99999999999999999999", "tcp.window: expected a whole number from 1 to"),
        ("tcp.initial_rto=0 s", "tcp.initial_rto: expected from min_rto, 1 s, to max_rto, 60 s"),
        ("tcp.max_rto=0 s", "tcp.max_rto: expected at least 1 s"),
        ("tcp.growth=ns-2", "tcp.growth: expected when-used or always, found \"ns-2\""),
        ("tcp.min_rto_after_backoff=yes", "tcp.min_rto_after_backoff: expected true or false"),
        ("tcp.delayed_ack=maybe", "tcp.delayed_ack: expected true, false or a time such as"),
        ("bottleneck.replay.lateness=[]", "lateness: expected a list of times such as [\"0\","),
        ("bottleneck.replay.lateness=['1 ms', 3]", "lateness: expected a list of times such as"),
        ("bottleneck.blackout.length=1 s", "blackout.at: missing: expected times such as"),
        ("traffic.bulk.app=ftp", "traffic.bulk.app: expected bulk, web, on-off, requests or udp"),
        ("traffic.bulk.until=1s", "expected either gap"),
        ("traffic.bulk.sender=sackk", "no such variant: expected one of"),
        ("traffic.bulk.ways=r1 r3", "no node r3: expected names among: r1, r2"),
        ("traffic.a-web.size=10kB", "expected either size"),
        ("traffic.bulk.colour=1", "traffic.bulk.colour: unknown key: expected one of"),
        ("traffic.bluk.count=3", "traffic.bluk.count: no traffic bluk in the scenario: expected"),
        ("traffic.name=bulk", "traffic.name: expected [[traffic]] with a name, or [traffic.NAME]"),
        ("topology.kind=ring", "expected chain, dumbbell, parking-lot or explicit"),
        ("flow.bytes=1MB", "flow.bytes: expected traffic.NAME.bytes"),
        ("record.series=colour", "record.series: expected names among queue, goodput"),
    ] {
        let message = shared(&[overrides]).expect_err(wanted).to_string();
        assert!(message.contains(wanted), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
    for key in ["tcp.window", "traffic.bulk.window"] {
        let window = format!("{key}=120000");
        let message = shared(&["tcp.mss=9000 B", &window]).expect_err("is more than TCP can say");
        assert!(message.to_string().contains("from 1 to 119302"), "{message}");
    }
    let udp = "app = \"udp\"\nsize = \"960 B\"\ninterval = \"2 ms\"";
    let udp = format!("{SHARED}[[traffic]]\nname = \"cross\"\n{udp}\nsender = \"sack\"\n");
    assert!(error(&udp, &[]).contains("traffic.cross.sender: expected only for traffic with TCP"));
    let ways = "ways = [\"r1 r2\"]\nspread_acks = true";
    let acks = error(&udp.replace("sender = \"sack\"", ways), &[]);
    assert!(
        acks.contains("traffic.cross.spread_acks: expected only for traffic with TCP"),
        "{acks}"
    );
    let twice = SHARED.replace("a-web", "bulk");
    assert!(error(&twice, &[]).contains("bulk stands twice"), "{}", error(&twice, &[]));
    let nameless = SHARED.replace("name = \"a-web\"\n", "");
    let line = 1 + nameless.lines().position(|l| l.starts_with("app")).expect("has an app");
    let (message, before) = (error(&nameless, &[]), line - 1);
    let wanted = format!("my.toml:{before}: traffic.name: expected a name");
    assert!(message.starts_with(&wanted), "{message}, not {wanted}");
}

#[test]
fn datagrams_are_not_what_is_compared() {
    let cross =
        "[[traffic]]\nname = \"cross\"\napp = \"udp\"\nsize = \"960 B\"\ninterval = \"2 ms\"\n";
    let first = SHARED.replacen("[[traffic]]", &format!("{cross}[[traffic]]"), 1);
    let scenario = Scenario::parse("my.toml", &first, &[]).expect("is right");
    assert_eq!(scenario.compared().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["bulk"]);
    assert_eq!(scenario.first_compared(), 1);
}

#[test]
fn a_network_that_is_no_chain_needs_traffic() {
    let explicit = |links: &str| {
        let head = "duration = \"1 s\"\nvariants = [\"sack\"]\n[topology]\nkind = \"explicit\"\n";
        error(&format!("{head}{links}"), &[])
    };
    let ab = "[link.x]\ndelay = \"1 s\"\nfrom = \"a\"\nto = \"b\"\n";
    let none = explicit(&format!("{ab}[link.q]\ndelay = \"1 s\"\n"));
    assert!(none.contains("traffic: missing: expected a table such as [[traffic]]"), "{none}");
    let beside = explicit(&format!("{ab}{}", ab.replace("link.x", "link.y")));
    assert!(beside.contains("link.y.to: expected other nodes than those that x joins"), "{beside}");
    let cd = ab.replace("link.x", "link.x-reverse").replace("\"a\"", "\"c\"");
    let same = explicit(&format!("{ab}{cd}"));
    assert!(same.contains("link.x-reverse: expected another name"), "{same}");
}

#[test]
fn links_that_say_what_they_join_make_a_network() {
    let text = r#"
duration = "10 s"
variants = ["sack"]
[topology]
kind = "explicit"
[link.a]
from = "s"
to = "d"
delay = "10 ms"
[link.b]
from = "s"
to = "m"
delay = "20 ms"
[link.c]
from = "m"
to = "d"
delay = "30 ms"
[[traffic]]
name = "bulk"
from = "s"
to = "d"
ways = ["s d", "s m d"]
epsilon = 25
"#;
    let scenario = Scenario::parse("my.toml", text, &[]).expect("is right");
    let ways = &scenario.traffic[0].ways;
    assert_eq!(ways[1].nodes.len(), 3);
    // 40 ms longer than the shortest: exp(-25 * 0.04).
    assert_eq!(ways[0].weight, 1.0);
    assert!((ways[1].weight - (-1.0f64).exp()).abs() < 1e-12);
    let negative = error(&text.replace("epsilon = 25", "epsilon = -25"), &[]);
    assert!(negative.contains("epsilon: expected a number from 0 on"), "{negative}");
    let one_way = text.replace("delay = \"10 ms\"", "delay = \"10 ms\"\none_way = true");
    let one_way = one_way.replace("delay = \"20 ms\"", "delay = \"20 ms\"\none_way = true");
    let message = error(&one_way, &[]);
    assert!(message.contains("found none from d to s"), "{message}");
}

/// A path with a table of the bottleneck of which all is left to its defaults.
fn with_empty(table: &str) -> String {
    format!(
        "duration = \"10 s\"\nvariants = [\"sack\"]\n[path]\nhops = [\"bottleneck\"]\n\
         [link.bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[link.bottleneck.{table}]\n"
    )
}

#[test]
fn a_table_of_a_link_that_is_empty_is_there_all_the_same() {
    let scenario = Scenario::parse("my.toml", &with_empty("red"), &[]).expect("all has defaults");
    assert_eq!(scenario.hops[0].link.red, Some(Red::default()));
    let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
    assert_eq!(scenario, again);
    let overrides = ["link.bottleneck.red.min=3".to_owned()];
    let set = Scenario::parse("my.toml", &with_empty("red"), &overrides).expect("is a setting");
    assert_eq!(set.hops[0].link.red, Some(Red { min: 3.0, ..Red::default() }));
    assert_eq!(Scenario::parse("my.toml", &set.toml, &[]).expect("its own TOML"), set);

    let missing = error(&with_empty("loss"), &[]);
    let wanted = "link.bottleneck.loss.fraction: missing: expected a value such as \"10 %\"";
    assert!(missing.contains(wanted), "{missing}");
    let unknown = error(&with_empty("rde"), &[]);
    assert!(unknown.starts_with("my.toml:8: link.bottleneck.rde: unknown key"), "{unknown}");
}

#[test]
fn an_empty_table_that_no_scenario_has_is_unknown() {
    let good = Scenario::text("rr-3").expect("is built in");
    let with = |table: &str| format!("{good}\n[{table}]\n");
    for table in ["nope", "tcp.nope", "topology.foo", "lnk.wan.delayed"] {
        let unknown = error(&with(table), &[]);
        assert!(unknown.contains(&format!(": {table}: unknown key")), "{unknown}");
    }
    for table in ["record", "topology", "variant.rack"] {
        assert!(Scenario::parse("my.toml", &with(table), &[]).is_ok(), "{table}");
    }
}

/// The line that refuses `set` in the built-in scenario `name`.
fn refused(name: &str, set: &str) -> String {
    let refused = Scenario::load(name, &[set.to_owned()]);
    refused.map(|s| s.toml).expect_err(set).to_string()
}

#[test]
fn a_short_key_of_what_a_path_of_one_link_has_not_yet_is_that_links() {
    for (set, wanted) in [
        ("loss.fraction=1%", "link.bottleneck.loss.fraction"),
        ("loss.every=100", "link.bottleneck.loss.every"),
        ("duplicate.fraction=0.5", "link.bottleneck.duplicate.fraction"),
        ("alternate.extra=20 ms", "link.bottleneck.alternate.extra"),
        ("mss=500", "tcp.mss"),
        ("flow.bytes=1 MB", "flow.bytes"),
        ("max_cwnd=30", "tcp.max_cwnd"),
        ("red.min=7", "link.bottleneck.red.min"),
    ] {
        let set = [set.to_owned()];
        let text = Scenario::text("in-order").expect("is built in");
        assert_eq!(Scenario::replaced("in-order", &text, &set).expect("is a key"), [wanted]);
        let by_name = [set[0].replacen(set[0].split('=').next().unwrap(), wanted, 1)];
        let (short, whole) =
            (Scenario::load("in-order", &set), Scenario::load("in-order", &by_name));
        assert_eq!(short.expect("is a scenario"), whole.expect("is one as well"), "{set:?}");
    }
    let line = refused("in-order", "burst.fraction=1%");
    assert!(
        line.starts_with("--set: link.bottleneck.burst.mean: missing: expected a value"),
        "{line}"
    );
}

#[test]
fn a_short_key_that_several_links_may_have_is_refused_with_all_of_them() {
    let text = "duration = '5 s'\nvariants = ['sack']\npath.hops = ['a', 'b']\n\
                [link.a]\ndelay = '1 ms'\n[link.b]\ndelay = '2 ms'\n";
    let message = |set: &str| {
        Scenario::parse("my.toml", text, &[set.to_owned()])
            .map(|s| s.toml)
            .expect_err(set)
            .to_string()
    };
    let several = "could be several: expected one of";
    assert_eq!(
        message("loss.fraction=1%"),
        format!("--set: loss.fraction: {several} link.a.loss.fraction, link.b.loss.fraction")
    );
    assert_eq!(message("rate=10M"), format!("--set: rate: {several} link.a.rate, link.b.rate"));
    let set = ["link.a.loss.fraction=1%".to_owned(), "loss.packets=acks".to_owned()];
    Scenario::parse("my.toml", text, &set).expect("one link has losses now");
}

#[test]
fn a_misspelt_key_is_refused_with_the_one_that_it_is_like() {
    for (set, wanted) in [
        ("tcp.windw=30", "tcp.window"),
        ("windw=30", "tcp.window"),
        ("tcp.Window=30", "tcp.window"),
        ("delayed.fracton=1%", "link.bottleneck.delayed.fraction"),
        ("link.bottleneck.quue=30", "link.bottleneck.queue"),
        ("dellayed.fraction=1%", "link.bottleneck.delayed.fraction"),
        ("los.fraction=1%", "link.bottleneck.loss.fraction"),
        ("duratoin=3 s", "duration"),
        ("record.serie=cwnd", "record.series"),
    ] {
        let line = refused("rr-3", set);
        assert!(line.ends_with(&format!("; did you mean {wanted}?")), "{line}");
    }
    let line = refused("rr-3", "delayed.distribution=norml");
    assert!(line.ends_with("found \"norml\"; did you mean normal?"), "{line}");
    let line = refused("rr-3", "frobnicate=1");
    assert!(line.contains("unknown key") && !line.contains("did you mean"), "{line}");
}

#[test]
fn a_missing_file_is_called_so_and_an_unknown_name_is_not() {
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
    let wanted = format!("; did you mean {}?", folder.path().join("two-paths.toml").display());
    assert_eq!(message(&near), format!("{near}: no such file{wanted}"));
}
