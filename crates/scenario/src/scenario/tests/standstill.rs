//! Loops in which simulated time would stand still.

use super::*;

/// A chain of one link with `keys`.
fn chain(keys: &str, overrides: &[&str]) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"2 s\"\nvariants = [\"sack\"]\n[path]\nhops = [\"wan\"]\n[link.wan]\n{keys}"
    );
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("my.toml", &text, &overrides).map_err(|error| error.to_string())
}

#[test]
fn a_loop_that_takes_no_time_is_rejected() {
    let zero = "delay = \"0 s\"";
    let expected = "my.toml:6: link.wan.delay: expected more than 0 s, or a lower rate: packets of \
                  flow go there and back in no time, so simulated time would stand still";
    assert_eq!(chain(zero, &[]).expect_err("stands still"), expected);
    let rate = "delay = \"0 s\"\nrate = \"1000000 Gbit/s\"";
    assert_eq!(chain(rate, &[]).expect_err("rounds to no time"), expected);
    for ineffective in [
        "link.wan.delayed.fraction=0 %\nlink.wan.delayed.mean=9 ms\nlink.wan.delayed.deviation=0 s",
        "link.wan.delayed.fraction=100 %\nlink.wan.delayed.mean=0 s\nlink.wan.delayed.deviation=0 s",
        "link.wan.duplicate.fraction=10 %",
        "link.wan.loss.fraction=0.0000000001",
        "flow.bytes=9000 TB",
        "link.wan.alternate.extra=9 ms\nlink.wan.alternate.from=1 s",
        "link.wan.alternate.extra=9 ms\nlink.wan.alternate.until=1 s",
        "link.wan.blackout.at=1 s\nlink.wan.blackout.length=1 s",
    ] {
        let keys: Vec<&str> = ineffective.lines().collect();
        let message = chain(zero, &keys).expect_err(ineffective);
        assert!(message.contains("stand still"), "{message}");
    }
    let set = chain("delay = \"1 ms\"", &["link.wan.delay=0 s"]).expect_err("stands still");
    assert!(set.starts_with("--set: link.wan.delay: expected more than 0 s"), "{set}");
}

#[test]
fn a_loop_that_takes_time_or_ends_is_accepted() {
    for keys in [
        "link.wan.rate=20 Mbit/s",
        "link.wan.delay=1 ns",
        "flow.bytes=1 MB",
        "link.wan.alternate.extra=9 ms",
        "link.wan.delayed.fraction=1 %\nlink.wan.delayed.mean=0 s\nlink.wan.delayed.deviation=1 ms",
        "link.wan.delayed.packets=acks\nlink.wan.delayed.fraction=1 %\nlink.wan.delayed.mean=9 ms\nlink.wan.delayed.deviation=0 s",
        "link.wan.redrawn.every=50 ms\nlink.wan.redrawn.mean=50 ms\nlink.wan.redrawn.deviation=0 s",
        "link.wan.loss.fraction=1 %",
    ] {
        let keys: Vec<&str> = keys.lines().collect();
        let scenario = chain("delay = \"0 s\"", &keys).expect("takes time");
        assert!(!scenario.is_stuck());
    }
}

#[test]
fn a_loop_that_takes_no_time_is_found_in_any_network() {
    let zero = ["link.source.delay=0 s", "link.sink.delay=0 s", "link.bottleneck.delay=0 s"];
    let fast = ["link.source.rate=1000000 Gbit/s", "link.bottleneck.rate=1000000 Gbit/s"];
    let all: Vec<&str> = zero.into_iter().chain(fast).collect();
    let message = shared(&all).expect_err("stands still").to_string();
    assert!(message.starts_with("--set: link.bottleneck.delay: expected more"), "{message}");
    assert!(message.contains("packets of bulk"), "{message}");
    shared(&all[..4]).expect("the bottleneck takes time");
    let datagrams = ["traffic.bulk.app=udp", "traffic.bulk.size=1 kB", "traffic.bulk.interval=1ms"];
    let all: Vec<&str> = all.into_iter().chain(datagrams).collect();
    shared(&all).expect("datagrams need no answer, and transfers pause");
    let restless =
        SHARED.replace("\"pareto\"", "\"constant\"").replace("pause.scale = \"1 s\"\n", "");
    let restless = restless.replace("pause.shape = 1.5", "pause.value = \"0 s\"");
    let message = error(&restless, &all);
    assert!(message.contains("packets of a-web"), "{message}");
}

#[test]
fn time_is_stuck_only_if_every_way_takes_no_time() {
    let ways = |long: &str| {
        let text = format!(
            "duration = \"10 s\"\nvariants = [\"sack\"]\n[topology]\nkind = \"explicit\"\n\
             [link.a]\nfrom = \"s\"\nto = \"d\"\ndelay = \"0 s\"\n\
             [link.b]\nfrom = \"s\"\nto = \"m\"\ndelay = \"{long}\"\n\
             [link.c]\nfrom = \"m\"\nto = \"d\"\ndelay = \"0 s\"\n\
             [[traffic]]\nname = \"bulk\"\nfrom = \"s\"\nto = \"d\"\nways = [\"s d\", \"s m d\"]\n"
        );
        move |weights: &str| {
            let overrides = [format!("traffic.bulk.weights={weights}")];
            Scenario::parse("my.toml", &text, &overrides).map_err(|error| error.to_string())
        }
    };
    assert!(ways("0 s")("[1, 1]").expect_err("stands still").contains("link.a.delay: expected"));
    ways("1 ms")("[1, 1]").expect("those on the longer way hold up the rest");
    assert!(ways("1 ms")("[1, 0]").expect_err("stands still").contains("link.a.delay: expected"));
}
