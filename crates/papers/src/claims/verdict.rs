//! Whether samples are as a paper says.

use super::samples::shortened;
use crate::expression::Held;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::short;

/// Whether a claim holds, with the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) holds: bool,
    /// Whether it holds where curves are close only if they are so at every point, in place of on the
    /// mean; none for what compares no curves so.
    pub(crate) at_every_point: Option<bool>,
    /// Whether all of it was numbers: what was not holds nothing, nor does its contrary.
    pub(super) known: bool,
    /// What should be.
    pub(crate) expected: String,
    /// What is.
    pub(crate) measured: String,
    held: Held,
}

/// Octets of a verdict's texts at most: a loop may double them at each step.
const TEXT: usize = 20_000;

impl Verdict {
    pub(super) fn new(holds: bool, known: bool, expected: String, measured: String) -> Self {
        let (expected, measured) = (shortened(expected, TEXT), shortened(measured, TEXT));
        let held = Held::new(expected.len() + measured.len());
        Self { holds, at_every_point: None, known, expected, measured, held }
    }

    /// Sets whether the verdict holds where curves must be close at every point.
    pub(super) fn with_every_point(self, at_every_point: Option<bool>) -> Self {
        Self { at_every_point, ..self }
    }
}

/// `mean ± half-width`.
pub(super) fn estimate(e: &Estimate) -> String {
    match e.half_width {
        half if half > 0.0 => format!("{} ± {}", short(e.mean), short(half)),
        _ => short(e.mean),
    }
}

/// Ends what is expected of curves that are to be close.
pub(super) const ON_THE_MEAN: &str = " on the mean of all points";
