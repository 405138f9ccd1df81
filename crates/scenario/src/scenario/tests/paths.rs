//! Links, impairments and networks.

use unruffled_path::MarkAbove;
use unruffled_resequence::Config as Resequence;
use unruffled_tcp::EcnMode;

use super::*;

#[test]
fn a_queue_may_drop_at_random() {
    let red = ["queue=200", "red.min=20", "red.max=60", "red.weight=0.002"];
    let red = red.map(|key| format!("link.bottleneck.{key}"));
    let scenario = Scenario::load("rr-3", &red).expect("good overrides");
    let red = Red { min: 20.0, max: 60.0, weight: Some(0.002), ..Red::default() };
    assert_eq!(scenario.hops[1].link.red, Some(red));
    let words = &scenario.path_in_words()[1].1;
    let expected = "RED queue of 200, thresholds 20 and 60 × 500 B, weight 0.002, gently to 10 %";
    assert!(words.contains(expected), "{words}");
}

#[test]
fn a_queue_may_mark() {
    let read = |keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|k| format!("link.bottleneck.{k}")).collect();
        let scenario = Scenario::load("rr-3", &keys).map_err(|e| e.to_string())?;
        let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
        assert_eq!(scenario.hops, again.hops);
        let words = scenario.path_in_words()[1].1.clone();
        Ok::<_, String>((scenario.hops[1].link.clone(), words))
    };
    for (value, threshold, words) in [
        ("0", MarkAbove::Packets(0), "marks above 0 packets"),
        ("20", MarkAbove::Packets(20), "marks above 20 packets"),
        ("20.0", MarkAbove::Packets(20), "marks above 20 packets"),
        ("5 ms", MarkAbove::Delay(Duration::from_millis(5)), "marks above 5 ms of wait"),
    ] {
        let (link, path) = read(&[&format!("mark_above={value}")]).expect("a good override");
        assert_eq!(link.mark_above, Some(threshold));
        assert!(path.contains(words), "{path}");
    }
    let (link, path) = read(&["red.ecn=true", "red.mark_p=50 %"]).expect("good overrides");
    assert_eq!(link.red, Some(Red { ecn: true, mark_p: 0.5, ..Red::default() }));
    assert!(path.contains("gently to 10 %, marks below 50 %"), "{path}");

    let wrong = |keys: &[&str], expected: &str| {
        let error = read(keys).expect_err("is wrong");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    };
    let one = "link.bottleneck.mark_above: expected packets from 0 to 10000000 or a time such as \"5 ms\"";
    for value in ["-1", "soon", "5 m", "10000001"] {
        wrong(&[&format!("mark_above={value}")], one);
    }
    wrong(
        &["mark_above=5", "red.min=5"],
        "link.bottleneck.mark_above: expected either this or red",
    );
    wrong(
        &["red.mark_p=5 %"],
        "link.bottleneck.red.mark_p: expected link.bottleneck.red.ecn = true",
    );
    wrong(&["red.ecn=true", "red.mark_p=0"], "link.bottleneck.red.mark_p: expected greater than 0");
    wrong(&["red.ecn=maybe"], "link.bottleneck.red.ecn: expected true or false");
    let text = "duration = \"9 s\"\nvariants = [\"sack\"]\n[path]\nhops = [\"a\"]\n\
                [link.a]\ndelay = \"1 ms\"\nmark_above = 5\n";
    let fast = error(text, &[]);
    assert!(
        fast.starts_with("my.toml:7: link.a.mark_above: expected a link with a rate"),
        "{fast}"
    );
}

#[test]
fn both_ends_use_ecn_if_the_scenario_has_it() {
    let mode = |overrides: &[&str]| {
        let scenario = rr_3(overrides).expect("a good override");
        (scenario.sender.ecn, scenario.receiver.ecn)
    };
    assert_eq!(mode(&[]), (EcnMode::Off, EcnMode::Off));
    assert_eq!(mode(&["tcp.ecn=false"]), (EcnMode::Off, EcnMode::Off));
    assert_eq!(mode(&["tcp.ecn=true"]), (EcnMode::Request, EcnMode::Request));
    let wrong = rr_3(&["tcp.ecn=2"]).expect_err("is wrong").to_string();
    assert!(wrong.contains("tcp.ecn: expected true or false"), "{wrong}");
}

