//! Figures with curves and markers, and with time series.

use plotters::element::{Circle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::field::{Field, Labels, dashed, line, line_in, marker};
use super::style::{BELOW, ROW, Style, WIDTH, said, shows, style, unit};
use crate::experiment::{Kind, Panel};
use crate::report::axis::Axis;
use crate::reproduce::FigureOutcome;
use unruffled_lab::report::palette::TEXT;
use unruffled_lab::report::plot::{self, Area, CHARACTER_WIDTH, Drawn, LETTER_WIDTH, Tips};
use unruffled_lab::report::{look, slice, thin};
use unruffled_lab::text::cut;

/// The height of the part between the axes, the space above it, and the space to its right.
const HEIGHT: i32 = 500;
const ABOVE: i32 = 54;
const RIGHT: i32 = 36;
/// The width of an entry of the legend without its name.
const BESIDE: i32 = 84;
/// The number of distinguishable points of a time series.
const COLUMNS: usize = 450;

/// A curve ready to draw.
struct Curve {
    name: String,
    style: Style,
    /// The points: x, y, and the half-width of the interval.
    points: Vec<(f64, f64, f64)>,
    /// Whether the value is the same at every point.
    constant: bool,
}

/// The marks of a curve.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    Both,
    Markers,
    Line,
    Dots,
}

/// Draws measures over the swept values.
pub(super) fn sweep(outcome: &FigureOutcome<'_>, panel: &Panel) -> String {
    let experiment = outcome.experiment;
    let places: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let measure = &experiment.measures[panel.y];
    let curves: Vec<Curve> = panel
        .lines
        .iter()
        .filter(|&&l| shows(experiment, panel, l))
        .map(|&l| {
            let found = &outcome.lines[l];
            let point = |(p, &x): (usize, &f64)| {
                let estimate = found.estimate(panel.y, p);
                (x, estimate.mean, estimate.half_width)
            };
            Curve {
                name: experiment.lines[l].label.clone(),
                style: style(outcome, l),
                points: places.iter().enumerate().map(point).collect(),
                constant: found.constant,
            }
        })
        .collect();
    let x = match panel.x_range {
        _ if experiment.sweep.even => Axis::even(places),
        Some([low, high]) => Axis::new(low, high, experiment.sweep.log),
        None => Axis::of(places, experiment.sweep.log, false),
    };
    let marks = if panel.kind == Kind::Points { Marks::Markers } else { Marks::Both };
    let swept = experiment.sweep.label.as_deref().unwrap_or("");
    let mut label = panel.x_label.as_deref().unwrap_or(swept).to_owned();
    if experiment.sweep.even {
        label += " (evenly spaced, not to scale)";
    }
    let labels = Labels { x: &label, y: panel.y_label.as_deref().unwrap_or(&measure.label) };
    draw_curves(outcome, panel, &curves, x, marks, &labels)
}

/// Draws time series.
pub(super) fn time(outcome: &FigureOutcome<'_>, panel: &Panel, index: usize) -> String {
    let mut styles: Vec<Style> = Vec::new();
    for (i, curve) in panel.curves.iter().enumerate() {
        let mut own = style(outcome, curve.line);
        // Several quantities of one run have other colours; several runs of one sender have its
        // colour.
        let same_run = |other: &&crate::experiment::TimeCurve| other.line == curve.line;
        match panel.curves[..i].iter().filter(same_run).count() {
            0 => {
                while styles.contains(&own) {
                    own.dash += 1
                }
            }
            nth => own.ink = look::other(nth - 1).ink,
        }
        styles.push(own);
    }
    let curves: Vec<Curve> = outcome.curves[index]
        .iter()
        .enumerate()
        .map(|(i, (name, curve))| {
            let points = match panel.dots {
                true => thin::finite(&curve.points).collect(),
                false => thin::line(&curve.points, COLUMNS),
            };
            Curve {
                name: name.clone(),
                style: styles[i],
                points: points.into_iter().map(|(x, y)| (x, y, 0.0)).collect(),
                constant: false,
            }
        })
        .collect();
    let x = match panel.x_range {
        Some([low, high]) => Axis::new(low, high, false),
        None => Axis::of(curves.iter().flat_map(|c| &c.points).map(|p| p.0), false, false),
    };
    let marks = if panel.dots { Marks::Dots } else { Marks::Line };
    let labels = Labels {
        x: panel.x_label.as_deref().unwrap_or("time (s)"),
        y: panel.y_label.as_deref().unwrap_or(""),
    };
    draw_curves(outcome, panel, &curves, x, marks, &labels)
}

