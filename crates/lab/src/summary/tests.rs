use super::*;
use crate::record::fake;
use crate::record::{Comparison, VariantRuns};
use crate::reference::{Limit, Reference};

#[test]
fn the_finding_compares_the_best_variant_with_the_path_and_with_sack() {
    let comparison = fake::comparison();
    let text = finding(&comparison, &summaries(&comparison));
    assert!(text.starts_with("rr-ta-rtx delivers 8.9"), "{text}");
    assert!(text.contains("of the undisturbed path’s 9.50\u{a0}Mb/s"), "{text}");
    assert!(text.contains("times what sack delivers (1.2"), "{text}");
}

#[test]
fn the_finding_omits_sack_if_it_was_not_compared() {
    let mut comparison = fake::comparison();
    comparison.variants.remove(0);
    let text = finding(&comparison, &summaries(&comparison));
    assert!(!text.contains("sack"), "{text}");
}

/// Returns a comparison of these senders, each with the goodputs of its runs in Mb/s, over a path of
/// 10 Mb/s.
fn of(senders: &[(&str, &[f64])]) -> Comparison {
    let mut comparison = fake::comparison();
    comparison.reference = Reference::new(10e6, Limit::Links);
    let model = comparison.variants[0].clone();
    let variant = |&(name, goodputs): &(&str, &[f64])| {
        let mut variant = VariantRuns { name: name.to_owned(), ..model.clone() };
        variant.rows.truncate(goodputs.len());
        for (row, mbps) in variant.rows.iter_mut().zip(goodputs) {
            row.flow.goodput_bps = mbps * 1e6;
        }
        variant
    };
    comparison.variants = senders.iter().map(variant).collect();
    comparison
}

/// Returns the finding of a comparison of these senders, without no-break spaces.
fn sentence(senders: &[(&str, &[f64])]) -> String {
    let comparison = of(senders);
    finding(&comparison, &summaries(&comparison)).replace('\u{a0}', " ")
}

#[test]
fn overlapping_intervals_share_the_lead_by_name() {
    // Three runs: one below the mean by 0.1, one at the mean, one above it by 0.1. The standard
    // deviation is 0.1 and t(0.975, 2) = 4.303: the half-width is 4.303 * 0.1 / sqrt 3 = 0.248.
    let near = |mean: f64| [mean - 0.1, mean, mean + 0.1];
    // 8.00 + 0.248 reaches 8.496 - 0.248 = 8.248, but not 8.50 - 0.248 = 8.252.
    let low = near(8.0);
    let touching = near(8.496);
    let apart = near(8.5);
    let text = sentence(&[("rr-ta", &low), ("rack", &touching), ("sack", &near(2.0))]);
    let expected = "rr-ta and rack share the lead at 8.00 to 8.50 Mb/s, 80 to 85 % of the \
                  undisturbed path’s 10.00 Mb/s and 4.0 to 4.2 times what sack delivers (2.00 Mb/s); \
                  their 95 % confidence intervals overlap.";
    assert_eq!(text, expected);
    let text = sentence(&[("rr-ta", &low), ("rack", &apart)]);
    assert_eq!(text, "rack delivers 8.50 Mb/s, 85 % of the undisturbed path’s 10.00 Mb/s.");
    // The interval of rr-fa, 7.9 to 8.396, overlaps those of both others, which do not overlap.
    let text = sentence(&[("rr-ta", &low), ("rr-fa", &near(8.148)), ("rack", &apart)]);
    assert!(text.starts_with("rr-fa and rack share the lead at 8.15 to 8.50 Mb/s"), "{text}");
    let text = sentence(&[("rack", &apart), ("a", &touching), ("b", &near(8.3))]);
    assert!(text.starts_with("rack, a and b share the lead"), "{text}");
    assert!(text.ends_with("intervals of a and b overlap that of rack."), "{text}");
}

#[test]
fn a_single_leader_differs_significantly_from_the_other_variant() {
    // If the distance of two means exceeds the sum of their half-widths, Welch's t exceeds Student's
    // quantile for all spreads.
    let mut state = 7_u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut single = 0;
    for _ in 0..500 {
        let wide = [draw(), draw() * 4.0];
        let mut runs = |mean: f64, wide: f64| -> Vec<f64> {
            (0..2 + (draw() * 4.0) as usize).map(|_| mean + wide * (draw() - 0.5)).collect()
        };
        let a = runs(5.0, wide[0]);
        let b = runs(6.0, wide[1]);
        let comparison = of(&[("a", &a), ("b", &b)]);
        let summaries = summaries(&comparison);
        let leaders = leaders(&comparison, &summaries);
        assert!(leaders.iter().any(|s| Some(s.variant) == best(&summaries).map(|s| s.variant)));
        if leaders.len() == 1 {
            single += 1;
            assert!(significant(&a, &b), "{a:?} {b:?}");
        }
    }
    assert!(single > 50, "{single}");
}

