use super::*;
use crate::reproduce::tiny;

/// Evaluates the claim `check` with made-up numbers: by line, a value for each seed at 5 and 20.
fn judge(check: &str, quick: bool) -> Result<Judged, String> {
    let old = "above(goodput_mbps('RR-TCP'), goodput_mbps('SACK'))";
    let text = tiny::TEXT.replace(old, check);
    let experiment = Experiment::parse("my.toml", &text, quick).map_err(|e| e.to_string())?;
    let both = |a: [f64; 2], b: [f64; 2]| vec![vec![a.to_vec(), b.to_vec()], vec![vec![1.0; 2]; 2]];
    let mut values = vec![
        both([4.0, 4.0], [4.0, 4.0]),
        both([2.0, 2.2], [1.0, 1.1]),
        both([3.0, 3.2], [2.5, 2.7]),
        both([2.0, 2.0], [2.0, 2.0]),
    ];
    // One line has no number at 5.
    values[0][1][0] = vec![f64::NAN; 2];
    if quick {
        values.iter_mut().flatten().for_each(|points| points.truncate(1));
    }
    let claims = Claims::new(&experiment, Found { values });
    claims.judge(&experiment.claims[0]).map_err(|e| e.to_string())
}

fn verdict(check: &str) -> Verdict {
    match judge(check, false) {
        Ok(Judged::Tested(verdict)) => verdict,
        other => panic!("{check}: {other:?}"),
    }
}

#[test]
fn claims_hold_or_fail_by_the_numbers() {
    const RR: &str = "goodput_mbps('RR-TCP')";
    const SACK: &str = "goodput_mbps('SACK')";
    for (check, holds) in [
        (format!("at_least({RR} / {SACK}, 1.4)"), true),
        (format!("at_least({RR} / {SACK}, 1.5)"), false),
        (format!("within({RR} / {SACK} - 1, 0.7, 0.9)"), true),
        (format!("near(at({RR}, 20), 2.5)"), true),
        (format!("near(at({RR}, 20), 3)"), false),
        (format!("falls({SACK})"), true),
        (format!("all([falls({SACK}), falls({RR})])"), true),
        (format!("any([rises({SACK}), falls({RR})])"), true),
        (format!("not(rises({SACK}))"), true),
        ("flat(goodput_mbps('without delay'))".to_owned(), true),
        (format!("at_most(max([{RR}, {SACK}]), 3.1)"), true),
        (format!("near(mean_over_x({SACK}), 1.575)"), true),
        (format!("at_most(x_of_max({RR}), 5)"), true),
        (format!("at_most(last({RR}) / first({RR}), 0.85)"), true),
        (format!("close(from(goodput_mbps('half'), 20), upto({SACK}, 5))"), true),
        (format!("at_least(1 - between({SACK}, 1, 5) / 4, 1 / 2 - 0.1)"), true),
        ("at_least(paper('goodput_mbps', 'RR-TCP'), 3.5)".to_owned(), true),
        (format!("fn half(line) {{ goodput_mbps(line) / 2 }} below(half('RR-TCP'), {RR})"), true),
        (format!("above(4 * {SACK}, [{RR}, {SACK}])"), true),
        (format!("above([{RR}, {SACK}], 1.02)"), false),
    ] {
        let verdict = verdict(&check);
        assert_eq!(verdict.holds, holds, "{check}: {verdict:?}");
    }
}

#[test]
fn without_numbers_neither_a_claim_nor_its_contrary_holds() {
    const NONE: &str = "retransmits('without delay')";
    const SACK: &str = "goodput_mbps('SACK')";
    const ENDLESS: &str = "(goodput_mbps('SACK') / (goodput_mbps('SACK') - goodput_mbps('SACK')))";
    for check in [
        format!("at_least(at({SACK}, 5), at({NONE}, 5))"),
        format!("at_least({SACK}, 0.0 / 0.0)"),
        format!("at_least({SACK}, -1.0 / 0.0)"),
        format!("within({SACK}, 0.0 / 0.0, 30)"),
        format!("within_everywhere({SACK}, 0, 1.0 / 0.0)"),
        format!("near_by({SACK}, 1, 1.0 / 0.0)"),
        format!("close_by({SACK}, {SACK}, 1.0 / 0.0)"),
        format!("near(x_of_max({NONE}), 20)"),
        format!("near(x_of_min({NONE}), 20)"),
        format!("at_least(max_over_x({NONE}), 0)"),
        format!("at_least(mean_over_x({NONE}), 0)"),
        format!("at_least(max([{NONE}, 3]), 1)"),
        format!("at_least(min({NONE}, {SACK}), 0)"),
        format!("at_least({ENDLESS}, 1)"),
        format!("not_below({ENDLESS}, 1)"),
        format!("not_above({NONE}, 9)"),
        format!("above({ENDLESS}, 1)"),
        format!("above({SACK}, ln(0 * {SACK}))"),
        format!("rises({NONE})"),
        format!("flat({NONE})"),
        format!("not_below(1e300 * {SACK} * [1e8, 2e8][0], 1)"),
    ] {
        for check in [check.clone(), format!("all([{check}, above({SACK}, 0)])")] {
            let direct = verdict(&check);
            assert!(!direct.holds, "{check}: {direct:?}");
            let contrary = verdict(&format!("not({check})"));
            assert!(!contrary.holds, "not({check}): {contrary:?}");
        }
    }
    assert!(verdict(&format!("not(below(at({NONE}, 20), 1))")).holds);
    assert!(!verdict(&format!("not(above([{NONE}, {SACK}], 0))")).holds);
}

