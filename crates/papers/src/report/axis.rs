//! An axis: its range, positions and ticks.

use unruffled_lab::text::grouped;

/// A linear, logarithmic or evenly spaced axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// The values of an evenly spaced axis; empty for the others.
    even: Vec<f64>,
}

/// The smallest range that can be divided into steps.
const MIN_SPAN: f64 = 1e-299;
/// The approximate number of ticks.
const TICKS: f64 = 6.0;

impl Axis {
    /// Returns an axis from `low` to `high`; an invalid range is replaced by a valid one.
    pub(super) fn new(low: f64, high: f64, log: bool) -> Self {
        let span = high - low;
        let fits = span.is_finite() && span > MIN_SPAN && !(log && low <= 0.0);
        let (low, high) = match (fits, log) {
            (true, _) => (low, high),
            (false, true) if (MIN_SPAN..1e300).contains(&high) => (high / 10.0, high * 1.1),
            (false, true) => (1.0, 10.0),
            (false, false) if low.is_finite() && low == high && low.abs() > MIN_SPAN => {
                (low - low.abs() / 2.0, low + low.abs() / 2.0)
            }
            (false, false) => (0.0, 1.0),
        };
        Self { low, high, log, even: Vec::new() }
    }

    /// Returns an axis with only these values, evenly spaced.
    pub(super) fn even(values: Vec<f64>) -> Self {
        Self { even: values, ..Self::new(0.0, 1.0, false) }
    }

    /// Returns an axis for these values, with some room at its ends. A linear axis begins at zero
    /// if `zero`.
    pub(super) fn of(values: impl IntoIterator<Item = f64>, log: bool, zero: bool) -> Self {
        let fit = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let mut low = f64::INFINITY;
        let mut high = f64::NEG_INFINITY;
        for value in values.into_iter().filter(fit) {
            low = low.min(value);
            high = high.max(value);
        }
        if log {
            return Self::new(low / 1.15, high * 1.15, true);
        }
        if zero {
            low = low.min(0.0);
            high = high.max(0.0);
        }
        let room = (high - low) * 0.04;
        let below = if low == 0.0 { 0.0 } else { room };
        Self::new(low - below, high + room, false)
    }

    /// Returns the range of the axis.
    pub(super) fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }

    /// Returns the position of the value from 0 to 1; none beyond the ends, which belong to the
    /// axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !self.even.is_empty() {
            let at = self.even.iter().position(|&even| even == value)?;
            return Some((at as f64 + 0.5) / self.even.len() as f64);
        }
        let place = match self.log {
            true if value <= 0.0 => return None,
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        (-1e-9..=1.0 + 1e-9).contains(&place).then_some(place)
    }

    /// Returns the position of the value, clamped to the ends; none for NaN.
    pub(super) fn clamped(&self, value: f64) -> Option<f64> {
        (!value.is_nan()).then(|| self.place(value.clamp(self.low, self.high)).unwrap_or(0.0))
    }

    /// Returns the positions and labels of the ticks.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = match (self.even.is_empty(), self.log) {
            (false, _) => self.even.clone(),
            (true, true) => self.decades(),
            (true, false) => self.steps(),
        };
        let inside = values.into_iter().filter_map(|v| Some((self.place(v)?, label(v))));
        inside.collect()
    }

    fn steps(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / TICKS;
        let unit = 10_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * unit >= rough * 0.999);
        let step = factor.unwrap_or(10.0) * unit;
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        // Ten digits: 3 · 0.1 is 0.3.
        let tidy = |v: f64| format!("{v:.9e}").parse().unwrap_or(v);
        (first..=last).map(|i| tidy(i as f64 * step)).collect()
    }

    fn decades(&self) -> Vec<f64> {
        let span = (self.high / self.low).log10();
        let parts: &[f64] = match span {
            s if s < 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        // At most about eight decades have labels.
        let every = (span / 8.0).ceil().max(1.0) as i32;
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (first..=last).filter(|decade| decade % every == 0);
        decades
            .flat_map(|d| parts.iter().map(move |p| format!("{p}e{d}")))
            .filter_map(|t| t.parse().ok())
            .collect()
    }
}

/// Formats a number on an axis.
pub(super) fn label(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:e}");
    }
    let text = format!("{value}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    grouped(whole) + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Axis::new(0.0, 30.0, false)), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(labels(Axis::new(0.0, 1.0, false)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(
            labels(Axis::new(-0.01, 0.013, false)),
            ["-0.01", "-0.005", "0", "0.005", "0.01"]
        );
        assert_eq!(labels(Axis::new(0.5, 40.0, true)), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(
            labels(Axis::new(1e-6, 1e-2, true)),
            ["1e-6", "1e-5", "0.0001", "0.001", "0.01"]
        );
    }

    #[test]
    fn values_are_positioned_between_the_ends() {
        let axis = Axis::new(1.0, 100.0, true);
        assert_eq!(axis.place(10.0), Some(0.5));
        assert_eq!((axis.place(0.0), axis.place(200.0)), (None, None));
        assert_eq!((axis.clamped(200.0), axis.clamped(f64::NAN)), (Some(1.0), None));
    }

    #[test]
    fn values_on_an_even_axis_are_equally_far_apart() {
        let axis = Axis::even(vec![0.0, 4.0, 10.0, 500.0]);
        let places = [0.0, 4.0, 10.0, 500.0].map(|value| axis.place(value));
        assert_eq!(places, [Some(0.125), Some(0.375), Some(0.625), Some(0.875)]);
        assert_eq!(axis.place(5.0), None, "it has no other values");
        assert_eq!(labels(axis), ["0", "4", "10", "500"]);
    }

    #[test]
    fn an_axis_without_values_is_valid() {
        for log in [false, true] {
            for axis in [
                Axis::of([], log, true),
                Axis::of([f64::NAN, 0.0], log, false),
                Axis::of([5.0], log, false),
                Axis::new(3.0, 1.0, log),
                Axis::new(0.0, 5e-324, log),
                Axis::of([5e-324, 1e-323], log, false),
                Axis::new(-f64::MAX, f64::MAX, log),
            ] {
                assert!(axis.low < axis.high && !axis.ticks().is_empty(), "{axis:?}");
            }
        }
    }
}
