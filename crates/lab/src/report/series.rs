//! Quantities over time, such as the congestion window: one panel per variant, with common axes.

use std::ops::Range;

use plotters::element::{Circle, Rectangle};
use plotters::series::LineSeries;
use plotters::style::Color;

use super::panel::Panel;
use super::plot::{self, Axes, PANEL_SIZE};
use super::slice::{mean, within};
use super::{look, palette, thin};
use crate::rate::Scale;
use crate::record::{Comparison, Trace, VariantRuns};
use unruffled_scenario::Episode;

/// The number of slices of time that a panel can resolve.
const COLUMNS: usize = 400;

/// A quantity over time.
pub(super) struct TracedQuantity {
    /// The accessor of its series in a trace.
    pub(super) points: fn(&Trace) -> &[(f64, f64)],
    /// The name.
    pub(super) name: &'static str,
    /// The name on the axis, before the unit.
    pub(super) axis: &'static str,
    /// The dimension of its numbers.
    pub(super) dimension: Dimension,
    /// The course between two points.
    pub(super) between: Between,
}

/// The dimension of a series, with the unit of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Rates, in Mb/s.
    Rate,
    /// Numbers of segments.
    Segments,
    /// Times, in milliseconds.
    Time,
}

impl Dimension {
    /// Returns the unit for numbers up to `highest`: the factor from the trace's unit, and the name.
    fn unit(self, highest: f64) -> (f64, &'static str) {
        match self {
            Self::Segments => (1.0, "segments"),
            Self::Rate => {
                let scale = Scale::of([highest * 1e6]);
                (scale.value(1e6), scale.name())
            }
            Self::Time if highest >= 1e4 => (1e-3, "s"),
            Self::Time => (1.0, "ms"),
        }
    }
}

/// The course of a quantity between two points, and after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// A straight line from one point to the next.
    Line,
    /// A constant until the next point; the last value holds until the end of the axis.
    Step,
    /// A mean from each point to the next; the last point only ends the series.
    Mean,
}

impl TracedQuantity {
    const fn new(
        points: fn(&Trace) -> &[(f64, f64)],
        name: &'static str,
        axis: &'static str,
        dimension: Dimension,
        between: Between,
    ) -> Self {
        Self { points, name, axis, dimension, between }
    }
}

/// The goodput.
pub(super) const DELIVERED: TracedQuantity = TracedQuantity::new(
    |trace| &trace.delivered,
    "Goodput",
    "goodput",
    Dimension::Rate,
    Between::Mean,
);

/// The congestion window.
pub(super) const CWND: TracedQuantity = TracedQuantity::new(
    |trace| &trace.cwnd,
    "Congestion window",
    "cwnd",
    Dimension::Segments,
    Between::Line,
);

/// The duplicate threshold.
pub(super) const DUPTHRESH: TracedQuantity = TracedQuantity::new(
    |trace| &trace.dupthresh,
    "Duplicate threshold",
    "dupthresh",
    Dimension::Segments,
    Between::Step,
);

/// The time in flight after which a segment is retransmitted.
pub(super) const RESEND_WAIT: TracedQuantity = TracedQuantity::new(
    |trace| &trace.patience,
    "Wait before resending",
    "wait",
    Dimension::Time,
    Between::Step,
);

