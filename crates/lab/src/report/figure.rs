//! A figure of a paper, redrawn from what was measured: curves with markers, bars or time series.
//!
//! Two drawing units make about a pixel, as in all plots.

use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::axis::Axis;
use super::palette::{self, GRID, MUTED, TEXT};
use super::plot::{self, Area, CHARACTER, Drawn};
use super::thin;
use crate::experiment::{Kind, Panel};
use crate::reproduce::FigureOutcome;

/// Width of a drawing, and height of the part between its axes.
const WIDTH: i32 = 1060;
const HEIGHT: i32 = 500;
/// Above and to the right of the axes, and below them for ticks and label.
const ABOVE: i32 = 54;
const RIGHT: i32 = 36;
const BELOW: i32 = 96;
/// Height of a line of the legend, and of a bar.
const ROW: i32 = 40;
const BAR: i32 = 56;
/// A marker's half width.
const MARK: i32 = 9;
/// Points of a time series that can be told apart.
const COLUMNS: usize = 450;

/// The drawings of an outcome: title and SVG. None for tables.
pub(super) fn panels(outcome: &FigureOutcome<'_>) -> Vec<(String, String)> {
    let drawn = |(i, panel): (usize, &Panel)| {
        let svg = match panel.kind {
            Kind::Table => return None,
            Kind::Line | Kind::Points => sweep(outcome, panel),
            Kind::Bars => bars(outcome, panel),
            Kind::Time => time(outcome, panel, i),
        };
        Some((panel.title.clone().unwrap_or_default(), svg))
    };
    outcome.experiment.panels.iter().enumerate().filter_map(drawn).collect()
}

/// A curve ready to draw.
struct Curve {
    name: String,
    /// Its colour's and its marker's place in their lists.
    style: usize,
    /// `(x, y, half-width of the interval)`.
    points: Vec<(f64, f64, f64)>,
    /// The same at every point.
    constant: bool,
}

/// What is drawn of the points.
#[derive(Clone, Copy, PartialEq)]
enum Marks {
    Both,
    Markers,
    Line,
    Dots,
}

fn sweep(outcome: &FigureOutcome<'_>, panel: &Panel) -> String {
    let experiment = outcome.experiment;
    let places: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let measure = &experiment.measures[panel.y];
    let curves: Vec<Curve> = panel
        .lines
        .iter()
        .filter(|&&l| {
            let line = &experiment.lines[l];
            measure.is_of(line) && line.formula().is_none_or(|f| f.measure == panel.y)
        })
        .map(|&l| {
            let found = &outcome.lines[l];
            let point = |(p, &x): (usize, &f64)| {
                let estimate = found.estimate(panel.y, p);
                (x, estimate.mean, estimate.half_width)
            };
            Curve {
                name: experiment.lines[l].label.clone(),
                style: l,
                points: places.iter().enumerate().map(point).collect(),
                constant: found.constant,
            }
        })
        .collect();
    let x = match panel.x_range {
        Some([low, high]) => Axis::new(low, high, experiment.sweep.log),
        None => Axis::of(places, experiment.sweep.log, false),
    };
    let marks = if panel.kind == Kind::Points { Marks::Markers } else { Marks::Both };
    let swept = experiment.sweep.label.as_deref().unwrap_or("");
    let labels = Labels {
        x: panel.x_label.as_deref().unwrap_or(swept),
        y: panel.y_label.as_deref().unwrap_or(&measure.label),
    };
    draw_curves(outcome, panel, &curves, x, marks, &labels)
}

fn time(outcome: &FigureOutcome<'_>, panel: &Panel, index: usize) -> String {
    let of_lines = panel.curves.len() == panel.lines.len();
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
                style: if of_lines { panel.lines[i] } else { i },
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

struct Labels<'a> {
    x: &'a str,
    y: &'a str,
}