fn draw_curves(
    outcome: &FigureOutcome<'_>,
    panel: &Panel,
    curves: &[Curve],
    x: Axis,
    marks: Marks,
    labels: &Labels<'_>,
) -> String {
    // Intervals of values that cannot be negative end at zero, so the axis may, too.
    let positive = curves.iter().flat_map(|c| &c.points).all(|p| p.1.is_nan() || p.1 >= 0.0);
    // A logarithmic axis omits the end of an interval at zero, but not the value.
    let ends = |&(_, y, half): &(f64, f64, f64)| {
        [if positive { f64::max(y - half, 0.0) } else { y - half }, y, y + half]
    };
    let seen = |p: &&(f64, f64, f64)| x.place(p.0).is_some();
    let values = curves.iter().flat_map(|c| c.points.iter().filter(seen)).flat_map(ends);
    let y = match panel.y_range {
        Some([low, high]) => Axis::new(low, high, panel.y_log),
        None => Axis::of(values.chain(panel.rule), panel.y_log, marks != Marks::Dots),
    };
    let widest = y.ticks().iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let left = 24 + CHARACTER_WIDTH as i32 * widest.max(3) as i32;
    let room = (WIDTH - left - BESIDE) / LETTER_WIDTH;
    let names: Vec<String> = match curves {
        // A single time series needs no legend; the name of a single curve may matter.
        [_] if marks == Marks::Line || marks == Marks::Dots => Vec::new(),
        curves => curves.iter().map(|c| cut(&c.name, room as usize)).collect(),
    };
    let (places, rows) = legend(&names, WIDTH - left);
    let height = ABOVE + HEIGHT + BELOW + rows * ROW;
    let field = Field { x, y, left, right: WIDTH - RIGHT, top: ABOVE, bottom: ABOVE + HEIGHT };
    let experiment = outcome.experiment;
    let words = format!("{}, {}: {}", experiment.id, experiment.figure, experiment.title);
    plot::svg((WIDTH as u32, height as u32), &words, |area, tips| {
        field.draw(area, labels)?;
        match marks {
            Marks::Both | Marks::Markers => say_points(tips, &field, curves, labels),
            Marks::Line | Marks::Dots => say_slices(tips, &field, curves, marks, labels),
        }
        if let Some(place) = panel.rule.and_then(|rule| field.y.place(rule)) {
            let y = field.up(place);
            dashed(area, (field.left, y), (field.right, y), TEXT.colour().stroke_width(2))?;
        }
        for curve in curves {
            draw_curve(area, &field, curve, marks)?;
        }
        for ((curve, name), (across, row)) in curves.iter().zip(&names).zip(places) {
            let y = ABOVE + HEIGHT + BELOW + row * ROW + ROW / 2;
            let x = left + across;
            let Style { ink, marker: which, dash } = curve.style;
            let colour = ink.colour();
            if curve.constant {
                dashed(area, (x, y), (x + 44, y), colour.stroke_width(4))?;
            } else {
                if marks == Marks::Both || marks == Marks::Line {
                    line_in(area, &[(x, y), (x + 44, y)], dash, colour.stroke_width(4))?;
                }
                match marks {
                    Marks::Line => {}
                    Marks::Dots => area.draw(&Circle::new((x + 22, y), 6, colour.filled()))?,
                    _ => marker(area, (x + 22, y), which, colour)?,
                }
            }
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new(name.as_str(), (x + 56, y), style))?;
        }
        Ok(())
    })
}

