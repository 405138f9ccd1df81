//! Tolerances: how near a measured number must be to the number of a paper.

/// `within`: the share of its ends by which a range of the paper is widened.
pub(crate) const RANGE_MARGIN: f64 = 0.10;
/// `near`: the relative difference from an absolute number of the paper.
pub(crate) const MAX_DISTANCE: f64 = 0.10;
/// `close`, `flat`: the relative difference of values that the paper calls close, alike, the same
/// or constant. For curves `close` takes the mean of all points.
pub(crate) const MAX_DIFFERENCE: f64 = 0.05;
/// `above`, `below`, `falls`, `rises`: the level of the confidence interval of paired differences.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Describes the tolerances, for the report.
pub(crate) fn in_words() -> String {
    let percent = |share: f64| format!("{} %", (share * 100.0).round());
    format!(
        "Ratios: within the paper’s own range ± {} of it. Absolute numbers: within {}. \
         “Close”, “the same” and “constant”: within {}, whole curves on the mean of all points, and \
         beside it at every point. Orderings: at every point, the mean \
         difference of the same seeds is beyond its {} confidence interval.",
        percent(RANGE_MARGIN),
        percent(MAX_DISTANCE),
        percent(MAX_DIFFERENCE),
        percent(CONFIDENCE)
    )
}
