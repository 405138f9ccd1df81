//! Curves over time, thinned so that the extremes of each span remain.

use serde::Serialize;
use unruffled_units::{Duration, Instant};

/// The points that a span has at most: its first, smallest, largest and last.
const POINTS_PER_SPAN: u32 = 4;

/// Name and unit of a curve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CurveInfo {
    /// The name, for [`Recording::curve`](super::Recording::curve).
    pub name: String,
    /// The name for people.
    pub label: String,
    /// The unit of the values.
    pub unit: &'static str,
    /// Whether a value stays until the next point.
    pub step: bool,
}

/// A curve in progress.
#[derive(Clone, Debug)]
struct Curve {
    info: CurveInfo,
    /// Points of the spans that are over.
    points: Vec<(Instant, f64)>,
    /// Number of the current span, and its first, smallest, largest and last points.
    span: u64,
    current: Option<[(Instant, f64); 4]>,
}

impl Curve {
    fn add(&mut self, now: Instant, value: f64, span: u64) {
        if !value.is_finite() {
            return;
        }
        let point = (now, value);
        match &mut self.current {
            Some([_, smallest, largest, last]) if self.span == span => {
                if value < smallest.1 {
                    *smallest = point;
                }
                if value > largest.1 {
                    *largest = point;
                }
                *last = point;
            }
            _ => {
                let over = self.over();
                self.points.extend(over);
                self.span = span;
                self.current = Some([point; 4]);
            }
        }
    }

    /// Returns the points of the current span.
    fn over(&self) -> Vec<(Instant, f64)> {
        let Some(current) = self.current else { return Vec::new() };
        let mut points = current.to_vec();
        points.sort_by_key(|(at, _)| *at);
        points.dedup();
        points
    }
}

/// The curves of a run.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    curves: Vec<Curve>,
    /// The length of a span.
    span: Duration,
}

impl Curves {
    /// Creates no curves, for a run of that length, of at most `points` points each.
    pub(super) fn new(length: Duration, points: u32) -> Self {
        let spans = u64::from((points / POINTS_PER_SPAN).max(1));
        Self { curves: Vec::new(), span: (length / spans).max(Duration::from_nanos(1)) }
    }

    /// Adds a curve, and returns its number.
    pub(super) fn open(&mut self, info: CurveInfo) -> usize {
        if let Some(at) = self.curves.iter().position(|curve| curve.info.name == info.name) {
            return at;
        }
        self.curves.push(Curve { info, points: Vec::new(), span: 0, current: None });
        self.curves.len() - 1
    }

    /// Adds a point to a curve.
    pub(super) fn add(&mut self, curve: usize, now: Instant, value: f64) {
        let span = now.as_nanos() / self.span.as_nanos();
        if let Some(curve) = self.curves.get_mut(curve) {
            curve.add(now, value, span);
        }
    }

    /// Returns the names and units of the curves that have points.
    pub(super) fn list(&self) -> Vec<CurveInfo> {
        let drawn = self.curves.iter().filter(|curve| curve.current.is_some());
        drawn.map(|curve| curve.info.clone()).collect()
    }

    /// Returns the points of a curve, times in seconds and values in turn.
    pub(super) fn points(&self, name: &str) -> Vec<f64> {
        let curve = self.curves.iter().find(|curve| curve.info.name == name);
        let Some(curve) = curve else { return Vec::new() };
        let points = curve.points.iter().copied().chain(curve.over());
        points.flat_map(|(at, value)| [at.as_secs_f64(), value]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_of_each_span_remain() {
        let mut curves = Curves::new(Duration::from_secs(10), 8);
        let info = CurveInfo { name: "cwnd".into(), label: "cwnd".into(), unit: "", step: true };
        let cwnd = curves.open(info);
        // Two spans of 5 s. In the first the value rises from 10 to 59, and is 1 at 3.1 s only.
        for i in 0..100 {
            let value = if i == 31 { 1.0 } else { f64::from(10 + i) };
            curves.add(cwnd, Instant::from_millis(100 * i as u64), value);
        }
        let points = curves.points("cwnd");
        assert_eq!(points[..6], [0.0, 10.0, 3.1, 1.0, 4.9, 59.0]);
        assert_eq!(points[6..], [5.0, 60.0, 9.9, 109.0]);
    }
}