/// The bottleneck of `rr-3` without its delayed packets, with `keys` for its `table`.
fn bottleneck(table: &str, keys: &[&str]) -> Result<Hop, String> {
    let keys = keys.iter().map(|key| format!("link.bottleneck.{table}.{key}"));
    let overrides: Vec<String> = keys.chain(["delayed.fraction=0 %".to_owned()]).collect();
    let scenario = Scenario::load("rr-3", &overrides).map_err(|e| e.to_string())?;
    Ok(scenario.hops[1].clone())
}

#[test]
fn each_impairment_is_read_and_described() {
    for (table, keys, expected) in [
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
        let hop = bottleneck(table, keys).expect(expected);
        let words = crate::links::in_words(&hop.link, None);
        assert!(words.ends_with(expected), "{words}");
    }
}

/// A scenario of the links `a` and `b` with `lines` below the table `[link.a]`.
pub(super) fn two_links(lines: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let text = format!(
        "duration = '5 s'\nvariants = ['sack']\npath.hops = ['a', 'b']\n\
         [link.b]\ndelay = '2 ms'\n[link.a]\ndelay = '1 ms'\n{lines}"
    );
    let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse("my.toml", &text, &overrides).map_err(|e| e.to_string())
}

#[test]
fn a_resequencer_is_a_switch_or_a_table_of_its_bounds() {
    let bounds = |max_hold_ms, budget| {
        let max_hold = Duration::from_millis(max_hold_ms);
        Some(Resequence { max_hold, budget, ..Resequence::default() })
    };
    let default = bounds(1000, 128 << 20);
    for (lines, overrides, expected) in [
        ("", &[][..], None),
        ("resequence = true", &[], default),
        ("resequence = false", &[], None),
        ("[link.a.resequence]", &[], default),
        ("resequence = {}", &[], default),
        ("[link.a.resequence]\nmax_hold = '40 ms'", &[], bounds(40, 128 << 20)),
        ("[link.a.resequence]\nbudget = '3 MB'", &[], bounds(1000, 3_000_000)),
        ("", &["link.a.resequence=true"], default),
        ("", &["a.resequence=true"], default),
        ("", &["link.a.resequence.budget=1 MiB"], bounds(1000, 1 << 20)),
        // The last spelling counts.
        ("resequence = true", &["a.resequence=false"], None),
        ("resequence = false", &["a.resequence.max_hold=2 s"], bounds(2000, 128 << 20)),
        ("[link.a.resequence]\nmax_hold = '40 ms'", &["a.resequence=false"], None),
        ("[link.a.resequence]\nmax_hold = '40 ms'", &["a.resequence=true"], default),
        ("[link.a.resequence]", &["a.resequence=false"], None),
        ("", &["a.resequence=false", "a.resequence.max_hold=40 ms"], bounds(40, 128 << 20)),
    ] {
        let scenario = two_links(lines, overrides).expect(lines);
        assert_eq!(scenario.hops[0].resequence, expected, "{lines} {overrides:?}");
        assert_eq!(scenario.network.links[0].resequence, expected);
        assert_eq!(scenario.hops[1].resequence, None);
        let toml = scenario.to_toml(&[]);
        let again = Scenario::parse("my.toml", &toml, &[]).expect(&toml);
        assert_eq!(again.hops, scenario.hops, "{toml}");
    }
    let words = |lines| two_links(lines, &[]).expect(lines).path_in_words()[0].1.clone();
    let expected = "order restored at its end, holding packets for up to 1 s in 128 MiB";
    assert_eq!(words("resequence = true"), format!("infinitely fast, 1 ms, {expected}"));
    assert!(words("[link.a.resequence]\nbudget = '3 MB'").ends_with("in 3000000 B"));
}

