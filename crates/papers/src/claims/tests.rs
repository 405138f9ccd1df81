//! Tests of verdicts, with numbers worked out by hand.

use super::combine::{joined, not};
use super::limits::*;
use super::ordering::*;
use super::samples::Samples;
use super::verdict::Verdict;

fn at(label: &str, values: &[&[f64]]) -> Samples {
    let x: Vec<f64> = (1..=values.len()).map(|x| x as f64).collect();
    Samples::new(label, &x, values.iter().map(|v| v.to_vec()).collect())
}

#[test]
fn above_requires_every_point_beyond_the_interval_of_paired_differences() {
    // The differences are 1, 1.1, 0.9: mean 1, far from 0, though the values themselves vary.
    let a = at("a", &[&[2.0, 11.1, 50.9]]);
    let b = at("b", &[&[1.0, 10.0, 50.0]]);
    assert!(above(&a, &b).unwrap().holds);
    assert!(!above(&b, &a).unwrap().holds);
    assert!(below(&b, &a).unwrap().holds);
    // Mean 1, standard deviation 1, t(0.975, 2) = 4.3027: 1 ± 2.48 holds 0.
    let a = at("a", &[&[2.0, 10.0, 52.0]]);
    let verdict = above(&a, &b).unwrap();
    assert!(!verdict.holds);
    assert_eq!(verdict.measured, "21.33 against 20.33 (difference 1 ± 2.484) at 1");
    assert!(not_below(&a, &b).unwrap().holds && not_above(&a, &b).unwrap().holds);
}

#[test]
fn one_failing_point_fails_the_claim() {
    let (a, b) = (at("a", &[&[2.0], &[2.0], &[1.0]]), at("b", &[&[1.0], &[1.0], &[1.5]]));
    let verdict = above(&a, &b).unwrap();
    assert!(!verdict.holds);
    let expected = "not at 1 of 3 points, worst: 1 against 1.5 (difference -0.5) at 3";
    assert_eq!(verdict.measured, expected);
    assert_eq!(verdict.expected, "a above b at every point");
}

#[test]
fn the_worst_point_is_one_that_fails() {
    // The least mean, 0.1, is beyond its interval; 1 ± 2.48 is not.
    let a = at("a", &[&[1.1, 1.1, 1.1], &[2.0, 10.0, 52.0]]);
    let b = at("b", &[&[1.0, 1.0, 1.0], &[1.0, 10.0, 50.0]]);
    let expected = "not at 1 of 2 points, worst: 21.33 against 20.33 (difference 1 ± 2.484) at 2";
    assert_eq!(above(&a, &b).unwrap().measured, expected);
}

#[test]
fn equal_is_neither_above_nor_below() {
    let a = at("a", &[&[1.0, 2.0]]);
    assert!(!above(&a, &a).unwrap().holds && !below(&a, &a).unwrap().holds);
    assert!(not_above(&a, &a).unwrap().holds && not_below(&a, &a).unwrap().holds);
}

#[test]
fn without_numbers_no_verdict_holds() {
    let a = at("a", &[&[f64::NAN], &[1.0]]);
    let one = Samples::number(1.0);
    for verdict in [
        above(&a, &Samples::number(0.0)).unwrap(),
        not_below(&a, &one).unwrap(),
        at_least(&a, 0.0),
        at_most(&a, 2.0),
        within(&a, 0.0, 2.0),
        near(&a, 1.0),
        close_by(&a, &one, 0.05).unwrap(),
        flat_by(&a, 0.05),
        falls(&at("a", &[&[3.0], &[f64::NAN], &[1.0]])).unwrap(),
    ] {
        assert!(!verdict.holds, "{verdict:?}");
    }
}

#[test]
fn limits_hold_at_every_point_by_the_means() {
    let a = at("a", &[&[0.70, 0.74], &[0.8, 0.8]]);
    assert!(at_least(&a, 0.72).holds);
    assert!(!at_least(&a, 0.73).holds);
    assert!(at_most(&a, 0.8).holds);
    assert_eq!(at_least(&a, 0.72).measured, "0.72 to 0.8");
    assert!(at_least(&a, 0.73).measured.starts_with("not at 1 of 2 points, worst: 0.72 ± "));
}

#[test]
fn a_range_of_a_paper_is_widened_by_a_tenth_of_its_ends() {
    let a = at("a", &[&[0.30], &[0.90]]);
    assert!(within(&a, 0.65, 0.8).holds, "0.6 on average: 0.585 to 0.88");
    assert!(!within(&a, 0.67, 0.8).holds, "0.603 to 0.88");
    assert!(!within_everywhere(&a, 0.65, 0.8).holds);
    assert!(within_everywhere(&a, 0.33, 0.82).holds);
    assert!(near(&a.select(String::new(), |x| x == 1.0).unwrap(), 0.33).holds);
    assert!(!near(&a.select(String::new(), |x| x == 1.0).unwrap(), 0.34).holds);
    assert!(within(&at("a", &[&[-0.11]]), -0.1, 0.1).holds, "below zero it widens, too");
}

