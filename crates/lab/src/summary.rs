//! What the seeds of one variant say together: the numbers that the table and the report share.

use unruffled_units::count;

use crate::metric::{self, Metric, Unit};
use crate::rate::Scale;
use crate::record::{Comparison, Medium, RunRow, VariantRuns};
use crate::reference::Reference;
use crate::statistics::Estimate;
use crate::text::number;

/// The means over the seeds of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// Runs behind the means.
    pub runs: usize,
    /// Payload delivered in order, in bits per second.
    pub goodput_bps: Estimate,
    /// Goodput over the [`Reference`], seed by seed; 1 is all of it.
    pub share: Estimate,
    rows: &'a [RunRow],
}

impl<'a> Summary<'a> {
    fn of(runs: &'a VariantRuns, reference: &Reference) -> Self {
        let goodputs = || runs.rows.iter().map(|row| row.flow.goodput_bps);
        let share = |row: &RunRow| row.flow.goodput_bps / reference.at(row.seed);
        Self {
            variant: &runs.name,
            runs: runs.rows.len(),
            goodput_bps: Estimate::of(goodputs()),
            share: Estimate::of(runs.rows.iter().map(share)),
            rows: &runs.rows,
        }
    }

    /// The mean of a metric; none if no run has it.
    pub fn estimate(&self, metric: &Metric) -> Option<Estimate> {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| metric.of(row).number()).collect();
        (!values.is_empty() || !metric.is_optional()).then(|| Estimate::of(values))
    }
}

/// The metrics whose means are told after goodput and share.
pub(crate) const MEANS: [Metric; 7] = [
    metric::RETRANSMITS,
    metric::DSACKS,
    metric::REORDERING_EVENTS,
    metric::FAST_RETRANSMITS,
    metric::SPURIOUS_FAST_RETRANSMITS,
    metric::TIMEOUTS,
    metric::DUPTHRESH,
];

/// One summary per variant, in the order of the comparison.
pub fn summaries(comparison: &Comparison) -> Vec<Summary<'_>> {
    comparison.variants.iter().map(|v| Summary::of(v, &comparison.reference)).collect()
}

/// The variant with the highest mean goodput; the first of equals, none if nothing was delivered.
pub fn best<'s, 'a>(summaries: &'s [Summary<'a>]) -> Option<&'s Summary<'a>> {
    let delivers = summaries.iter().filter(|s| s.goodput_bps.mean > 0.0);
    delivers.reduce(|best, s| if s.goodput_bps.mean > best.goodput_bps.mean { s } else { best })
}

/// Those that share the lead, in the order of the comparison: the best one, and each whose confidence
/// interval overlaps the best one's or whose goodput is the same in all digits shown. Empty if nothing was
/// delivered.
pub fn leaders<'s, 'a>(
    comparison: &Comparison,
    summaries: &'s [Summary<'a>],
) -> Vec<&'s Summary<'a>> {
    let Some(best) = best(summaries) else { return Vec::new() };
    let scale = scale(comparison, summaries);
    let same =
        |s: &Summary<'_>| scale.number(s.goodput_bps.mean) == scale.number(best.goodput_bps.mean);
    summaries.iter().filter(|s| overlap(s, best) || same(s)).collect()
}

/// How the comparison's goodputs are shown, everywhere.
pub(crate) fn scale(comparison: &Comparison, summaries: &[Summary<'_>]) -> Scale {
    let means = summaries.iter().map(|s| s.goodput_bps.mean);
    Scale::beside(means, [comparison.reference.bps()])
}

/// A column of the results: its head where space is short, and where it is not.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// For a terminal of 80 columns.
    pub short: &'static str,
    /// For one in which the names leave less room.
    pub(crate) tight: &'static str,
    /// For a page.
    pub long: &'static str,
    content: Content,
}

/// What a column shows of a summary.
#[derive(Clone, Copy, Debug)]
enum Content {
    Name,
    /// The goodput, on the scale that all of the comparison's are on.
    Goodput(Scale),
    /// The share of the undisturbed path's goodput.
    Share,
    Mean(Metric),
}

