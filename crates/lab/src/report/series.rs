//! A quantity over time, one panel per variant on common axes: the congestion window, the duplicate
//! threshold.

use plotters::element::{Circle, Rectangle};
use plotters::series::LineSeries;
use plotters::style::Color;

use super::Panel;
use super::palette;
use super::plot::{self, Axes, PANEL};
use super::thin;
use crate::record::{Comparison, Episode, Trace, VariantRuns};

/// Slices of time that a panel can show apart.
const COLUMNS: usize = 400;

/// A quantity over time.
pub(super) struct TracedQuantity {
    /// Its series in a trace.
    pub(super) points: fn(&Trace) -> &[(f64, f64)],
    /// Its name.
    pub(super) name: &'static str,
    /// The label of its axis.
    pub(super) label: &'static str,
    /// What it does between two points.
    pub(super) between: Between,
}

/// What a quantity does between two points, and after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// It moves from one to the next.
    Moves,
    /// It stays as it is until it is something else: to the end.
    Stays,
    /// It is a mean from each point to the next: the last one only closes.
    Mean,
}

impl TracedQuantity {
    const fn new(
        points: fn(&Trace) -> &[(f64, f64)],
        (name, label): (&'static str, &'static str),
        between: Between,
    ) -> Self {
        Self { points, name, label, between }
    }
}

/// What arrives in order.
pub(super) const DELIVERED: TracedQuantity =
    TracedQuantity::new(|trace| &trace.delivered, ("Goodput", "goodput (Mb/s)"), Between::Mean);

/// The window.
pub(super) const CWND: TracedQuantity = TracedQuantity::new(
    |trace| &trace.cwnd,
    ("Congestion window", "cwnd (segments)"),
    Between::Moves,
);

/// How many duplicates make a loss.
pub(super) const DUPTHRESH: TracedQuantity = TracedQuantity::new(
    |trace| &trace.dupthresh,
    ("Duplicate threshold", "dupthresh (segments)"),
    Between::Stays,
);

/// How long a segment may be in flight before it is sent again.
pub(super) const PATIENCE: TracedQuantity = TracedQuantity::new(
    |trace| &trace.patience,
    ("Wait before resending", "wait (ms)"),
    Between::Stays,
);

/// One panel for each variant that has the quantity.
pub(super) fn panels(comparison: &Comparison, quantity: &TracedQuantity) -> Vec<Panel> {
    let traces = || comparison.variants.iter().map(|v| (quantity.points)(&v.trace));
    let time = plot::span(traces().flatten().map(|p| p.0));
    let highest = plot::span(traces().flatten().map(|p| p.1)).end;
    let axes = Axes {
        x: time.start.min(0.0)..plot::round_up(time.end),
        y: 0.0..highest * 1.05,
        x_label: "time (s)",
        y_label: quantity.label,
    };
    let panel = |(i, variant): (usize, &VariantRuns)| {
        let mut points = thin::line((quantity.points)(&variant.trace), COLUMNS);
        let last = points.last()?.0;
        match quantity.between {
            Between::Moves => {}
            Between::Stays => points = steps(&points, time.end),
            Between::Mean => points = steps(&points, last),
        }
        let label = format!("{} of {} over time", quantity.name, variant.name);
        let svg = plot::svg(PANEL, &label, |area| {
            let colour = palette::variant(i).colour();
            let mut chart = plot::chart(area, &axes)?;
            let shade = |e: &Episode| {
                let corners = [(e.from_s, axes.y.start), (e.until_s, axes.y.end)];
                Rectangle::new(corners, palette::SHADE.colour().filled())
            };
            chart.draw_series(comparison.episodes.iter().map(shade))?;
            // A line of one point would not be seen.
            let only = (points.len() == 1).then(|| Circle::new(points[0], 4, colour.filled()));
            chart.draw_series(only)?;
            chart.draw_series(LineSeries::new(points, colour.stroke_width(3))).map(drop)
        });
        Some(Panel::new(i, variant, "", svg))
    };
    comparison.variants.iter().enumerate().filter_map(panel).collect()
}

/// The corners of a line that keeps each value until the next, the last one until `end`.
pub(super) fn steps(points: &[(f64, f64)], end: f64) -> Vec<(f64, f64)> {
    let ends = points.iter().skip(1).map(|p| p.0).chain([end]);
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len());
    for (&(start, value), end) in points.iter().zip(ends) {
        match corners.last_mut() {
            Some(corner) if corner.1 == value => corner.0 = end,
            _ => corners.extend([(start, value), (end, value)]),
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;

    #[test]
    fn a_series_of_one_point_is_seen() {
        let mut comparison = fake::comparison();
        let seen = |comparison: &Comparison| {
            let panels = panels(comparison, &CWND);
            panels.iter().filter(|panel| panel.svg.contains("<circle")).count()
        };
        assert_eq!(seen(&comparison), 0);
        comparison.variants[0].trace.cwnd.truncate(1);
        assert_eq!(seen(&comparison), 1);
    }

    #[test]
    fn a_step_keeps_its_value_until_the_next() {
        let corners = steps(&[(0.0, 3.0), (1.0, 3.0), (2.0, 5.0)], 4.0);
        assert_eq!(corners, [(0.0, 3.0), (2.0, 3.0), (2.0, 5.0), (4.0, 5.0)]);
    }
}