fn draw_curve(area: &Area<'_>, field: &Field, curve: &Curve, marks: Marks) -> Drawn {
    let Style { ink, marker: which, dash } = curve.style;
    let colour = ink.colour();
    let place = |p: &(f64, f64, f64)| field.place(p.0, p.1);
    if curve.constant {
        if let Some((_, y)) = curve.points.first().and_then(place) {
            dashed(area, (field.left, y), (field.right, y), colour.stroke_width(4))?;
        }
        return Ok(());
    }
    if marks == Marks::Dots {
        let dots: Vec<(i32, i32)> = curve.points.iter().filter_map(place).collect();
        for dot in thin::dots(dots, 4, |&dot| dot) {
            area.draw(&Circle::new(dot, 4, colour.filled()))?;
        }
        return Ok(());
    }
    if marks != Marks::Markers {
        // Points beyond an end of the upright axis are drawn at that end; gaps stay gaps.
        let beyond = |p: &(f64, f64, f64)| {
            Some((field.across(field.x.place(p.0)?), field.up(field.y.clamped(p.1)?)))
        };
        let points: Vec<Option<(i32, i32)>> = curve.points.iter().map(beyond).collect();
        for stretch in points.split(Option::is_none) {
            let stretch: Vec<(i32, i32)> = stretch.iter().copied().flatten().collect();
            match (stretch.as_slice(), marks) {
                ([], _) | ([_], Marks::Both) => {}
                // A line of one point would be invisible.
                (&[point], _) => area.draw(&Circle::new(point, 4, colour.filled()))?,
                (stretch, marks) => {
                    let width = if marks == Marks::Line { 3 } else { 4 };
                    line_in(area, stretch, dash, colour.stroke_width(width))?;
                }
            }
        }
    }
    if marks == Marks::Line {
        return Ok(());
    }
    for point in &curve.points {
        let Some((x, y)) = place(point) else { continue };
        if point.2 > 0.0 {
            let ends = [point.1 - point.2, point.1 + point.2].map(|v| field.y.clamped(v));
            if let [Some(low), Some(high)] = ends.map(|e| e.map(|place| field.up(place))) {
                let thin = colour.stroke_width(3);
                line(area, &[(x, low), (x, high)], thin)?;
                line(area, &[(x - 7, low), (x + 7, low)], thin)?;
                line(area, &[(x - 7, high), (x + 7, high)], thin)?;
            }
        }
        marker(area, (x, y), which, colour)?;
    }
    Ok(())
}

/// Adds tooltips with the value of each point; a constant has one along its line.
fn say_points(tips: &mut Tips, field: &Field, curves: &[Curve], labels: &Labels<'_>) {
    let units = [labels.x, labels.y].map(unit);
    for curve in curves.iter().filter(|curve| curve.constant) {
        let Some(point) = curve.points.first() else { continue };
        let Some((_, y)) = field.place(point.0, point.1) else { continue };
        let text = format!("{}: {}", curve.name, said(point.1, point.2, units[1]));
        tips.add([(field.left, y - 6), (field.right, y + 6)], &text);
    }
    for curve in curves.iter().filter(|curve| !curve.constant) {
        for point in &curve.points {
            let Some(at) = field.place(point.0, point.1) else { continue };
            let (x, y) = (said(point.0, 0.0, units[0]), said(point.1, point.2, units[1]));
            tips.mark(at, &format!("{} at {x}: {y}", curve.name));
        }
    }
}

/// Adds tooltips with the values of all curves in each slice of time.
fn say_slices(tips: &mut Tips, field: &Field, curves: &[Curve], marks: Marks, labels: &Labels<'_>) {
    let units = [labels.x, labels.y].map(unit);
    let lines: Vec<Vec<(f64, f64)>> =
        curves.iter().map(|curve| curve.points.iter().map(|p| (p.0, p.1)).collect()).collect();
    for slice in plot::slices(&field.x.range()) {
        let mut text = format!("{} {}", plot::values(slice.start, slice.end), units[0]);
        let before = text.len();
        for (curve, line) in curves.iter().zip(&lines) {
            let inside = || line.iter().filter(|p| slice.contains(&p.0)).map(|p| p.1);
            let range = match marks {
                Marks::Dots => Some(plot::span(inside())).filter(|r| r.start <= r.end),
                _ => slice::within(line, &slice).map(|(low, high)| low..high),
            };
            let Some(range) = range else { continue };
            let values = plot::values(range.start, range.end);
            let unit = if units[1].is_empty() { String::new() } else { format!(" {}", units[1]) };
            text += &format!("\n{}: {values}{unit}", curve.name);
        }
        let edges = [slice.start, slice.end].map(|x| field.x.clamped(x).map(|x| field.across(x)));
        if let ([Some(left), Some(right)], true) = (edges, text.len() > before) {
            tips.add([(left, field.top), (right, field.bottom)], &text);
        }
    }
}

/// Arranges the entries of the legend in lines: `(left, line)` of each entry, and the number of
/// lines.
fn legend(names: &[String], width: i32) -> (Vec<(i32, i32)>, i32) {
    let mut x = 0;
    let mut row = 0;
    let mut places = Vec::new();
    for name in names {
        let wide = BESIDE + name.chars().count() as i32 * LETTER_WIDTH;
        if x > 0 && x + wide > width {
            x = 0;
            row += 1;
        }
        places.push((x, row));
        x += wide;
    }
    (places, if names.is_empty() { 0 } else { row + 1 })
}
