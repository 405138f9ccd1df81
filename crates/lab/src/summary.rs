//! What the seeds of one variant say together: the numbers that the table and the report share.

use unruffled_units::count;

use crate::metric::{self, Metric, Unit};
use crate::record::{Comparison, Medium, RunRow, VariantRuns};
use crate::reference::Reference;
use crate::statistics::Estimate;

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
pub fn columns(comparison: &Comparison) -> &'static [Column] {
    match comparison.medium {
        Medium::Simulation => SIMULATION,
        Medium::Wire => WIRE,
    }
}

/// What a terminal is not shown where the names leave no room for it, the least needed first.
pub(crate) const DISPENSABLE: [&str; 3] =
    [metric::DUPTHRESH.short, metric::DSACKS.short, metric::REORDERING_EVENTS.short];

/// What a cell says where there is no number.
const NONE: &str = "–";

impl Column {
    /// The column's cells, one for each summary; all have as many decimals.
    fn cells(&self, summaries: &[Summary<'_>]) -> Vec<String> {
        let each = |cell: &dyn Fn(&Summary<'_>) -> String| summaries.iter().map(cell).collect();
        let metric = match self.content {
            Content::Name => return each(&|s| s.variant.to_owned()),
            Content::Share => return each(&|s| number(s.share.mean * 100.0, 1)),
            Content::Mean(metric) => metric,
        };
        let mean = |s: &Summary<'_>| s.estimate(&metric).map_or(f64::NAN, |e| e.mean);
        match metric.unit {
            Unit::BitsPerSecond => {
                let decimals = goodput_decimals(summaries.iter().map(mean));
                let half = |s: &Summary<'_>| s.estimate(&metric).map_or(0.0, |e| e.half_width);
                each(&|s| match number(mean(s) / 1e6, decimals) {
                    mean if s.runs < 2 => mean,
                    mean => format!("{mean} ± {}", number(half(s) / 1e6, decimals)),
                })
            }
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

/// Decimals that show goodputs of this size, given in bits per second, as Mb/s to three digits, as far
/// as a terminal of 80 columns has room for them.
pub(crate) fn goodput_decimals(bps: impl IntoIterator<Item = f64>) -> usize {
    match bps.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max) / 1e6 {
        largest if largest >= 100.0 => 1,
        largest if largest >= 1.0 => 2,
        largest if largest >= 0.1 || largest == 0.0 => 3,
        largest if largest >= 0.01 => 4,
        _ => 5,
    }
}

/// `value` to so many decimals, or a dash if it is no number.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { NONE.to_owned() }
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

/// One sentence: who delivers most, how much of the undisturbed path that is, and what `sack` makes of it.
pub fn finding(comparison: &Comparison, summaries: &[Summary<'_>]) -> String {
    let Some(best) = best(summaries) else {
        let ran = summaries.iter().any(|s| s.runs > 0);
        return if ran { "No variant delivers anything." } else { "No variant ran." }.to_owned();
    };
    let decimals = goodput_decimals(summaries.iter().map(|s| s.goodput_bps.mean));
    let mbps = |bps: f64| format!("{}\u{a0}Mb/s", number(bps / 1e6, decimals));
    let mut text = format!("{} delivers {}", best.variant, mbps(best.goodput_bps.mean));
    if best.share.mean.is_finite() {
        let (share, all) = (best.share.mean * 100.0, mbps(comparison.reference.bps()));
        text += &format!(", {share:.0}\u{a0}% of the undisturbed path’s {all}");
    }
    match summaries.iter().find(|s| s.variant == "sack") {
        Some(sack) if sack.variant == best.variant && summaries.len() > 1 => {
            text += "; no other variant delivers more";
        }
        Some(sack) if sack.variant != best.variant && sack.goodput_bps.mean > 0.0 => {
            let ratio = best.goodput_bps.mean / sack.goodput_bps.mean;
            let decimals = usize::from(ratio < 10.0) + usize::from(ratio < 2.0);
            let sack = mbps(sack.goodput_bps.mean);
            text += &format!(" and {ratio:.decimals$} times what sack delivers ({sack})");
        }
        Some(sack) if sack.goodput_bps.mean == 0.0 => text += "; sack delivers nothing",
        _ => {}
    }
    match summaries.iter().filter(|s| s.variant != best.variant && overlap(s, best)).count() {
        0 => {}
        1 => text += "; the confidence interval of one other variant overlaps its own",
        n => text += &format!("; the confidence intervals of {n} other variants overlap its own"),
    }
    text + "."
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

    #[test]
    fn overlapping_intervals_are_owned_up_to() {
        let mut comparison = fake::comparison();
        comparison.variants.truncate(2);
        comparison.variants[1].rows = comparison.variants[0].rows.clone();
        let text = finding(&comparison, &summaries(&comparison));
        assert!(text.ends_with("interval of one other variant overlaps its own."), "{text}");
    }

    #[test]
    fn a_single_run_has_no_interval_in_its_cell() {
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.rows.truncate(1));
        let cells = cells(SIMULATION, &summaries(&comparison));
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
    fn a_slow_path_has_three_digits_as_well() {
        let decimals = [40e9, 2.88e6, 0.48e6, 64e3, 6.8e3, 0.0].map(|bps| goodput_decimals([bps]));
        assert_eq!(decimals, [1, 2, 3, 4, 5, 3]);
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
        let cells = cells(SIMULATION, &summaries(&comparison));
        assert_eq!(cells[0][2], "–");
        assert_eq!(cells[1][1..], ["–"; 6]);
    }
}