#[test]
fn expected_and_measured_numbers_are_described() {
    let v = verdict("at_least(goodput_mbps('RR-TCP') / goodput_mbps('SACK'), 1.5)");
    let name = "goodput mbps of RR-TCP / goodput mbps of SACK";
    assert_eq!(v.expected, format!("{name} at least 1.5 at every point"));
    assert!(v.measured.starts_with("not at 1 of 2 points, worst: 1.477 ± "), "{}", v.measured);
    let v = verdict("above([goodput_mbps('RR-TCP'), goodput_mbps('SACK')], 1.02)");
    let both = "goodput mbps of RR-TCP and goodput mbps of SACK";
    assert_eq!(v.expected, format!("{both} above 1.02 at every point"));
    assert!(v.measured.starts_with("goodput mbps of SACK above 1.02: not at 2 of 2"), "{v:?}");
}

#[test]
fn points_that_the_quick_sweep_lacks_are_not_tested() {
    let check = "at_least(at(goodput_mbps('SACK'), 20), 1)";
    assert!(matches!(judge(check, false), Ok(Judged::Tested(_))));
    let judged = judge(check, true);
    assert_eq!(judged, Ok(Judged::NotTested("no point at 20, in the quick run".to_owned())));
}

#[test]
fn invalid_expressions_are_rejected() {
    for (check, expected) in [
        (
            "above(goodput_mbps('SACK'), 'high')",
            "expected measured values or a number, found a text",
        ),
        (
            "at_least(goodput_mbps('SACK'), goodput_mbps('SACK'))",
            "expected a number, found measured values",
        ),
        ("goodput_mbps('SACK')", "expected a verdict, such as above(a, b), found measured values"),
        ("falls(at(goodput_mbps('SACK'), 5))", "has one point: expected several"),
        ("all([])", "expected a list that is not empty"),
        ("within(goodput_mbps('SACK'), 3, 1)", "expected the lower end first, found 3 to 1"),
        ("all([1])", "expected a list of verdicts, found"),
        ("above(goodput_mbps('SACK'), [])", "expected a list that is not empty"),
        ("near(goodput_mbps('SACK'), paper('retransmits', 'SACK'))", "the line gives no retransm"),
        ("loop {}", ": claim 1.check: has no end: expected at most 1000000 steps"),
        ("let a = [1]; loop { a += a; }", "too large: expected at most 20000 values in a list"),
        (
            "let a = []; a.pad(40, 1); above(a, a)",
            "expected at most 1000 comparisons in one, found 1600",
        ),
        ("let v = above(2, 1); let a = []; a.pad(1001, v); all(a)", "expected at most 1000 comp"),
    ] {
        let message = judge(check, false).expect_err(check);
        assert!(message.contains(expected), "{check}: {message}");
    }
}

#[test]
fn labels_that_a_loop_doubles_do_not_fill_memory() {
    let v = verdict("let m = goodput_mbps('SACK'); for i in 0..64 { m = m + m; } above(m, 1)");
    assert!(v.expected.len() < 10_000, "{}", v.expected.len());
    let v = verdict("let v = above(2, 1); for i in 0..64 { v = all([v, v]); } v");
    assert!(v.holds && v.expected.len() < 100_000, "{}", v.expected.len());
}

#[test]
fn lists_of_measured_values_are_shared_or_rejected() {
    let fill = |value: &str| {
        let long = "let m = goodput_mbps('SACK'); for i in 0..12 { m = m + m; }";
        judge(
            &format!("{long} let a = []; for i in 0..9000 {{ a.push({value}); }} above(2, 1)"),
            false,
        )
    };
    for shared in ["m", "goodput_mbps('SACK')", "above(2, 1)"] {
        assert!(fill(shared).is_ok(), "{shared}: {:?}", fill(shared));
    }
    for made in ["m + i", "-m", "above(m, i)"] {
        let message = fill(made).expect_err(made);
        let expected = "too large: expected at most 5 MB of measured values";
        assert!(message.contains(expected), "{made}: {message}");
    }
    // Dropped values do not count.
    let v = verdict("let m = goodput_mbps('SACK'); for i in 0..50000 { m = m * 1; } above(m, 0)");
    assert!(v.holds);
}
