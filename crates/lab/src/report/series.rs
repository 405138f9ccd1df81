//! Quantities over time, such as the congestion window and the duplicate threshold: one panel per
//! variant, on common axes.

use std::ops::Range;

use plotters::element::{Circle, Rectangle};
use plotters::series::LineSeries;
use plotters::style::Color;

use super::panel::Panel;
use super::plot::{self, Axes, PANEL};
use super::slice::{mean, within};
use super::{look, palette, thin};
use crate::rate::Scale;
use crate::record::{Comparison, Trace, VariantRuns};
use unruffled_scenario::Episode;

/// The number of slices of time that a panel can resolve.
const MAX_COLUMNS: usize = 400;

/// A quantity over time.
pub(super) struct TracedQuantity {
    /// Returns the series in a trace.
    pub(super) points: fn(&Trace) -> &[(f64, f64)],
    /// The name.
    pub(super) name: &'static str,
    /// The name on the axis, before the unit.
    pub(super) axis: &'static str,
    /// The kind of its numbers.
    pub(super) kind: SeriesKind,
    /// The course between two points.
    pub(super) between: Between,
}

/// The kind of a series' numbers, with their unit in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeriesKind {
    /// Mb/s.
    Rates,
    /// Segments.
    Segments,
    /// Milliseconds.
    Times,
}

impl SeriesKind {
    /// Returns a unit for numbers up to `highest`: the factor from the unit of the trace, and its
    /// name.
    fn unit(self, highest: f64) -> (f64, &'static str) {
        match self {
            Self::Segments => (1.0, "segments"),
            Self::Rates => {
                let scale = Scale::of([highest * 1e6]);
                (scale.value(1e6), scale.name())
            }
            Self::Times if highest >= 1e4 => (1e-3, "s"),
            Self::Times => (1.0, "ms"),
        }
    }
}

/// The course of a quantity between two points, and after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Linear from one point to the next.
    Linear,
    /// Constant until the next point, and from the last one to the end.
    Step,
    /// Constant until the next point. The last point only ends the series.
    Mean,
}

impl TracedQuantity {
    const fn new(
        points: fn(&Trace) -> &[(f64, f64)],
        (name, axis): (&'static str, &'static str),
        kind: SeriesKind,
        between: Between,
    ) -> Self {
        Self { points, name, axis, kind, between }
    }
}

/// The goodput.
pub(super) const DELIVERED: TracedQuantity = TracedQuantity::new(
    |trace| &trace.delivered,
    ("Goodput", "goodput"),
    SeriesKind::Rates,
    Between::Mean,
);

/// The congestion window.
pub(super) const CWND: TracedQuantity = TracedQuantity::new(
    |trace| &trace.cwnd,
    ("Congestion window", "cwnd"),
    SeriesKind::Segments,
    Between::Linear,
);

/// The number of duplicate acknowledgements that indicate a loss.
pub(super) const DUPTHRESH: TracedQuantity = TracedQuantity::new(
    |trace| &trace.dupthresh,
    ("Duplicate threshold", "dupthresh"),
    SeriesKind::Segments,
    Between::Step,
);

/// The time after which a segment in flight is sent again.
pub(super) const TIME_LIMIT: TracedQuantity = TracedQuantity::new(
    |trace| &trace.patience,
    ("Wait before resending", "wait"),
    SeriesKind::Times,
    Between::Step,
);

