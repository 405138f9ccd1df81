//! The reference of shares: the undisturbed path, whose goodput no sender exceeds.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::compare::compare;
use unruffled_lab::gallery::{built_in, drawn};
use unruffled_lab::record::Comparison;
use unruffled_lab::reference::{Limit, Reference};
use unruffled_lab::summary::summaries;

/// The senders with the highest goodputs, by different algorithms.
const FAST_SENDERS: [&str; 6] = [
    "unruffled+cubic",
    "unruffled",
    "rack+cubic",
    "linux-reordering+cubic",
    "tcp-pr-sack",
    "westwood",
];

fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn compared(scenario: &Scenario, names: &[&str]) -> Comparison {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let variants = scenario.senders(&names, "here").expect("are senders");
    compare(scenario, &variants, never(), || {}).expect("a loaded scenario runs")
}

fn reference_of(scenario: &Scenario) -> Reference {
    Reference::of(scenario, never(), &|| ()).expect("runs")
}

/// Returns the highest share of these senders, and the name of that sender.
fn highest_share(scenario: &Scenario, names: &[&str]) -> (f64, String) {
    let comparison = compared(scenario, names);
    let shares = summaries(&comparison).into_iter().map(|s| (s.share.mean, s.variant.to_owned()));
    shares.max_by(|a, b| a.0.total_cmp(&b.0)).expect("has senders")
}

/// Asserts that no sender has a share above 101 % on any of these paths.
fn assert_no_share_exceeds_101_percent(scenarios: &[Scenario], names: &[&str]) {
    let over: Vec<String> = scenarios
        .par_iter()
        .filter_map(|scenario| {
            let (share, sender) = highest_share(scenario, names);
            let message = || format!("{}: {sender} has {:.1} %", scenario.name, share * 100.0);
            (share.is_nan() || share > 1.01).then(message)
        })
        .collect();
    assert!(over.is_empty(), "{over:#?}");
}

