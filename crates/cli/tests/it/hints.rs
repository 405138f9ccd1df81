//! Hints for misspelt and missing names: the error line suggests what was meant.

use crate::command::{files, prints, refusal, write};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

#[test]
fn a_misspelt_name_is_refused_with_a_suggestion_everywhere() {
    let folder = folder();
    write(&folder, "grid.toml", "scenario = 'rr-3'\nvariant = ['sack']\n");
    write(&folder, "named.toml", "scenario = 'satelite'\n");
    write(&folder, "range.toml", "scenario = 'rr-3'\n[grid]\ntcp.window = { from = 1, too = 2 }\n");
    write(&folder, "swept.toml", "scenario = 'in-order'\n[grid]\nbottleneck.quue = [1]\n");
    for (arguments, meant) in [
        (&["compar"][..], "compare"),
        (&["Compare"], "compare"),
        (&["scenaros"], "scenarios"),
        (&["half-late"], "unruffled compare half-late"),
        (&["mine.toml"], "unruffled compare mine.toml"),
        (&["slow.pcap"], "unruffled analyze slow.pcap"),
        (&["compare", "--variant", "rack"], "--variants"),
        (&["compare", "--Seeds", "3"], "--seeds"),
        (&["compare", "-variants", "rack"], "--variants"),
        (&["sweep", "g.toml", "--reprot", "x"], "--report"),
        (&["compare", "satelite"], "satellite"),
        (&["compare", "RR-3"], "rr-3"),
        (&["compare", "rr-3.toml"], "rr-3"),
        (&["compare", "swept"], "swept.toml"),
        (&["bench", "sim", "wifi"], "wi-fi"),
        (&["scenarios", "--show", "spary"], "spray"),
        (&["compare", "--variants", "cubic"], "rack+cubic"),
        (&["compare", "--variants", "sack,CUBIC"], "rack+cubic"),
        (&["compare", "--variants", "RACK"], "rack"),
        (&["compare", "--set", "variants=rr_ta"], "rr-ta"),
        (&["bench", "sim", "--variant", "unrufled"], "unruffled"),
        (&["variants", "tcp-cubic"], "rack+cubic"),
        (&["compare", "--set", "tcp.windw=30"], "tcp.window"),
        (&["compare", "--set", "delayed.fracton=1%"], "link.bottleneck.delayed.fraction"),
        (&["compare", "in-order", "--set", "los.fraction=1%"], "link.bottleneck.loss.fraction"),
        (&["compare", "--set", "delayed.distribution=norml"], "normal"),
        (&["compare", "--set", "variant.rr-ta.histry=3 s"], "history"),
        (&["compare", "--duration", "5 secnds"], "seconds"),
        (&["compare", "--set", "bottleneck.rate=5 Mbitt/s"], "Mbit/s"),
        (&["reproduce", "rr-33"], "rr-3"),
        (&["reproduce", "--paper", "rr-tpc"], "rr-tcp"),
        (&["sweep", "grid.toml"], "variants"),
        (&["sweep", "named.toml"], "satellite"),
        (&["sweep", "range.toml"], "to"),
        (&["sweep", "swept.toml"], "link.bottleneck.queue"),
        (&["sweep", "swep.toml"], "swept.toml"),
    ] {
        let line = refusal(&folder, arguments);
        assert!(line.ends_with(&format!("; did you mean {meant}?\n")), "{arguments:?}: {line}");
    }
    #[cfg(target_os = "linux")]
    for (arguments, meant) in [
        (&["emulate", "haf-late"][..], "half-late"),
        (&["race", "haf-late"], "half-late"),
        (&["race", "--variants", "cubc"], "rack+cubic"),
    ] {
        let line = refusal(&folder, arguments);
        assert!(line.ends_with(&format!("; did you mean {meant}?\n")), "{arguments:?}: {line}");
    }
}

#[test]
fn a_name_of_another_kind_is_refused_with_its_kind() {
    let folder = folder();
    for (arguments, expected) in [
        (
            &["compare", "--variants", "dctcp"][..],
            "; dctcp is the kernel's own: race it with --kernel dctcp\n",
        ),
        (&["compare", "--variants", "bbr"], "; did you mean rack+bbr?\n"),
        (&["compare", "rack"], "; rack is a variant\n"),
        (&["compare", "cubic"], "; cubic is a part of variants, such as rack+cubic\n"),
        (&["sweep", "rr-3"], "rr-3: no such file; rr-3 is a scenario: expected a grid file\n"),
    ] {
        let line = refusal(&folder, arguments);
        assert!(line.ends_with(expected), "{line}");
    }
}

#[test]
fn every_command_reports_a_missing_file() {
    let folder = folder();
    write(&folder, "grid.toml", "scenario = 'no/where.toml'\n");
    for arguments in [
        &["compare", "nowhere.toml"][..],
        &["compare", "./nowhere"],
        &["bench", "sim", "nowhere.toml"],
        &["reproduce", "nowhere.toml"],
        &["sweep", "nowhere.toml"],
        &["scenarios", "--show", "nowhere.toml"],
    ] {
        let name = arguments.last().expect("has one");
        assert_eq!(refusal(&folder, arguments), format!("unruffled: {name}: no such file\n"));
    }
    let line = refusal(&folder, &["sweep", "grid.toml"]);
    assert_eq!(line, "unruffled: grid.toml:1: scenario: no/where.toml: no such file\n");
}

#[test]
fn the_short_key_of_an_impairment_works_on_a_path_of_one_link() {
    let folder = folder();
    let short =
        ["compare", "in-order", "--duration", "5 s", "--seeds", "1", "--no-report", "--csv"];
    let with = |set: &str| prints(&folder, &[&short[..], &["--set", set]].concat());
    let lossy = with("loss.fraction=1%");
    assert_eq!(lossy, with("link.bottleneck.loss.fraction=1%"));
    assert_ne!(lossy, prints(&folder, &short));
    let line = refusal(&folder, &["compare", "rr-3", "--set", "loss.fraction=1%"]);
    let expected = "unruffled: --set: loss.fraction: could be several: expected one of \
                  link.bottleneck.loss.fraction, link.sink.loss.fraction, link.source.loss.fraction\n";
    assert_eq!(line, expected);
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn the_usual_spellings_of_units_are_accepted() {
    let folder = folder();
    let short =
        ["compare", "in-order", "--seeds", "1", "--no-report", "--csv", "--variants", "rack"];
    let with = |duration: &str, rate: &str| {
        let rate = format!("bottleneck.rate={rate}");
        prints(&folder, &[&short[..], &["--duration", duration, "--set", &rate]].concat())
    };
    let expected = with("5 s", "8 Mbit/s");
    for (duration, rate) in
        [("5 sec", "8M"), ("5seconds", "8mbit"), ("5000msec", "8Mbps"), ("5.0", "8000000.0")]
    {
        assert_eq!(with(duration, rate), expected, "{duration} {rate}");
    }
    let line = refusal(&folder, &["compare", "--duration", "5"]);
    assert!(line.ends_with("the unit is missing: expected ns, us, ms, s, min or h\n"), "{line}");
}