#[test]
fn close_compares_means() {
    let (a, b) = (at("a", &[&[1.0, 1.1]]), at("b", &[&[1.1, 1.0]]));
    assert!(close_by(&a, &b, 0.05).unwrap().holds);
    assert!(!close_by(&a, &Samples::number(1.2), 0.05).unwrap().holds);
}

#[test]
fn closeness_is_judged_on_the_mean_of_all_points_and_at_every_point() {
    let one = Samples::number(1.0);
    // Ratios 0.9, 1, 1.16: 1.02 on the mean, but two of three points are farther than 5 %.
    let wide = at("a", &[&[0.9], &[1.0], &[1.16]]);
    let verdict = close_by(&wide, &one, 0.05).unwrap();
    assert_eq!((verdict.holds, verdict.at_every_point), (true, Some(false)));
    assert_eq!(verdict.expected, "a within 5 % of 1 on the mean of all points");
    let expected = "mean ratio 1.02; not at 2 of 3 points, worst: 1.16 at 3";
    assert_eq!(verdict.measured, expected);
    // 0.98, 1.03: 1.005, and each within 5 %.
    let near = close_by(&at("a", &[&[0.98], &[1.03]]), &one, 0.05).unwrap();
    assert_eq!((near.holds, near.at_every_point), (true, Some(true)));
    assert_eq!(near.measured, "mean ratio 1.005; at every point: 0.98 to 1.03");
    // 1, 1.12: 1.06. Each point within the bar has its mean within it, so that no other case is left.
    let far = close_by(&at("a", &[&[1.0], &[1.12]]), &one, 0.05).unwrap();
    assert_eq!((far.holds, far.at_every_point), (false, Some(false)));
    // The ratios count, not the sums: 1/2 and 30/20 are 1 on the mean.
    let (a, b) = (at("a", &[&[1.0], &[30.0]]), at("b", &[&[2.0], &[20.0]]));
    assert!(close_by(&a, &b, 0.05).unwrap().holds);
    // One point, or none that is a number.
    let single = close_by(&Samples::number(1.04), &one, 0.05).unwrap();
    assert_eq!((single.holds, single.at_every_point), (true, None));
    assert_eq!(single.measured, "ratio 1.04");
    let unknown = close_by(&at("a", &[&[1.0], &[f64::NAN]]), &one, 0.05).unwrap();
    assert_eq!((unknown.holds, unknown.at_every_point), (false, Some(false)));
    assert!(!not(unknown).holds);
}

#[test]
fn verdicts_on_curves_and_others_are_combined() {
    let plain = |holds| Verdict::new(holds, true, "e".to_owned(), "m".to_owned());
    let curves = |holds, strictly| plain(holds).with_every_point(Some(strictly));
    for (verdicts, all, any) in [
        (vec![plain(true), plain(false)], (false, None), (true, None)),
        (vec![plain(true), curves(true, false)], (true, Some(false)), (true, Some(true))),
        (vec![plain(false), curves(true, false)], (false, Some(false)), (true, Some(false))),
        (vec![curves(true, true), curves(true, true)], (true, Some(true)), (true, Some(true))),
    ] {
        let found = |all| {
            let joined = joined(verdicts.clone(), all);
            (joined.holds, joined.at_every_point)
        };
        assert_eq!((found(true), found(false)), (all, any), "{verdicts:?}");
    }
    let contrary = not(curves(true, false));
    assert_eq!((contrary.holds, contrary.at_every_point), (false, Some(true)));
}

#[test]
fn falling_allows_level_stretches_but_no_rise() {
    assert!(falls(&at("a", &[&[3.0], &[2.0], &[2.0], &[1.0]])).unwrap().holds);
    let verdict = falls(&at("a", &[&[3.0], &[1.0], &[2.0]])).unwrap();
    assert!(!verdict.holds);
    assert_eq!(verdict.measured, "3 at 1 to 2 at 3, but rises from 1 to 2 at 3");
    assert!(!falls(&at("a", &[&[3.0], &[3.0]])).unwrap().holds);
    assert!(rises(&at("a", &[&[1.0], &[2.0]])).unwrap().holds);
    // A rise within the interval is none.
    let wavering = at("a", &[&[9.0, 9.5], &[5.0, 5.2], &[5.1, 5.15], &[1.0, 1.2]]);
    assert!(falls(&wavering).unwrap().holds);
    assert!(falls(&at("a", &[&[1.0]])).is_err());
}

#[test]
fn flat_is_within_a_share_of_the_mean() {
    assert!(flat_by(&at("a", &[&[0.96], &[1.04]]), 0.05).holds);
    assert!(!flat_by(&at("a", &[&[0.94], &[1.06]]), 0.05).holds);
}

#[test]
fn failures_among_several_pairs_are_shown() {
    let verdict = |holds| Verdict::new(holds, true, "e".to_owned(), "m".to_owned());
    let (yes, no) = (verdict(true), verdict(false));
    let both = joined(vec![yes.clone(), no.clone()], true);
    assert!(!both.holds);
    assert_eq!((both.expected.as_str(), both.measured.as_str()), ("e; e", "e: m"));
    assert!(joined(vec![yes.clone(), no.clone()], false).holds);
    assert!(!joined(vec![], true).holds);
    assert!(not(no).holds);
}
