//! What the seeds of one variant say together: the numbers that the table and the report share.

use crate::record::{Comparison, Row, VariantRuns};
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
    /// Goodput over the goodput of the undisturbed path; 1 is all of it.
    pub share: Estimate,
    /// Times that loss detection entered recovery.
    pub fast_retransmits: Estimate,
    /// Those of which every retransmission proved needless.
    pub false_fast_retransmits: Estimate,
    /// Retransmission timeouts.
    pub timeouts: Estimate,
    /// Mean over time of the duplicate threshold; none for senders that work in time alone.
    pub dupthresh: Option<Estimate>,
}

impl<'a> Summary<'a> {
    fn of(runs: &'a VariantRuns, undisturbed_bps: f64) -> Self {
        let mean = |field: fn(&Row) -> f64| Estimate::of(runs.rows.iter().map(field));
        let dupthresh: Vec<f64> = runs.rows.iter().filter_map(|row| row.dupthresh_mean).collect();
        Self {
            variant: &runs.name,
            runs: runs.rows.len(),
            goodput_bps: mean(|row| row.goodput_bps),
            share: Estimate::of(runs.rows.iter().map(|row| row.goodput_bps / undisturbed_bps)),
            fast_retransmits: mean(|row| row.fast_retransmits as f64),
            false_fast_retransmits: mean(|row| row.false_fast_retransmits as f64),
            timeouts: mean(|row| row.timeouts as f64),
            dupthresh: (!dupthresh.is_empty()).then(|| Estimate::of(dupthresh)),
        }
    }
}

/// One summary per variant, in the order of the comparison.
pub fn summaries(comparison: &Comparison) -> Vec<Summary<'_>> {
    comparison.variants.iter().map(|v| Summary::of(v, comparison.undisturbed_bps)).collect()
}

/// The variant with the highest mean goodput; the first of equals, none if nothing ran.
pub fn best<'s, 'a>(summaries: &'s [Summary<'a>]) -> Option<&'s Summary<'a>> {
    let ran = summaries.iter().filter(|s| s.goodput_bps.mean.is_finite());
    ran.reduce(|best, s| if s.goodput_bps.mean > best.goodput_bps.mean { s } else { best })
}

/// A column of the results: its head where space is short, and where it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// For a terminal of 80 columns.
    pub short: &'static str,
    /// For a page.
    pub long: &'static str,
}

const fn column(short: &'static str, long: &'static str) -> Column {
    Column { short, long }
}

/// The columns of the results; [`cells`] fills them.
pub const COLUMNS: [Column; 7] = [
    column("variant", "Variant"),
    column("Mb/s", "Goodput, Mb/s"),
    column("share %", "Share,\u{a0}%"),
    column("fast rtx", "Fast retransmits"),
    column("false", "of\u{a0}these false"),
    column("timeouts", "Timeouts"),
    column("dupthresh", "Mean dupthresh"),
];

/// What a cell says where there is no number.
const NONE: &str = "–";

/// The results as text, one line of [`COLUMNS`] per summary; a column has as many decimals in every line.
pub fn cells(summaries: &[Summary<'_>]) -> Vec<[String; COLUMNS.len()]> {
    let goodput = goodput_decimals(summaries.iter().map(|s| s.goodput_bps.mean));
    let counts = |field: fn(&Summary<'_>) -> f64| {
        let values: Vec<f64> = summaries.iter().map(field).collect();
        let decimals = usize::from(values.iter().any(|v| v.is_finite() && v.fract() != 0.0));
        values.into_iter().map(|v| number(v, decimals)).collect::<Vec<_>>()
    };
    let fast = counts(|s| s.fast_retransmits.mean);
    let falsely = counts(|s| s.false_fast_retransmits.mean);
    let timeouts = counts(|s| s.timeouts.mean);
    let line = |(i, s): (usize, &Summary<'_>)| {
        [
            s.variant.to_owned(),
            match number(s.goodput_bps.mean / 1e6, goodput) {
                mean if s.runs < 2 => mean,
                mean => format!("{mean} ± {}", number(s.goodput_bps.half_width / 1e6, goodput)),
            },
            number(s.share.mean * 100.0, 1),
            fast[i].clone(),
            falsely[i].clone(),
            timeouts[i].clone(),
            s.dupthresh.map_or_else(|| NONE.to_owned(), |d| number(d.mean, 1)),
        ]
    };
    summaries.iter().enumerate().map(line).collect()
}

/// Decimals that show goodputs of this size, given in bits per second, as Mb/s to three digits.
pub(crate) fn goodput_decimals(bps: impl IntoIterator<Item = f64>) -> usize {
    match bps.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max) / 1e6 {
        largest if largest >= 100.0 => 1,
        largest if largest >= 1.0 => 2,
        _ => 3,
    }
}

/// `value` to so many decimals, or a dash if it is no number.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { NONE.to_owned() }
}

/// How the runs were made: `5 seeds, 1000 s each`.
pub fn effort(comparison: &Comparison) -> String {
    let runs = comparison.variants.iter().map(|v| v.rows.len()).max().unwrap_or(0);
    let mut rows = comparison.variants.iter().flat_map(|v| &v.rows);
    let seconds = rows.next().map_or(0.0, |row| row.duration_s);
    let seconds = number(seconds, usize::from(seconds.fract() != 0.0));
    match runs {
        1 => format!("1 seed, {seconds} s"),
        _ => format!("{runs} seeds, {seconds} s each"),
    }
}

/// One sentence: who delivers most, how much of the undisturbed path that is, and what `sack` makes of it.
pub fn finding(comparison: &Comparison, summaries: &[Summary<'_>]) -> String {
    let Some(best) = best(summaries) else {
        return "No variant ran.".to_owned();
    };
    let decimals = goodput_decimals(summaries.iter().map(|s| s.goodput_bps.mean));
    let mbps = |bps: f64| format!("{}\u{a0}Mb/s", number(bps / 1e6, decimals));
    let mut text = format!("{} delivers {}", best.variant, mbps(best.goodput_bps.mean));
    if best.share.mean.is_finite() {
        let (share, all) = (best.share.mean * 100.0, mbps(comparison.undisturbed_bps));
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
    use crate::report::fake;

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
        let cells = cells(&summaries(&comparison));
        assert!(cells.iter().all(|line| !line[1].contains('±')), "{cells:?}");
        assert_eq!(effort(&comparison), "1 seed, 1000 s");
    }

    #[test]
    fn missing_numbers_are_dashes() {
        let mut comparison = fake::comparison();
        comparison.undisturbed_bps = 0.0;
        comparison.variants[1].rows.clear();
        let cells = cells(&summaries(&comparison));
        assert_eq!(cells[0][2], "–");
        assert_eq!(cells[1][1..], ["–"; 6]);
    }
}
