use super::*;
use crate::reproduce::{Plan, tiny};

/// Returns the error of the small experiment with `old` replaced by `new`.
fn complaint(old: &str, new: &str) -> String {
    assert!(tiny::TEXT.contains(old), "{old}");
    let text = tiny::TEXT.replacen(old, new, 1);
    let experiment = Experiment::parse("my.toml", &text, false);
    let planned = experiment.and_then(|e| Plan::new(&[e]).map(drop));
    planned.expect_err(new).to_string()
}

#[test]
fn an_error_is_one_line_with_its_place() {
    for (old, new, expected) in [
        ("id = \"tiny-1\"", "id = \"tiny 1\"", ":2: id: expected letters, digits and hyphens"),
        ("title =", "titel =", ":5: titel: unknown key: expected one of id, paper, figure"),
        ("\"Figure 1\"", "\" \"", "my.toml:4: figure: expected what it is called, found no words"),
        ("Figure 1", "\\u001b[2J", "my.toml:4: figure: expected no control characters, found '"),
        ("\"SACK\"", "\"\\u0007\"", ": line 2.name: expected no control characters, found '\\u{7}"),
        ("figure = \"Figure 1\"\n", "", "my.toml:1: figure: missing: expected a value"),
        ("full = 2", "full = 0", ":11: seeds.full: expected a whole number from 1"),
        ("full = 2", "full = \"many\"", ":11: seeds.full: expected a whole number, found \"many\""),
        ("full = 2", "full = 2.5", ":11: seeds.full: expected a whole number, found 2.5"),
        ("full = 2", "full = -2", ":11: seeds.full: expected a whole number, found -2"),
        ("full = 2", "full = [2]", ":11: seeds.full: expected a whole number, found a list"),
        ("values = [5, 20]", "values = [20, 5]", ":16: x.values: expected numbers, each greater"),
        ("values = [5, 20]", "", ": x: expected values = [1, 2, 5] or a grid"),
        ("${x} %", "${x %", ":20: set.link.l.delayed.fraction: expected a } after ${"),
        ("${x} %", "${y} %", ":20: set.link.l.delayed.fraction: Variable not found: y"),
        ("${x} %", "${x * 10} %", ":20: link.l.delayed.fraction: expected a fraction"),
        ("\"4 Mbit/s\"", "\"4 parsecs\"", ":34: scenario.link.l.rate: expected a rate"),
        ("queue = 20", "quue = 20", ":36: scenario.link.l.quue: unknown key"),
        ("name = \"SACK\"", "name = \"RR-TCP\"", ": line 3.name: RR-TCP stands twice"),
        ("name = \"SACK\"", "name = \" \"", ": line 2.name: expected a name, found no words"),
        (
            "variant = \"rr-ta\"",
            "",
            ": line 3.name: expected a variant beside it, which sends traf",
        ),
        (
            "variant = \"rr-ta\"",
            "variant = \" \"",
            ": line 3.variant: expected a name, found no words",
        ),
        ("variant = \"rr-ta\"", "variant = \"rr-tb\"", ": line 3.variant: rr-tb: no such variant"),
        ("goodput_mbps = 3.5", "speed = 3.5", ": line 3.paper.speed: no measure \"speed\""),
        ("4 / 2 +", "4 / 2 + )", ": line 4.formula: expected an expression: "),
        ("4 / 2 + x", "4 / 2 + z", ": line 4.formula: Variable not found: z"),
        ("\"retransmits\"\n", "\"above\"\n", ": measure 2.name: expected a name that no function"),
        (
            "\"retransmits\"\n",
            "\"re-sent\"\n",
            " that no function has, of letters, digits and _, fo",
        ),
        ("\"retransmits\"\n", "\"goodput_mbps\"\n", ": measure 2.name: goodput_mbps stands twice"),
        ("y-range = [0, 4]", "y-range = [4, 0]", ": panel 1.y-range: expected [lowest, highest]"),
        ("y-range = [0, 4]", "y-range = [0, inf]", ": panel 1.y-range: expected [lowest, highest]"),
        (
            "y-range = [0, 4]",
            "y-range = [0, 4]\ny-log = true",
            ": panel 1.y-range: expected [lowest, highest], above 0 on a logarithmic axis",
        ),
        (
            "y-range = [0, 4]",
            "rule = 0\ny-log = true",
            ": panel 1.rule: expected a height on the axis",
        ),
        (
            "values = [5, 20]",
            "log = true\nvalues = [0, 5, 20]",
            ":17: x.values: expected numbers above 0 on a logarithmic axis",
        ),
        ("y-range = [0, 4]", "y = \"speed\"", ": panel 1.y: no measure \"speed\": expected one of"),
        ("y-range = [0, 4]", "rule = inf", ": panel 1.rule: expected a height on the axis"),
        ("formula =", "variant = \"sack\"\nformula =", "line 4.variant: expected a variant or a"),
        (
            "formula =",
            "set = { \"tcp.window\" = 9 }\nformula =",
            "line 4.set.tcp.window: expected for",
        ),
        ("formula =", "group = \"flow\"\nformula =", "line 4.group: expected for a line with runs"),
        // For a key that the quick version also sets, the one that a full run uses.
        ("[quick-set]", "duration = \"x\"\n[quick-set]", ":22: duration: expected"),
        ("duration = \"3 s\"", "nope = 1", ":23: nope: unknown key: expected one of"),
        (
            "y-range = [0, 4]",
            "kind = \"line\"\ncurve = \"series('l', 'queue')\"",
            ": panel 1.curve: expected with kind = \"time\" only",
        ),
        ("full = 2", "full = 2\nfull = 3", ":12: not TOML: duplicate key full: expected each key"),
        ("y-range = [0, 4]", "lines = [\"A\"]", ": panel 1.lines: no line \"A\": expected some of"),
        (
            "quick = [5]",
            "log = true\neven = true",
            ":18: x.even: expected a logarithmic axis or an",
        ),
        ("at = 20", "at = 21", ": panel 2.at: expected one of the values of [x]"),
        ("('RR-TCP')", "('RR-TA')", ": claim 1.check: no line \"RR-TA\": expected one of without"),
        (
            "above(goodput_mbps('RR",
            "over(goodput_mbps('RR",
            ": claim 1.check: no function over of measured values and measured values",
        ),
        ("'SACK'), 20)", "'SACK'), 21)", ": claim 3.check: no point at 21: expected some of"),
        ("at_least(at(goodput_mbps('SACK'), 20), 0.1)", "1", "expected a verdict, such as above"),
        (
            "text = \"Everybody likes it\"\nnot",
            "text = \"x\"\nnit",
            ": claim 4.nit-tested: unknown",
        ),
        (
            "not-tested = \"no survey was made\"",
            "",
            ": claim 4.text: expected beside it either check",
        ),
        ("text = \"Everybody likes it\"", "text = \"RR-TCP is above SACK\"", "stands twice"),
        (
            "text = \"Everybody likes it\"",
            "text = \" \"",
            ": claim 4.text: expected what the paper",
        ),
        (
            "known = \"It cannot be.\"",
            "class = \"unreachable\"\nwhy = \"0 of 1.\"",
            ": claim 2.class: expected one of out of reach, second implementation agrees, contradicts \
             itself, setting lost, single draw, reading, open, found \"unreachable\"",
        ),
        (
            "known = \"It cannot be.\"",
            "class = \"open\"",
            ": claim 2.class: expected why beside it",
        ),
        (
            "known = \"It cannot be.\"",
            "why = \"0 of 1.\"",
            ": claim 2.why: expected class beside it",
        ),
        (
            "known = \"It cannot be.\"",
            "class = \"open\"\nwhy = \"It cannot be.\"",
            ": claim 2.why: expected a reason with numbers, found \"It cannot be.\"",
        ),
        (
            "known = \"It cannot be.\"",
            "known = \"It cannot be.\"\nclass = \"open\"\nwhy = \"0 of 1.\"",
            ": claim 2.class: expected either this and why, or known",
        ),
        (
            "known = \"It cannot be.\"",
            "other-reading = \"another\"\nclass = \"open\"\nwhy = \"0 of 1.\"",
            ": claim 2.class: expected for claims that count, not with other-reading",
        ),
        (
            "not-tested = \"no survey was made\"",
            "not-tested = \"no survey was made\"\nclass = \"open\"\nwhy = \"0 of 1.\"",
            ": claim 4.class: expected with check, not with not-tested",
        ),
        ("[seeds]", "[seeds", ": not TOML: "),
    ] {
        let message = complaint(old, new);
        assert!(message.starts_with("my.toml"), "{message}");
        assert!(message.contains(expected), "{new}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn keys_that_no_scenario_can_have_are_rejected_at_their_line() {
    for key in ["\"\"", "\"link.l.queue=7 #\"", "link.\"\".rate", "\"link..rate\"", "\".\""] {
        for (table, end) in [("[set]\n", "\n"), ("set = { ", ", ")] {
            let message = complaint(table, &format!("{table}{key} = 1{end}"));
            assert!(message.starts_with("my.toml:"), "{message}");
            let expected = ": expected a dotted key, such as link.bottleneck.rate, found ";
            assert!(message.contains(expected), "{key}: {message}");
        }
    }
}

#[test]
fn seeds_and_senders_are_rejected_in_a_scenario_and_among_its_settings() {
    for (key, belongs) in
        [("seeds = 3", "full = 5 below [seeds]"), ("variants = ['sack']", "a var")]
    {
        for (table, end) in [("[scenario]\n", "\n"), ("[set]\n", "\n"), ("set = { ", ", ")] {
            let message = complaint(table, &format!("{table}{key}{end}"));
            let name = key.split(' ').next().expect("has a name");
            assert!(message.starts_with("my.toml:"), "{message}");
            let expected = format!(".{name}: not for experiments: expected {belongs}");
            assert!(message.contains(&expected), "{message}");
        }
    }
}

#[test]
fn too_many_points_are_rejected() {
    let axis = format!("{:?}", (0..300).collect::<Vec<_>>());
    let grid = format!("grid = {{ p = {axis}, q = {axis}, r = {axis} }}");
    let message = complaint("values = [5, 20]", &grid);
    let expected = ":16: x.grid: expected at most 10000 points, found 27000000";
    assert!(message.ends_with(expected), "{message}");
    let values = format!("values = {:?}", (0..10_001).collect::<Vec<_>>());
    let message = complaint("values = [5, 20]", &values);
    assert!(message.ends_with(":16: x.values: expected at most 10000 points, found 10001"));
}

#[test]
fn a_point_absent_from_the_full_sweep_is_rejected_in_a_quick_one_too() {
    let planned = |at: &str| {
        let text = tiny::TEXT.replacen("'SACK'), 20)", at, 1);
        let experiment = Experiment::parse("my.toml", &text, true).expect("reads");
        Plan::new(&[experiment]).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(planned("'SACK'), 20)"), Ok(()));
    let message = planned("'SACK'), 77)").expect_err("no sweep has it");
    assert!(message.contains(": claim 3.check: no point at 77: expected some of"), "{message}");
}

#[test]
fn lines_with_runs_require_a_scenario_and_formulae_do_not() {
    let text = "id = \"a\"\npaper = \"p\"\nfigure = \"f\"\ntitle = \"t\"\n\
                [x]\nlabel = \"x\"\nvalues = [1, 2]\n[[line]]\nname = \"l\"\n\
                [[measure]]\nname = \"m\"\nvalue = \"0\"\n";
    let message = Experiment::parse("my.toml", text, false).expect_err("no scenario").to_string();
    assert!(message.starts_with("my.toml: scenario: missing: expected a [scenario]"), "{message}");
    let text = text.replace("name = \"l\"", "name = \"l\"\nformula = \"x * x / 2\"");
    let experiments = [Experiment::parse("my.toml", &text, false).expect("a formula")];
    let outcomes = tiny::outcomes(&experiments).expect("needs no runs");
    assert_eq!(outcomes[0].lines[0].values, [[[0.5], [2.0]]]);
}

#[test]
fn a_quick_sweep_has_its_own_points_seeds_and_settings() {
    let (full, quick) = (tiny::experiment(false), tiny::experiment(true));
    let points = |e: &Experiment| e.sweep.points.iter().map(|p| p.x).collect::<Vec<_>>();
    assert_eq!((points(&full), full.seeds), (vec![5.0, 20.0], 2));
    assert_eq!((points(&quick), quick.seeds), (vec![5.0], 1));
    let seconds = |e: &Experiment| {
        let (scenario, _) = e.scenario(&e.lines[1], &e.sweep.points[0]).expect("makes sense");
        scenario.duration.as_secs_f64()
    };
    assert_eq!((seconds(&full), seconds(&quick)), (6.0, 3.0));
}

#[test]
fn a_grid_has_every_combination_by_name() {
    let text = tiny::TEXT
        .replace("values = [5, 20]", "grid = { d = [1, 2, 3], p = [5, 20] }")
        .replace("quick = [5]", "")
        .replace("at = 20", "")
        .replace("${x} %", "${d + p} %");
    let experiment = Experiment::parse("my.toml", &text, false).expect("makes sense");
    let points = &experiment.sweep.points;
    assert_eq!(points.len(), 6);
    assert_eq!(
        (points[1].x, &points[1].variables[..]),
        (2.0, &[("d".to_owned(), 1.0), ("p".to_owned(), 20.0)][..])
    );
    let (scenario, _) = experiment.scenario(&experiment.lines[1], &points[5]).expect("fits");
    assert!(scenario.toml.contains("\"23 %\""), "{}", scenario.toml);
}

#[test]
fn the_order_of_settings_is_all_then_the_lines_then_quick() {
    let text = tiny::TEXT.replace("set = { ", "set = { duration = \"9 s\", ");
    for (quick, seconds) in [(false, 9.0), (true, 3.0)] {
        let e = Experiment::parse("my.toml", &text, quick).expect("makes sense");
        let (scenario, _) = e.scenario(&e.lines[0], &e.sweep.points[0]).expect("makes sense");
        assert_eq!(scenario.duration.as_secs_f64(), seconds);
        assert!(scenario.toml.contains("\"0 %\""), "{}", scenario.toml);
    }
}

#[test]
fn curves_keep_the_order_of_the_file() {
    let curves = "curves.wait = \"series('l', 'queue')\"\ncurves.ack = \"series('l', 'queue')\"\n\
                  curves.mean = \"series('l', 'queue')\"";
    let text = tiny::TEXT.replace("curve = \"series('l', 'queue')\"", curves);
    let experiment = Experiment::parse("my.toml", &text, false).expect("makes sense");
    let names: Vec<&str> = experiment.panels[1].curves.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["wait", "ack", "mean"]);
}