const fn mean(metric: Metric) -> Column {
    let Metric { short, heading: long, .. } = metric;
    Column { short, tight: short, long, content: Content::Mean(metric) }
}

const VARIANT: Column =
    Column { short: "variant", tight: "variant", long: "Variant", content: Content::Name };
/// In Mb/s until [`columns`] knows the goodputs.
const GOODPUT: Column = mean(metric::GOODPUT);
const SHARE: Column =
    Column { short: "share %", tight: "share %", long: "Share,\u{a0}%", content: Content::Share };
const FAST: Column = Column { tight: "fast", ..mean(metric::FAST_RETRANSMITS) };
const SPURIOUS: Column = Column { tight: "spur.", ..mean(metric::SPURIOUS_FAST_RETRANSMITS) };
const TIMEOUTS: Column = Column { tight: "RTO", ..mean(metric::TIMEOUTS) };

/// The columns of a simulation.
const SIMULATION: &[Column] =
    &[VARIANT, GOODPUT, SHARE, FAST, SPURIOUS, TIMEOUTS, mean(metric::DUPTHRESH)];

/// The columns of real packets: what a kernel counts, too.
const WIRE: &[Column] = &[
    VARIANT,
    GOODPUT,
    SHARE,
    mean(metric::RETRANSMITS),
    mean(metric::DSACKS),
    mean(metric::REORDERING_EVENTS),
    Column { short: FAST.tight, ..FAST },
    Column { short: SPURIOUS.tight, ..SPURIOUS },
    Column { short: TIMEOUTS.tight, ..TIMEOUTS },
];

/// The columns of the results; [`cells`] fills them.
pub fn columns(comparison: &Comparison) -> Vec<Column> {
    let columns = match comparison.medium {
        Medium::Simulation => SIMULATION,
        Medium::Wire => WIRE,
    };
    let scale = scale(comparison, &summaries(comparison));
    let scaled = |column: &Column| match column.content {
        Content::Mean(Metric { unit: Unit::BitsPerSecond, .. }) => Column {
            short: scale.name(),
            tight: scale.name(),
            long: scale.heading(),
            content: Content::Goodput(scale),
        },
        _ => *column,
    };
    columns.iter().map(scaled).collect()
}

/// What a terminal is not shown where the names leave no room for it, the least needed first.
pub(crate) const DISPENSABLE: [&str; 3] =
    [metric::DUPTHRESH.short, metric::DSACKS.short, metric::REORDERING_EVENTS.short];

