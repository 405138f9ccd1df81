//! Verdicts on claims.

use super::samples::shortened;
use crate::expression::Held;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::short;

/// Whether a claim holds, with the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) holds: bool,
    /// Whether the claim holds if curves must be close at every point instead of on the mean; none
    /// if it compares no curves for closeness.
    pub(crate) at_every_point: Option<bool>,
    /// Whether all values are numbers. Without numbers neither a claim nor its contrary holds.
    pub(super) known: bool,
    /// The expectation.
    pub(crate) expected: String,
    /// The measured numbers.
    pub(crate) measured: String,
    held: Held,
}

/// The longest text of a verdict, in octets; a loop may double it at each step.
const MAX_TEXT: usize = 20_000;

impl Verdict {
    pub(super) fn new(holds: bool, known: bool, expected: String, measured: String) -> Self {
        let (expected, measured) = (shortened(expected, MAX_TEXT), shortened(measured, MAX_TEXT));
        let held = Held::new(expected.len() + measured.len());
        Self { holds, at_every_point: None, known, expected, measured, held }
    }

    /// Sets whether the verdict holds where curves must be close at every point.
    pub(super) fn with_every_point(self, at_every_point: Option<bool>) -> Self {
        Self { at_every_point, ..self }
    }
}

/// Formats an estimate as `mean ± half-width`.
pub(super) fn estimate(e: &Estimate) -> String {
    match e.half_width {
        half if half > 0.0 => format!("{} ± {}", short(e.mean), short(half)),
        _ => short(e.mean),
    }
}

/// The ending of the expectation that curves are close.
pub(super) const ON_THE_MEAN: &str = " on the mean of all points";