#[test]
fn an_invalid_resequencer_is_rejected_at_its_key() {
    for (lines, overrides, expected) in [
        (
            "resequence = '1 s'",
            &[][..],
            "my.toml:8: link.a.resequence: expected true or false, found \"1 s\"",
        ),
        (
            "[link.a.resequence]\nmax_hold = '0 s'",
            &[],
            "my.toml:9: link.a.resequence.max_hold: expected more than 0 s",
        ),
        (
            "[link.a.resequence]\nbudget = 0",
            &[],
            "my.toml:9: link.a.resequence.budget: expected more than 0 B",
        ),
        (
            "[link.a.resequence]\nhold = '1 s'",
            &[],
            "my.toml:9: link.a.resequence.hold: unknown key: expected one of budget, \
             hold_handshake, max_hold below link.a.resequence; did you mean \
             link.a.resequence.hold_handshake?",
        ),
        (
            "",
            &["resequence=true"],
            "--set: resequence: could be several: expected one of link.a.resequence, \
             link.b.resequence",
        ),
        (
            "",
            &["link.c.resequence=true"],
            "--set: link.c.resequence: no link c in the network: expected one of b, a",
        ),
        (
            "",
            &["link.a.resequence={max_hold='1 s'}"],
            "--set: link.a.resequence: expected a table of budget, hold_handshake, max_hold",
        ),
    ] {
        let error = two_links(lines, overrides).map(|s| s.toml).expect_err(expected);
        assert_eq!(error, expected);
    }
    // Other tables whose keys are all optional.
    let red = two_links("rate = '1 Mbit/s'", &["link.a.red={min=3}"]).map(|s| s.toml);
    assert!(red.expect_err("not read").starts_with("--set: link.a.red: expected a table of bytes"));
}

#[test]
fn a_random_path_takes_a_resequencer() {
    for number in 0..20 {
        let set = ["link.bottleneck.resequence=true".to_owned()];
        let name = format!("7-{}", number + 1);
        let scenario = Scenario::load(&name, &set).expect("a path");
        assert_eq!(scenario.hops[0].resequence, Some(Resequence::default()));
        assert!(scenario.hops[1..].iter().all(|hop| hop.resequence.is_none()));
    }
}