/// Returns whether two means differ by Welch's test at 5 %.
fn significant(a: &[f64], b: &[f64]) -> bool {
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let part = |x: &[f64]| {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let error = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n;
        (n, mean, error)
    };
    let ((n, a, u), (m, b, v)) = (part(a), part(b));
    let freedom = (u + v).powi(2) / (u * u / (n - 1.0) + v * v / (m - 1.0));
    let t = StudentsT::new(0.0, 1.0, freedom).unwrap();
    (a - b).abs() / (u + v).sqrt() > t.inverse_cdf(0.975)
}

#[test]
fn single_runs_with_the_same_digits_share_the_lead() {
    let text = sentence(&[("rr-ta", &[8.121]), ("rack", &[8.119]), ("sack", &[1.0])]);
    assert!(text.starts_with("rr-ta and rack share the lead at 8.12 Mb/s, 81 % of"), "{text}");
    assert!(text.ends_with("; they are the same in all digits shown."), "{text}");
    let text = sentence(&[("rr-ta", &[8.13]), ("rack", &[8.12])]);
    assert!(text.starts_with("rr-ta delivers 8.13 Mb/s"), "{text}");
    assert!(text.ends_with("; of single runs, a difference may be chance."));
    assert!(!sentence(&[("rr-ta", &[8.13])]).contains("chance"), "nothing differs");
}

#[test]
fn variants_with_the_same_digits_share_the_lead_despite_small_intervals() {
    let text = sentence(&[("rr-ta", &[8.1211, 8.1212]), ("rack", &[8.1221, 8.1222])]);
    assert!(text.starts_with("rr-ta and rack share the lead at 8.12 Mb/s"), "{text}");
}

#[test]
fn sack_may_share_the_lead() {
    let text = sentence(&[("sack", &[8.0, 8.1]), ("rack", &[8.1, 8.0])]);
    assert!(text.starts_with("sack and rack share the lead at 8.05 Mb/s"), "{text}");
    assert!(!text.contains("times"), "{text}");
}

#[test]
fn columns_and_finding_have_the_same_unit() {
    for (factor, unit, mean) in [(1e4, "Gb/s", "81.00"), (1e-3, "kb/s", "8.10")] {
        let goodputs = [8.0 * factor, 8.2 * factor];
        let mut comparison = of(&[("rack", &goodputs), ("sack", &goodputs)]);
        let all = comparison.reference.bps() * factor;
        comparison.reference = Reference::new(all, Limit::Links);
        let columns = columns(&comparison);
        assert_eq!((columns[1].short, columns[1].long), (unit, &*format!("Goodput, {unit}")));
        let summaries = summaries(&comparison);
        assert!(cells(&columns, &summaries)[0][1].starts_with(mean));
        let text = finding(&comparison, &summaries);
        assert!(text.contains(unit) && !text.contains("Mb/s"), "{text}");
    }
}

#[test]
fn the_thousands_of_counts_are_separated() {
    let comparison = fake::comparison();
    let cells = cells(&columns(&comparison), &summaries(&comparison));
    assert!(cells[0][3].starts_with("9,4"), "{:?}", cells[0]);
}

#[test]
fn a_single_run_has_no_interval_in_its_cell() {
    let mut comparison = fake::comparison();
    comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
    let cells = cells(&columns(&comparison), &summaries(&comparison));
    assert!(cells.iter().all(|line| !line[1].contains('±')), "{cells:?}");
    assert_eq!(effort(&comparison), "1 seed, 1000 s");
}

#[test]
fn the_effort_covers_all_runs() {
    let mut comparison = fake::comparison();
    let mut of = |times: [f64; 2]| {
        let rows = comparison.variants.iter_mut().flat_map(|v| &mut v.rows);
        rows.zip(times.into_iter().cycle()).for_each(|(row, s)| row.flow.duration_s = s);
        effort(&comparison)
    };
    assert_eq!(of([3.331_467, 17.320_034]), "5 seeds, 3.3 to 17.3 s each");
    assert_eq!(of([30.0, 30.004]), "5 seeds, 30 s each");
    assert_eq!(of([0.001, 0.150_02]), "5 seeds, 0.001 to 0.15 s each");
    comparison.variants.iter_mut().for_each(|v| v.rows.clear());
    assert_eq!(effort(&comparison), "0 seeds");
}

#[test]
fn no_variant_is_the_best_if_none_delivers_anything() {
    let mut comparison = fake::comparison();
    let rows = comparison.variants.iter_mut().flat_map(|v| &mut v.rows);
    rows.for_each(|row| row.flow.goodput_bps = 0.0);
    let summaries = summaries(&comparison);
    assert_eq!(best(&summaries), None);
    assert_eq!(finding(&comparison, &summaries), "No variant delivers anything.");
}

#[test]
fn absent_numbers_are_dashes() {
    let mut comparison = fake::comparison();
    comparison.reference = Reference::new(0.0, Limit::Links);
    comparison.variants[1].rows.clear();
    let cells = cells(&columns(&comparison), &summaries(&comparison));
    assert_eq!(cells[0][2], "–");
    assert_eq!(cells[1][1..], ["–"; 6]);
}