/// The common axes and units of a quantity of all variants.
struct Common {
    axes: (Range<f64>, Range<f64>),
    /// The factors from the units of the trace to those of the axes, and the names of these.
    time: (f64, &'static str),
    unit: (f64, &'static str),
}

impl Common {
    fn of(comparison: &Comparison, quantity: &TracedQuantity) -> Self {
        let traces = || comparison.variants.iter().map(|v| (quantity.points)(&v.trace));
        let span = plot::span(traces().flatten().map(|p| p.0));
        let highest = plot::span(traces().flatten().map(|p| p.1)).end;
        let (time, unit) = (plot::time_unit(span.end), quantity.kind.unit(highest));
        let x = span.start.min(0.0) * time.0..plot::round_up(span.end * time.0);
        Self { axes: (x, 0.0..highest * unit.0 * 1.05), time, unit }
    }

    /// Returns the series of a trace in these units.
    fn scaled(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let scaled = |p: (f64, f64)| (p.0 * self.time.0, p.1 * self.unit.0);
        thin::finite(points).map(scaled).collect()
    }
}

/// Returns a panel for each variant that has the quantity.
pub(super) fn panels(comparison: &Comparison, quantity: &TracedQuantity) -> Vec<Panel> {
    let common = Common::of(comparison, quantity);
    let (time, unit) = (common.time.1, common.unit.1);
    let (x_label, y_label) = (format!("time ({time})"), format!("{} ({unit})", quantity.axis));
    let (x, y) = common.axes.clone();
    let axes = Axes { x, y, x_label: &x_label, y_label: &y_label };
    let panel = |variant: &VariantRuns| {
        let all = common.scaled((quantity.points)(&variant.trace));
        let end = plot::span(all.iter().map(|p| p.0)).end;
        let between = |points: &[(f64, f64)]| match quantity.between {
            Between::Linear => points.to_vec(),
            Between::Step => steps(points, axes.x.end),
            Between::Mean => steps(points, end),
        };
        let (all, points) = (between(&all), between(&thin::line(&all, MAX_COLUMNS)));
        points.first()?;
        let label = format!("{} of {} over time", quantity.name, variant.name);
        let colour = look::of(&variant.name).ink.colour();
        let svg = plot::svg(PANEL, &label, |area, tips| {
            let mut chart = plot::chart(area, &axes)?;
            let shade = |e: &Episode| {
                let [from, until] = [e.from_s, e.until_s].map(|s| s * common.time.0);
                let corners = [(from, axes.y.start), (until, axes.y.end)];
                Rectangle::new(corners, palette::SHADE.colour().filled())
            };
            chart.draw_series(comparison.episodes.iter().map(shade))?;
            // A line of one point would not be visible.
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
const TABLE_COLUMNS: u32 = 8;

/// Returns the panels as a table, headings first. Each variant that has the quantity has a line
/// with its mean in each eighth of the time.
pub(super) fn table(comparison: &Comparison, quantity: &TracedQuantity) -> Vec<Vec<String>> {
    let common = Common::of(comparison, quantity);
    let end = common.axes.0.end;
    let edge = |i: u32| end * f64::from(i) / f64::from(TABLE_COLUMNS);
    let head = (0..TABLE_COLUMNS).map(|i| plot::values(edge(i), edge(i + 1)));
    let unit = format!("{}, {} at {}", quantity.axis, common.unit.1, common.time.1);
    let mut lines = vec![[unit].into_iter().chain(head).collect()];
    let line = |variant: &VariantRuns| -> Option<Vec<String>> {
        let points = common.scaled((quantity.points)(&variant.trace));
        let last = points.last()?.0;
        let line = match quantity.between {
            Between::Linear => points,
            Between::Step => steps(&points, end),
            Between::Mean => steps(&points, last),
        };
        let cell = |i: u32| mean(&line, &(edge(i)..edge(i + 1)));
        let cell = |i: u32| cell(i).map_or_else(|| "–".to_owned(), plot::value);
        Some([variant.name.clone()].into_iter().chain((0..TABLE_COLUMNS).map(cell)).collect())
    };
    lines.extend(comparison.variants.iter().filter_map(line));
    lines
}

/// Returns the corners of a line that keeps each value until the next point, and the last one until
/// `end`.
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
    fn a_series_of_one_point_is_visible() {
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
    fn units_of_axes_follow_from_the_values() {
        let units = |kind: SeriesKind, highest: f64| kind.unit(highest);
        assert_eq!(units(SeriesKind::Rates, 95_000.0), (1e-3, "Gb/s"));
        assert_eq!(units(SeriesKind::Rates, 0.02), (1e3, "kb/s"));
        assert_eq!(units(SeriesKind::Times, 900.0), (1.0, "ms"));
        assert_eq!(units(SeriesKind::Times, 12_000.0), (1e-3, "s"));
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
    fn a_step_keeps_its_value_until_the_next() {
        let corners = steps(&[(0.0, 3.0), (1.0, 3.0), (2.0, 5.0)], 4.0);
        assert_eq!(corners, [(0.0, 3.0), (2.0, 3.0), (2.0, 5.0), (4.0, 5.0)]);
    }
}