#[test]
fn invalid_impairments_are_rejected() {
    for (table, keys, expected) in [
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
        let message = bottleneck(table, keys).expect_err(expected);
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
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
fn an_impairment_after_the_end_is_no_episode() {
    let times = |from: &str| [format!("link.bottleneck.delayed.from={from}")];
    let spans = |from: &str| {
        let scenario = Scenario::load("rr-3", &times(from)).expect("good overrides");
        scenario.episodes().iter().map(|e| (e.from_s, e.until_s)).collect::<Vec<_>>()
    };
    assert_eq!(spans("900 s"), [(900.0, 1000.0)]);
    assert_eq!(spans("2000 s"), []);
}

#[test]
fn traffic_between_other_ends_than_the_first_is_rejected_for_real_packets() {
    let read = |text: &str, overrides: &[String]| {
        Scenario::parse_for_real_packets("my.toml", text, overrides).map_err(|e| e.to_string())
    };
    let accepted = read(SHARED, &[]).expect("all traffic of a dumbbell has the same ends");
    assert!(accepted.hops.is_empty());
    let lot = "duration = '1 s'\nvariants = ['sack']\ntopology.kind = 'parking-lot'\n\
               topology.hops = ['a', 'b']\nlink.a.delay = '1 ms'\nlink.b.delay = '1 ms'\n\
               [[traffic]]\nname = 'through'\n[[traffic]]\nname = 'cross'\n";
    let expected = "expected r1: real packets travel between the ends of through";
    for (keys, expected) in [
        ("from = 'r2'\n", format!("my.toml:11: traffic.cross.from: {expected}")),
        ("to = 'r2'\n", format!("my.toml:11: traffic.cross.to: {}", expected.replace("r1", "r3"))),
        ("from = 'r3'\nto = 'r1'\n", format!("my.toml:11: traffic.cross.from: {expected}")),
    ] {
        assert_eq!(read(&format!("{lot}{keys}"), &[]), Err(expected));
    }
    let set = ["traffic.cross.from=r2".to_owned()];
    let refused = read(&format!("{lot}count = 2\n"), &set).expect_err("other ends");
    assert_eq!(refused, format!("--set: traffic.cross.from: {expected}"));
    let chain = lot.replace("topology.kind = 'parking-lot'\ntopology.hops", "path.hops");
    assert!(read(&format!("{chain}from = 'r2'\n"), &[]).is_ok(), "the path of a chain is clear");
}

#[test]
fn a_network_that_is_not_a_chain_requires_traffic() {
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
fn links_with_named_nodes_make_a_network() {
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
fn an_empty_table_of_a_link_exists() {
    let scenario = Scenario::parse("my.toml", &with_empty("red"), &[]).expect("all has defaults");
    assert_eq!(scenario.hops[0].link.red, Some(Red::default()));
    let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
    assert_eq!(scenario, again);
    let overrides = ["link.bottleneck.red.min=3".to_owned()];
    let set = Scenario::parse("my.toml", &with_empty("red"), &overrides).expect("is a setting");
    assert_eq!(set.hops[0].link.red, Some(Red { min: 3.0, ..Red::default() }));
    assert_eq!(Scenario::parse("my.toml", &set.toml, &[]).expect("its own TOML"), set);

    let missing = error(&with_empty("loss"), &[]);
    let expected = "link.bottleneck.loss.fraction: missing: expected a value such as \"10 %\"";
    assert!(missing.contains(expected), "{missing}");
    let unknown = error(&with_empty("rde"), &[]);
    assert!(unknown.starts_with("my.toml:8: link.bottleneck.rde: unknown key"), "{unknown}");
}

#[test]
fn an_empty_table_of_no_scenario_is_unknown() {
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

#[test]
fn workers_share_the_packets_of_a_link() {
    let read = |keys: &[&str]| {
        let keys: Vec<String> =
            keys.iter().map(|k| format!("link.bottleneck.workers.{k}")).collect();
        let scenario = Scenario::load("rr-3", &keys).map_err(|e| e.to_string())?;
        let again = Scenario::parse("my.toml", &scenario.toml, &[]).expect("its own TOML");
        assert_eq!(scenario.hops, again.hops);
        Ok::<_, String>(scenario.path_in_words()[1].1.clone())
    };
    let words = read(&["delays=[\"0 s\", \"2 ms\"]", "batch=8", "coalesce=60 us"]).expect("good");
    let expected =
        "data packets by 2 workers in batches of 8, 0 s to 2 ms later, after interrupts of 60 us";
    assert!(words.contains(expected), "{words}");
    let words = read(&["count=4", "jitter.distribution=exponential", "jitter.mean=1 ms"]);
    let expected = "data packets by 4 workers in batches of 1, each batch Exp(1 ms) later";
    assert!(words.as_ref().is_ok_and(|words| words.contains(expected)), "{words:?}");
    let words = read(&["count=2", "by=flow", "gro=true", "coalesce=60 us"]);
    let expected = "after interrupts of 60 us, each flow at one worker, after receive offload";
    assert!(words.as_ref().is_ok_and(|words| words.contains(expected)), "{words:?}");
    for (keys, expected) in [
        (&["count=2", "gro=true"][..], "workers.coalesce: expected more than 0 s with gro"),
        (&["count=2", "by=hash"], "workers.by: expected packet or flow, found \"hash\""),
        (&["batch=8"][..], "link.bottleneck.workers.delays: missing"),
        (&["count=0"], "link.bottleneck.workers.count: expected a whole number from 1 to 4096"),
        (
            &["count=2", "delays=1 ms"],
            "link.bottleneck.workers.delays: expected either this or count",
        ),
        (&["count=2", "jitter.mean=1 ms"], "link.bottleneck.workers.jitter.deviation: missing"),
    ] {
        let error = read(keys).expect_err("is wrong");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
}