/// The part of a drawing between its axes.
struct Field {
    x: Axis,
    y: Axis,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Field {
    fn across(&self, place: f64) -> i32 {
        self.left + (place * f64::from(self.right - self.left)).round() as i32
    }

    fn up(&self, place: f64) -> i32 {
        self.bottom - (place * f64::from(self.bottom - self.top)).round() as i32
    }

    /// Grid, axes, ticks and labels.
    fn draw(&self, area: &Area<'_>, labels: &Labels<'_>) -> Drawn {
        let grid = GRID.colour().stroke_width(2);
        let ink = MUTED.colour().stroke_width(2);
        for (place, text) in self.x.ticks() {
            let x = self.across(place);
            line(area, &[(x, self.top), (x, self.bottom)], grid)?;
            let style = plot::text(MUTED, HPos::Center, VPos::Center);
            area.draw(&Text::new(text, (x, self.bottom + 26), style))?;
        }
        for (place, text) in self.y.ticks() {
            let y = self.up(place);
            line(area, &[(self.left, y), (self.right, y)], grid)?;
            let style = plot::text(MUTED, HPos::Right, VPos::Center);
            area.draw(&Text::new(text, (self.left - 12, y), style))?;
        }
        let corner = (self.left, self.bottom);
        line(area, &[(self.left, self.top), corner, (self.right, self.bottom)], ink)?;
        let style = plot::text(MUTED, HPos::Center, VPos::Center);
        let middle = (self.left + self.right) / 2;
        area.draw(&Text::new(labels.x.to_owned(), (middle, self.bottom + 66), style))?;
        let style = plot::text(MUTED, HPos::Left, VPos::Center);
        area.draw(&Text::new(labels.y.to_owned(), (2, 20), style))
    }

    /// Where a point lies, if it is on both axes.
    fn place(&self, x: f64, y: f64) -> Option<(i32, i32)> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }
}

fn line(area: &Area<'_>, points: &[(i32, i32)], style: ShapeStyle) -> Drawn {
    area.draw(&PathElement::new(points.to_vec(), style))
}

/// A line of dashes, each so long as the gap after it.
fn dashed(area: &Area<'_>, from: (i32, i32), to: (i32, i32), style: ShapeStyle) -> Drawn {
    const DASH: i32 = 14;
    let mut x = from.0;
    while x < to.0 {
        let end = (x + DASH).min(to.0);
        line(area, &[(x, from.1), (end, to.1)], style)?;
        x += 2 * DASH;
    }
    Ok(())
}

/// One of several shapes, so that curves can be told apart without their colours.
fn marker(area: &Area<'_>, (x, y): (i32, i32), style: usize, colour: RGBColor) -> Drawn {
    let r = MARK;
    let fill = colour.filled();
    let edge = colour.stroke_width(4);
    let polygon = |points: &[(i32, i32)]| {
        let points: Vec<_> = points.iter().map(|p| (x + p.0, y + p.1)).collect();
        area.draw(&Polygon::new(points, fill))
    };
    match style % 7 {
        0 => area.draw(&Circle::new((x, y), r, fill)),
        1 => polygon(&[(-r - 1, r - 1), (r + 1, r - 1), (0, -r - 2)]),
        2 => area.draw(&Rectangle::new([(x - r + 1, y - r + 1), (x + r - 1, y + r - 1)], fill)),
        3 => polygon(&[(0, -r - 3), (r + 3, 0), (0, r + 3), (-r - 3, 0)]),
        4 => {
            line(area, &[(x - r, y - r), (x + r, y + r)], edge)?;
            line(area, &[(x - r, y + r), (x + r, y - r)], edge)
        }
        5 => area.draw(&Circle::new((x, y), r, edge)),
        _ => polygon(&[(-r - 1, -r + 1), (r + 1, -r + 1), (0, r + 2)]),
    }
}

/// The legend's entries in lines that fit: `(left, line)` of each, and how many lines there are.
fn legend(names: &[&str], width: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut row) = (0, 0);
    let mut places = Vec::new();
    for name in names {
        let wide = 84 + name.chars().count() as i32 * (CHARACTER as i32 + 1);
        if x > 0 && x + wide > width {
            (x, row) = (0, row + 1);
        }
        places.push((x, row));
        x += wide;
    }
    (places, if names.is_empty() { 0 } else { row + 1 })
}