fn overrides(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

#[test]
fn no_share_exceeds_101_percent_on_a_built_in_path() {
    let mut scenarios = built_in(&overrides(&[])).expect("are good");
    for scenario in &mut scenarios {
        scenario.duration = scenario.duration.min(unruffled_units::Duration::from_secs(12));
        // In a short run, data that arrives during the warm-up and is delivered after it would count.
        scenario.warmup = unruffled_units::Duration::ZERO;
    }
    assert_no_share_exceeds_101_percent(&scenarios, &FAST_SENDERS[..4]);
}

#[test]
fn no_share_exceeds_101_percent_on_twenty_random_paths() {
    let mut scenarios = drawn(1, 24, &overrides(&["duration=5 s"])).expect("are good");
    // Simulating the fastest paths takes a minute each.
    scenarios.retain(|s| s.hops[0].link.rate.is_some_and(|rate| rate.bps() < 1e9));
    assert!(scenarios.len() >= 12, "{}", scenarios.len());
    assert_no_share_exceeds_101_percent(&scenarios, &FAST_SENDERS[..4]);
}

#[test]
#[ignore = "takes ten minutes or more"]
fn no_share_exceeds_101_percent_on_any_built_in_path_or_200_random_ones() {
    assert_no_share_exceeds_101_percent(&built_in(&[]).expect("are good"), &FAST_SENDERS);
    assert_no_share_exceeds_101_percent(&drawn(1, 200, &[]).expect("are good"), &FAST_SENDERS);
}

/// The path has 10 Mb/s, 50 ms in each direction and a window of 2000 segments. The SYN takes
/// 50.032 ms, the SYN-ACK 50 ms, and the first segment 51.2 ms, as each takes 1.2 ms to send. After
/// 60 s, 49 874 segments have arrived.
#[test]
fn the_goodput_of_a_path_in_order_is_the_rate_of_its_link() {
    let in_order = Scenario::load("in-order", &[]).expect("is built in");
    let reference = reference_of(&in_order);
    assert_eq!(reference.limit, Limit::Links);
    let expected = 49_874.0 * 1460.0 * 8.0 / 60.0;
    assert!((reference.bps() - expected).abs() < 1e-6 * expected, "{} {expected}", reference.bps());
    // In a long run, the best sender has nearly the whole goodput.
    let (share, sender) = highest_share(&in_order, &["unruffled+cubic"]);
    assert!((0.98..1.0).contains(&share), "{sender} {share}");
    // Lateness, losses and full queues do not change the reference.
    let disturbed =
        ["half-late", "few-late"].map(|name| Scenario::load(name, &[]).expect("exists"));
    for scenario in disturbed {
        assert_eq!(reference_of(&scenario).bps(), reference.bps());
    }
}

/// The window allows 50 segments per round trip. A round trip is 104 ms of delay, the time to send a
/// segment of 1000 octets at 3.84615 Mb/s, and 0.8 ms on each of the two other links. At that rate, 50
/// segments take 104 ms, so the window does not fill the path.
#[test]
fn a_window_smaller_than_the_capacity_of_the_path_is_the_limit() {
    let reference = reference_of(&Scenario::load("rr-3", &[]).expect("exists"));
    assert_eq!(reference.limit, Limit::Window);
    let round_trip = 0.104 + 2.0 * 0.0008 + 8000.0 / 3.84615e6;
    let expected = 50.0 * 960.0 * 8.0 / round_trip;
    assert!((reference.bps() / expected - 1.0).abs() < 0.001, "{} {expected}", reference.bps());
}

/// Returns a scenario with a flow over two ways, of 20 and 10 Mb/s.
fn two_ways(weights: &str, spread: &str) -> String {
    format!(
        "duration = \"20 s\"\nseeds = 2\nvariants = [\"sack\"]\n[topology]\nkind = \"explicit\"\n\
         [link.a]\nfrom = \"h\"\nto = \"m\"\nrate = \"20 Mbit/s\"\ndelay = \"8 ms\"\nqueue = 100\n\
         [link.b]\nfrom = \"h\"\nto = \"n\"\nrate = \"10 Mbit/s\"\ndelay = \"30 ms\"\nqueue = 100\n\
         [link.c]\nfrom = \"m\"\nto = \"p\"\ndelay = \"0 ms\"\n\
         [link.d]\nfrom = \"n\"\nto = \"p\"\ndelay = \"0 ms\"\n\
         [[traffic]]\nname = \"flow\"\nfrom = \"h\"\nto = \"p\"\nways = [\"h m p\", \"h n p\"]\n\
         weights = {weights}\nspread = \"{spread}\"\n"
    )
}

/// Two ways of 20 and 10 Mb/s have a capacity of 30 Mb/s with the weights 2 and 1. With drops at full
/// queues, they have it with all weights above 0, because a retransmission may take the other way.
/// Without drops, equal weights give twice the rate of the slower way.
#[test]
fn several_ways_have_the_capacity_that_their_weights_allow() {
    let without_queues = |text: &str| text.replace("queue = 100\n", "");
    for (weights, spread, drops, mbps) in [
        ("[2, 1]", "round-robin", true, 30.0),
        ("[2, 1]", "runs", true, 30.0),
        ("[2, 1]", "random", true, 30.0),
        ("[2, 1]", "round-robin", false, 30.0),
        ("[1, 1]", "round-robin", true, 30.0),
        ("[1, 1]", "round-robin", false, 20.0),
        ("[1, 0]", "round-robin", true, 20.0),
        ("[1, 9]", "round-robin", true, 30.0),
        ("[1, 9]", "round-robin", false, 100.0 / 9.0),
    ] {
        let text = two_ways(weights, spread);
        let scenario = scenario(&if drops { text } else { without_queues(&text) });
        let reference = reference_of(&scenario);
        let payload = mbps * 1e6 * 1460.0 / 1500.0;
        let share = reference.bps() / payload;
        assert!((0.985..=1.001).contains(&share), "{weights} {spread} {drops}: {share}");
        assert_eq!(reference.limit, Limit::Links);
        let (share, sender) = highest_share(&scenario, &["unruffled", "rack+cubic", "sack"]);
        let least = if drops && weights != "[2, 1]" { 0.3 } else { 0.6 };
        assert!((least..1.01).contains(&share), "{weights} {spread} {drops}: {sender} {share}");
    }
}

/// If all queues have room for the whole window, nothing is dropped, and the weights of the ways are
/// the limit.
#[test]
fn without_drops_the_weights_of_the_ways_are_the_limit() {
    let reference = reference_of(&Scenario::load("ad-10", &[]).expect("exists"));
    let share = reference.bps() / (2.0 * 0.96e6);
    assert!((0.985..=1.0).contains(&share), "{share}");
}

/// A flow over 20 Mb/s, with four flows of `sack` and 2 Mb/s of datagrams.
const WITH_OTHER_TRAFFIC: &str = r#"
duration = "60 s"
warmup = "10 s"
seeds = 2
variants = ["sack"]
[topology]
kind = "dumbbell"
[link.bottleneck]
rate = "20 Mbit/s"
delay = "20 ms"
queue = 100
[[traffic]]
name = "compared"
[[traffic]]
name = "others"
count = 4
sender = "sack"
[[traffic]]
name = "voice"
app = "udp"
size = "250 B"
interval = "1 ms"
"#;

#[test]
fn the_goodput_of_other_traffic_is_reported_with_and_without_the_compared_sender() {
    let scenario = scenario(WITH_OTHER_TRAFFIC);
    let comparison = compared(&scenario, &["sack", "unruffled"]);
    // The reference is 20 Mb/s of packets of 1500 octets, without the other traffic.
    let payload = 20e6 * 1460.0 / 1500.0;
    assert!((comparison.reference.bps() / payload - 1.0).abs() < 0.001);
    let names: Vec<&str> = comparison.beside.iter().map(|beside| beside.group.as_str()).collect();
    assert_eq!(names, ["others", "voice"]);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let [others, voice] = [0, 1].map(|at| mean(&comparison.beside[at].alone_bps));
    // 2 Mb/s of payload in packets of 290 octets leave 17.68 Mb/s of the link.
    assert!((voice / 2e6 - 1.0).abs() < 0.02, "{voice}");
    let left = (20e6 - 2e6 * 290.0 / 250.0) * 1460.0 / 1500.0;
    // A full queue drops some of the datagrams.
    assert!((0.95..1.02).contains(&(others / left)), "{others} of {left}");
    for runs in &comparison.variants {
        let beside =
            mean(&runs.records.iter().map(|r| r.goodput_bps("others")).collect::<Vec<_>>());
        let own = mean(&runs.rows.iter().map(|row| row.flow.goodput_bps).collect::<Vec<_>>());
        // The compared flow takes its goodput from the others.
        assert!((0.9..1.05).contains(&((own + beside) / others)), "{own} {beside} {others}");
    }
    let table = unruffled_lab::table::render(&comparison, 100, false);
    let alone = format!("{:.3}", others / 1e6);
    let line = table.lines().find(|line| line.starts_with("unruffled") && line.contains("others"));
    assert!(line.is_some_and(|line| line.contains(&alone)), "{alone}\n{table}");
    assert!(table.contains("(in order, nothing lost, no other traffic; limit: link"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&unruffled_lab::table::json(&comparison)).expect("is JSON");
    assert_eq!(json["beside"][0]["traffic"], "others");
    assert_eq!(json["beside"][0]["alone_bps"]["mean"], others);
    assert!(json["variants"][1]["beside"][0]["goodput_bps"]["mean"].as_f64() < Some(others));
}

/// A transfer that ends before the path is full takes a round trip for the handshake, and half of one
/// for the data.
#[test]
fn the_reference_of_a_short_transfer_has_no_slow_start() {
    let text = "duration = \"60 s\"\nvariants = [\"sack\"]\n[flow]\nbytes = \"73 kB\"\n[path]\n\
                hops = [\"l\"]\n[link.l]\nrate = \"100 Mbit/s\"\ndelay = \"50 ms\"\n";
    let scenario = scenario(text);
    let reference = reference_of(&scenario);
    assert_eq!(reference.limit, Limit::Length);
    // 50 segments of 0.12 ms, and 40 octets of the SYN.
    let expected = 73_000.0 * 8.0 / (0.15 + 50.0 * 0.00012 + 40.0 * 8.0 / 100e6);
    assert!((reference.bps() / expected - 1.0).abs() < 1e-4, "{} {expected}", reference.bps());
    // Three round trips of slow start from 10 segments: 10, 20 and the last 20.
    let (share, _) = highest_share(&scenario, &["sack"]);
    assert!((0.4..0.5).contains(&share), "{share}");
}

/// Returns a random network: one to three ways, with random windows, losses, flows, other traffic and
/// applications.
fn random_network(seed: u64) -> Scenario {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut draw =
        |low: f64, high: f64| (low.ln() + random.random::<f64>() * (high / low).ln()).exp();
    let ways = draw(1.0, 3.999) as usize;
    let rates: Vec<f64> = (0..ways).map(|_| draw(1.0, 40.0)).collect();
    let mut text = format!(
        "duration = \"12 s\"\nwarmup = \"{} s\"\nseeds = 2\nvariants = [\"sack\"]\n[tcp]\n\
         window = {}\ninitial_window = 10\nbyte_counting = 2\nmin_rto = \"200 ms\"\ndelayed_ack = {}\n\
         [topology]\nkind = \"explicit\"\n",
        if seed.is_multiple_of(3) { 2 } else { 0 },
        draw(4.0, 4000.0) as u64,
        if seed.is_multiple_of(2) { "\"40 ms\"" } else { "false" },
    );
    for (way, rate) in rates.iter().enumerate() {
        text += &format!(
            "[link.l{way}]\nfrom = \"a\"\nto = \"m{way}\"\nrate = \"{rate:.3} Mbit/s\"\n\
             delay = \"{:.0} us\"\nqueue = {}\n",
            draw(100.0, 60_000.0),
            draw(8.0, 400.0) as u64,
        );
        if seed % 5 < 2 {
            text += &format!("[link.l{way}.loss]\nfraction = {:.5}\n", draw(1e-4, 0.03));
        }
        if seed % 4 < 3 {
            let late = draw(0.001, 0.5);
            let extra = draw(1.0, 300.0);
            text += &format!(
                "[link.l{way}.delayed]\nfraction = {late:.4}\ndistribution = \"exponential\"\n\
                 mean = \"{extra:.2} ms\"\n"
            );
        }
        text += &format!("[link.e{way}]\nfrom = \"m{way}\"\nto = \"b\"\ndelay = \"0 ms\"\n");
    }
    let names: Vec<String> = (0..ways).map(|way| format!("\"a m{way} b\"")).collect();
    // The weights are proportional to the rates, or equal.
    let proportional = draw(1.0, 2.999) as u32 == 1;
    let weight = |rate: &f64| if proportional { format!("{rate:.3}") } else { "1".to_owned() };
    let weights: Vec<String> = rates.iter().map(weight).collect();
    let spread = ["round-robin", "random", "runs"][draw(1.0, 3.999) as usize - 1];
    let over = format!(
        "from = \"a\"\nto = \"b\"\nways = [{}]\nweights = [{}]\nspread = \"{spread}\"\n",
        names.join(", "),
        weights.join(", ")
    );
    let app = match draw(1.0, 6.999) as usize {
        1 => "app = \"on-off\"\nsize = \"300 kB\"\npause.distribution = \"exponential\"\n\
              pause.mean = \"200 ms\"\n"
            .to_owned(),
        2 => "app = \"web\"\nsegments = [3, 200]\npause.distribution = \"exponential\"\n\
              pause.mean = \"100 ms\"\n"
            .to_owned(),
        3 => format!("bytes = \"{:.0} kB\"\n", draw(20.0, 20_000.0)),
        _ => String::new(),
    };
    let count = draw(1.0, 8.999) as u32;
    text +=
        &format!("[[traffic]]\nname = \"compared\"\ncount = {count}\nuntil = \"1 s\"\n{over}{app}");
    if draw(1.0, 2.999) as u32 == 1 {
        text += &format!("[[traffic]]\nname = \"others\"\nsender = \"sack\"\ncount = 2\n{over}");
    }
    if draw(1.0, 2.999) as u32 == 1 {
        text += &format!(
            "[[traffic]]\nname = \"voice\"\napp = \"udp\"\nsize = \"200 B\"\ninterval = \"4 ms\"\n{over}"
        );
    }
    let mut scenario = scenario(&text);
    scenario.name = format!("random network {seed}\n{text}");
    scenario
}

#[test]
fn no_share_exceeds_101_percent_over_random_networks() {
    let scenarios: Vec<Scenario> = (1..=40).map(random_network).collect();
    assert_no_share_exceeds_101_percent(&scenarios, &FAST_SENDERS[..4]);
}
