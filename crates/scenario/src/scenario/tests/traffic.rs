//! Groups of traffic.

use unruffled_tcp::ReceiverConfig;

use super::*;

#[test]
fn a_group_with_default_values_exists_in_every_notation() {
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
fn a_list_of_numbers_may_contain_texts() {
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
fn groups_of_traffic_keep_the_order_of_the_file_and_survive_a_round_trip_through_toml() {
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

/// Both ends have the rules; without any, they have none to look up.
#[test]
fn the_rules_of_a_receiver_are_those_of_its_stack() {
    let rules = |overrides: &[&str]| shared(overrides).expect("is valid").sender.receiver;
    assert_eq!(rules(&[]), None);
    assert_eq!(rules(&["tcp.receiver.dsack=true"]), None, "the default");
    let keys = [
        "tcp.delayed_ack=25 ms",
        "tcp.receiver.ack_every=10",
        "tcp.receiver.dsack=false",
        "tcp.receiver.duplicate_filter=128",
        "tcp.receiver.islands=4",
        "tcp.receiver.sack_blocks=0",
    ];
    let expected = ReceiverConfig {
        ack_every: 10,
        dsack: false,
        duplicate_filter: Some(128),
        islands: Some(4),
        reported_ranges: Some(0),
        ..ReceiverConfig::default()
    };
    assert_eq!(rules(&keys).as_deref(), Some(&expected));
}

#[test]
fn invalid_traffic_is_rejected_with_its_place() {
    for (overrides, expected) in [
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
        (
            "tcp.receiver.ack_every=4",
            "tcp.receiver.ack_every: expected tcp.delayed_ack beside it: without a delay",
        ),
        ("tcp.receiver.islands=0", "tcp.receiver.islands: expected a whole number from 1 to 65536"),
        ("tcp.receiver.sack_blocks=5", "sack_blocks: expected a whole number from 0 to 4"),
        ("tcp.receiver.duplicate_filter=0", "duplicate_filter: expected a whole number from 1 to"),
        ("tcp.receiver.dsack=3", "tcp.receiver.dsack: expected true or false"),
        ("tcp.receiver.island=4", "tcp.receiver.island: unknown key: expected one of"),
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
        let message = shared(&[overrides]).expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
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
    let expected = format!("my.toml:{before}: traffic.name: expected a name");
    assert!(message.starts_with(&expected), "{message}, not {expected}");
}

#[test]
fn datagrams_are_not_compared() {
    let cross =
        "[[traffic]]\nname = \"cross\"\napp = \"udp\"\nsize = \"960 B\"\ninterval = \"2 ms\"\n";
    let first = SHARED.replacen("[[traffic]]", &format!("{cross}[[traffic]]"), 1);
    let scenario = Scenario::parse("my.toml", &first, &[]).expect("is right");
    assert_eq!(scenario.compared().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["bulk"]);
    assert_eq!(scenario.first_compared(), 1);
}