fn draw_curves(
    outcome: &FigureOutcome<'_>,
    panel: &Panel,
    curves: &[Curve],
    x: Axis,
    marks: Marks,
    labels: &Labels<'_>,
) -> String {
    // What cannot be below zero has no interval that is: the axis need not go there.
    let positive = curves.iter().flat_map(|c| &c.points).all(|p| p.1.is_nan() || p.1 >= 0.0);
    let ends = |&(_, y, half): &(f64, f64, f64)| {
        [if positive { f64::max(y - half, 0.0) } else { y - half }, y + half]
    };
    let seen = |p: &&(f64, f64, f64)| x.place(p.0).is_some();
    let values = curves.iter().flat_map(|c| c.points.iter().filter(seen)).flat_map(ends);
    let y = match panel.y_range {
        Some([low, high]) => Axis::new(low, high, panel.y_log),
        None => Axis::of(values.chain(panel.rule), panel.y_log, marks != Marks::Dots),
    };
    let widest = y.ticks().iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    let left = 24 + CHARACTER as i32 * widest.max(3) as i32;
    let names: Vec<&str> = match curves {
        // One time series needs no legend; one curve has a name that may matter.
        [_] if marks == Marks::Line || marks == Marks::Dots => Vec::new(),
        curves => curves.iter().map(|c| c.name.as_str()).collect(),
    };
    let (places, rows) = legend(&names, WIDTH - left);
    let height = ABOVE + HEIGHT + BELOW + rows * ROW;
    let field = Field { x, y, left, right: WIDTH - RIGHT, top: ABOVE, bottom: ABOVE + HEIGHT };
    let experiment = outcome.experiment;
    let words = format!("{}, {}: {}", experiment.id, experiment.figure, experiment.title);
    plot::svg((WIDTH as u32, height as u32), &words, |area| {
        field.draw(area, labels)?;
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
            let colour = palette::variant(curve.style).colour();
            if curve.constant {
                dashed(area, (x, y), (x + 44, y), colour.stroke_width(4))?;
            } else {
                if marks == Marks::Both || marks == Marks::Line {
                    line(area, &[(x, y), (x + 44, y)], colour.stroke_width(4))?;
                }
                match marks {
                    Marks::Line => {}
                    Marks::Dots => area.draw(&Circle::new((x + 22, y), 6, colour.filled()))?,
                    _ => marker(area, (x + 22, y), curve.style, colour)?,
                }
            }
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new((*name).to_owned(), (x + 56, y), style))?;
        }
        Ok(())
    })
}

fn draw_curve(area: &Area<'_>, field: &Field, curve: &Curve, marks: Marks) -> Drawn {
    let colour = palette::variant(curve.style).colour();
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
        // What lies beyond an end of the upright axis is drawn at that end; gaps stay gaps.
        let beyond = |p: &(f64, f64, f64)| {
            Some((field.across(field.x.place(p.0)?), field.up(field.y.clamped(p.1)?)))
        };
        let points: Vec<Option<(i32, i32)>> = curve.points.iter().map(beyond).collect();
        for stretch in points.split(Option::is_none) {
            let stretch: Vec<(i32, i32)> = stretch.iter().copied().flatten().collect();
            if stretch.len() > 1 {
                let width = if marks == Marks::Line { 3 } else { 4 };
                line(area, &stretch, colour.stroke_width(width))?;
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
        marker(area, (x, y), curve.style, colour)?;
    }
    Ok(())
}

/// A bar for each line; a diamond where the paper prints its own number.
fn bars(outcome: &FigureOutcome<'_>, panel: &Panel) -> String {
    let experiment = outcome.experiment;
    let measure = &experiment.measures[panel.y];
    let shown: Vec<usize> = panel
        .lines
        .iter()
        .copied()
        .filter(|&l| {
            let line = &experiment.lines[l];
            measure.is_of(line) && line.formula().is_none_or(|f| f.measure == panel.y)
        })
        .collect();
    let estimates: Vec<_> =
        shown.iter().map(|&l| outcome.lines[l].estimate(panel.y, panel.at)).collect();
    let printed: Vec<Option<f64>> = shown
        .iter()
        .map(|&l| experiment.paper_value(&measure.name, &experiment.lines[l].name))
        .collect();
    let values = estimates.iter().flat_map(|e| [e.mean, e.mean + e.half_width]);
    let x = match panel.y_range {
        Some([low, high]) => Axis::new(low, high, panel.y_log),
        None => {
            let all = values.chain(printed.iter().copied().flatten()).chain(panel.rule);
            Axis::of(all, panel.y_log, true)
        }
    };
    let longest = shown.iter().map(|&l| experiment.lines[l].label.chars().count()).max();
    let left = 24 + (CHARACTER as i32 + 1) * longest.unwrap_or(0).max(3) as i32;
    let height = BAR * shown.len() as i32;
    let any_printed = printed.iter().any(Option::is_some);
    let label = panel.y_label.as_deref().unwrap_or(&measure.label);
    let top = 16;
    let field = Field {
        x,
        y: Axis::new(0.0, 1.0, false),
        left: left.min(WIDTH / 2),
        right: WIDTH - 130,
        top,
        bottom: top + height,
    };
    let whole = top + height + BELOW + if any_printed { ROW } else { 0 };
    let words = format!("{}, {}: {}", experiment.id, experiment.figure, experiment.title);
    plot::svg((WIDTH as u32, whole as u32), &words, |area| {
        for (place, text) in field.x.ticks() {
            let x = field.across(place);
            line(area, &[(x, field.top), (x, field.bottom)], GRID.colour().stroke_width(2))?;
            let style = plot::text(MUTED, HPos::Center, VPos::Center);
            area.draw(&Text::new(text, (x, field.bottom + 26), style))?;
        }
        for (i, (&l, estimate)) in shown.iter().zip(&estimates).enumerate() {
            let middle = field.top + BAR * i as i32 + BAR / 2;
            let colour = palette::variant(l).colour();
            let style = plot::text(TEXT, HPos::Right, VPos::Center);
            let name = experiment.lines[l].label.clone();
            area.draw(&Text::new(name, (field.left - 12, middle), style))?;
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            let value = crate::claims::short(estimate.mean);
            area.draw(&Text::new(value, (field.right + 14, middle), style))?;
            let Some(end) = field.x.clamped(estimate.mean) else { continue };
            let begin = field.x.clamped(0.0).unwrap_or(0.0);
            let ends = [field.across(begin.min(end)), field.across(begin.max(end))];
            let corners = [(ends[0], middle - 15), (ends[1], middle + 15)];
            area.draw(&Rectangle::new(corners, colour.filled()))?;
            if estimate.half_width > 0.0 {
                let half = estimate.half_width;
                let ends = [estimate.mean - half, estimate.mean + half];
                if let [Some(low), Some(high)] = ends.map(|v| field.x.clamped(v)) {
                    let (low, high) = (field.across(low), field.across(high));
                    let style = TEXT.colour().stroke_width(3);
                    line(area, &[(low, middle), (high, middle)], style)?;
                    line(area, &[(low, middle - 10), (low, middle + 10)], style)?;
                    line(area, &[(high, middle - 10), (high, middle + 10)], style)?;
                }
            }
            if let Some(place) = printed[i].and_then(|v| field.x.place(v)) {
                marker(area, (field.across(place), middle), 3, TEXT.colour())?;
            }
        }
        let corner = (field.left, field.bottom);
        let axis = [(field.left, field.top), corner, (field.right, field.bottom)];
        line(area, &axis, MUTED.colour().stroke_width(2))?;
        let style = plot::text(MUTED, HPos::Center, VPos::Center);
        let middle = (field.left + field.right) / 2;
        area.draw(&Text::new(label.to_owned(), (middle, field.bottom + 66), style))?;
        if any_printed {
            let y = field.bottom + BELOW + ROW / 2;
            marker(area, (field.left + 12, y), 3, TEXT.colour())?;
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new("the paper’s number", (field.left + 34, y), style))?;
        }
        Ok(())
    })
}