impl Column {
    /// The column's cells, one for each summary; all have as many decimals.
    fn cells(&self, summaries: &[Summary<'_>]) -> Vec<String> {
        let each = |cell: &dyn Fn(&Summary<'_>) -> String| summaries.iter().map(cell).collect();
        let metric = match self.content {
            Content::Name => return each(&|s| s.variant.to_owned()),
            Content::Share => return each(&|s| number(s.share.mean * 100.0, 1)),
            Content::Goodput(scale) => return each(&|s| goodput(s, scale)),
            Content::Mean(metric) => metric,
        };
        let mean = |s: &Summary<'_>| s.estimate(&metric).map_or(f64::NAN, |e| e.mean);
        match metric.unit {
            Unit::BitsPerSecond => each(&|s| number(mean(s) / 1e6, 2)),
            Unit::Share => each(&|s| number(mean(s) * 100.0, 1)),
            Unit::Times => {
                let broken = |v: f64| v.is_finite() && v.fract() != 0.0;
                let decimals = usize::from(summaries.iter().any(|s| broken(mean(s))));
                each(&|s| number(mean(s), decimals))
            }
            Unit::Segments | Unit::Seconds => each(&|s| number(mean(s), 1)),
        }
    }
}

/// The results as text: for each summary a line with a cell for each column.
pub fn cells(columns: &[Column], summaries: &[Summary<'_>]) -> Vec<Vec<String>> {
    let columns: Vec<_> = columns.iter().map(|column| column.cells(summaries)).collect();
    (0..summaries.len()).map(|i| columns.iter().map(|cells| cells[i].clone()).collect()).collect()
}

/// The goodput with its confidence interval, if there are runs enough for one.
pub(crate) fn goodput(summary: &Summary<'_>, scale: Scale) -> String {
    let Estimate { mean, half_width } = summary.goodput_bps;
    match scale.number(mean) {
        mean if summary.runs < 2 => mean,
        mean => format!("{mean} ± {}", scale.number(half_width)),
    }
}

/// How the runs were made: `5 seeds, 1000 s each`, or `3.3 to 17.3 s` where transfers have an end;
/// `0 seeds` if none was.
pub fn effort(comparison: &Comparison) -> String {
    let runs = comparison.variants.iter().map(|v| v.rows.len()).max().unwrap_or(0);
    let rows = comparison.variants.iter().flat_map(|v| &v.rows);
    let mut times: Vec<f64> = rows.map(|row| row.flow.duration_s).collect();
    times.sort_by(f64::total_cmp);
    let (Some(&shortest), Some(&longest)) = (times.first(), times.last()) else {
        return count(0, "seed");
    };
    let (shortest, longest) = (seconds(shortest), seconds(longest));
    let seconds = if shortest == longest { shortest } else { format!("{shortest} to {longest}") };
    let each = if runs == 1 { "" } else { " each" };
    format!("{}, {seconds} s{each}", count(runs, "seed"))
}

/// Seconds to one decimal, or to three digits if there is less than one of them.
fn seconds(time: f64) -> String {
    let rounded = if time < 1.0 { format!("{time:.2e}") } else { format!("{time:.1}") };
    rounded.parse().unwrap_or(time).to_string()
}

/// What the reference of shares is, in words: `in order, nothing lost; limit: link rates`.
pub fn reference_in_words(comparison: &Comparison) -> String {
    let alone = if comparison.beside.is_empty() { "" } else { ", no other traffic" };
    let limit = comparison.reference.limit.words();
    let how = match comparison.medium {
        Medium::Simulation => "",
        Medium::Wire => ", simulated",
    };
    format!("in order, nothing lost{alone}; limit: {limit}{how}")
}

/// One sentence: who delivers most, how much of the undisturbed path that is, and what `sack` makes of
/// it. Where it cannot be said who delivers most, it names all who share the lead.
pub fn finding(comparison: &Comparison, summaries: &[Summary<'_>]) -> String {
    let Some(best) = best(summaries) else {
        let ran = summaries.iter().any(|s| s.runs > 0);
        return if ran { "No variant delivers anything." } else { "No variant ran." }.to_owned();
    };
    let leaders = leaders(comparison, summaries);
    let scale = scale(comparison, summaries);
    let rate = |bps: f64| scale.with_unit(bps);
    let range = |of: &dyn Fn(&Summary<'_>) -> f64, decimals: usize| {
        let values = || leaders.iter().map(|s| of(s));
        let low = number(values().fold(f64::INFINITY, f64::min), decimals);
        let high = number(values().fold(f64::NEG_INFINITY, f64::max), decimals);
        if low == high { high } else { format!("{low} to {high}") }
    };
    let mut text = match leaders.as_slice() {
        [_] => format!("{} delivers {}", best.variant, rate(best.goodput_bps.mean)),
        _ => lead(&leaders, scale),
    };
    if best.share.mean.is_finite() {
        let share = range(&|s| s.share.mean * 100.0, 0);
        let all = rate(comparison.reference.bps());
        text += &format!(", {share}\u{a0}% of the undisturbed path’s {all}");
    }
    match summaries.iter().find(|s| s.variant == "sack") {
        Some(sack) if leaders == [sack] && summaries.len() > 1 => {
            text += "; no other variant delivers more";
        }
        Some(sack) if leaders.contains(&sack) => {}
        Some(sack) if sack.goodput_bps.mean > 0.0 => {
            let of = |s: &Summary<'_>| s.goodput_bps.mean / sack.goodput_bps.mean;
            let ratio = of(best);
            let times = range(&of, usize::from(ratio < 10.0) + usize::from(ratio < 2.0));
            text +=
                &format!(" and {times} times what sack delivers ({})", rate(sack.goodput_bps.mean));
        }
        Some(sack) if sack.goodput_bps.mean == 0.0 => text += "; sack delivers nothing",
        _ => {}
    }
    text + reason(best, &leaders, summaries).as_str() + "."
}

/// Who shares the lead, and at what: `rr-ta and rack share the lead at 2.85 to 2.88 Mb/s`.
fn lead(leaders: &[&Summary<'_>], scale: Scale) -> String {
    let bps = || leaders.iter().map(|s| s.goodput_bps.mean);
    let low = scale.number(bps().fold(f64::INFINITY, f64::min));
    let high = bps().fold(f64::NEG_INFINITY, f64::max);
    let to = if low == scale.number(high) { String::new() } else { format!("{low} to ") };
    let names: Vec<&str> = leaders.iter().map(|s| s.variant).collect();
    format!("{} share the lead at {to}{}", listed(&names), scale.with_unit(high))
}

/// Why there are several leaders, or what is missing to tell a difference from chance.
fn reason(best: &Summary<'_>, leaders: &[&Summary<'_>], all: &[Summary<'_>]) -> String {
    let others = leaders.iter().filter(|s| s.variant != best.variant);
    let overlapping: Vec<&str> = others.filter(|s| overlap(s, best)).map(|s| s.variant).collect();
    match (overlapping.as_slice(), leaders.len()) {
        ([], 1) if best.runs < 2 && all.len() > 1 => {
            "; of single runs, a difference may be chance".to_owned()
        }
        ([], 1) => String::new(),
        ([], _) => "; they are the same in all digits shown".to_owned(),
        ([_], 2) => "; their 95\u{a0}% confidence intervals overlap".to_owned(),
        ([other], _) => format!(
            "; the 95\u{a0}% confidence interval of {other} overlaps that of {}",
            best.variant
        ),
        (others, _) => format!(
            "; the 95\u{a0}% confidence intervals of {} overlap that of {}",
            listed(others),
            best.variant
        ),
    }
}

/// Names as a sentence lists them: `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// Whether the confidence intervals of two goodputs touch; single runs have none.
fn overlap(a: &Summary<'_>, b: &Summary<'_>) -> bool {
    let distance = (a.goodput_bps.mean - b.goodput_bps.mean).abs();
    a.runs > 1 && b.runs > 1 && distance <= a.goodput_bps.half_width + b.goodput_bps.half_width
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;
    use crate::reference::Limit;

    #[test]
    fn the_finding_names_the_best_variant_and_what_sack_makes_of_the_path() {
        let comparison = fake::comparison();
        let text = finding(&comparison, &summaries(&comparison));
        assert!(text.starts_with("rr-ta-rtx delivers 8.9"), "{text}");
        assert!(text.contains("of the undisturbed path’s 9.50\u{a0}Mb/s"), "{text}");
        assert!(text.contains("times what sack delivers (1.2"), "{text}");
    }

    #[test]
    fn the_finding_does_without_sack() {
        let mut comparison = fake::comparison();
        comparison.variants.remove(0);
        let text = finding(&comparison, &summaries(&comparison));
        assert!(!text.contains("sack"), "{text}");
    }

    /// A comparison of these senders, each with its runs' goodputs in Mb/s, on a path of 10 Mb/s.
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

    fn sentence(senders: &[(&str, &[f64])]) -> String {
        let comparison = of(senders);
        finding(&comparison, &summaries(&comparison)).replace('\u{a0}', " ")
    }

    #[test]
    fn overlapping_intervals_share_the_lead_by_name() {
        // Of three runs, one off the mean by 0.1 to each side, the standard deviation is 0.1 and
        // t(0.975, 2) = 4.303: the half-width is 4.303 * 0.1 / sqrt 3 = 0.248.
        let near = |mean: f64| [mean - 0.1, mean, mean + 0.1];
        // 8.00 + 0.248 reaches 8.496 - 0.248 = 8.248, but not 8.50 - 0.248 = 8.252.
        let (low, touching, apart) = (near(8.0), near(8.496), near(8.5));
        let text = sentence(&[("rr-ta", &low), ("rack", &touching), ("sack", &near(2.0))]);
        let wanted = "rr-ta and rack share the lead at 8.00 to 8.50 Mb/s, 80 to 85 % of the \
                      undisturbed path’s 10.00 Mb/s and 4.0 to 4.2 times what sack delivers (2.00 Mb/s); \
                      their 95 % confidence intervals overlap.";
        assert_eq!(text, wanted);
        let text = sentence(&[("rr-ta", &low), ("rack", &apart)]);
        assert_eq!(text, "rack delivers 8.50 Mb/s, 85 % of the undisturbed path’s 10.00 Mb/s.");
        // The interval of rr-fa, 7.9 to 8.396, overlaps those of both others; theirs lie apart.
        let text = sentence(&[("rr-ta", &low), ("rr-fa", &near(8.148)), ("rack", &apart)]);
        assert!(text.starts_with("rr-fa and rack share the lead at 8.15 to 8.50 Mb/s"), "{text}");
        let text = sentence(&[("rack", &apart), ("a", &touching), ("b", &near(8.3))]);
        assert!(text.starts_with("rack, a and b share the lead"), "{text}");
        assert!(text.ends_with("intervals of a and b overlap that of rack."), "{text}");
    }

    #[test]
    fn no_winner_is_named_where_the_difference_is_not_significant() {
        // Welch's t of two means that lie further apart than the sum of their half-widths is beyond
        // Student's quantile, whatever the spreads: for random pairs, a single leader is significant.
        let mut state = 7_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut single = 0;
        for _ in 0..500 {
            let wide = [draw(), draw() * 4.0];
            let mut runs = |mean: f64, wide: f64| -> Vec<f64> {
                (0..2 + (draw() * 4.0) as usize).map(|_| mean + wide * (draw() - 0.5)).collect()
            };
            let (a, b) = (runs(5.0, wide[0]), runs(6.0, wide[1]));
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

    /// Welch's test at 5 %.
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
    fn of_single_runs_those_that_read_the_same_share_the_lead() {
        let text = sentence(&[("rr-ta", &[8.121]), ("rack", &[8.119]), ("sack", &[1.0])]);
        assert!(text.starts_with("rr-ta and rack share the lead at 8.12 Mb/s, 81 % of"), "{text}");
        assert!(text.ends_with("; they are the same in all digits shown."), "{text}");
        let text = sentence(&[("rr-ta", &[8.13]), ("rack", &[8.12])]);
        assert!(text.starts_with("rr-ta delivers 8.13 Mb/s"), "{text}");
        assert!(text.ends_with("; of single runs, a difference may be chance."));
        assert!(!sentence(&[("rr-ta", &[8.13])]).contains("chance"), "nothing differs");
    }

    #[test]
    fn intervals_too_small_to_show_do_not_make_a_winner() {
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
    fn columns_and_sentence_have_one_unit() {
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
    fn counts_have_their_thousands_apart() {
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
    fn the_effort_is_that_of_all_runs() {
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
    fn of_nothing_no_variant_is_the_best() {
        let mut comparison = fake::comparison();
        let rows = comparison.variants.iter_mut().flat_map(|v| &mut v.rows);
        rows.for_each(|row| row.flow.goodput_bps = 0.0);
        let summaries = summaries(&comparison);
        assert_eq!(best(&summaries), None);
        assert_eq!(finding(&comparison, &summaries), "No variant delivers anything.");
    }

    #[test]
    fn missing_numbers_are_dashes() {
        let mut comparison = fake::comparison();
        comparison.reference = Reference::new(0.0, Limit::Links);
        comparison.variants[1].rows.clear();
        let cells = cells(&columns(&comparison), &summaries(&comparison));
        assert_eq!(cells[0][2], "–");
        assert_eq!(cells[1][1..], ["–"; 6]);
    }
}