/// The common axes and units of a quantity of all variants.
struct Common {
    axes: (Range<f64>, Range<f64>),
    /// The units of the two axes: the factor from the trace's unit, and the name.
    time: (f64, &'static str),
    unit: (f64, &'static str),
}

impl Common {
    fn of(comparison: &Comparison, quantity: &TracedQuantity) -> Self {
        let traces = || comparison.variants.iter().map(|v| (quantity.points)(&v.trace));
        let span = plot::span(traces().flatten().map(|p| p.0));
        let highest = plot::span(traces().flatten().map(|p| p.1)).end;
        let time = plot::time_unit(span.end);
        let unit = quantity.dimension.unit(highest);
        let x = span.start.min(0.0) * time.0..plot::round_up(span.end * time.0);
        Self { axes: (x, 0.0..highest * unit.0 * 1.05), time, unit }
    }

    /// Converts the series of a trace to these units.
    fn scaled(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let scaled = |p: (f64, f64)| (p.0 * self.time.0, p.1 * self.unit.0);
        thin::finite(points).map(scaled).collect()
    }
}

/// Returns a panel for each variant that has the quantity.
pub(super) fn panels(comparison: &Comparison, quantity: &TracedQuantity) -> Vec<Panel> {
    let common = Common::of(comparison, quantity);
    let time = common.time.1;
    let unit = common.unit.1;
    let x_label = format!("time ({time})");
    let y_label = format!("{} ({unit})", quantity.axis);
    let (x, y) = common.axes.clone();
    let axes = Axes { x, y, x_label: &x_label, y_label: &y_label };
    let panel = |variant: &VariantRuns| {
        let all = common.scaled((quantity.points)(&variant.trace));
        let end = plot::span(all.iter().map(|p| p.0)).end;
        let between = |points: &[(f64, f64)]| match quantity.between {
            Between::Line => points.to_vec(),
            Between::Step => steps(points, axes.x.end),
            Between::Mean => steps(points, end),
        };
        let points = between(&thin::line(&all, COLUMNS));
        let all = between(&all);
        points.first()?;
        let label = format!("{} of {} over time", quantity.name, variant.name);
        let colour = look::of(&variant.name).ink.colour();
        let svg = plot::svg(PANEL_SIZE, &label, |area, tips| {
            let mut chart = plot::chart(area, &axes)?;
            let shade = |e: &Episode| {
                let [from, until] = [e.from_s, e.until_s].map(|s| s * common.time.0);
                let corners = [(from, axes.y.start), (until, axes.y.end)];
                Rectangle::new(corners, palette::SHADE.colour().filled())
            };
            chart.draw_series(comparison.episodes.iter().map(shade))?;
            // A line of a single point would be invisible.
            let only = (points.len() == 1).then(|| Circle::new(points[0], 4, colour.filled()));
            chart.draw_series(only)?;
            chart.draw_series(LineSeries::new(points, colour.stroke_width(3)))?;
            for slice in plot::slices(&axes.x) {
                let Some((low, high)) = within(&all, &slice) else { continue };
                let at = plot::values(slice.start, slice.end);
                let corners = [(slice.start, axes.y.end), (slice.end, axes.y.start)];
                let text = format!("{at} {time}: {} {unit}", plot::values(low, high));
                tips.add(corners.map(|corner| chart.backend_coord(&corner)), &text);
            }
            Ok(())
        });
        Some(Panel::new(variant, "", svg))
    };
    comparison.variants.iter().filter_map(panel).collect()
}

/// The number of slices of time in a table.
const TABLE_SLICES: u32 = 8;

/// Returns the panels as a table, heads first: for each variant that has the quantity, its mean in
/// each eighth of the time.
pub(super) fn table(comparison: &Comparison, quantity: &TracedQuantity) -> Vec<Vec<String>> {
    let common = Common::of(comparison, quantity);
    let end = common.axes.0.end;
    let edge = |i: u32| end * f64::from(i) / f64::from(TABLE_SLICES);
    let head = (0..TABLE_SLICES).map(|i| plot::values(edge(i), edge(i + 1)));
    let unit = format!("{}, {} at {}", quantity.axis, common.unit.1, common.time.1);
    let mut lines = vec![[unit].into_iter().chain(head).collect()];
    let line = |variant: &VariantRuns| -> Option<Vec<String>> {
        let points = common.scaled((quantity.points)(&variant.trace));
        let last = points.last()?.0;
        let line = match quantity.between {
            Between::Line => points,
            Between::Step => steps(&points, end),
            Between::Mean => steps(&points, last),
        };
        let cell = |i: u32| mean(&line, &(edge(i)..edge(i + 1)));
        let cell = |i: u32| cell(i).map_or_else(|| "–".to_owned(), plot::value);
        Some([variant.name.clone()].into_iter().chain((0..TABLE_SLICES).map(cell)).collect())
    };
    lines.extend(comparison.variants.iter().filter_map(line));
    lines
}

/// Returns the corners of a step function through the points; the last value holds until `end`.
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
    fn a_series_of_one_point_is_drawn_as_a_dot() {
        let mut comparison = fake::comparison();
        let dots = |comparison: &Comparison| {
            let panels = panels(comparison, &CWND);
            panels.iter().filter(|panel| panel.svg.contains("<circle")).count()
        };
        assert_eq!(dots(&comparison), 0);
        comparison.variants[0].trace.cwnd.truncate(1);
        assert_eq!(dots(&comparison), 1);
    }

    #[test]
    fn the_units_of_axes_suit_the_data() {
        let units = |dimension: Dimension, highest: f64| dimension.unit(highest);
        assert_eq!(units(Dimension::Rate, 95_000.0), (1e-3, "Gb/s"));
        assert_eq!(units(Dimension::Rate, 0.02), (1e3, "kb/s"));
        assert_eq!(units(Dimension::Time, 900.0), (1.0, "ms"));
        assert_eq!(units(Dimension::Time, 12_000.0), (1e-3, "s"));
        let mut comparison = fake::comparison();
        comparison.variants.truncate(1);
        let trace = &mut comparison.variants[0].trace;
        trace.delivered = vec![(0.0, 20_000.0), (0.25, 40_000.0), (0.5, 40_000.0)];
        let panels = panels(&comparison, &DELIVERED);
        let svg = &panels[0].svg;
        assert!(svg.contains("time (ms)") && svg.contains("goodput (Gb/s)"), "{svg}");
        // Slices of 500 ms / 60.
        assert!(svg.contains("<title>0 to 8.333 ms: 20 Gb/s</title>"), "{svg}");
        assert!(svg.contains(": 20 to 40 Gb/s</title>"), "{svg}");
        assert_eq!(svg.matches("<title>").count(), 60);
        let lines = table(&comparison, &DELIVERED);
        assert_eq!(lines[0][..3], ["goodput, Gb/s at ms", "0 to 62.5", "62.5 to 125"]);
        assert_eq!(lines[1][..6], ["sack", "20", "20", "20", "20", "40"]);
    }

    #[test]
    fn a_step_holds_until_the_next_value() {
        let corners = steps(&[(0.0, 3.0), (1.0, 3.0), (2.0, 5.0)], 4.0);
        assert_eq!(corners, [(0.0, 3.0), (2.0, 3.0), (2.0, 5.0), (4.0, 5.0)]);
    }
}