/// The figure as one SVG that stands alone; none for tables.
pub fn figure_file(outcome: &FigureOutcome<'_>) -> Option<String> {
    /// Height of a title, and space around all.
    const TITLE: usize = 30;
    const EDGE: usize = 12;
    /// Half of the drawing units, as on a page.
    const SCALE: usize = 2;
    let panels = panels(outcome);
    if panels.is_empty() {
        return None;
    }
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let (cell, mut body, mut y) = (WIDTH as usize / SCALE, String::new(), EDGE);
    for row in panels.chunks(columns) {
        let titled = row.iter().any(|(title, _)| !title.is_empty());
        let head = if titled { TITLE } else { 0 };
        let mut tallest = 0;
        for (i, (title, svg)) in row.iter().enumerate() {
            let x = EDGE + i * (cell + EDGE);
            let height = height_of(svg) / SCALE;
            tallest = tallest.max(height);
            if titled {
                body += &format!(
                    "<text x=\"{x}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" \
                     style=\"fill:var(--text)\">{}</text>\n",
                    y + 16,
                    minijinja::HtmlEscape(title)
                );
            }
            let top = y + head;
            let place = format!("<svg x=\"{x}\" y=\"{top}\" width=\"{cell}\" height=\"{height}\"");
            body += &svg.replacen("<svg", &place, 1);
            body.push('\n');
        }
        y += head + tallest + EDGE;
    }
    let width = EDGE + columns * (cell + EDGE);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {y}\" width=\"{width}\" \
         height=\"{y}\" font-family=\"sans-serif\">\n<style>\n{}svg polyline{{stroke-linejoin:\
         round}}\n</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n\
         {body}</svg>\n",
        palette::stylesheet()
    ))
}

/// The height of a drawing, in its own units.
fn height_of(svg: &str) -> usize {
    let view = svg.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"'));
    view.and_then(|(view, _)| view.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}
