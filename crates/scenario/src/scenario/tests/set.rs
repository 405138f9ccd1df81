//! Overrides: which key is meant, and what is rejected.

use super::*;

#[test]
fn any_key_can_be_set_without_its_beginning() {
    let scenario = rr_3(&["delayed.fraction=30%", "link.bottleneck.delay = 20 ms", "seeds=2"])
        .expect("good overrides");
    assert_eq!(scenario.seeds, 2);
    assert_eq!(scenario.hops[1].link.delay, Duration::from_millis(20));
    assert!(scenario.toml.contains("30%"), "{}", scenario.toml);
    let lossy = rr_3(&["link.bottleneck.loss.fraction=1%"]).expect("a new table");
    assert_eq!(lossy.hops[1].link.impairments.len(), 2);
}

#[test]
fn an_absent_key_can_be_set_without_the_beginning_of_its_table() {
    for key in ["delayed.until", "bottleneck.delayed.until", "link.bottleneck.delayed.until"] {
        let scenario = rr_3(&[&format!("{key}=5 s")]).expect(key);
        let words = crate::links::in_words(&scenario.hops[1].link, None);
        assert!(words.ends_with("from 0 s to 5 s"), "{words}");
    }
    let lossy = rr_3(&["bottleneck.loss.fraction=1%", "loss.from=5 s"]).expect("a new table");
    assert_eq!(lossy.hops[1].link.impairments.len(), 2);

    let both = ["link.source.loss.fraction=1%", "link.sink.loss.fraction=1%", "loss.from=5 s"];
    let several = rr_3(&both).expect_err("two tables").to_string();
    let expected = "--set: loss.from: could be several: expected one of link.source.loss.from, \
                  link.sink.loss.from";
    assert_eq!(several, expected);

    let text = SHARED.replace("\"bulk\"", "\"tcp\"");
    let overrides = ["tcp.mss=500 B".to_owned()];
    let whole =
        Scenario::parse("my.toml", &text, &overrides).expect("no group of traffic is meant");
    assert_eq!(whole.sender.mss, 500);
}

#[test]
fn an_override_sets_one_value() {
    let line = rr_3(&["tcp.window=20\nfoo = 1"]).expect_err("is more").to_string();
    assert!(line.starts_with("--set: tcp.window: expected") && !line.contains('\n'), "{line}");
    let line = rr_3(&["tcp.window=20 # as ever"]).expect_err("is more").to_string();
    assert!(line.starts_with("--set: tcp.window: expected"), "{line}");
    // A name is taken literally, even if it looks like a number.
    let named = rr_3(&["name=1e3", "title=3 # ways", "source='4'"]).expect("good names");
    assert_eq!((named.name.as_str(), named.title.as_str()), ("1e3", "3 # ways"));
    assert_eq!(named.source, "4");
}

/// The line that rejects `set` in the built-in scenario `name`.
fn error_of(name: &str, set: &str) -> String {
    let error_of = Scenario::load(name, &[set.to_owned()]);
    error_of.map(|s| s.toml).expect_err(set).to_string()
}

#[test]
fn a_short_key_absent_from_the_file_belongs_to_the_only_link() {
    for (set, expected) in [
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
        assert_eq!(Scenario::replaced("in-order", &text, &set).expect("is a key"), [expected]);
        let by_name = [set[0].replacen(set[0].split('=').next().unwrap(), expected, 1)];
        let (short, whole) =
            (Scenario::load("in-order", &set), Scenario::load("in-order", &by_name));
        assert_eq!(short.expect("is a scenario"), whole.expect("is one as well"), "{set:?}");
    }
    let line = error_of("in-order", "burst.fraction=1%");
    assert!(
        line.starts_with("--set: link.bottleneck.burst.mean: missing: expected a value"),
        "{line}"
    );
}

#[test]
fn an_ambiguous_short_key_is_rejected_with_all_candidates() {
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
fn a_misspelt_key_is_rejected_with_a_suggestion() {
    for (set, expected) in [
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
        let line = error_of("rr-3", set);
        assert!(line.ends_with(&format!("; did you mean {expected}?")), "{line}");
    }
    let line = error_of("rr-3", "delayed.distribution=norml");
    assert!(line.ends_with("found \"norml\"; did you mean normal?"), "{line}");
    let line = error_of("rr-3", "frobnicate=1");
    assert!(line.contains("unknown key") && !line.contains("did you mean"), "{line}");
}
