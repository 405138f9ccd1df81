//! How near a measured number must be to what a paper says, in one place.

/// `within`: a range that the paper gives is widened by this share of its ends.
pub(crate) const RANGE: f64 = 0.10;
/// `near`: an absolute number that the paper gives.
pub(crate) const ABSOLUTE: f64 = 0.10;
/// `close`, `flat`: what the paper calls close, alike, the same or constant. Of curves `close` takes
/// the mean of all points.
pub(crate) const CLOSE: f64 = 0.05;
/// `above`, `below`, `falls`, `rises`: the level of the confidence interval of paired differences.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The tolerances in words, for the report.
pub(crate) fn in_words() -> String {
    let percent = |share: f64| format!("{} %", (share * 100.0).round());
    format!(
        "Ratios: within the paper’s own range ± {} of it. Absolute numbers: within {}. \
         “Close”, “the same” and “constant”: within {}, whole curves on the mean of all points, and \
         beside it at every point. Orderings: at every point, the mean \
         difference of the same seeds is beyond its {} confidence interval.",
        percent(RANGE),
        percent(ABSOLUTE),
        percent(CLOSE),
        percent(CONFIDENCE)
    )
}
