//! The means over the seeds of one variant, and the leading variants.

use crate::metric::{self, Metric};
use crate::rate::Scale;
use crate::record::{Comparison, RunRow, VariantRuns};
use crate::reference::Reference;
use crate::statistics::Estimate;

/// The means over the seeds of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The variant's name.
    pub variant: &'a str,
    /// The number of runs.
    pub runs: usize,
    /// The payload delivered in order, in bits per second.
    pub goodput_bps: Estimate,
    /// The goodput divided by the [`Reference`], seed by seed.
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

    /// Returns the mean of a metric; none if no run has it.
    pub fn estimate(&self, metric: &Metric) -> Option<Estimate> {
        let values: Vec<f64> = self.rows.iter().filter_map(|row| metric.of(row).number()).collect();
        (!values.is_empty() || !metric.is_optional()).then(|| Estimate::of(values))
    }
}

/// The metrics whose means follow the goodput and the share in JSON.
pub(crate) const MEANS: [Metric; 7] = [
    metric::RETRANSMITS,
    metric::DSACKS,
    metric::REORDERING_EVENTS,
    metric::FAST_RETRANSMITS,
    metric::SPURIOUS_FAST_RETRANSMITS,
    metric::TIMEOUTS,
    metric::DUPTHRESH,
];

/// Returns a summary for each variant, in the order of the comparison.
pub fn summaries(comparison: &Comparison) -> Vec<Summary<'_>> {
    comparison.variants.iter().map(|v| Summary::of(v, &comparison.reference)).collect()
}

/// Returns the variant with the highest mean goodput, the first of equal ones; none if all goodputs
/// are zero.
pub fn best<'s, 'a>(summaries: &'s [Summary<'a>]) -> Option<&'s Summary<'a>> {
    let delivers = summaries.iter().filter(|s| s.goodput_bps.mean > 0.0);
    delivers.reduce(|best, s| if s.goodput_bps.mean > best.goodput_bps.mean { s } else { best })
}

/// Returns the variants that share the lead, in the order of the comparison: the best one, and each
/// whose confidence interval overlaps that of the best one, or whose goodput has the same digits.
/// Empty if no variant delivers anything.
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

/// Returns the scale of the goodputs of a comparison.
pub(crate) fn scale(comparison: &Comparison, summaries: &[Summary<'_>]) -> Scale {
    let means = summaries.iter().map(|s| s.goodput_bps.mean);
    Scale::beside(means, [comparison.reference.bps()])
}

/// Returns whether the confidence intervals of two goodputs overlap; single runs have none.
pub(super) fn overlap(a: &Summary<'_>, b: &Summary<'_>) -> bool {
    let distance = (a.goodput_bps.mean - b.goodput_bps.mean).abs();
    a.runs > 1 && b.runs > 1 && distance <= a.goodput_bps.half_width + b.goodput_bps.half_width
}
